//! Obligation 1: every start state is in a region.
//!
//! A part of the state space is done if the start condition is false there, or if it is defined and the part lies in
//! one region. A start condition without a value is a mistake of the model, also outside of all regions.

use crate::check::{Checker, Obligation, Rejection, Tried, split};
use crate::part::Part;

const START: Obligation = Obligation::Start;

impl Checker<'_, '_> {
    pub fn check_start(&mut self) -> Result<(), Rejection> {
        for state in &self.subject.property.start.listed {
            let domains = &self.certificate.variables;
            let fits =
                |(&value, domain): (&i32, &crate::Domain)| (domain.lower..=domain.upper).contains(&value);
            if state.len() != domains.len() || !state.iter().zip(domains).all(fits) {
                return Err(Rejection::Unsupported(
                    "a listed start state is not a state of the model".into(),
                ));
            }
            self.count(START)?;
            self.report.points += 1;
            if self.cover.of_state(state).is_none() {
                return self.failed(START, None, state, "is a start state and in no region");
            }
        }
        if self.task.start.is_none() {
            return Ok(());
        }
        let mut open = vec![Part::all(&self.certificate.variables)];
        while let Some(part) = open.pop() {
            self.count(START)?;
            if let Tried::Split(cut) = self.start_of(&part)? {
                open.extend(split(part, cut));
            }
        }
        Ok(())
    }

    /// Decides a part.
    fn start_of(&mut self, part: &Part) -> Result<Tried, Rejection> {
        let Some(start) = &self.task.start else { return Ok(Tried::Done) };
        let values = start.over(part, &mut self.slots);
        if !values.undefined && (!values.yes() || self.cover.of_part(part).is_some()) {
            return Ok(Tried::Done);
        }
        let state = part.corner();
        self.report.points += 1;
        let region = match start.holds_at(&state, &mut self.slots) {
            Err(reason) => {
                let what = format!("gives the start condition no value: {reason}");
                return self.failed(START, None, &state, &what);
            }
            Ok(true) => match self.cover.of_state(&state) {
                Some(region) => Some(region),
                None => return self.failed(START, None, &state, "is a start state and in no region"),
            },
            Ok(false) => None,
        };
        if part.is_point() {
            return Ok(Tried::Done);
        }
        // Peel the region off the part, or decide the condition.
        let faces = region.map(|region| self.cover.faces(region, part)).unwrap_or_default();
        let face = faces.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|face| face.0);
        let fact = || {
            let terms = region.map(|region| &self.certificate.regions[region].facts).into_iter().flatten();
            part.widest(terms.flat_map(|fact| fact.terms.iter().map(|term| term.0 as usize)))
        };
        let slots = &mut self.slots;
        let by_condition =
            || start.open_variable(part, slots).or_else(fact).map(|variable| part.half(variable));
        Ok(Tried::Split(face.or_else(by_condition)))
    }
}
