//! Certificates as bytes. `docs/certificate.md` has the grammar; a certificate has exactly one form. The reader does not
//! recurse, and its memory stays within a constant times the length of the file.

use surefoot_policy::{Arithmetic, Goal, OutOfDomain, Semantics};

use crate::certificate::{Certificate, Domain, Fact, FormatError, Input, Region, Role, TreeNode};
use crate::encoding::{ReadError, Reader, Writer};

const MAGIC: &[u8; 8] = b"SFTCERT\n";
const VERSION: u64 = 1;

const GOALS: [Goal; 3] = [Goal::Ignore, Goal::Terminal, Goal::Strict];
const OUT_OF_DOMAIN: [OutOfDomain; 2] = [OutOfDomain::Error, OutOfDomain::Block];

/// The name of a reading of goals, as on the command line.
pub(crate) fn goal_name(goal: Goal) -> &'static str {
    match goal {
        Goal::Ignore => "ignore",
        Goal::Terminal => "terminal",
        Goal::Strict => "strict",
    }
}

/// The name of a reading of updates that leave a domain, as on the command line.
pub(crate) fn out_of_domain_name(reading: OutOfDomain) -> &'static str {
    match reading {
        OutOfDomain::Error => "error",
        OutOfDomain::Block => "block",
    }
}

impl Certificate {
    /// The certificate as the contents of a file.
    pub fn write(&self) -> Vec<u8> {
        let mut writer = Writer::new(MAGIC);
        writer.number(VERSION);
        writer.list(&self.inputs, |writer, input| {
            writer.number(input.role as u64);
            writer.bytes.extend(input.sha256);
        });
        writer.list(&self.variables, |writer, domain| {
            writer.text(&domain.name);
            writer.signed(domain.lower.into());
            writer.signed(domain.upper.into());
        });
        writer.list(&self.labels, |writer, label| writer.text(label));
        writer.number(u64::from(self.outputs.is_some()));
        if let Some(outputs) = &self.outputs {
            writer.list(outputs, |writer, &label| writer.number(label.into()));
        }
        writer.text(if self.semantics.filter { "on" } else { "off" });
        writer.text(goal_name(self.semantics.goal));
        writer.text(out_of_domain_name(self.semantics.out_of_domain));
        writer.text(self.semantics.arithmetic.name());
        writer.list(&self.regions, write_region);
        writer.bytes
    }

    /// Reads the contents of a file.
    pub fn read(bytes: &[u8]) -> Result<Certificate, FormatError> {
        let mut reader = Reader::new(bytes, MAGIC).ok_or(FormatError::Magic)?;
        let version = reader.number()?;
        if version != VERSION {
            return Err(FormatError::Version(version));
        }
        let inputs = reader.list(|reader| -> Read<Input> {
            let role = reader.number()?;
            let role = usize::try_from(role).ok().and_then(|role| Role::ALL.get(role).copied());
            let role = reader.known(role, "a kind of file (0 to 3)")?;
            let sha256 = reader.take(32)?.try_into().expect("as many bytes as asked for");
            Ok(Input { role, sha256 })
        })?;
        let variables = reader.list(|reader| -> Read<Domain> {
            Ok(Domain { name: reader.text()?, lower: reader.integer()?, upper: reader.integer()? })
        })?;
        let labels = reader.list(Reader::text)?;
        let outputs = match reader.number()? {
            0 => None,
            1 => Some(reader.list(Reader::index)?),
            _ => return reader.fail("0 or 1 for whether there is a policy"),
        };
        let semantics = semantics(&mut reader)?;
        let regions = reader.list(|reader| region(reader, outputs.is_some()))?;
        if reader.left() > 0 {
            return Err(FormatError::Trailing(reader.left()));
        }
        let certificate = Certificate { inputs, variables, labels, outputs, semantics, regions };
        certificate.validate()?;
        Ok(certificate)
    }
}

impl From<ReadError> for FormatError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::End(length) => FormatError::End(length),
            ReadError::Value { at, what } => FormatError::Value { at, what },
        }
    }
}

fn write_region(writer: &mut Writer, region: &Region) {
    writer.bounds(&region.bounds);
    writer.list(&region.facts, |writer, fact| {
        writer.list(&fact.terms, |writer, &(variable, factor)| {
            writer.number(variable.into());
            writer.signed(factor.into());
        });
        writer.signed(fact.limit);
    });
    for node in &region.tree {
        match node {
            TreeNode::Leaf(outputs) => {
                writer.number(0);
                writer.list(outputs, |writer, &output| writer.number(output.into()));
            }
            TreeNode::Split { variable, at } => {
                writer.number(u64::from(*variable) + 1);
                writer.signed((*at).into());
            }
        }
    }
}

type Read<T> = Result<T, ReadError>;

