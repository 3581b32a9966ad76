//! Transport on a line of locations ('linetrack'): bring all packages to the last location with one truck.
//!
//! **Variables**: `location_load_l` 0..P for each location l, `truck_0` 0..L − 1 (where the truck is), `truck_load_0`
//! 0..Q, `last_capacity_diff` −Q..Q (what the road just used can bear, minus the load); with a tank `tank_0`, in the
//! probabilistic variant `dropped` 0..1. Packages are not told apart.
//!
//! **Labels**: `pick_up_truck_0` and `drop_truck_0` move one package; `drive_forward` and `drive_backward` move the truck
//! by one location. Driving needs nothing but a road; it sets `last_capacity_diff` to the road's capacity minus the
//! load. A road forward bears Q packages, except for the last one, a bridge, which bears `bridge_capacity`; roads
//! backward bear none.
//!
//! **Unsafe**: `last_capacity_diff` ≤ −1. **Goal**: all packages and the truck at the last location, nothing unsafe.
//!
//! **Start**: the packages anywhere but at the last location, some perhaps on the truck; the truck anywhere but there;
//! `last_capacity_diff` = 0. C(P + L − 1, L − 1) · (L − 1) states if the truck can hold all packages.
//!
//! Options, as far as the sources describe them:
//! - `dropping_probability`: a loaded truck that drives off loses one package, which stays where the truck was.
//! - `tank_capacity`: driving takes one unit of fuel and is impossible without; an empty tank anywhere but at the last
//!   location is unsafe too.
//! - Probabilistic variant: a truck that drives off with at least two packages loses one with
//!   `hazard_probability`, and that is unsafe.

use serde_json::Value;

use super::build::{
    Chance, Model, Outcome, Property, all, any, assign, at_least, at_most, choice, eq, shift, subtract, sum,
    surely,
};
use super::{Generated, ParameterError, parameter};

const TRUCK: &str = "truck_0";
const LOAD: &str = "truck_load_0";
const DIFFERENCE: &str = "last_capacity_diff";
const TANK: &str = "tank_0";
const DROPPED: &str = "dropped";

/// Parameters of an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// Number P of packages, at least 1.
    pub packages: usize,
    /// Number L of locations, at least 2.
    pub locations: usize,
    /// Packages Q that the truck holds, at least 1.
    pub truck_capacity: usize,
    /// Packages that the last road bears, 1..Q.
    pub bridge_capacity: usize,
    /// Probability that a driving truck loses a package, harmlessly.
    pub dropping_probability: f64,
    /// Units of fuel in the tank, at least 1; none: fuel is not modelled.
    pub tank_capacity: Option<usize>,
    /// Whether a truck with at least two packages may lose one, which is unsafe.
    pub probabilistic: bool,
    /// Probability of that loss; without effect unless `probabilistic`.
    pub hazard_probability: f64,
}

impl Default for Parameters {
    /// The instance 15/10 of the papers.
    fn default() -> Self {
        Self {
            packages: 15,
            locations: 10,
            truck_capacity: 15,
            bridge_capacity: 1,
            dropping_probability: 0.0,
            tank_capacity: None,
            probabilistic: false,
            hazard_probability: 0.1,
        }
    }
}

/// A loss of packages while driving.
struct Loss {
    chance: Chance,
    /// Smallest load from which a package may be lost.
    from_load: i64,
    is_unsafe: bool,
}

impl Parameters {
    fn check(&self) -> Result<(), ParameterError> {
        parameter::count("packages", self.packages, 1..=10_000)?;
        parameter::count("locations", self.locations, 2..=10_000)?;
        parameter::count("truck_capacity", self.truck_capacity, 1..=10_000)?;
        parameter::count("bridge_capacity", self.bridge_capacity, 1..=self.truck_capacity)?;
        parameter::probability("dropping_probability", self.dropping_probability)?;
        if let Some(capacity) = self.tank_capacity {
            parameter::count("tank_capacity", capacity, 1..=1_000_000)?;
        }
        if self.probabilistic {
            parameter::probability("hazard_probability", self.hazard_probability)?;
            if self.dropping_probability > 0.0 {
                let allowed = "0 in the probabilistic variant, whose losses are unsafe";
                return Err(ParameterError::new("dropping_probability", self.dropping_probability, allowed));
            }
        }
        Ok(())
    }

