//! Certificates as bytes. `docs/certificate.md` has the grammar.
//!
//! Numbers are LEB128, the shortest form only; signed ones are folded first (0, −1, 1, −2, …). So a certificate has
//! exactly one form. The reader never allocates ahead of what it has read: each element of a list takes at least one
//! byte of the file, so memory stays within a constant times the length of the file. It does not recurse.

use surefoot_policy::{Arithmetic, Goal, OutOfDomain, Semantics};

use crate::certificate::{Bound, Certificate, Domain, Fact, FormatError, Input, Region, Role, TreeNode};

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
        let mut writer = Writer { bytes: MAGIC.to_vec() };
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
        writer.list(&self.regions, Writer::region);
        writer.bytes
    }

    /// Reads the contents of a file.
    pub fn read(bytes: &[u8]) -> Result<Certificate, FormatError> {
        let Some(rest) = bytes.strip_prefix(MAGIC) else { return Err(FormatError::Magic) };
        let mut reader = Reader { length: bytes.len(), rest };
        let version = reader.number()?;
        if version != VERSION {
            return Err(FormatError::Version(version));
        }
        let inputs = reader.list(|reader| {
            let role = reader.number()?;
            let role = usize::try_from(role).ok().and_then(|role| Role::ALL.get(role).copied());
            let role = reader.known(role, "a kind of file (0 to 3)")?;
            let sha256 = reader.take(32)?.try_into().expect("as many bytes as asked for");
            Ok(Input { role, sha256 })
        })?;
        let variables = reader.list(|reader| {
            Ok(Domain { name: reader.text()?, lower: reader.integer()?, upper: reader.integer()? })
        })?;
        let labels = reader.list(Reader::text)?;
        let outputs = match reader.number()? {
            0 => None,
            1 => Some(reader.list(Reader::index)?),
            _ => return reader.fail("0 or 1 for whether there is a policy"),
        };
        let semantics = reader.semantics()?;
        let regions = reader.list(|reader| reader.region(outputs.is_some()))?;
        if !reader.rest.is_empty() {
            return Err(FormatError::Trailing(reader.rest.len()));
        }
        let certificate = Certificate { inputs, variables, labels, outputs, semantics, regions };
        certificate.validate()?;
        Ok(certificate)
    }
}

struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn signed(&mut self, value: i64) {
        self.number(((value << 1) ^ (value >> 63)) as u64);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes.extend(text.as_bytes());
    }

    fn list<T>(&mut self, list: &[T], mut write: impl FnMut(&mut Writer, &T)) {
        self.number(list.len() as u64);
        for element in list {
            write(self, element);
        }
    }

    fn region(&mut self, region: &Region) {
        self.list(&region.bounds, |writer, bound| {
            writer.number(bound.variable.into());
            writer.signed(bound.lower.into());
            writer.number((i64::from(bound.upper) - i64::from(bound.lower)) as u64);
        });
        self.list(&region.facts, |writer, fact| {
            writer.list(&fact.terms, |writer, &(variable, factor)| {
                writer.number(variable.into());
                writer.signed(factor.into());
            });
            writer.signed(fact.limit);
        });
        for node in &region.tree {
            match node {
                TreeNode::Leaf(outputs) => {
                    self.number(0);
                    self.list(outputs, |writer, &output| writer.number(output.into()));
                }
                TreeNode::Split { variable, at } => {
                    self.number(u64::from(*variable) + 1);
                    self.signed((*at).into());
                }
            }
        }
    }
}

struct Reader<'b> {
    length: usize,
    rest: &'b [u8],
}

type Read<T> = Result<T, FormatError>;

impl<'b> Reader<'b> {
    fn at(&self) -> usize {
        self.length - self.rest.len()
    }

    fn fail<T>(&self, what: &'static str) -> Read<T> {
        Err(FormatError::Value { at: self.at(), what })
    }

