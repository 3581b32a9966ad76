//! The proof as a certificate has it: regions, and for each a tree that says what the policy may choose where.
//!
//! A region is split where the tests of the engine had to be made exact by splitting, until no part lists an output that leads out of the
//! invariant: the checker goes by what is listed.

use surefoot_certificate::{Bound, Region, TreeNode};

use super::reason::Reason;
use super::steps::Target;
use super::{Run, Stop};

impl Run<'_> {
    /// The regions of an invariant: the reasons above a level.
    pub(super) fn regions(&mut self, level: usize) -> Result<Vec<Region>, Stop> {
        let entries = self.frames.entries().iter().filter(|entry| entry.level > level);
        let reasons: Vec<Reason> = entries.map(|entry| entry.reason.clone()).collect();
        let mut regions = Vec::new();
        for reason in reasons {
            self.look_around()?;
            let tree =
                if self.problem.task.policy.is_some() { self.tree(&reason, level)? } else { Vec::new() };
            regions.push(Region { bounds: self.bounds(&reason), facts: Vec::new(), tree });
        }
        Ok(regions)
    }

    fn bounds(&self, reason: &Reason) -> Vec<Bound> {
        let domain = &self.problem.domain;
        let bound = |variable: usize| Bound {
            variable: variable as u32,
            lower: reason.lower[variable],
            upper: reason.upper[variable],
        };
        reason.narrow(domain).map(bound).collect()
    }

    /// What the policy may choose in the parts of a reason, split until no part leads out of the invariant.
    fn tree(&mut self, reason: &Reason, level: usize) -> Result<Vec<TreeNode>, Stop> {
        let mut tree = Vec::new();
        let mut parts = vec![reason.clone()];
        while let Some(part) = parts.pop() {
            let target = Target { level: level + 1, except: reason };
            if let Some((variable, low, high)) = self.steps.split(&mut self.states, &part, target)? {
                tree.push(TreeNode::Split { variable: variable as u32, at: high.lower[variable] });
                parts.extend([high, low]);
            } else {
                let outputs = self.steps.choices(&part)?;
                tree.push(TreeNode::Leaf(outputs.iter().map(|output| output as u32).collect()));
            }
        }
        Ok(tree)
    }
}
