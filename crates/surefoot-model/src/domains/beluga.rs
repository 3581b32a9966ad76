//! Beluga: cargo on its jigs goes from a plane through racks to two production lines.
//!
//! A plane is unloaded jig by jig, last slot first, onto a trailer. A trailer pushes its jig onto the front or the back
//! of a rack, a truck pops a jig from the front or the back, and brings it to the factory if it is the jig in demand, or
//! back to the trailer. Each production line takes its jigs in a fixed order; which line demands next is random.
//!
//! **Variables** for n jigs, r racks and at most M swaps:
//!
//! | variable | domain | meaning |
//! |---|---|---|
//! | `jig_j` | 0..n + r + 2 | slot on the plane (< n), rack k (n + k), trailer (n + r), truck (n + r + 1), delivered (n + r + 2) |
//! | `front_jig_j`, `back_jig_j` | −1..n − 1 | neighbours on the rack, −1 none |
//! | `rack_load_k` | 0..capacity | free places |
//! | `front_rack_k`, `back_rack_k` | −1..n − 1 | outermost jigs, −1 none |
//! | `empty_trailer_0`, `empty_truck` | 0..1 | |
//! | `beluga_0` | 0..n | jigs left on the plane |
//! | `next_jig` | −1..n − 1 | the jig in demand, −1 none |
//! | `line_0`, `line_1` | −1..n − 1 | next jig of each line, −1 all delivered |
//! | `num_swaps` | 0..M | pushes so far |
//!
//! **Labels**: `unload_beluga_0`, `send_to_factory`, `push_front_rack_k`, `push_back_rack_k`, `pop_front_rack_k`,
//! `pop_back_rack_k`, `unload_truck_0`. Pushing and unloading the truck draw the demand anew: line 0 with
//! `line_probability`, else line 1; a finished line demands nothing. (Were both finished, two edges with the same effect
//! would be enabled, but then there is no jig left to move.)
//!
//! **Unsafe**: see [`Hazard`]. **Goal**: all jigs delivered.
//!
//! **Start**: the n! orders of the jigs on the plane, everything else as in the initial state.

use serde_json::Value;

use super::build::{
    Chance, Model, Outcome, Property, add, all, assign, at_least, at_most, choice, eq, ne, product, shift,
    surely,
};
use super::{Generated, ParameterError, parameter};

const TRAILER: &str = "empty_trailer_0";
const TRUCK: &str = "empty_truck";
const PLANE: &str = "beluga_0";
const DEMAND: &str = "next_jig";
const LINES: [&str; 2] = ["line_0", "line_1"];
const SWAPS: &str = "num_swaps";

/// What counts as unsafe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hazard {
    /// `num_swaps` reaches its bound M.
    #[default]
    Swaps,
    /// The last rack has at most this many free places. As many as its capacity would make the start unsafe, fewer than
    /// its capacity minus the number of jigs are never reached; both are refused.
    LastRackFree(usize),
}

/// Parameters of an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// Number n of jigs, at least 2.
    pub jigs: usize,
    /// Number r of racks, at least 1.
    pub racks: usize,
    /// The orders in which the two production lines take their jigs; together each jig once.
    pub lines: [Vec<usize>; 2],
    /// Jigs that a rack holds, at least 1; none: three times the number of jigs.
    pub rack_capacity: Option<usize>,
    /// Pushes M after which no further one is possible, at least 1.
    pub max_swaps: usize,
    /// Probability that line 0 demands next, while both do.
    pub line_probability: f64,
    /// The unsafe condition.
    pub hazard: Hazard,
}

impl Default for Parameters {
    /// The instance 4/2 of the papers.
    fn default() -> Self {
        Self {
            jigs: 4,
            racks: 2,
            lines: [vec![0, 3], vec![2, 1]],
            rack_capacity: None,
            max_swaps: 6,
            line_probability: 0.5,
            hazard: Hazard::Swaps,
        }
    }
}

/// The two ends of a rack.
#[derive(Clone, Copy)]
struct End {
    name: &'static str,
    opposite: &'static str,
}

const FRONT: End = End { name: "front", opposite: "back" };
const BACK: End = End { name: "back", opposite: "front" };

impl End {
    /// Variable with the outermost jig of rack `k` at this end.
    fn of_rack(self, k: usize) -> String {
        format!("{}_rack_{k}", self.name)
    }

    fn opposite_of_rack(self, k: usize) -> String {
        format!("{}_rack_{k}", self.opposite)
    }

