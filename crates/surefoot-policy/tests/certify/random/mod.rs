//! Random policies and questions about them, small enough to enumerate.
//!
//! As in the harness, a case is decoded from lists of numbers, *genes*: one list for the policy and one for each
//! question. A gene of 0, and every gene after the end of its list, takes the simplest alternative. So a failing case
//! shrinks by shrinking lists of numbers.

#[path = "../../../../surefoot-harness/src/random/choices.rs"]
#[allow(dead_code)]
mod choices;
mod graph;
mod number;
mod policy;
mod question;
mod tree;

use proptest::collection::vec;
use proptest::prelude::*;
use surefoot_policy::{Arithmetic, Policy};

use choices::Choices;
pub use question::Asked;

/// Whether networks have all kinds of nodes, layers and activations, or only dense layers in a chain with `ReLU`.
pub const ALL_NODES: bool = true;

/// A policy in an arithmetic, and questions about it.
#[derive(Debug, Clone)]
pub struct Case {
    pub policy: Policy,
    pub arithmetic: Arithmetic,
    /// Number of variables of the system.
    pub variables: usize,
    pub questions: Vec<Asked>,
}

/// Random cases with this many questions each.
pub fn cases(questions: usize) -> impl Strategy<Value = Case> {
    let gene = any::<u16>;
    let genes = (vec(gene(), 160), vec(vec(gene(), 48), questions));
    genes.prop_map(|(policy, questions)| decode(&policy, &questions))
}

/// Random cases of boxes with many free variables and networks with few neurons, which are split by phases.
pub fn wide_cases(questions: usize) -> impl Strategy<Value = Case> {
    let gene = any::<u16>;
    (vec(gene(), 160), vec(vec(gene(), 48), questions)).prop_map(|(policy, questions)| {
        let mut choices = Choices::new(&policy);
        let arithmetic = choices.pick(&Arithmetic::ALL);
        let variables = 6 + choices.below(2);
        let policy = policy::small_network(variables, &mut choices);
        let questions =
            questions.iter().map(|genes| question::wide(&policy, variables, &mut Choices::new(genes)));
        Case { arithmetic, variables, questions: questions.collect(), policy }
    })
}

fn decode(policy: &[u16], questions: &[Vec<u16>]) -> Case {
    let mut choices = Choices::new(policy);
    let arithmetic = choices.pick(&Arithmetic::ALL);
    let variables = 1 + choices.below(5);
    let policy = policy::policy(variables, &mut choices);
    let questions =
        questions.iter().map(|genes| question::question(&policy, variables, &mut Choices::new(genes)));
    Case { arithmetic, variables, questions: questions.collect(), policy }
}
