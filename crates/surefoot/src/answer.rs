//! What an engine found, with what only that engine has to say.

use surefoot_certificate::Certificate;
use surefoot_engines::ic3::{self, SavedFrames};
use surefoot_engines::{Checked, Outcome, pa};

use crate::arguments::search::Engine;
use crate::load::Problem;
use crate::state_file;

/// What an engine found.
#[derive(Debug)]
pub struct Answer {
    pub outcome: Outcome,
    pub details: Details,
}

/// What only one engine has to say.
#[derive(Debug)]
pub enum Details {
    Explicit,
    Ic3 {
        statistics: Box<ic3::Statistics>,
        /// What all reachable states obey.
        laws: Vec<String>,
        certificate: Option<Issued>,
        frames: Option<SavedFrames>,
    },
    /// Predicate abstraction, with given predicates or with found ones.
    Pa {
        engine: Engine,
        statistics: Box<pa::Statistics>,
        predicates: Vec<pa::Described>,
        /// What all reachable states obey.
        laws: Vec<String>,
        certificate: Option<Issued>,
    },
}

/// A certificate of a SAFE.
#[derive(Debug)]
pub struct Issued {
    /// Number of regions.
    pub regions: u64,
    /// What stands in its file.
    pub contents: Vec<u8>,
    /// How it was checked; `None` if it was not.
    pub check: Option<Checked>,
}

impl Issued {
    /// A certificate that is bound to a problem.
    fn new(mut certificate: Certificate, check: Option<Checked>, problem: &Problem) -> Self {
        certificate.inputs.clone_from(&problem.inputs);
        Issued { regions: certificate.regions.len() as u64, contents: certificate.write(), check }
    }
}

impl Answer {
    /// An answer of the explicit engine.
    pub fn explicit(outcome: Outcome) -> Self {
        Answer { outcome, details: Details::Explicit }
    }

    /// An answer of IC3. Its certificate and its frames are bound to the problem.
    pub fn ic3(proof: ic3::Proof, problem: &Problem) -> Self {
        let ic3::Proof { outcome, statistics, certificate, check, laws, saved } = proof;
        let certificate = certificate.map(|certificate| Issued::new(certificate, check, problem));
        let frames = saved.map(|saved| SavedFrames { about: state_file::about(problem), ..saved });
        Answer {
            outcome,
            details: Details::Ic3 { statistics: Box::new(statistics), laws, certificate, frames },
        }
    }

    /// An answer of predicate abstraction. Its certificate is bound to the problem.
    pub fn pa(engine: Engine, proof: pa::Proof, problem: &Problem) -> Self {
        let pa::Proof { outcome, statistics, predicates, laws, certificate, check } = proof;
        let certificate = certificate.map(|certificate| Issued::new(certificate, check, problem));
        Answer {
            outcome,
            details: Details::Pa { engine, statistics: Box::new(statistics), predicates, laws, certificate },
        }
    }

    /// The engine.
    pub fn engine(&self) -> Engine {
        match self.details {
            Details::Explicit => Engine::Explicit,
            Details::Ic3 { .. } => Engine::Ic3,
            Details::Pa { engine, .. } => engine,
        }
    }

    /// The frames of an UNKNOWN, which another run can begin with.
    pub fn frames(&self) -> Option<&SavedFrames> {
        match &self.details {
            Details::Explicit | Details::Pa { .. } => None,
            Details::Ic3 { frames, .. } => frames.as_ref(),
        }
    }

    /// The certificate, if there is one.
    pub fn certificate(&self) -> Option<&Issued> {
        match &self.details {
            Details::Explicit => None,
            Details::Ic3 { certificate, .. } | Details::Pa { certificate, .. } => certificate.as_ref(),
        }
    }
}
