//! Sections of properties, in model files and in files of their own.

use std::path::PathBuf;

use crate::expr::ExprId;
use crate::input::InputError;
use crate::jani::LoadedProperty;
use crate::jani::context::{Context, Entity, ScopeId};
use crate::jani::file::Loader;
use crate::json::Json;
use crate::property::{Property, Rewards};

/// Why a property cannot be used.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It asks something that surefoot does not answer.
    Unsupported(InputError),
    /// It is wrong. This is worth a warning even if nobody chooses the property.
    Mistake(InputError),
}

impl From<InputError> for Refusal {
    fn from(error: InputError) -> Self {
        Refusal::Mistake(error)
    }
}

/// Reads properties of a model.
pub(super) struct PropertyReader<'c, 'd, 'f> {
    pub(super) context: &'c mut Context<'d>,
    pub(super) loader: &'c mut Loader<'f>,
    /// Names of the model, and local variables of automata.
    pub(super) scope: ScopeId,
    /// The model's initial states.
    pub(super) initial: ExprId,
    /// Folder of the file whose properties are read.
    pub(super) folder: PathBuf,
    pub(super) properties: Vec<LoadedProperty>,
    /// The rewards of the property that is being read.
    pub(super) rewards: Result<Rewards, InputError>,
}

impl<'c, 'd, 'f> PropertyReader<'c, 'd, 'f> {
    pub(super) fn new(context: &'c mut Context<'d>, loader: &'c mut Loader<'f>, initial: ExprId) -> Self {
        let scope = context.property_scope();
        PropertyReader {
            context,
            loader,
            scope,
            initial,
            folder: PathBuf::new(),
            properties: Vec::new(),
            rewards: Ok(Rewards::default()),
        }
    }

    /// Reads a file of additional properties.
    pub(super) fn read_file(&mut self, root: Json<'_>) -> Result<(), InputError> {
        let root = root.object()?;
        self.context.warnings.check_keys(root, &["properties", "labels"]);
        root.require("properties")?;
        self.read_section(root)
    }

    /// Reads the member `properties` of a model or a property file.
    pub(super) fn read_section(&mut self, root: Json<'_>) -> Result<(), InputError> {
        self.folder = root.file().parent().map(PathBuf::from).unwrap_or_default();
        let Some(list) = root.get("properties") else { return Ok(()) };
        for json in list.array()? {
            let json = json.object()?;
            self.context.warnings.check_keys(json, &["name", "expression"]);
            let place = json.require("name")?;
            let name = place.str()?.to_string();
            if self.properties.iter().any(|property| property.name == name) {
                self.context
                    .warnings
                    .add(|| place.error(format!("there already is a property called {name:?}")));
            }
            let expression = json.require("expression")?;
            let question = self.read_property(&name, expression).map_err(|refusal| match refusal {
                Refusal::Unsupported(error) => error,
                Refusal::Mistake(error) => {
                    let mut warning = error.clone();
                    warning.message = format!("the property {name:?} cannot be used: {}", error.message);
                    self.context.warnings.add(|| warning);
                    error
                }
            });
            let operator = expression.get("op").and_then(Json::as_str).unwrap_or_default().to_string();
            let file = root.file().to_path_buf();
            let rewards = std::mem::replace(&mut self.rewards, Ok(Rewards::default()));
            self.properties.push(LoadedProperty { name, operator, file, question, rewards });
        }
        Ok(())
    }

    fn read_property(&mut self, name: &str, json: Json<'_>) -> Result<Property, Refusal> {
        let place = json.object()?.require("op")?;
        match place.str()? {
            "filter" => self.standard_property(name, json),
            "PA" => self.policy_property(name, json),
            other => {
                let message =
                    format!("properties of kind {other:?} are not supported, only \"filter\" and \"PA\"");
                Err(Refusal::Unsupported(place.error(message)))
            }
        }
    }

    /// A condition on states.
    pub(super) fn condition(&mut self, json: Json<'_>) -> Result<ExprId, InputError> {
        let condition = self.context.condition(self.scope, json)?;
        Ok(self.context.in_state(condition))
    }
}

impl Context<'_> {
    /// A scope in which local variables of automata can be named: alone where that is clear, else with their automaton.
    fn property_scope(&mut self) -> ScopeId {
        let scope = self.add_scope();
        for instance in 0..self.instances.len() {
            let locals: Vec<(String, Entity)> = self.scopes[self.instances[instance].scope.0]
                .entities
                .iter()
                .map(|(name, entity)| (name.clone(), entity.clone()))
                .collect();
            for (name, entity) in locals {
                let Entity::Variable(storage) = &entity else { continue };
                let qualified = storage.name.clone();
                let names = &mut self.scopes[scope.0].entities;
                let joined = match names.remove(&name) {
                    None => entity.clone(),
                    Some(Entity::Ambiguous(mut candidates)) => {
                        candidates.push(qualified.clone());
                        Entity::Ambiguous(candidates)
                    }
                    Some(Entity::Variable(other)) => {
                        Entity::Ambiguous(vec![other.name.clone(), qualified.clone()])
                    }
                    Some(Entity::Constant(_)) => unreachable!("constants are global"),
                };
                names.insert(name, joined);
                names.entry(qualified).or_insert(entity);
            }
        }
        scope
    }
}