    /// Variable with the neighbour of jig `j` on the side of this end.
    fn of_jig(self, j: usize) -> String {
        format!("{}_jig_{j}", self.name)
    }

    fn opposite_of_jig(self, j: usize) -> String {
        format!("{}_jig_{j}", self.opposite)
    }
}

fn jig(j: usize) -> String {
    format!("jig_{j}")
}

fn rack_load(k: usize) -> String {
    format!("rack_load_{k}")
}

impl Parameters {
    fn check(&self) -> Result<(), ParameterError> {
        parameter::count("jigs", self.jigs, 2..=50)?;
        parameter::count("racks", self.racks, 1..=50)?;
        parameter::count("max_swaps", self.max_swaps, 1..=1_000_000)?;
        parameter::probability("line_probability", self.line_probability)?;
        parameter::count("rack_capacity", self.capacity(), 1..=1_000_000)?;
        if let Hazard::LastRackFree(free) = self.hazard {
            // With more free places the start is unsafe, with fewer nothing can be.
            let capacity = self.capacity();
            parameter::count("hazard", free, capacity.saturating_sub(self.jigs)..=capacity - 1)?;
        }
        let mut delivered = self.lines.concat();
        delivered.sort_unstable();
        if self.lines.iter().any(Vec::is_empty) || !delivered.into_iter().eq(0..self.jigs) {
            let allowed = format!("two orders that name each jig 0..{} once, none empty", self.jigs - 1);
            return Err(ParameterError::new("lines", format_args!("{:?}", self.lines), allowed));
        }
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.rack_capacity.unwrap_or(3 * self.jigs)
    }

    fn on_rack(&self, k: usize) -> usize {
        self.jigs + k
    }

    fn on_trailer(&self) -> usize {
        self.jigs + self.racks
    }

    fn on_truck(&self) -> usize {
        self.jigs + self.racks + 1
    }

    fn delivered(&self) -> usize {
        self.jigs + self.racks + 2
    }

    fn line_chance(&self) -> Chance {
        Chance { constant: "line_probability", value: self.line_probability }
    }

    /// −1 and the jigs other than `j`.
    fn nobody_or_others(&self, j: usize) -> impl Iterator<Item = Option<usize>> + use<> {
        [None].into_iter().chain((0..self.jigs).filter(move |&other| other != j).map(Some))
    }

    /// The demand is line 0's `first` with the line's probability, else line 1's `second`.
    fn drawn(&self, first: impl Into<Value>, second: impl Into<Value>) -> Vec<Outcome> {
        let exception = (self.line_chance(), vec![assign(DEMAND, first)]);
        choice(vec![assign(DEMAND, second)], vec![exception])
    }

    /// The three cases in which the demand is drawn anew.
    fn redraws(&self) -> [(Vec<Value>, Vec<Outcome>); 3] {
        let [first, second] = LINES;
        [
            (vec![at_least(first, 0), at_least(second, 0)], self.drawn(first, second)),
            (vec![at_most(first, -1)], surely(vec![assign(DEMAND, second)])),
            (vec![at_most(second, -1)], surely(vec![assign(DEMAND, first)])),
        ]
    }
}

/// The value of a jig variable that may be empty.
fn code(jig: Option<usize>) -> i64 {
    jig.map_or(-1, |j| j as i64)
}

/// Writes the instance.
pub fn generate(parameters: &Parameters) -> Result<Generated, ParameterError> {
    parameters.check()?;
    let mut model = Model::new(format!("beluga_{}_{}", parameters.jigs, parameters.racks));
    model.chance_if_positive(parameters.line_chance());
    declare_variables(&mut model, parameters);
    declare_labels(&mut model, parameters);
    for j in 0..parameters.jigs {
        let guard = vec![at_least(TRAILER, 1), eq(jig(j), add(PLANE, -1))];
        let effect = vec![assign(jig(j), parameters.on_trailer()), assign(TRAILER, 0), shift(PLANE, -1)];
        model.edge("unload_beluga_0", guard, surely(effect));
    }
    for end in [FRONT, BACK] {
        add_pushes(&mut model, parameters, end);
    }
    for end in [FRONT, BACK] {
        add_pops(&mut model, parameters, end);
    }
    add_returns(&mut model, parameters);
    add_deliveries(&mut model, parameters);
    Ok(model.finish(Property { start: start(parameters), reach: reach(parameters), goal: goal(parameters) }))
}

