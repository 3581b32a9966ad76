//! Transport with inertia on a line: a truck that accelerates and brakes must not drive off the end.
//!
//! **Variables**: `location_load_l` 0..P, `truck_0` 0..L − 1, `truck_load_0` 0..Q, `truck_vel_0` 0..V (two-way: −V..V),
//! `aux_vel` −1..V (−1 after a crash, else without meaning); with a tank `tank_0`.
//!
//! **Labels**: `pick_up_truck_0`, `drop_truck_0`, `acc`, `dec`, `move`.
//!
//! - Packages are moved one at a time, at velocity 0. One-way: picked up anywhere but at the goal location and dropped
//!   only there. Two-way: anywhere.
//! - `acc`, `dec` and `move` first move the truck by its velocity, then raise, lower or keep the velocity, within its
//!   bounds. One-way `move` needs a loaded, moving truck.
//! - From location l with a velocity that would leave the line (≥ L − l, or ≤ −(l + 1)), these three crash: `aux_vel`
//!   becomes −1 and nothing else happens.
//!
//! **Unsafe**: `aux_vel` ≤ −1. **Goal**: all packages and the truck at the goal location, `aux_vel` ≥ 0.
//!
//! **Start**: truck at location 0 with velocity 0, `aux_vel` ≥ 0, the packages anywhere but at the goal location, some
//! perhaps on the truck.
//!
//! Options. The sources name them without all details; this is our reading:
//! - `icy_probability`: at an icy location `acc` and `dec` may leave the velocity as it is, and `move` may raise the speed
//!   of a moving truck by one (not beyond V).
//! - `dropping_probability`: a loaded truck in motion may lose one package, which stays where the truck was.
//! - `slipping_probability`: a pick-up or drop may have no effect.
//! - `parking`: the goal also asks for velocity 0.
//! - `tank_capacity`: `acc`, `dec` and `move` take one unit of fuel and are impossible without; an empty tank anywhere
//!   but at the goal location is unsafe too.

use serde_json::Value;

use super::build::{
    Chance, Model, Outcome, Property, all, any, assign, at_least, at_most, choice, eq, ne, product, shift,
    sum, surely,
};
use super::{Generated, ParameterError, parameter};

const TRUCK: &str = "truck_0";
const LOAD: &str = "truck_load_0";
const VELOCITY: &str = "truck_vel_0";
const CRASH: &str = "aux_vel";
const TANK: &str = "tank_0";
const PICK_UP: &str = "pick_up_truck_0";
const DROP: &str = "drop_truck_0";

/// In which directions the truck can drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// Forward only.
    #[default]
    OneWay,
    /// Forward and backward.
    TwoWay,
}

/// Parameters of an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// One-way or two-way.
    pub direction: Direction,
    /// Number P of packages, at least 1.
    pub packages: usize,
    /// Number L of locations, at least 2.
    pub locations: usize,
    /// Packages Q that the truck holds, at least 1.
    pub truck_capacity: usize,
    /// Largest speed V, at least 1.
    pub top_speed: usize,
    /// Where the packages belong, 1..L − 1; none: the last location.
    pub goal_location: Option<usize>,
    /// The icy locations; none may be listed twice.
    pub icy_locations: Vec<usize>,
    /// Probability that the velocity does not obey at an icy location.
    pub icy_probability: f64,
    /// Probability that a loaded truck in motion loses a package.
    pub dropping_probability: f64,
    /// Probability that a pick-up or drop has no effect.
    pub slipping_probability: f64,
    /// Whether the goal asks for velocity 0.
    pub parking: bool,
    /// Units of fuel in the tank, at least 1; none: fuel is not modelled.
    pub tank_capacity: Option<usize>,
}

impl Default for Parameters {
    /// The one-way instance 15/10 of the papers.
    fn default() -> Self {
        Self {
            direction: Direction::OneWay,
            packages: 15,
            locations: 10,
            truck_capacity: 15,
            top_speed: 3,
            goal_location: None,
            icy_locations: Vec::new(),
            icy_probability: 0.0,
            dropping_probability: 0.0,
            slipping_probability: 0.0,
            parking: false,
            tank_capacity: None,
        }
    }
}

