//! The policy of a query set, as read from its folder.

use std::path::Path;

use surefoot_model::{VarId, Variable, jani};
use surefoot_policy::Policy;

use crate::sets::{Source, sets};
use crate::{sparse, wide};

pub struct Subject {
    pub policy: Policy,
    /// The least and the greatest value of each variable of the system.
    pub domains: Vec<(i32, i32)>,
    /// The variables that the policy reads, in the order in which queries name them.
    pub variables: Vec<VarId>,
}

impl Subject {
    pub fn read(folder: &Path) -> Subject {
        let name = folder.file_name().and_then(|name| name.to_str()).expect("a set has a name");
        let set = sets().into_iter().find(|set| set.name == name);
        let (policy, domains) = match set.map(|set| set.source) {
            Some(Source::Sparse { layers, neurons }) => sparse::network(layers, neurons),
            Some(Source::Wide { neurons }) => wide::network(neurons),
            _ => read_files(folder),
        };
        let variables = policy.variables();
        Subject { policy, domains, variables }
    }

    /// The domains of the variables that the policy reads.
    pub fn domains_read(&self) -> Vec<(i32, i32)> {
        self.variables.iter().map(|variable| self.domains[variable.index()]).collect()
    }

    /// A state of the system from the values that the policy reads.
    pub fn state(&self, values: &[i32]) -> Vec<i32> {
        let mut state: Vec<i32> = self.domains.iter().map(|domain| domain.0).collect();
        for (variable, &value) in self.variables.iter().zip(values) {
            state[variable.index()] = value;
        }
        state
    }

    /// The values of a state that the policy reads.
    pub fn values(&self, state: &[i32]) -> Vec<i32> {
        self.variables.iter().map(|variable| state[variable.index()]).collect()
    }
}

fn read_files(folder: &Path) -> (Policy, Vec<(i32, i32)>) {
    let model = jani::read(&folder.join("model.jani"), None, &jani::ReadOptions::default());
    let mut loaded = model.expect("a model");
    let interface = folder.join("interface.json");
    let policy = surefoot_policy::read(&interface, &loaded.system, &mut loaded.sources, &mut Vec::new());
    let bounds = |variable: &Variable| variable.ty.bounds().expect("no variable is real");
    let domains = loaded.system.variables.iter().map(bounds);
    (policy.expect("a policy"), domains.collect())
}
