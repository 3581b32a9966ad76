//! The model as a whole: which part is read when.

use std::str::FromStr;

use crate::expr::ExprId;
use crate::input::InputError;
use crate::jani::automaton::{Actions, Edge};
use crate::jani::constant::Definition;
use crate::jani::context::{Context, Entity, GLOBAL};
use crate::jani::{AutomatonSummary, ConstantValue, ModelType};
use crate::json::Json;
use crate::system::{Command, Label};

const MODEL_KEYS: &[&str] = &[
    "jani-version",
    "name",
    "type",
    "features",
    "actions",
    "constants",
    "variables",
    "functions",
    "restrict-initial",
    "properties",
    "automata",
    "system",
    "labels",
];

const SUPPORTED_FEATURES: &[&str] = &["arrays", "derived-operators", "functions", "state-exit-rewards"];

/// What a model contributes besides the variables and expressions in the [`Context`].
pub(super) struct Model {
    pub(super) name: String,
    pub(super) kind: ModelType,
    pub(super) labels: Vec<Label>,
    pub(super) commands: Vec<Command>,
    pub(super) initial: ExprId,
    pub(super) constants: Vec<ConstantValue>,
    pub(super) automata: Vec<AutomatonSummary>,
}

impl<'d> Context<'d> {
    /// Reads everything but the properties.
    pub(super) fn read_model(
        &mut self,
        model: Json<'d>,
        given: &[(String, String)],
    ) -> Result<Model, InputError> {
        let model = model.object()?;
        self.warnings.check_keys(model, MODEL_KEYS);
        let model_type = read_type(model)?;
        let name = model.get("name").map(Json::str).transpose()?.unwrap_or("unnamed").to_string();
        self.check_features(model)?;
        self.hide_variables(model)?;
        let actions = Actions::read(self, model)?;
        self.declare_constants(model, given)?;
        self.declare_functions(model, GLOBAL)?;
        self.define_constants()?;
        self.declare_instances(model)?;
        self.declare_variables(model, None)?;
        self.scopes[GLOBAL.0].unavailable.clear();
        for instance in 0..self.instances.len() {
            let (json, scope) = (self.instances[instance].json, self.instances[instance].scope);
            self.declare_functions(json, scope)?;
            self.declare_variables(json, Some(instance))?;
        }
        self.define_transients()?;
        let mut edges: Vec<Vec<Edge>> = Vec::new();
        for instance in 0..self.instances.len() {
            edges.push(self.read_edges(instance, &actions, model_type)?);
        }
        let automata = self.summaries(&edges);
        self.enable_inputs(model, &mut edges, &actions)?;
        let commands = self.compose(model, &edges, &actions)?;
        let initial = self.initial_condition(model)?;
        Ok(Model {
            name,
            kind: model_type,
            labels: actions.names.into_iter().map(|name| Label { name }).collect(),
            commands,
            initial,
            constants: self.constant_values(),
            automata,
        })
    }

    fn check_features(&mut self, model: Json<'_>) -> Result<(), InputError> {
        let Some(list) = model.get("features") else { return Ok(()) };
        for feature in list.array()? {
            let name = feature.str()?;
            if !SUPPORTED_FEATURES.contains(&name) {
                self.warnings.add(|| feature.error(format!("the feature {name:?} is not supported")));
            }
        }
        Ok(())
    }

    /// Notes names of global variables, so that they can be recognised where only constants may stand, and kept for them.
    fn hide_variables(&mut self, model: Json<'_>) -> Result<(), InputError> {
        let Some(list) = model.get("variables") else { return Ok(()) };
        for variable in list.array()? {
            if let Some(name) = variable.get("name").and_then(Json::as_str) {
                let reason = "is a variable, but only constants may be used here";
                self.scopes[GLOBAL.0].unavailable.insert(name.to_string(), reason);
                self.display_names.insert(name.to_string());
            }
        }
        Ok(())
    }

    /// Adds the edges that `input-enable` asks for.
    fn enable_inputs(
        &mut self,
        model: Json<'d>,
        edges: &mut [Vec<Edge>],
        actions: &Actions,
    ) -> Result<(), InputError> {
        let elements = model.require("system")?.require("elements")?.array()?;
        for (instance, element) in elements.enumerate() {
            let Some(list) = element.get("input-enable") else { continue };
            let mut enabled = Vec::new();
            for place in list.array()? {
                let action = actions.index(place)?;
                if !enabled.contains(&action) {
                    enabled.push(action);
                }
            }
            for action in enabled {
                let added = self.input_edges(instance, &edges[instance], action, &actions.names[action]);
                edges[instance].extend(added);
            }
        }
        Ok(())
    }

    fn summaries(&self, edges: &[Vec<Edge>]) -> Vec<AutomatonSummary> {
        let instances = self.instances.iter().zip(edges);
        instances
            .map(|(instance, edges)| AutomatonSummary {
                name: instance.name.clone(),
                automaton: instance.automaton.clone(),
                locations: instance.location_names.len(),
                edges: edges.len(),
                variables: self.scopes[instance.scope.0]
                    .entities
                    .values()
                    .filter(|e| matches!(e, Entity::Variable(_)))
                    .count(),
            })
            .collect()
    }

    fn constant_values(&self) -> Vec<ConstantValue> {
        let mut values = Vec::new();
        for constant in &self.constants {
            let Definition::Done(term) = &constant.definition else { continue };
            values.push(ConstantValue {
                name: constant.name.to_string(),
                values: term.elements().iter().filter_map(|&id| self.pool.as_constant(id)).collect(),
                dimensions: term.dimensions().to_vec(),
                from_command_line: constant.from_command_line,
            });
        }
        values
    }
}

fn read_type(model: Json<'_>) -> Result<ModelType, InputError> {
    let place = model.require("type")?;
    let name = place.str()?;
    ModelType::from_str(name).map_err(|()| {
        let supported = "expected \"lts\", \"dtmc\" or \"mdp\"";
        match name {
            "ctmc" | "ctmdp" | "ma" | "ta" | "pta" | "sta" | "ha" | "pha" | "sha" => {
                place.error(format!("models of type {name:?} are not supported: {supported}"))
            }
            _ => place.error(format!("there is no model type {name:?}: {supported}")),
        }
    })
}
