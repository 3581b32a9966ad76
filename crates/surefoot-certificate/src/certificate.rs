//! What a certificate says.
//!
//! A certificate names the task that it is about and lists *regions*, sets of states whose union contains every start
//! state and no unsafe one, and which no step leaves. `docs/certificate.md` has the claim in full; [`crate::check()`]
//! decides it.

use sha2::{Digest, Sha256};
use surefoot_policy::Semantics;

/// The claim that a task is safe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The files that the task was read from.
    pub inputs: Vec<Input>,
    /// The state vector.
    pub variables: Vec<Domain>,
    /// Names of the labels of the system.
    pub labels: Vec<String>,
    /// The labels that the policy chooses from, by their position in `labels`; `None` if there is no policy.
    pub outputs: Option<Vec<u32>>,
    /// How the task is read.
    pub semantics: Semantics,
    /// The regions. Their union is the invariant.
    pub regions: Vec<Region>,
}

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The environment.
    Model,
    /// The property, where it has a file of its own.
    Property,
    /// What the policy reads and chooses from.
    Interface,
    /// The network or the trees.
    Policy,
}

impl Role {
    /// All roles; their positions are their numbers in files.
    pub const ALL: [Role; 4] = [Role::Model, Role::Property, Role::Interface, Role::Policy];

    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Role::Model => "model",
            Role::Property => "property",
            Role::Interface => "policy interface",
            Role::Policy => "policy",
        }
    }
}

/// A file by its contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Input {
    /// What the file is for.
    pub role: Role,
    /// SHA-256 of its bytes.
    pub sha256: [u8; 32],
}

impl Input {
    /// A file with these contents.
    pub fn new(role: Role, contents: &[u8]) -> Input {
        Input { role, sha256: Sha256::digest(contents).into() }
    }

    /// A file whose hash is known in hexadecimal; `None` if the text is no SHA-256.
    pub fn from_hex(role: Role, text: &str) -> Option<Input> {
        let mut sha256 = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        for (byte, at) in sha256.iter_mut().zip((0..).step_by(2)) {
            *byte = u8::from_str_radix(&text[at..at + 2], 16).ok()?;
        }
        Some(Input { role, sha256 })
    }

    /// The hash in lower-case hexadecimal.
    pub fn hex(&self) -> String {
        self.sha256
            .iter()
            .flat_map(|byte| [byte >> 4, byte & 15])
            .map(|digit| char::from(b"0123456789abcdef"[digit as usize]))
            .collect()
    }
}

/// A variable and the values that it can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domain {
    /// Its name.
    pub name: String,
    /// Smallest value.
    pub lower: i32,
    /// Largest value.
    pub upper: i32,
}

/// The states that satisfy some bounds and facts, and what the policy may choose there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Bounds that are narrower than the domain, ascending by variable.
    pub bounds: Vec<Bound>,
    /// Linear facts.
    pub facts: Vec<Fact>,
    /// A tree in preorder over the bounds; empty if there is no policy.
    pub tree: Vec<TreeNode>,
}

/// `lower ≤ variable ≤ upper`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// Position of the variable.
    pub variable: u32,
    /// Smallest value.
    pub lower: i32,
    /// Largest value.
    pub upper: i32,
}

/// `Σ factor · variable ≤ limit`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Variables and their factors, ascending by variable.
    pub terms: Vec<(u32, i32)>,
    /// The limit.
    pub limit: i64,
}

/// A node of a region's tree. The children of a split follow it, first all of the left one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeNode {
    /// States with `variable < at` belong to the left child, all others to the right one.
    Split {
        /// Position of the variable.
        variable: u32,
        /// The first value of the right child.
        at: i32,
    },
    /// No other outputs than these are chosen; ascending.
    Leaf(Vec<u32>),
}

/// Why a certificate is not well formed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The file begins with something else.
    #[error("this is not a certificate of surefoot")]
    Magic,
    /// The file has another version.
    #[error("certificates of version {0} are not known, only those of version 1 are")]
    Version(u64),
    /// The file ends within a value.
    #[error("the certificate is cut off: it ends at byte {0}")]
    End(usize),
    /// There is more in the file.
    #[error("{0} bytes follow the end of the certificate")]
    Trailing(usize),
    /// A value cannot be what it should be.
    #[error("the certificate is damaged at byte {at}: {what}")]
    Value {
        /// Where.
        at: usize,
        /// What was expected.
        what: &'static str,
    },
    /// The contents do not fit together.
    #[error("the certificate is inconsistent: {0}")]
    Inconsistent(String),
}

impl Certificate {
    /// Checks that all indices are in range and all trees complete. What is read from a file is well formed.
    pub fn validate(&self) -> Result<(), FormatError> {
        let fail = |text: String| Err(FormatError::Inconsistent(text));
        if let Some(domain) = self.variables.iter().find(|domain| domain.lower > domain.upper) {
            return fail(format!("the domain of `{}` is empty", domain.name));
        }
        if let Some(outputs) = &self.outputs
            && let Some(label) = outputs.iter().find(|&&label| label as usize >= self.labels.len())
        {
            return fail(format!("an output of the policy is label {label}, which does not exist"));
        }
        for (number, region) in self.regions.iter().enumerate() {
            region
                .validate(&self.variables, self.outputs.as_ref().map(Vec::len))
                .or_else(|text| fail(format!("region {number}: {text}")))?;
        }
        Ok(())
    }
}

impl Region {
    fn validate(&self, domains: &[Domain], outputs: Option<usize>) -> Result<(), String> {
        let ascends = |variables: &[u32]| {
            let known = variables.iter().all(|&variable| (variable as usize) < domains.len());
            known && variables.windows(2).all(|pair| pair[0] < pair[1])
        };
        if !ascends(&self.bounds.iter().map(|bound| bound.variable).collect::<Vec<_>>()) {
            return Err("bounds are not on ascending variables".into());
        }
        for bound in &self.bounds {
            let domain = &domains[bound.variable as usize];
            if bound.lower > bound.upper || bound.lower < domain.lower || bound.upper > domain.upper {
                return Err(format!("the bounds of `{}` are not within its domain", domain.name));
            }
        }
        let variables = |fact: &Fact| fact.terms.iter().map(|term| term.0).collect::<Vec<_>>();
        if !self.facts.iter().all(|fact| ascends(&variables(fact))) {
            return Err("terms of a fact are not on ascending variables".into());
        }
        match outputs {
            None if self.tree.is_empty() => Ok(()),
            None => Err("there is a tree but no policy".into()),
            Some(outputs) => validate_tree(&self.tree, domains.len(), outputs),
        }
    }
}

fn validate_tree(tree: &[TreeNode], variables: usize, outputs: usize) -> Result<(), String> {
    let mut open = 1_usize;
    for node in tree {
        open = open.checked_sub(1).ok_or("nodes follow the end of the tree")?;
        match node {
            TreeNode::Split { variable, .. } if (*variable as usize) < variables => open += 2,
            TreeNode::Split { .. } => return Err("the tree splits a variable that does not exist".into()),
            TreeNode::Leaf(listed) => {
                let ascends = listed.windows(2).all(|pair| pair[0] < pair[1]);
                if !ascends || listed.last().is_some_and(|&output| output as usize >= outputs) {
                    return Err("a leaf lists outputs that do not exist, or not ascending".into());
                }
            }
        }
    }
    if open == 0 { Ok(()) } else { Err(format!("the tree lacks {open} nodes")) }
}
