//! Simulation: single runs of a task, drawn at random.