fn declare_variables(model: &mut Model, parameters: &Parameters) {
    let n = parameters.jigs as i64;
    for j in 0..parameters.jigs {
        model.variable(jig(j), 0, parameters.delivered() as i64, j as i64);
    }
    for end in [FRONT, BACK] {
        for j in 0..parameters.jigs {
            model.variable(end.of_jig(j), -1, n - 1, -1);
        }
    }
    let capacity = parameters.capacity() as i64;
    for k in 0..parameters.racks {
        model.variable(rack_load(k), 0, capacity, capacity);
    }
    for end in [FRONT, BACK] {
        for k in 0..parameters.racks {
            model.variable(end.of_rack(k), -1, n - 1, -1);
        }
    }
    model.variable(TRAILER, 0, 1, 1);
    model.variable(PLANE, 0, n, n);
    model.variable(DEMAND, -1, n - 1, parameters.lines[0][0] as i64);
    for (name, order) in LINES.iter().zip(&parameters.lines) {
        model.variable(*name, -1, n - 1, order[0] as i64);
    }
    model.variable(TRUCK, 0, 1, 1);
    model.variable(SWAPS, 0, parameters.max_swaps as i64, 0);
}

fn declare_labels(model: &mut Model, parameters: &Parameters) {
    model.label("unload_beluga_0");
    model.label("send_to_factory");
    for operation in ["push_front", "push_back", "pop_front", "pop_back"] {
        for k in 0..parameters.racks {
            model.label(format!("{operation}_rack_{k}"));
        }
    }
    model.label("unload_truck_0");
}

fn add_pushes(model: &mut Model, parameters: &Parameters, end: End) {
    for k in 0..parameters.racks {
        for j in 0..parameters.jigs {
            for outermost in parameters.nobody_or_others(j) {
                let guard = vec![
                    eq(jig(j), parameters.on_trailer()),
                    at_least(rack_load(k), 1),
                    eq(end.of_rack(k), code(outermost)),
                    at_most(SWAPS, parameters.max_swaps - 1),
                ];
                let mut effect = vec![
                    assign(TRAILER, 1),
                    shift(&rack_load(k), -1),
                    assign(jig(j), parameters.on_rack(k)),
                    shift(SWAPS, 1),
                    assign(end.of_rack(k), j),
                ];
                effect.extend(match outermost {
                    None => [
                        assign(end.opposite_of_rack(k), j),
                        assign(FRONT.of_jig(j), -1),
                        assign(BACK.of_jig(j), -1),
                    ]
                    .to_vec(),
                    Some(f) => vec![assign(end.opposite_of_jig(j), f), assign(end.of_jig(f), j)],
                });
                let label = format!("push_{}_rack_{k}", end.name);
                add_with_redraw(model, parameters, &label, &guard, &effect);
            }
        }
    }
}

fn add_pops(model: &mut Model, parameters: &Parameters, end: End) {
    for k in 0..parameters.racks {
        for j in 0..parameters.jigs {
            for next in parameters.nobody_or_others(j) {
                let guard = vec![
                    eq(jig(j), parameters.on_rack(k)),
                    eq(end.of_rack(k), j),
                    eq(end.opposite_of_jig(j), code(next)),
                    at_least(TRUCK, 1),
                ];
                let mut effect = vec![
                    assign(TRUCK, 0),
                    assign(jig(j), parameters.on_truck()),
                    assign(end.opposite_of_jig(j), -1),
                    shift(&rack_load(k), 1),
                    assign(end.of_rack(k), code(next)),
                ];
                effect.push(match next {
                    None => assign(end.opposite_of_rack(k), -1),
                    Some(b) => assign(end.of_jig(b), -1),
                });
                model.edge(&format!("pop_{}_rack_{k}", end.name), guard, surely(effect));
            }
        }
    }
}

/// The truck hands its jig back to the trailer.
fn add_returns(model: &mut Model, parameters: &Parameters) {
    for j in 0..parameters.jigs {
        let guard = [eq(jig(j), parameters.on_truck()), at_least(TRAILER, 1)];
        let effect = [assign(jig(j), parameters.on_trailer()), assign(TRAILER, 0), assign(TRUCK, 1)];
        add_with_redraw(model, parameters, "unload_truck_0", &guard, &effect);
    }
}