    fn loss(&self) -> Loss {
        let (value, from_load) =
            if self.probabilistic { (self.hazard_probability, 2) } else { (self.dropping_probability, 1) };
        let chance = Chance { constant: "dropping_probability", value };
        Loss { chance, from_load, is_unsafe: self.probabilistic }
    }

    fn last(&self) -> usize {
        self.locations - 1
    }

    /// Packages that the road forward from location `from` bears.
    fn forward_capacity(&self, from: usize) -> usize {
        if from + 1 == self.last() { self.bridge_capacity } else { self.truck_capacity }
    }
}

fn location_load(l: usize) -> String {
    format!("location_load_{l}")
}

/// Writes the instance.
pub fn generate(parameters: &Parameters) -> Result<Generated, ParameterError> {
    parameters.check()?;
    let loss = parameters.loss();
    let variant = if parameters.probabilistic { "_probabilistic" } else { "" };
    let name = format!("transport_{}_{}{variant}", parameters.packages, parameters.locations);
    let mut model = Model::new(name);
    model.chance_if_positive(loss.chance);
    declare_variables(&mut model, parameters);
    for label in ["pick_up_truck_0", "drop_truck_0", "drive_forward", "drive_backward"] {
        model.label(label);
    }
    for l in 0..parameters.locations {
        let guard =
            vec![eq(TRUCK, l), at_most(LOAD, parameters.truck_capacity - 1), at_least(location_load(l), 1)];
        let effect = vec![shift(LOAD, 1), shift(&location_load(l), -1)];
        model.edge("pick_up_truck_0", guard, surely(effect));
    }
    for l in 0..parameters.locations {
        let guard = vec![eq(TRUCK, l), at_least(LOAD, 1)];
        let effect = vec![shift(LOAD, -1), shift(&location_load(l), 1)];
        model.edge("drop_truck_0", guard, surely(effect));
    }
    for target in 0..parameters.locations {
        if target > 0 {
            let capacity = parameters.forward_capacity(target - 1);
            add_drive(&mut model, parameters, &loss, "drive_forward", (target - 1, target, capacity));
        }
        if target < parameters.last() {
            add_drive(&mut model, parameters, &loss, "drive_backward", (target + 1, target, 0));
        }
    }
    Ok(model.finish(Property { start: start(parameters), reach: reach(parameters), goal: goal(parameters) }))
}

fn declare_variables(model: &mut Model, parameters: &Parameters) {
    let packages = parameters.packages as i64;
    let capacity = parameters.truck_capacity as i64;
    for l in 0..parameters.locations {
        model.variable(location_load(l), 0, packages, if l == 0 { packages } else { 0 });
    }
    model.variable(TRUCK, 0, parameters.last() as i64, 0);
    model.variable(LOAD, 0, capacity, 0);
    model.variable(DIFFERENCE, -capacity, capacity, 0);
    if let Some(capacity) = parameters.tank_capacity {
        model.variable(TANK, 0, capacity as i64, capacity as i64);
    }
    if parameters.probabilistic {
        model.variable(DROPPED, 0, 1, 0);
    }
}

