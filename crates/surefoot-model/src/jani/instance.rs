//! The elements of the composition: which automata there are, and their locations.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::expr::ExprId;
use crate::input::InputError;
use crate::jani::context::{Context, Instance};
use crate::jani::fold;
use crate::jani::suggest::did_you_mean;
use crate::json::Json;
use crate::variable::{Symbol, VariableType};

const AUTOMATON_KEYS: &[&str] =
    &["name", "variables", "functions", "restrict-initial", "locations", "initial-locations", "edges"];

impl<'d> Context<'d> {
    /// Reads `system.elements` and declares a location variable for each.
    pub(super) fn declare_instances(&mut self, model: Json<'d>) -> Result<(), InputError> {
        let automata = self.automata_by_name(model)?;
        let system = model.require("system")?.object()?;
        self.warnings.check_keys(system, &["elements", "syncs"]);
        let list = system.require("elements")?;
        let mut names = Vec::new();
        for element in list.array()? {
            let element = element.object()?;
            self.warnings.check_keys(element, &["automaton", "input-enable"]);
            let place = element.require("automaton")?;
            let name = place.str()?;
            let Some(&automaton) = automata.get(name) else {
                let error = place.error(format!("there is no automaton called {name:?}"));
                return Err(did_you_mean(error, name, automata.keys().copied()));
            };
            names.push((name, automaton));
        }
        if names.is_empty() {
            return Err(list.error("the composition has no elements"));
        }
        let used: FxHashSet<&str> = names.iter().map(|(name, _)| *name).collect();
        for automaton in model.require("automata")?.array()? {
            let name = automaton.require("name")?.str()?;
            if !used.contains(name) {
                self.warnings.add(|| {
                    automaton
                        .error(format!("the automaton {name:?} is no element of the composition and ignored"))
                });
            }
        }
        let mut taken = FxHashSet::default();
        for (index, &(automaton, json)) in names.iter().enumerate() {
            let repeated = names.iter().filter(|(other, _)| *other == automaton).count() > 1;
            let mut name = automaton.to_string();
            if repeated || taken.contains(&name) {
                name = format!("{automaton}_{index}");
            }
            while !taken.insert(name.clone()) {
                name.push('\'');
            }
            self.declare_instance(index, automaton, name, json)?;
        }
        Ok(())
    }

    fn automata_by_name(&mut self, model: Json<'d>) -> Result<FxHashMap<&'d str, Json<'d>>, InputError> {
        let mut automata = FxHashMap::default();
        for automaton in model.require("automata")?.array()? {
            let automaton = automaton.object()?;
            self.warnings.check_keys(automaton, AUTOMATON_KEYS);
            let place = automaton.require("name")?;
            let name = place.str()?;
            if automata.insert(name, automaton).is_some() {
                return Err(place.error(format!("there already is an automaton called {name:?}")));
            }
        }
        Ok(automata)
    }

    fn declare_instance(
        &mut self,
        index: usize,
        automaton: &str,
        name: String,
        json: Json<'d>,
    ) -> Result<(), InputError> {
        let list = json.require("locations")?;
        let mut location_names = Vec::new();
        let mut locations = FxHashMap::default();
        for location in list.array()? {
            let location = location.object()?;
            self.warnings.check_keys(location, &["name", "transient-values", "time-progress"]);
            if let Some(place) = location.get("time-progress") {
                return Err(place
                    .error("time-progress conditions are not supported")
                    .with_hint("only models of type lts, dtmc and mdp can be read; they have no time"));
            }
            let place = location.require("name")?;
            let location_name = place.str()?.to_string();
            if locations.insert(location_name.clone(), location_names.len()).is_some() {
                return Err(place.error(format!("there already is a location called {location_name:?}")));
            }
            location_names.push(location_name);
        }
        if location_names.is_empty() {
            return Err(list.error(format!("the automaton {automaton:?} has no locations")));
        }
        let place = json.require("initial-locations")?;
        let mut initial_locations = Vec::new();
        for initial in place.array()? {
            initial_locations.push(location_index(&locations, initial)?);
        }
        if initial_locations.is_empty() {
            return Err(place.error(format!("the automaton {automaton:?} has no initial location")));
        }
        initial_locations.sort_unstable();
        initial_locations.dedup();
        let scope = self.add_scope();
        let display = self.unique(&format!("{name}.location"));
        let ty = VariableType::Int { lower: 0, upper: location_names.len() as i32 - 1 };
        self.instances.push(Instance {
            automaton: automaton.to_string(),
            name,
            json,
            scope,
            location_names: location_names.clone(),
            locations,
            initial_locations,
        });
        self.push_variable(display, ty, location_names, Some(index), Symbol::Location);
        Ok(())
    }

    /// The position of the location of an instance whose name stands at `json`.
    pub(super) fn location(&self, instance: usize, json: Json<'_>) -> Result<usize, InputError> {
        location_index(&self.instances[instance].locations, json)
    }

    /// The locations that a list of `{automaton, index, location}` names, at most one for each instance.
    pub(super) fn named_locations(&mut self, list: Json<'_>) -> Result<Vec<(usize, usize)>, InputError> {
        let mut named: Vec<(usize, usize)> = Vec::new();
        for json in list.array()? {
            let json = json.object()?;
            self.warnings.check_keys(json, &["automaton", "index", "location"]);
            let instance = self.named_instance(json)?;
            let location = self.location(instance, json.require("location")?)?;
            if named.iter().any(|&(other, _)| other == instance) {
                let name = &self.instances[instance].name;
                return Err(json.error(format!("the location of {name:?} is given twice")));
            }
            named.push((instance, location));
        }
        Ok(named)
    }

    fn named_instance(&self, json: Json<'_>) -> Result<usize, InputError> {
        let place = json.require("automaton")?;
        let name = place.str()?;
        let candidates: Vec<usize> =
            (0..self.instances.len()).filter(|&i| self.instances[i].automaton == name).collect();
        if candidates.is_empty() {
            let error = place.error(format!("there is no automaton called {name:?} in the composition"));
            return Err(did_you_mean(error, name, self.instances.iter().map(|i| i.automaton.as_str())));
        }
        match (json.get("index"), &candidates[..]) {
            (None, &[instance]) => Ok(instance),
            (None, _) => Err(json
                .error(format!("the automaton {name:?} has several instances"))
                .with_hint("add \"index\", the position of the instance in the composition")),
            (Some(place), _) => {
                let index = place.i64()?;
                let instance = usize::try_from(index).ok().filter(|index| candidates.contains(index));
                instance.ok_or_else(|| {
                    place.error(format!("element {index} of the composition is no instance of {name:?}"))
                })
            }
        }
    }

    /// The condition that all listed locations are current; `true` for no list.
    pub(super) fn location_condition(&mut self, list: Option<Json<'_>>) -> Result<ExprId, InputError> {
        let named = list.map_or(Ok(Vec::new()), |list| self.named_locations(list))?;
        let conditions: Vec<ExprId> =
            named.into_iter().map(|(instance, location)| self.at_location(instance, location)).collect();
        Ok(fold::conjunction(&mut self.pool, conditions))
    }
}

fn location_index(locations: &FxHashMap<String, usize>, json: Json<'_>) -> Result<usize, InputError> {
    let name = json.str()?;
    locations.get(name).copied().ok_or_else(|| {
        let error = json.error(format!("there is no location called {name:?} in this automaton"));
        did_you_mean(error, name, locations.keys().map(String::as_str))
    })
}
