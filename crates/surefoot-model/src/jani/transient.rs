//! Transient variables, which are no part of the state and are substituted away.
//!
//! In a state a transient variable has the value that the current locations give it, else its initial value. When a step
//! begins it has its initial value; assignments to it are seen by later assignments of the same step only.

use rustc_hash::FxHashMap;

use crate::expr::ExprId;
use crate::input::InputError;
use crate::jani::assignment::Target;
use crate::jani::context::{Context, FIRST_TRANSIENT};
use crate::jani::fold::{self, Substitution};
use crate::json::Json;
use crate::variable::VarId;

/// A value that a location gives to a transient variable.
struct Given {
    instance: usize,
    location: usize,
    value: ExprId,
}

impl<'d> Context<'d> {
    /// Reads the transient values of all locations; guards and properties can be read afterwards.
    pub(super) fn define_transients(&mut self) -> Result<(), InputError> {
        let mut given: FxHashMap<VarId, Vec<Given>> = FxHashMap::default();
        for instance in 0..self.instances.len() {
            let automaton = self.instances[instance].json;
            for (location, json) in automaton.require("locations")?.array()?.enumerate() {
                if let Some(list) = json.get("transient-values") {
                    self.read_transient_values(instance, location, list, &mut given)?;
                }
            }
        }
        let (mut in_state, mut in_step) = (FxHashMap::default(), FxHashMap::default());
        for index in 0..self.transients.len() {
            let variable = VarId(FIRST_TRANSIENT + index as u32);
            let initial = self.transients[index].initial;
            let mut value = initial;
            for Given { instance, location, value: given } in given.remove(&variable).unwrap_or_default() {
                let here = self.at_location(instance, location);
                value = fold::choice(&mut self.pool, here, given, value);
            }
            in_state.insert(variable, value);
            in_step.insert(variable, initial);
        }
        self.transients_in_state = Substitution::new(in_state);
        self.transients_in_step = Substitution::new(in_step);
        Ok(())
    }

    fn read_transient_values(
        &mut self,
        instance: usize,
        location: usize,
        list: Json<'d>,
        given: &mut FxHashMap<VarId, Vec<Given>>,
    ) -> Result<(), InputError> {
        let scope = self.instances[instance].scope;
        for json in list.array()? {
            let json = json.object()?;
            self.warnings.check_keys(json, &["ref", "value"]);
            let (place, value_place) = (json.require("ref")?, json.require("value")?);
            let reference = self.reference(scope, place)?;
            let name = reference.storage.name.clone();
            if !reference.storage.is_transient() {
                return Err(
                    place.error(format!("{name:?} is not transient, so a location cannot give it a value"))
                );
            }
            for (target, value) in self.read_value(scope, &reference, value_place)? {
                let Target::Scalar(variable) = target else {
                    return Err(
                        place.error(format!("the index of {name:?} must be constant here and in range"))
                    );
                };
                if self.pool.variables_of([value]).iter().any(|v| v.0 >= FIRST_TRANSIENT) {
                    let message = "the value of a transient variable in a location cannot depend on transient variables";
                    return Err(value_place.error(message));
                }
                let known = given.entry(variable).or_default();
                if let Some(other) = known.iter().find(|g| g.instance != instance || g.location == location) {
                    let other = &self.instances[other.instance];
                    return Err(json.error(format!(
                        "{name:?} already gets a value from a location of {:?}, and only one current location may give it one",
                        other.name
                    )));
                }
                known.push(Given { instance, location, value });
            }
        }
        Ok(())
    }
}