/// Adds the edges of the road from location `from` to location `to` that bears `capacity` packages.
fn add_drive(
    model: &mut Model,
    parameters: &Parameters,
    loss: &Loss,
    label: &str,
    (from, to, capacity): (usize, usize, usize),
) {
    let mut guard = vec![eq(TRUCK, from)];
    let mut arrival = vec![assign(TRUCK, to)];
    if parameters.tank_capacity.is_some() {
        guard.push(at_least(TANK, 1));
        arrival.push(shift(TANK, -1));
    }
    let mut add = |load: Vec<Value>, outcomes: Vec<Outcome>| {
        model.edge(label, [guard.clone(), load].concat(), outcomes);
    };
    let usual = [arrival.clone(), vec![assign(DIFFERENCE, subtract(capacity, LOAD))]].concat();
    if loss.chance.value <= 0.0 {
        add(Vec::new(), surely(usual));
        return;
    }
    // The lost package does not enter the road any more.
    let mut lossy = arrival;
    lossy.push(assign(DIFFERENCE, subtract(capacity + 1, LOAD)));
    lossy.extend([shift(LOAD, -1), shift(&location_load(from), 1)]);
    if loss.is_unsafe {
        lossy.push(assign(DROPPED, 1));
    }
    add(vec![at_most(LOAD, loss.from_load - 1)], surely(usual.clone()));
    add(vec![at_least(LOAD, loss.from_load)], choice(usual, vec![(loss.chance, lossy)]));
}

fn start(parameters: &Parameters) -> Value {
    let mut loads: Vec<Value> = (0..parameters.locations).map(|l| location_load(l).into()).collect();
    loads.push(LOAD.into());
    let mut conjuncts = vec![
        eq(DIFFERENCE, 0),
        at_most(TRUCK, parameters.last() - 1),
        eq(location_load(parameters.last()), 0),
        eq(sum(&loads), parameters.packages),
    ];
    if let Some(capacity) = parameters.tank_capacity {
        conjuncts.push(eq(TANK, capacity));
    }
    if parameters.probabilistic {
        conjuncts.push(eq(DROPPED, 0));
    }
    all(&conjuncts)
}

fn reach(parameters: &Parameters) -> Value {
    let mut disjuncts = vec![at_most(DIFFERENCE, -1)];
    if parameters.tank_capacity.is_some() {
        disjuncts.push(all(&[at_most(TANK, 0), at_most(TRUCK, parameters.last() - 1)]));
    }
    if parameters.probabilistic {
        disjuncts.push(at_least(DROPPED, 1));
    }
    any(&disjuncts)
}

fn goal(parameters: &Parameters) -> Value {
    let last = parameters.last();
    let mut conjuncts =
        vec![eq(location_load(last), parameters.packages), eq(TRUCK, last), at_least(DIFFERENCE, 0)];
    if parameters.probabilistic {
        conjuncts.push(at_most(DROPPED, 0));
    }
    all(&conjuncts)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{edges, model};
    use super::*;

    #[test]
    fn the_known_instance_is_deterministic() {
        let generated = generate(&Parameters::default()).expect("valid parameters");
        assert_eq!(model(&generated)["type"], "lts");
        assert_eq!(edges(&generated).len(), 10 + 10 + 9 + 9);
        assert_eq!(generated.variables.len(), 13);
    }

    #[test]
    fn losses_split_the_drives_by_load() {
        for parameters in [
            Parameters { probabilistic: true, ..Parameters::default() },
            Parameters { dropping_probability: 0.2, ..Parameters::default() },
        ] {
            let generated = generate(&parameters).expect("valid parameters");
            assert_eq!(model(&generated)["type"], "mdp");
            assert_eq!(edges(&generated).len(), 10 + 10 + 2 * 18);
        }
    }

    #[test]
    fn senseless_parameters_are_refused() {
        let refused = |parameters: Parameters| generate(&parameters).expect_err("refused").parameter;
        assert_eq!(refused(Parameters { packages: 0, ..Parameters::default() }), "packages");
        assert_eq!(refused(Parameters { locations: 1, ..Parameters::default() }), "locations");
        assert_eq!(refused(Parameters { truck_capacity: 0, ..Parameters::default() }), "truck_capacity");
        assert_eq!(refused(Parameters { bridge_capacity: 0, ..Parameters::default() }), "bridge_capacity");
        assert_eq!(refused(Parameters { bridge_capacity: 16, ..Parameters::default() }), "bridge_capacity");
        assert_eq!(refused(Parameters { tank_capacity: Some(0), ..Parameters::default() }), "tank_capacity");
        let both = Parameters { probabilistic: true, dropping_probability: 0.1, ..Parameters::default() };
        assert_eq!(refused(both), "dropping_probability");
    }
}
