//! Sliding-tile puzzle on a board of w columns and h rows with one hole.
//!
//! **Variables**: `empty` (position of the hole) and `tile_k` for k = 1..wh − 1, over the positions 0..wh − 1, where
//! position = column + w · row; `cost_tile_k` and `step_cost` 0..B.
//!
//! **Labels**: `move_left`, `move_right`, `move_up`, `move_down`, named after the movement of the hole. For each tile k:
//!
//! | label | guard | effect |
//! |---|---|---|
//! | `move_left` | `empty` = `tile_k` + 1 | tile + 1, hole − 1 |
//! | `move_right` | `empty` = `tile_k` − 1 | tile − 1, hole + 1 |
//! | `move_up` | `empty` = `tile_k` + w | tile + w, hole − w |
//! | `move_down` | `empty` = `tile_k` − w | tile − w, hole + w |
//!
//! The published models do not check rows: left and right also swap the end of a row with the beginning of the next.
//! `row_check` forbids that. Moves fail and cost as in [`blocksworld`](super::blocksworld).
//!
//! **Unsafe**: tile w at position wh − 2 (3×3: tile 3 at 7). **Goal**: the hole last, tile k at wh − 1 − k for
//! k ≤ wh − 3 (the last two tiles may be swapped, since only one of the two arrangements can be reached).
//!
//! **Start**: all arrangements, neither goal nor unsafe, in which `tile_k` ≤ `tile_(k+w)`, without costs: 4900 for 3×3.
//!
//! **Probabilistic variant**: when tile w moves to a neighbour of the forbidden position, it slips on to that position
//! with `hazard_probability` and pushes the tile that lies there back to where it should have stopped.

use serde_json::Value;

use super::build::{Chance, Model, Property, add, all, and, any, assign, at_most, eq, ne, not, shift};
use super::cost::Costs;
use super::{Generated, ParameterError, parameter};

const EMPTY: &str = "empty";

/// Parameters of an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// Columns of the board, at least 2.
    pub width: usize,
    /// Rows of the board, at least 2; at least 3 if there are two columns.
    pub height: usize,
    /// Most failures that a tile's cost counts, at least 1.
    pub cost_bound: usize,
    /// Probability that a move fails.
    pub failing_probability: f64,
    /// Whether a tile whose cost has reached the bound is stuck (else its moves never fail again).
    pub cost_terminal: bool,
    /// Whether tiles may move left and right within their row only.
    pub row_check: bool,
    /// Whether a tile may slip to the forbidden position.
    pub probabilistic: bool,
    /// Probability that the tile slips; without effect unless `probabilistic`.
    pub hazard_probability: f64,
}

impl Default for Parameters {
    /// The instance '8 Puzzle'.
    fn default() -> Self {
        Self {
            width: 3,
            height: 3,
            cost_bound: 12,
            failing_probability: 0.5,
            cost_terminal: false,
            row_check: false,
            probabilistic: false,
            hazard_probability: 0.1,
        }
    }
}

/// The board's geometry.
#[derive(Clone, Copy)]
struct Board {
    width: usize,
    height: usize,
}

impl Board {
    fn positions(self) -> usize {
        self.width * self.height
    }

    fn tiles(self) -> std::ops::Range<usize> {
        1..self.positions()
    }

    fn forbidden(self) -> usize {
        self.positions() - 2
    }

    /// The positions beside, above and below the forbidden one, which lies in the last row but not in the last column.
    fn beside_forbidden(self) -> Vec<usize> {
        let forbidden = self.forbidden();
        let left = (self.width > 2).then(|| forbidden - 1);
        left.into_iter().chain([forbidden + 1, forbidden - self.width]).collect()
    }
}

/// A movement of the hole: the tile moves by `offset`, the hole by its negation.
struct Move {
    label: &'static str,
    offset: i64,
    /// Positions of the hole from which the movement would cross the end of a row.
    row_ends: Vec<usize>,
}

fn moves(board: Board) -> [Move; 4] {
    let w = board.width;
    let row_starts = (1..board.height).map(|row| row * w);
    let row_ends = row_starts.clone().map(|start| start - 1);
    [
        Move { label: "move_left", offset: 1, row_ends: row_starts.collect() },
        Move { label: "move_right", offset: -1, row_ends: row_ends.collect() },
        Move { label: "move_up", offset: w as i64, row_ends: Vec::new() },
        Move { label: "move_down", offset: -(w as i64), row_ends: Vec::new() },
    ]
}

fn tile(k: usize) -> String {
    format!("tile_{k}")
}

