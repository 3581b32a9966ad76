//! Obligation 1: every start state is in a region.
//!
//! A part of the state space is done if the start condition is defined there and, for each of its alternatives that may
//! be true, the states where it is lie in one region. A start condition without a value is a mistake of the model, also
//! outside of all regions.

use crate::certificate::Domain;
use crate::check::{Checker, Tried};
use crate::part::Part;
use crate::verdict::{Obligation, Rejection};

const OUTSIDE: &str = "is a start state and in no region";

impl Checker<'_, '_> {
    pub fn check_start(&mut self) -> Result<(), Rejection> {
        let domains = &self.certificate.variables;
        for state in &self.subject.property.start.listed {
            let fits = |(value, domain): (&i32, &Domain)| (domain.lower..=domain.upper).contains(value);
            if state.len() != domains.len() || !state.iter().zip(domains).all(fits) {
                let text = "a listed start state is not a state of the model";
                return Err(Rejection::Unsupported(text.into()));
            }
            self.count(Obligation::Start)?;
            let point = Part(state.iter().map(|&value| (value, value)).collect());
            if self.cover.of_part(&point, &[]).is_none() {
                return self.failed(Obligation::Start, None, &point, OUTSIDE);
            }
        }
        self.everywhere(Obligation::Start, None, Part::all(domains), false, Self::start)
    }

    /// `defined`: whether the start condition is known to have a value everywhere in the part.
    fn start(&mut self, part: &Part, defined: &mut bool) -> Tried {
        let Some(start) = &self.task.start else { return Tried::Done };
        let (cover, slots) = (&mut self.cover, &mut self.slots);
        *defined = *defined || !start.over(part, slots).undefined;
        let outside = self.task.starts.iter().find_map(|(condition, facts)| {
            let within = condition.narrow(part, slots)?.clip(facts)?;
            cover.of_part(&within, facts).is_none().then_some((within, facts))
        });
        let (within, facts) = match &outside {
            Some((within, facts)) => (within, &facts[..]),
            None if !*defined => (part, &[][..]),
            None => return Tried::Done,
        };
        let what = if *defined { OUTSIDE } else { "gives the start condition no value" };
        // Peel the region of a start state off the part, or decide the condition.
        let corner = within.corner_with(facts).unwrap_or_else(|| within.corner());
        let is_start = start.over(&corner, slots).yes();
        let region = if is_start { cover.of_part(&corner, &[]) } else { None };
        let faces = region.map(|region| self.cover.faces(region, within)).unwrap_or_default();
        let face = faces.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|face| face.0);
        let cut = face.or_else(|| start.cut(within, &mut self.slots));
        let cut = cut.or_else(|| within.halves(self.cover.fact_variables(region?)));
        Tried::Open(cut, what.into())
    }
}