    fn known<T>(&self, value: Option<T>, what: &'static str) -> Read<T> {
        value.map_or_else(|| self.fail(what), Ok)
    }

    fn take(&mut self, count: usize) -> Read<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(FormatError::End(self.length))?;
        self.rest = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Read<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            let digit = u64::from(byte & 0x7f);
            if shift == 63 && digit > 1 || shift > 0 && byte == 0 {
                return self.fail("a number of up to 64 bits in its shortest form");
            }
            value |= digit << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        self.fail("a number of up to 64 bits in its shortest form")
    }

    fn signed(&mut self) -> Read<i64> {
        let folded = self.number()?;
        Ok((folded >> 1) as i64 ^ -((folded & 1) as i64))
    }

    fn integer(&mut self) -> Read<i32> {
        let value = self.signed()?;
        self.known(i32::try_from(value).ok(), "an integer of 32 bits")
    }

    fn index(&mut self) -> Read<u32> {
        let value = self.number()?;
        self.known(u32::try_from(value).ok(), "an index of 32 bits")
    }

    /// The length of a list or text, of which each element takes at least a byte.
    fn count(&mut self) -> Read<usize> {
        let count = self.number()?;
        match usize::try_from(count) {
            Ok(count) if count <= self.rest.len() => Ok(count),
            _ => Err(FormatError::End(self.length)),
        }
    }

    fn text(&mut self) -> Read<String> {
        let count = self.count()?;
        let bytes = self.take(count)?;
        self.known(std::str::from_utf8(bytes).ok().map(str::to_owned), "UTF-8 text before this byte")
    }

    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let count = self.count()?;
        let mut list = Vec::new();
        for _ in 0..count {
            list.push(read(self)?);
        }
        Ok(list)
    }

    fn semantics(&mut self) -> Read<Semantics> {
        let filter = self.text()?;
        let filter = ["off", "on"].iter().position(|&name| name == filter);
        let filter = self.known(filter, "`on` or `off` before this byte")? == 1;
        let goal = self.text()?;
        let goal = GOALS.into_iter().find(|&known| goal_name(known) == goal);
        let goal = self.known(goal, "`ignore`, `terminal` or `strict` before this byte")?;
        let reading = self.text()?;
        let reading = OUT_OF_DOMAIN.into_iter().find(|&known| out_of_domain_name(known) == reading);
        let out_of_domain = self.known(reading, "`error` or `block` before this byte")?;
        let arithmetic: Option<Arithmetic> = self.text()?.parse().ok();
        let arithmetic = self.known(arithmetic, "the name of an arithmetic before this byte")?;
        Ok(Semantics { filter, goal, out_of_domain, arithmetic })
    }

    fn region(&mut self, has_tree: bool) -> Read<Region> {
        let bounds = self.list(|reader| {
            let (variable, lower, width) = (reader.index()?, reader.integer()?, reader.index()?);
            let upper = i32::try_from(i64::from(lower) + i64::from(width)).ok();
            Ok(Bound { variable, lower, upper: reader.known(upper, "an upper bound of 32 bits")? })
        })?;
        let facts = self.list(|reader| {
            let terms = reader.list(|reader| Ok((reader.index()?, reader.integer()?)))?;
            Ok(Fact { terms, limit: reader.signed()? })
        })?;
        Ok(Region { bounds, facts, tree: if has_tree { self.tree()? } else { Vec::new() } })
    }

    fn tree(&mut self) -> Read<Vec<TreeNode>> {
        let mut tree = Vec::new();
        let mut open = 1_usize;
        while open > 0 {
            match self.index()?.checked_sub(1) {
                None => {
                    tree.push(TreeNode::Leaf(self.list(Reader::index)?));
                    open -= 1;
                }
                Some(variable) => {
                    tree.push(TreeNode::Split { variable, at: self.integer()? });
                    open += 1;
                }
            }
        }
        Ok(tree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