impl Parameters {
    fn check(&self) -> Result<(), ParameterError> {
        parameter::count("packages", self.packages, 1..=10_000)?;
        parameter::count("locations", self.locations, 2..=10_000)?;
        parameter::count("truck_capacity", self.truck_capacity, 1..=10_000)?;
        parameter::count("top_speed", self.top_speed, 1..=10_000)?;
        parameter::count("goal_location", self.goal(), 1..=self.locations - 1)?;
        for (position, &location) in self.icy_locations.iter().enumerate() {
            parameter::count("icy_locations", location, 0..=self.locations - 1)?;
            if self.icy_locations[..position].contains(&location) {
                let given = format_args!("listing {location} twice");
                return Err(ParameterError::new("icy_locations", given, "a list of different locations"));
            }
        }
        parameter::probability("icy_probability", self.icy_probability)?;
        parameter::probability("dropping_probability", self.dropping_probability)?;
        parameter::probability("slipping_probability", self.slipping_probability)?;
        if let Some(capacity) = self.tank_capacity {
            parameter::count("tank_capacity", capacity, 1..=1_000_000)?;
        }
        Ok(())
    }

    fn goal(&self) -> usize {
        self.goal_location.unwrap_or(self.locations.saturating_sub(1))
    }

    fn two_way(&self) -> bool {
        self.direction == Direction::TwoWay
    }

    fn fastest(&self) -> i64 {
        self.top_speed as i64
    }

    fn slowest(&self) -> i64 {
        if self.two_way() { -self.fastest() } else { 0 }
    }

    fn ice(&self) -> Chance {
        Chance { constant: "icy_probability", value: self.icy_probability }
    }

    fn dropping(&self) -> Chance {
        Chance { constant: "dropping_probability", value: self.dropping_probability }
    }

    fn slipping(&self) -> Chance {
        Chance { constant: "slipping_probability", value: self.slipping_probability }
    }

    fn name(&self) -> String {
        let direction = if self.two_way() { "two" } else { "one" };
        format!("{direction}_way_line_{}_{}", self.packages, self.locations)
    }
}

/// How a driving label changes the velocity.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Drive {
    Accelerate,
    Decelerate,
    Keep,
}

impl Drive {
    const ALL: [Self; 3] = [Self::Accelerate, Self::Decelerate, Self::Keep];

    fn label(self) -> &'static str {
        match self {
            Self::Accelerate => "acc",
            Self::Decelerate => "dec",
            Self::Keep => "move",
        }
    }

    fn guard(self, parameters: &Parameters) -> Vec<Value> {
        match self {
            Self::Accelerate => vec![at_most(VELOCITY, parameters.fastest() - 1)],
            Self::Decelerate => vec![at_least(VELOCITY, parameters.slowest() + 1)],
            Self::Keep if parameters.two_way() => Vec::new(),
            Self::Keep => vec![at_least(VELOCITY, 1), at_least(LOAD, 1)],
        }
    }
}

/// A part of a label's behaviour under an additional guard.
type Case = (Vec<Value>, Vec<Outcome>);

fn location_load(l: usize) -> String {
    format!("location_load_{l}")
}

/// Writes the instance.
pub fn generate(parameters: &Parameters) -> Result<Generated, ParameterError> {
    parameters.check()?;
    let mut model = Model::new(parameters.name());
    if !parameters.icy_locations.is_empty() {
        model.chance_if_positive(parameters.ice());
    }
    model.chance_if_positive(parameters.dropping());
    model.chance_if_positive(parameters.slipping());
    declare_variables(&mut model, parameters);
    for label in [PICK_UP, DROP].into_iter().chain(Drive::ALL.map(Drive::label)) {
        model.label(label);
    }
    add_package_edges(&mut model, parameters);
    for drive in Drive::ALL {
        for l in 0..parameters.locations {
            add_crashes(&mut model, parameters, drive, l);
            add_drives(&mut model, parameters, drive, l);
        }
    }
    Ok(model.finish(Property { start: start(parameters), reach: reach(parameters), goal: goal(parameters) }))
}

fn declare_variables(model: &mut Model, parameters: &Parameters) {
    let packages = parameters.packages as i64;
    for l in 0..parameters.locations {
        model.variable(location_load(l), 0, packages, if l == 0 { packages } else { 0 });
    }
    model.variable(TRUCK, 0, parameters.locations as i64 - 1, 0);
    model.variable(LOAD, 0, parameters.truck_capacity as i64, 0);
    model.variable(VELOCITY, parameters.slowest(), parameters.fastest(), 0);
    model.variable(CRASH, -1, parameters.fastest(), 1);
    if let Some(capacity) = parameters.tank_capacity {
        model.variable(TANK, 0, capacity as i64, capacity as i64);
    }
}