/// Writes the instance.
pub fn generate(parameters: &Parameters) -> Result<Generated, ParameterError> {
    parameter::count("width", parameters.width, 2..=10)?;
    // On a board of 2×2 the initial state would be unsafe.
    let lowest = if parameters.width == 2 { 3 } else { 2 };
    parameter::count("height", parameters.height, lowest..=10)?;
    let hazard = if parameters.probabilistic { parameters.hazard_probability } else { 0.0 };
    let costs = Costs::new(
        parameters.cost_bound,
        parameters.failing_probability,
        parameters.cost_terminal,
        Chance { constant: "slipping_probability", value: hazard },
    )?;

    let board = Board { width: parameters.width, height: parameters.height };
    let variant = if parameters.probabilistic { "_probabilistic" } else { "" };
    let mut model = Model::new(format!("npuzzle_{}_{}{variant}", board.width, board.height));
    costs.declare_constants(&mut model);
    let last = board.positions() as i64 - 1;
    model.variable(EMPTY, 0, last, 0);
    for k in board.tiles() {
        model.variable(tile(k), 0, last, k as i64);
    }
    costs.declare_variables(&mut model, board.tiles().map(tile));
    let moves = moves(board);
    for movement in &moves {
        model.label(movement.label);
    }
    for k in board.tiles() {
        for movement in &moves {
            let mut guard = vec![eq(EMPTY, add(tile(k), movement.offset))];
            if parameters.row_check {
                guard.extend(movement.row_ends.iter().map(|&end| ne(EMPTY, end)));
            }
            let effect = [shift(&tile(k), movement.offset), shift(EMPTY, -movement.offset)];
            if costs.hazard.value > 0.0 && k == board.width {
                add_slippery_edges(&mut model, &costs, board, movement, &guard, &effect);
            } else {
                costs.add_edges(&mut model, movement.label, &tile(k), &guard, &effect, None);
            }
        }
    }
    Ok(model.finish(Property { start: start(board), reach: forbidden(board), goal: goal(board) }))
}

/// The edges of the tile that may slip: safe from slipping, or beside the forbidden position with another tile on it.
fn add_slippery_edges(
    model: &mut Model,
    costs: &Costs,
    board: Board,
    movement: &Move,
    guard: &[Value],
    effect: &[Value],
) {
    let slippery = tile(board.width);
    let beside: Vec<_> = board.beside_forbidden().into_iter().map(|place| eq(EMPTY, place)).collect();
    let away = board.beside_forbidden().into_iter().map(|place| ne(EMPTY, place)).collect();

    let no_slip = [guard, &[any(&[forbidden(board), and(away)])]].concat();
    costs.add_edges(model, movement.label, &slippery, &no_slip, effect, None);
    for other in board.tiles().filter(|&other| other != board.width) {
        let may_slip = [guard, &[any(&beside), eq(tile(other), board.forbidden())]].concat();
        let slip = [
            assign(slippery.as_str(), board.forbidden()),
            assign(tile(other), EMPTY),
            shift(EMPTY, -movement.offset),
        ];
        costs.add_edges(model, movement.label, &slippery, &may_slip, effect, Some(&slip));
    }
}

fn forbidden(board: Board) -> Value {
    eq(tile(board.width), board.forbidden())
}

fn goal(board: Board) -> Value {
    let last = board.positions() - 1;
    let mut conjuncts = vec![eq(EMPTY, last)];
    conjuncts.extend((1..last - 1).map(|k| eq(tile(k), last - k)));
    all(&conjuncts)
}

fn start(board: Board) -> Value {
    let items: Vec<_> = std::iter::once(EMPTY.to_owned()).chain(board.tiles().map(tile)).collect();
    let mut conjuncts = Vec::new();
    for (position, item) in items.iter().enumerate() {
        let earlier = items[..position].iter();
        conjuncts.extend(earlier.map(|other| ne(other.as_str(), item.as_str())));
    }
    let below = board.tiles().filter(|k| k + board.width < board.positions());
    conjuncts.extend(below.map(|k| at_most(tile(k), tile(k + board.width))));
    conjuncts.extend([not(goal(board)), ne(tile(board.width), board.forbidden())]);
    conjuncts.extend(Costs::start(board.tiles().map(tile)));
    all(&conjuncts)
}

#[cfg(test)]
mod tests {
    use super::super::tests::edges;
    use super::*;

    #[test]
    fn counts_follow_the_board() {
        let generated = generate(&Parameters::default()).expect("valid parameters");
        assert_eq!(edges(&generated).len(), 64);
        assert_eq!(generated.variables.len(), 1 + 8 + 8 + 1);
        assert_eq!(generated.labels, ["move_left", "move_right", "move_up", "move_down"]);

        let terminal = Parameters { cost_terminal: true, width: 4, height: 2, ..Parameters::default() };
        assert_eq!(edges(&generate(&terminal).expect("valid parameters")).len(), 4 * 7);
    }

    #[test]
    fn one_tile_may_slip_and_changes_places_with_any_other() {
        let parameters = Parameters { probabilistic: true, ..Parameters::default() };
        let generated = generate(&parameters).expect("valid parameters");
        // Two cost cases, four directions; seven tiles as before, the slippery one also per tile that it may push.
        assert_eq!(edges(&generated).len(), 2 * 4 * (7 + 1 + 7));
    }

    #[test]
    fn senseless_parameters_are_refused() {
        let refused = |parameters: Parameters| generate(&parameters).expect_err("refused").parameter;
        assert_eq!(refused(Parameters { width: 1, ..Parameters::default() }), "width");
        assert_eq!(refused(Parameters { height: 0, ..Parameters::default() }), "height");
        assert_eq!(refused(Parameters { width: 2, height: 2, ..Parameters::default() }), "height");
        assert_eq!(refused(Parameters { cost_bound: 0, ..Parameters::default() }), "cost_bound");
        let parameters = Parameters { failing_probability: 2.0, ..Parameters::default() };
        assert_eq!(refused(parameters), "failing_probability");
    }
}
