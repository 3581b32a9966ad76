//! A policy: a scorer, the variables that it reads and the labels that it chooses from.

use surefoot_model::{LabelId, VarId};

use crate::ensemble::{Ensemble, Tree};
use crate::network::Network;
use crate::shape::{Shape, ShapeError};

/// Where one input of the scorer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PolicyInput {
    /// The value of a variable: Booleans as 0 and 1, locations as their index.
    Variable(VarId),
    /// A number, where preprocessing found that the variable never changes.
    Constant(i32),
}

/// What computes the scores.
#[derive(Debug, Clone, PartialEq)]
pub enum Scorer {
    /// A neural network.
    Network(Network),
    /// A tree ensemble.
    Ensemble(Ensemble),
}

impl Scorer {
    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        match self {
            Scorer::Network(network) => network.inputs(),
            Scorer::Ensemble(ensemble) => ensemble.inputs(),
        }
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        match self {
            Scorer::Network(network) => network.outputs(),
            Scorer::Ensemble(ensemble) => ensemble.outputs(),
        }
    }

    /// How large it is; prints as `neural network 20-32-32-7`.
    pub fn shape(&self) -> Shape {
        match self {
            Scorer::Network(network) => Shape::of_network(network),
            Scorer::Ensemble(ensemble) => Shape::Ensemble {
                inputs: ensemble.inputs(),
                outputs: ensemble.outputs(),
                trees: ensemble.trees().len(),
                leaves: ensemble.trees().iter().map(Tree::leaves).sum(),
                depth: ensemble.trees().iter().map(Tree::depth).max().unwrap_or(0),
            },
        }
    }
}

/// A deterministic action policy: it takes the output with the highest score, the lowest index on ties.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// What the scorer reads, one per input.
    pub inputs: Vec<PolicyInput>,
    /// The labels that it chooses from, one per output.
    pub outputs: Vec<LabelId>,
    /// Whether only labels that are applicable in the state compete. Evaluation leaves that to its caller, who knows
    /// which labels are applicable.
    pub filter: bool,
    /// What computes the scores.
    pub scorer: Scorer,
}

impl Policy {
    /// A policy whose inputs and outputs are those of its scorer.
    pub fn new(
        inputs: Vec<PolicyInput>,
        outputs: Vec<LabelId>,
        filter: bool,
        scorer: Scorer,
    ) -> Result<Policy, ShapeError> {
        if inputs.len() != scorer.inputs() {
            return Err(ShapeError::Inputs { policy: inputs.len(), scorer: scorer.inputs() });
        }
        if outputs.len() != scorer.outputs() {
            return Err(ShapeError::Outputs { policy: outputs.len(), scorer: scorer.outputs() });
        }
        if let Some(output) = (1..outputs.len()).find(|&output| outputs[..output].contains(&outputs[output]))
        {
            return Err(ShapeError::RepeatedLabel { output });
        }
        Ok(Policy { inputs, outputs, filter, scorer })
    }

    /// The same policy over other variables: each variable `v` that it reads is replaced by `replacement(v)`.
    #[must_use]
    pub fn map_inputs(&self, mut replacement: impl FnMut(VarId) -> PolicyInput) -> Policy {
        let inputs = self.inputs.iter().map(|&input| match input {
            PolicyInput::Variable(variable) => replacement(variable),
            PolicyInput::Constant(_) => input,
        });
        Policy { inputs: inputs.collect(), ..self.clone() }
    }

    /// The variables that the policy reads, each once, in order of first use.
    pub fn variables(&self) -> Vec<VarId> {
        let mut variables = Vec::new();
        for input in &self.inputs {
            if let PolicyInput::Variable(variable) = *input
                && !variables.contains(&variable)
            {
                variables.push(variable);
            }
        }
        variables
    }

    /// One line about what the policy is, for people.
    pub fn describe(&self) -> String {
        let filter = if self.filter { "among applicable labels" } else { "among all its labels" };
        format!("{}, choosing {filter}", self.scorer.shape())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::Parameter;

    #[test]
    fn a_label_has_one_output() {
        let scorer = || {
            let base = vec![Parameter::from(0.0); 3];
            Scorer::Ensemble(Ensemble::new(0, base, Vec::new()).expect("well formed"))
        };
        let policy =
            |labels: [u32; 3]| Policy::new(Vec::new(), labels.map(LabelId).to_vec(), false, scorer());
        assert!(policy([2, 0, 1]).is_ok());
        assert_eq!(policy([2, 0, 2]), Err(ShapeError::RepeatedLabel { output: 2 }));
    }
}