fn add_package_edges(model: &mut Model, parameters: &Parameters) {
    let may_slip = |effect: Vec<Value>| choice(effect, vec![(parameters.slipping(), Vec::new())]);
    for l in (0..parameters.locations).filter(|&l| parameters.two_way() || l != parameters.goal()) {
        let guard = vec![
            eq(TRUCK, l),
            eq(VELOCITY, 0),
            at_most(LOAD, parameters.truck_capacity - 1),
            at_least(location_load(l), 1),
        ];
        let effect = vec![shift(LOAD, 1), shift(&location_load(l), -1)];
        model.edge(PICK_UP, guard, may_slip(effect));
    }
    for l in (0..parameters.locations).filter(|&l| parameters.two_way() || l == parameters.goal()) {
        let guard = vec![eq(TRUCK, l), eq(VELOCITY, 0), at_least(LOAD, 1)];
        let effect = vec![shift(LOAD, -1), shift(&location_load(l), 1)];
        model.edge(DROP, guard, may_slip(effect));
    }
}

/// Velocity bounds within which the truck at location `l` stays on the line, where they exclude something.
fn ends(parameters: &Parameters, l: usize) -> (Option<i64>, Option<i64>) {
    let forward = (parameters.locations - 1 - l) as i64;
    let backward = -(l as i64);
    (
        (parameters.slowest() < backward).then_some(backward),
        (forward < parameters.fastest()).then_some(forward),
    )
}

fn at_location(parameters: &Parameters, l: usize) -> Vec<Value> {
    let fuel = parameters.tank_capacity.map(|_| at_least(TANK, 1));
    [eq(TRUCK, l)].into_iter().chain(fuel).collect()
}

fn add_crashes(model: &mut Model, parameters: &Parameters, drive: Drive, l: usize) {
    let (backward, forward) = ends(parameters, l);
    let too_fast = forward.map(|bound| at_least(VELOCITY, bound + 1));
    let too_slow = backward.map(|bound| at_most(VELOCITY, bound - 1));
    for beyond in too_fast.into_iter().chain(too_slow) {
        let guard = [at_location(parameters, l), vec![beyond]].concat();
        model.edge(drive.label(), guard, surely(vec![assign(CRASH, -1)]));
    }
}

fn add_drives(model: &mut Model, parameters: &Parameters, drive: Drive, l: usize) {
    let (backward, forward) = ends(parameters, l);
    let mut guard = at_location(parameters, l);
    guard.extend(forward.map(|bound| at_most(VELOCITY, bound)));
    guard.extend(backward.map(|bound| at_least(VELOCITY, bound)));
    guard.extend(drive.guard(parameters));

    let mut motion = vec![assign(TRUCK, super::build::add(TRUCK, VELOCITY))];
    motion.extend(parameters.tank_capacity.map(|_| shift(TANK, -1)));
    let motion = surely(motion);
    for (velocity_guard, velocity_outcomes) in velocity_cases(parameters, drive, l) {
        for (load_guard, load_outcomes) in load_cases(parameters, l) {
            let guard = [guard.clone(), velocity_guard.clone(), load_guard].concat();
            let outcomes = product(&product(&motion, &velocity_outcomes), &load_outcomes);
            model.edge(drive.label(), guard, outcomes);
        }
    }
}

fn velocity_cases(parameters: &Parameters, drive: Drive, l: usize) -> Vec<Case> {
    let icy = parameters.icy_locations.contains(&l) && parameters.icy_probability > 0.0;
    let obeys = match drive {
        Drive::Accelerate => vec![shift(VELOCITY, 1)],
        Drive::Decelerate => vec![shift(VELOCITY, -1)],
        Drive::Keep => Vec::new(),
    };
    if !icy || (drive == Drive::Keep && parameters.top_speed == 1) {
        return vec![(Vec::new(), surely(obeys))];
    }
    let ice = |slides: Vec<Value>| choice(obeys.clone(), vec![(parameters.ice(), slides)]);
    if drive != Drive::Keep {
        return vec![(Vec::new(), ice(Vec::new()))];
    }
    let top = parameters.fastest();
    let mut cases = vec![
        (vec![at_least(VELOCITY, 1), at_most(VELOCITY, top - 1)], ice(vec![shift(VELOCITY, 1)])),
        (vec![eq(VELOCITY, top)], surely(Vec::new())),
    ];
    if parameters.two_way() {
        cases.extend([
            (vec![eq(VELOCITY, 0)], surely(Vec::new())),
            (vec![at_least(VELOCITY, 1 - top), at_most(VELOCITY, -1)], ice(vec![shift(VELOCITY, -1)])),
            (vec![eq(VELOCITY, -top)], surely(Vec::new())),
        ]);
    }
    cases
}