fn semantics(reader: &mut Reader<'_>) -> Read<Semantics> {
    let filter = reader.text()?;
    let filter = ["off", "on"].iter().position(|&name| name == filter);
    let filter = reader.known(filter, "`on` or `off` before this byte")? == 1;
    let goal = reader.text()?;
    let goal = GOALS.into_iter().find(|&known| goal_name(known) == goal);
    let goal = reader.known(goal, "`ignore`, `terminal` or `strict` before this byte")?;
    let reading = reader.text()?;
    let reading = OUT_OF_DOMAIN.into_iter().find(|&known| out_of_domain_name(known) == reading);
    let out_of_domain = reader.known(reading, "`error` or `block` before this byte")?;
    let arithmetic: Option<Arithmetic> = reader.text()?.parse().ok();
    let arithmetic = reader.known(arithmetic, "the name of an arithmetic before this byte")?;
    Ok(Semantics { filter, goal, out_of_domain, arithmetic })
}

fn region(reader: &mut Reader<'_>, has_tree: bool) -> Read<Region> {
    let bounds = reader.bounds()?;
    let facts = reader.list(|reader| -> Read<Fact> {
        let terms = reader.list(|reader| -> Read<(u32, i32)> { Ok((reader.index()?, reader.integer()?)) })?;
        Ok(Fact { terms, limit: reader.signed()? })
    })?;
    Ok(Region { bounds, facts, tree: if has_tree { tree(reader)? } else { Vec::new() } })
}

fn tree(reader: &mut Reader<'_>) -> Read<Vec<TreeNode>> {
    let mut tree = Vec::new();
    let mut open = 1_usize;
    while open > 0 {
        match reader.index()?.checked_sub(1) {
            None => {
                tree.push(TreeNode::Leaf(reader.list(Reader::index)?));
                open -= 1;
            }
            Some(variable) => {
                tree.push(TreeNode::Split { variable, at: reader.integer()? });
                open += 1;
            }
        }
    }
    Ok(tree)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::Bound;

    fn sample() -> Certificate {
        let domain = |name: &str, lower, upper| Domain { name: name.into(), lower, upper };
        let leaf = |outputs: &[u32]| TreeNode::Leaf(outputs.to_vec());
        Certificate {
            inputs: vec![Input::new(Role::Model, b"model"), Input::new(Role::Policy, b"policy")],
            variables: vec![domain("x", -3, 300), domain("y", i32::MIN, i32::MAX)],
            labels: vec!["left".into(), "right".into()],
            outputs: Some(vec![1, 0]),
            semantics: Semantics {
                filter: true,
                goal: Goal::Strict,
                out_of_domain: OutOfDomain::Block,
                arithmetic: Arithmetic::AnyF32,
            },
            regions: vec![
                Region {
                    bounds: vec![Bound { variable: 1, lower: i32::MIN, upper: 7 }],
                    facts: vec![Fact { terms: vec![(0, -1), (1, 5)], limit: i64::MIN }],
                    tree: vec![TreeNode::Split { variable: 0, at: 200 }, leaf(&[0, 1]), leaf(&[])],
                },
                Region { bounds: Vec::new(), facts: Vec::new(), tree: vec![leaf(&[1])] },
            ],
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let certificate = sample();
        assert_eq!(Certificate::read(&certificate.write()), Ok(certificate.clone()));
        let without = Region { tree: Vec::new(), ..certificate.regions[0].clone() };
        let certificate = Certificate { outputs: None, regions: vec![without], ..certificate };
        assert_eq!(Certificate::read(&certificate.write()), Ok(certificate));
    }

    #[test]
    fn every_prefix_is_refused() {
        let bytes = sample().write();
        for end in 0..bytes.len() {
            let error = Certificate::read(&bytes[..end]).expect_err("cut off");
            assert!(matches!(error, FormatError::End(_) | FormatError::Magic), "{end}: {error}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!(Certificate::read(&longer), Err(FormatError::Trailing(1)));
    }

    #[test]
    fn a_file_that_is_read_is_written_again_alike() {
        let bytes = sample().write();
        for at in 8..bytes.len() {
            for value in 0..=255 {
                let mut changed = bytes.clone();
                changed[at] = value;
                if let Ok(certificate) = Certificate::read(&changed) {
                    assert_eq!(certificate.write(), changed);
                }
            }
        }
    }

    #[test]
    fn lists_without_elements_cost_nothing() {
        let mut bytes = [&MAGIC[..], &[1]].concat();
        bytes.extend([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]);
        assert_eq!(Certificate::read(&bytes), Err(FormatError::End(bytes.len())));
        let overlong = [&MAGIC[..], &[0x81, 0]].concat();
        assert!(matches!(Certificate::read(&overlong), Err(FormatError::Value { .. })));
    }

    #[test]
    fn trees_may_be_deep() {
        let mut certificate = sample();
        let tree = &mut certificate.regions[0].tree;
        tree.clear();
        for at in 0..100_000 {
            tree.extend([TreeNode::Split { variable: 1, at }, TreeNode::Leaf(vec![0])]);
        }
        tree.push(TreeNode::Leaf(vec![1]));
        assert_eq!(Certificate::read(&certificate.write()), Ok(certificate));
    }
}
