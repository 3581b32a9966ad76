//! Constants: declarations, values from the command line, and the checks of their values.

use crate::input::InputError;
use crate::jani::context::{Context, Entity, GLOBAL};
use crate::jani::suggest::did_you_mean;
use crate::jani::term::Term;
use crate::jani::types::{WrittenType, checked_domain, read_type};
use crate::json::Json;
use crate::value::{Type, Value};

/// A declared constant.
#[derive(Debug)]
pub(super) struct Constant<'d> {
    pub(super) name: &'d str,
    pub(super) json: Json<'d>,
    pub(super) written: WrittenType<'d>,
    pub(super) definition: Definition<'d>,
    pub(super) from_command_line: bool,
}

/// How far a constant is known.
#[derive(Debug)]
pub(super) enum Definition<'d> {
    Missing,
    /// On the command line.
    Given(Value),
    Expression(Json<'d>),
    InProgress,
    Done(Term),
}

impl Constant<'_> {
    pub(super) fn missing_value(&self) -> InputError {
        let name = self.name;
        self.json
            .error(format!("the constant {name:?} has no value"))
            .with_hint(format!("give it one on the command line: --const {name}=value"))
    }
}

impl<'d> Context<'d> {
    /// Declares the constants of a model and takes over those given on the command line.
    pub(super) fn declare_constants(
        &mut self,
        model: Json<'d>,
        given: &[(String, String)],
    ) -> Result<(), InputError> {
        if let Some(list) = model.get("constants") {
            for json in list.array()? {
                self.declare_constant(json.object()?)?;
            }
        }
        for (i, (name, text)) in given.iter().enumerate() {
            if given[..i].iter().any(|(other, _)| other == name) {
                let message = format!("the constant {name:?} is given twice on the command line");
                return Err(InputError::in_file(model.file(), message));
            }
            let Some(constant) = self.constants.iter_mut().find(|constant| constant.name == name) else {
                let message = format!(
                    "the command line gives a value for {name:?}, but the model has no such constant"
                );
                let error = InputError::in_file(model.file(), message);
                return Err(did_you_mean(error, name, self.constants.iter().map(|constant| constant.name)));
            };
            let value = parse(constant, text)?;
            if let Definition::Expression(json) = constant.definition {
                self.warnings.add(|| {
                    json.error(format!(
                        "the value of the constant {name:?} is replaced by {text} from the command line"
                    ))
                });
            }
            constant.definition = Definition::Given(value);
            constant.from_command_line = true;
        }
        Ok(())
    }

    fn declare_constant(&mut self, json: Json<'d>) -> Result<(), InputError> {
        self.warnings.check_keys(json, &["name", "type", "value"]);
        let name_place = json.require("name")?;
        let name = name_place.str()?;
        let written = read_type(self, json.require("type")?)?;
        let definition = json.get("value").map_or(Definition::Missing, Definition::Expression);
        self.declare(GLOBAL, name, Entity::Constant(self.constants.len()), name_place)?;
        self.constants.push(Constant { name, json, written, definition, from_command_line: false });
        Ok(())
    }

    /// Checks the value of a constant against its type, whose bounds are evaluated.
    pub(super) fn define_constant(
        &mut self,
        index: usize,
        value: &Term,
        lower: Option<Value>,
        upper: Option<Value>,
    ) -> Result<(), InputError> {
        let Constant { name, json, written, .. } = self.constants[index];
        let place = json.get("value").unwrap_or(json);
        let domain = checked_domain(name, json.get("type").unwrap_or(json), written.base, lower, upper)?;
        let value = self.fit(value, &written, &format!("the constant {name:?}"), place)?;
        let value = value.try_map(|element| {
            let number = self.evaluate_constant(element, place)?;
            if !domain.contains(number) {
                let bounds = domain.describe();
                return Err(place.error(format!(
                    "the value {number} of the constant {name:?} is outside its bounds {bounds}"
                )));
            }
            Ok(self.pool.constant(number))
        })?;
        self.constants[index].definition = Definition::Done(value);
        Ok(())
    }
}

/// The value that the command line gives to a constant, according to its declared type.
fn parse(constant: &Constant<'_>, text: &str) -> Result<Value, InputError> {
    let name = constant.name;
    let text = text.trim();
    if constant.written.array_depth > 0 {
        let message = format!("the constant {name:?} is an array, which cannot be given on the command line");
        return Err(constant.json.error(message));
    }
    let (value, expected) = match constant.written.base {
        Type::Bool => (text.parse().ok().map(Value::Bool), "true or false"),
        Type::Int => (text.parse().ok().map(Value::Int), "an integer"),
        Type::Real => {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            (number.map(Value::Real), "a number")
        }
    };
    value.ok_or_else(|| {
        constant.json.error(format!(
            "the command line gives the constant {name:?} the value {text:?}, but {expected} is expected"
        ))
    })
}
