//! Numbers, texts and lists as bytes, for files of surefoot that are not text.
//!
//! Numbers are LEB128, the shortest form only; signed ones are folded first (0, −1, 1, −2, …). So what is written has
//! exactly one form. The reader never allocates ahead of what it has read: each element of a list takes at least one
//! byte of the file, so memory stays within a constant times the length of the file.

use crate::certificate::Bound;

/// Why bytes cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadError {
    /// They end within a value, after so many bytes.
    End(usize),
    /// A value cannot be what it should be.
    Value {
        /// Where.
        at: usize,
        /// What was expected.
        what: &'static str,
    },
}

/// Appends values to bytes.
#[derive(Debug)]
pub struct Writer {
    /// What was written.
    pub bytes: Vec<u8>,
}

impl Writer {
    /// Begins with these bytes.
    pub fn new(magic: &[u8]) -> Writer {
        Writer { bytes: magic.to_vec() }
    }

    /// A number.
    pub fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// A number that may be negative.
    pub fn signed(&mut self, value: i64) {
        self.number(((value << 1) ^ (value >> 63)) as u64);
    }

    /// A text.
    pub fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes.extend(text.as_bytes());
    }

    /// A list.
    pub fn list<T>(&mut self, list: &[T], mut write: impl FnMut(&mut Writer, &T)) {
        self.number(list.len() as u64);
        for element in list {
            write(self, element);
        }
    }

    /// Bounds of a box.
    pub fn bounds(&mut self, bounds: &[Bound]) {
        self.list(bounds, |writer, bound| {
            writer.number(bound.variable.into());
            writer.signed(bound.lower.into());
            writer.number((i64::from(bound.upper) - i64::from(bound.lower)) as u64);
        });
    }
}

/// Takes values from bytes.
#[derive(Debug)]
pub struct Reader<'b> {
    length: usize,
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    /// Reads what follows the first bytes of a file; `None` if it begins otherwise.
    pub fn new(bytes: &'b [u8], magic: &[u8]) -> Option<Reader<'b>> {
        let rest = bytes.strip_prefix(magic)?;
        Some(Reader { length: bytes.len(), rest })
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// A value that cannot be what it should be.
    pub fn fail<T, E: From<ReadError>>(&self, what: &'static str) -> Result<T, E> {
        Err(ReadError::Value { at: self.length - self.rest.len(), what }.into())
    }

    /// A value that was just read, if it is one that is known.
    pub fn known<T>(&self, value: Option<T>, what: &'static str) -> Result<T, ReadError> {
        value.map_or_else(|| self.fail(what), Ok)
    }

    /// So many bytes.
    pub fn take(&mut self, count: usize) -> Result<&'b [u8], ReadError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(ReadError::End(self.length))?;
        self.rest = rest;
        Ok(taken)
    }

    /// A number.
    pub fn number(&mut self) -> Result<u64, ReadError> {
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

    /// A number that may be negative.
    pub fn signed(&mut self) -> Result<i64, ReadError> {
        let folded = self.number()?;
        Ok((folded >> 1) as i64 ^ -((folded & 1) as i64))
    }

    /// A value of a variable.
    pub fn integer(&mut self) -> Result<i32, ReadError> {
        let value = self.signed()?;
        self.known(i32::try_from(value).ok(), "an integer of 32 bits")
    }

    /// A position.
    pub fn index(&mut self) -> Result<u32, ReadError> {
        let value = self.number()?;
        self.known(u32::try_from(value).ok(), "an index of 32 bits")
    }

    /// The length of a list or text, of which each element takes at least a byte.
    fn count(&mut self) -> Result<usize, ReadError> {
        let count = self.number()?;
        match usize::try_from(count) {
            Ok(count) if count <= self.rest.len() => Ok(count),
            _ => Err(ReadError::End(self.length)),
        }
    }

    /// A text.
    pub fn text(&mut self) -> Result<String, ReadError> {
        let count = self.count()?;
        let bytes = self.take(count)?;
        self.known(std::str::from_utf8(bytes).ok().map(str::to_owned), "UTF-8 text before this byte")
    }

    /// A list.
    pub fn list<T, E: From<ReadError>>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, E>,
    ) -> Result<Vec<T>, E> {
        let count = self.count()?;
        let mut list = Vec::new();
        for _ in 0..count {
            list.push(read(self)?);
        }
        Ok(list)
    }

    /// Bounds of a box.
    pub fn bounds(&mut self) -> Result<Vec<Bound>, ReadError> {
        self.list(|reader| {
            let (variable, lower, width) = (reader.index()?, reader.integer()?, reader.index()?);
            let upper = i32::try_from(i64::from(lower) + i64::from(width)).ok();
            Ok(Bound { variable, lower, upper: reader.known(upper, "an upper bound of 32 bits")? })
        })
    }
}
