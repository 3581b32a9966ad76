//! The condition on initial states.

use crate::expr::ExprId;
use crate::input::InputError;
use crate::jani::context::{Context, GLOBAL, ScopeId};
use crate::jani::fold;
use crate::json::Json;
use crate::value::Value;
use crate::variable::VarId;

impl<'d> Context<'d> {
    /// Initial locations, initial values, and the restrictions that model and automata make.
    pub(super) fn initial_condition(&mut self, model: Json<'d>) -> Result<ExprId, InputError> {
        let mut conditions = Vec::new();
        for instance in 0..self.instances.len() {
            let locations = self.instances[instance].initial_locations.clone();
            let at: Vec<ExprId> =
                locations.iter().map(|&location| self.at_location(instance, location)).collect();
            conditions.push(fold::disjunction(&mut self.pool, at));
        }
        let mut free = Vec::new();
        for index in self.instances.len()..self.variables.len() {
            let id = VarId(index as u32);
            let variable = self.pool.variable(id, &self.variables[index]);
            match self.initial_values.get(&id) {
                Some(Value::Bool(true)) => conditions.push(variable),
                Some(Value::Bool(false)) => conditions.push(fold::negation(&mut self.pool, variable)),
                Some(&value) => {
                    let value = self.pool.constant(value);
                    conditions.push(fold::equality(&mut self.pool, variable, value));
                }
                None => free.push(self.variables[index].name.clone()),
            }
        }
        let mut restricted = self.restriction(model, GLOBAL, &mut conditions)?;
        for instance in 0..self.instances.len() {
            let (json, scope) = (self.instances[instance].json, self.instances[instance].scope);
            restricted |= self.restriction(json, scope, &mut conditions)?;
        }
        if !free.is_empty() && !restricted {
            self.warnings.add(|| {
                let names = free.join(", ");
                InputError::in_file(
                    model.file(),
                    format!("no initial value and no restrict-initial for: {names}"),
                )
                .with_hint("each value of their domains is taken as initial")
            });
        }
        self.initial_is_unique = free.is_empty()
            && !restricted
            && self.instances.iter().all(|instance| instance.initial_locations.len() == 1);
        Ok(fold::conjunction(&mut self.pool, conditions))
    }

    /// Reads a `restrict-initial`; whether there is one.
    fn restriction(
        &mut self,
        owner: Json<'d>,
        scope: ScopeId,
        conditions: &mut Vec<ExprId>,
    ) -> Result<bool, InputError> {
        let Some(json) = owner.get("restrict-initial") else { return Ok(false) };
        let exp = self.wrapped(json)?;
        let condition = self.condition(scope, exp)?;
        conditions.push(self.in_state(condition));
        Ok(true)
    }
}