fn load_cases(parameters: &Parameters, l: usize) -> Vec<Case> {
    if parameters.dropping_probability <= 0.0 {
        return vec![(Vec::new(), surely(Vec::new()))];
    }
    let lost = vec![shift(LOAD, -1), shift(&location_load(l), 1)];
    vec![
        (vec![at_least(LOAD, 1), ne(VELOCITY, 0)], choice(Vec::new(), vec![(parameters.dropping(), lost)])),
        (vec![any(&[at_most(LOAD, 0), eq(VELOCITY, 0)])], surely(Vec::new())),
    ]
}

fn start(parameters: &Parameters) -> Value {
    let mut loads: Vec<Value> = (0..parameters.locations).map(|l| location_load(l).into()).collect();
    loads.push(LOAD.into());
    let mut conjuncts = vec![
        at_least(CRASH, 0),
        eq(VELOCITY, 0),
        eq(TRUCK, 0),
        eq(location_load(parameters.goal()), 0),
        eq(sum(&loads), parameters.packages),
    ];
    conjuncts.extend(parameters.tank_capacity.map(|capacity| eq(TANK, capacity)));
    all(&conjuncts)
}

fn reach(parameters: &Parameters) -> Value {
    let stranded = parameters.tank_capacity.map(|_| all(&[at_most(TANK, 0), ne(TRUCK, parameters.goal())]));
    let disjuncts: Vec<_> = [at_most(CRASH, -1)].into_iter().chain(stranded).collect();
    any(&disjuncts)
}

fn goal(parameters: &Parameters) -> Value {
    let goal = parameters.goal();
    let mut conjuncts =
        vec![eq(location_load(goal), parameters.packages), eq(TRUCK, goal), at_least(CRASH, 0)];
    if parameters.parking {
        conjuncts.push(eq(VELOCITY, 0));
    }
    all(&conjuncts)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{edges, model};
    use super::*;

    #[test]
    fn the_one_way_instance_is_deterministic() {
        let generated = generate(&Parameters::default()).expect("valid parameters");
        assert_eq!(model(&generated)["type"], "lts");
        // Nine pick-ups, one drop; per driving label ten drives and a crash at each of the last three locations.
        assert_eq!(edges(&generated).len(), 9 + 1 + 3 * (10 + 3));
        assert_eq!(generated.variables.len(), 14);
        assert_eq!(generated.labels, ["pick_up_truck_0", "drop_truck_0", "acc", "dec", "move"]);
    }

    #[test]
    fn the_two_way_line_crashes_at_both_ends() {
        let parameters = Parameters { direction: Direction::TwoWay, ..Parameters::default() };
        let generated = generate(&parameters).expect("valid parameters");
        assert_eq!(edges(&generated).len(), 10 + 10 + 3 * (10 + 3 + 3));
        let velocity = generated.variables.iter().find(|variable| variable.name == VELOCITY);
        assert_eq!(velocity.map(|variable| variable.lower), Some(-3));
    }

    #[test]
    fn independent_mishaps_multiply() {
        let parameters = Parameters {
            icy_locations: vec![2],
            icy_probability: 0.5,
            dropping_probability: 0.25,
            ..Parameters::default()
        };
        let generated = generate(&parameters).expect("valid parameters");
        let outcomes = |edge: &Value| edge["destinations"].as_array().expect("a list").len();
        assert_eq!(edges(&generated).iter().map(outcomes).max(), Some(4));
        assert_eq!(model(&generated)["type"], "mdp");
    }

    #[test]
    fn senseless_parameters_are_refused() {
        let refused = |parameters: Parameters| generate(&parameters).expect_err("refused").parameter;
        assert_eq!(refused(Parameters { packages: 0, ..Parameters::default() }), "packages");
        assert_eq!(refused(Parameters { locations: 0, ..Parameters::default() }), "locations");
        assert_eq!(refused(Parameters { truck_capacity: 0, ..Parameters::default() }), "truck_capacity");
        assert_eq!(refused(Parameters { top_speed: 0, ..Parameters::default() }), "top_speed");
        assert_eq!(refused(Parameters { goal_location: Some(10), ..Parameters::default() }), "goal_location");
        assert_eq!(refused(Parameters { goal_location: Some(0), ..Parameters::default() }), "goal_location");
        assert_eq!(refused(Parameters { icy_locations: vec![10], ..Parameters::default() }), "icy_locations");
        assert_eq!(
            refused(Parameters { icy_locations: vec![1, 1], ..Parameters::default() }),
            "icy_locations"
        );
        let parameters = Parameters { icy_probability: -1.0, ..Parameters::default() };
        assert_eq!(refused(parameters), "icy_probability");
        assert_eq!(refused(Parameters { tank_capacity: Some(0), ..Parameters::default() }), "tank_capacity");
    }
}