fn add_with_redraw(
    model: &mut Model,
    parameters: &Parameters,
    label: &str,
    guard: &[Value],
    effect: &[Value],
) {
    for (lines, outcomes) in parameters.redraws() {
        let outcomes = product(&surely(effect.to_vec()), &outcomes);
        model.edge(label, [guard, &lines].concat(), outcomes);
    }
}

fn add_deliveries(model: &mut Model, parameters: &Parameters) {
    for (own, order) in parameters.lines.iter().enumerate() {
        for (position, &j) in order.iter().enumerate() {
            let successor = order.get(position + 1).copied();
            let others = [None].into_iter().chain(parameters.lines[1 - own].iter().copied().map(Some));
            for other in others {
                let guard =
                    vec![eq(DEMAND, j), eq(jig(j), parameters.on_truck()), eq(LINES[1 - own], code(other))];
                let effect = vec![
                    assign(TRUCK, 1),
                    assign(jig(j), parameters.delivered()),
                    assign(LINES[own], code(successor)),
                ];
                let demand = match (successor, other) {
                    (Some(successor), Some(other)) if own == 0 => parameters.drawn(successor, other),
                    (Some(successor), Some(other)) => parameters.drawn(other, successor),
                    (one, none) => surely(vec![assign(DEMAND, code(one.or(none)))]),
                };
                model.edge("send_to_factory", guard, product(&surely(effect), &demand));
            }
        }
    }
}

fn start(parameters: &Parameters) -> Value {
    let n = parameters.jigs;
    let mut conjuncts = Vec::new();
    for j in 0..n {
        conjuncts.push(at_most(jig(j), n - 1));
        conjuncts.extend((0..j).map(|other| ne(jig(other), jig(j))));
    }
    for end in [FRONT, BACK] {
        conjuncts.extend((0..n).map(|j| eq(end.of_jig(j), -1)));
        conjuncts.extend((0..parameters.racks).map(|k| eq(end.of_rack(k), -1)));
    }
    conjuncts.extend((0..parameters.racks).map(|k| eq(rack_load(k), parameters.capacity())));
    conjuncts.extend([eq(TRAILER, 1), eq(TRUCK, 1), eq(PLANE, n), eq(SWAPS, 0)]);
    conjuncts.push(eq(DEMAND, parameters.lines[0][0]));
    conjuncts.extend(LINES.iter().zip(&parameters.lines).map(|(name, order)| eq(*name, order[0])));
    all(&conjuncts)
}

fn reach(parameters: &Parameters) -> Value {
    match parameters.hazard {
        Hazard::Swaps => at_least(SWAPS, parameters.max_swaps),
        Hazard::LastRackFree(free) => at_most(rack_load(parameters.racks - 1), free),
    }
}

fn goal(parameters: &Parameters) -> Value {
    let delivered: Vec<_> = (0..parameters.jigs).map(|j| eq(jig(j), parameters.delivered())).collect();
    all(&delivered)
}

#[cfg(test)]
mod tests {
    use super::super::tests::edges;
    use super::*;

    #[test]
    fn the_known_instance_has_its_size() {
        let generated = generate(&Parameters::default()).expect("valid parameters");
        assert_eq!(edges(&generated).len(), 284);
        assert_eq!(generated.variables.len(), 12 + 6 + 7);
        assert_eq!(generated.labels.len(), 2 + 4 * 2 + 1);
    }

    #[test]
    fn senseless_parameters_are_refused() {
        let refused = |parameters: Parameters| generate(&parameters).expect_err("refused").parameter;
        assert_eq!(refused(Parameters { jigs: 1, ..Parameters::default() }), "jigs");
        assert_eq!(refused(Parameters { racks: 0, ..Parameters::default() }), "racks");
        assert_eq!(refused(Parameters { max_swaps: 0, ..Parameters::default() }), "max_swaps");
        assert_eq!(refused(Parameters { rack_capacity: Some(0), ..Parameters::default() }), "rack_capacity");
        for free in [7, 12] {
            let hazard = Hazard::LastRackFree(free);
            assert_eq!(refused(Parameters { hazard, ..Parameters::default() }), "hazard");
        }
        assert_eq!(
            refused(Parameters { line_probability: 1.1, ..Parameters::default() }),
            "line_probability"
        );
        for lines in [
            [vec![0, 1, 2, 3], vec![]],
            [vec![0, 1], vec![2]],
            [vec![0, 1], vec![1, 2, 3]],
            [vec![0, 1], vec![2, 4]],
        ] {
            assert_eq!(refused(Parameters { lines, ..Parameters::default() }), "lines");
        }
    }
}
