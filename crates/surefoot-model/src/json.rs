//! JSON documents that remember where each value stood.
//!
//! A document is a flat list of values, built without recursion, so nesting costs no stack. Duplicate keys are errors,
//! escapes are decoded, and each value can make an [`InputError`] that names its place and JSON path.

use std::path::{Path, PathBuf};

use struson::reader::{
    JsonReader, JsonStreamReader, ReaderError, ReaderSettings, SyntaxErrorKind, ValueType,
};

use crate::input::{InputError, Position};

/// Values may be nested this deeply; deeper documents are refused.
pub const MAX_DEPTH: usize = 8192;

/// A parsed JSON file.
#[derive(Debug)]
pub struct Document {
    path: PathBuf,
    values: Vec<Stored>,
}

#[derive(Debug)]
struct Stored {
    kind: Kind,
    position: Position,
    parent: u32,
    /// Key or index in the parent.
    step: Step,
}

#[derive(Debug)]
enum Kind {
    Null,
    Bool(bool),
    Number(Box<str>),
    String(Box<str>),
    Array(Vec<u32>),
    Object(Vec<u32>),
}

#[derive(Debug)]
enum Step {
    Root,
    Index(u32),
    Key(Box<str>),
}

/// A value of a [`Document`].
#[derive(Debug, Clone, Copy)]
pub struct Json<'d> {
    document: &'d Document,
    id: u32,
}

impl Document {
    /// Parses `text`, the contents of the file at `path`.
    pub fn parse(path: &Path, text: &str) -> Result<Document, InputError> {
        let settings = ReaderSettings {
            track_path: false,
            max_nesting_depth: None,
            restrict_number_values: false,
            ..ReaderSettings::default()
        };
        let mut reader = JsonStreamReader::new_custom(text.as_bytes(), settings);
        let mut document = Document { path: path.to_path_buf(), values: Vec::new() };
        document.fill(&mut reader)?;
        reader.consume_trailing_whitespace().map_err(|e| syntax_error(path, &e))?;
        Ok(document)
    }

    fn fill(&mut self, reader: &mut JsonStreamReader<&[u8]>) -> Result<(), InputError> {
        let path = self.path.clone();
        let fail = |e: ReaderError| syntax_error(&path, &e);
        let mut open: Vec<u32> = Vec::new();
        self.read_value(reader, 0, Step::Root, &mut open).map_err(fail)?;
        while let Some(&container) = open.last() {
            let more = reader.has_next().map_err(fail)?;
            let is_object = matches!(self.values[container as usize].kind, Kind::Object(_));
            if !more {
                if is_object { reader.end_object() } else { reader.end_array() }.map_err(fail)?;
                open.pop();
                if is_object {
                    self.refuse_duplicate_keys(container)?;
                }
                continue;
            }
            let step = if is_object {
                Step::Key(reader.next_name_owned().map_err(fail)?.into_boxed_str())
            } else {
                let Kind::Array(items) = &self.values[container as usize].kind else {
                    unreachable!("checked above")
                };
                Step::Index(items.len() as u32)
            };
            let child = self.values.len() as u32;
            match &mut self.values[container as usize].kind {
                Kind::Array(children) | Kind::Object(children) => children.push(child),
                _ => unreachable!("only containers are open"),
            }
            self.read_value(reader, container, step, &mut open).map_err(fail)?;
            if open.len() > MAX_DEPTH {
                let message = format!("JSON values are nested more than {MAX_DEPTH} levels deep");
                return Err(InputError::at(&self.path, self.values[child as usize].position, message)
                    .with_hint("write long conjunctions and disjunctions as balanced trees"));
            }
        }
        Ok(())
    }

    /// Appends the next value; a container is pushed to `open`, its children follow.
    fn read_value(
        &mut self,
        reader: &mut JsonStreamReader<&[u8]>,
        parent: u32,
        step: Step,
        open: &mut Vec<u32>,
    ) -> Result<(), ReaderError> {
        let ty = reader.peek()?;
        let position = position_of(&reader.current_position(false));
        let kind = match ty {
            ValueType::Null => {
                reader.next_null()?;
                Kind::Null
            }
            ValueType::Boolean => Kind::Bool(reader.next_bool()?),
            ValueType::Number => Kind::Number(reader.next_number_as_str()?.into()),
            ValueType::String => Kind::String(reader.next_str()?.into()),
            ValueType::Array => {
                reader.begin_array()?;
                open.push(self.values.len() as u32);
                Kind::Array(Vec::new())
            }
            ValueType::Object => {
                reader.begin_object()?;
                open.push(self.values.len() as u32);
                Kind::Object(Vec::new())
            }
        };
        self.values.push(Stored { kind, position, parent, step });
        Ok(())
    }

    fn refuse_duplicate_keys(&self, object: u32) -> Result<(), InputError> {
        let members = Json { document: self, id: object }.members();
        let mut keys = rustc_hash::FxHashSet::default();
        for (key, value) in members {
            if !keys.insert(key) {
                return Err(value
                    .error(format!("the key {key:?} stands twice in this object"))
                    .with_hint("remove one of the two"));
            }
        }
        Ok(())
    }

    /// The outermost value.
    pub fn root(&self) -> Json<'_> {
        Json { document: self, id: 0 }
    }
}

impl<'d> Json<'d> {
    fn stored(self) -> &'d Stored {
        &self.document.values[self.id as usize]
    }

    /// The file that this value is from.
    pub fn file(self) -> &'d Path {
        &self.document.path
    }

    /// Where the value begins.
    pub fn position(self) -> Position {
        self.stored().position
    }

    /// Path from the root: `$.automata[0].edges[3].guard`.
    pub fn path(self) -> String {
        let mut steps = Vec::new();
        let mut id = self.id;
        loop {
            let stored = &self.document.values[id as usize];
            match &stored.step {
                Step::Root => break,
                Step::Index(i) => steps.push(format!("[{i}]")),
                Step::Key(k) if k.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-') => {
                    steps.push(format!(".{k}"));
                }
                Step::Key(k) => steps.push(format!("[{k:?}]")),
            }
            id = stored.parent;
        }
        // A path thousands of levels deep helps nobody: keep its two ends.
        if steps.len() > 40 {
            let omitted = steps.len() - 40;
            steps.splice(20..steps.len() - 20, [format!(" …{omitted} levels… ")]);
        }
        steps.push("$".into());
        steps.reverse();
        steps.concat()
    }

    /// An error about this value.
    pub fn error(self, message: impl Into<String>) -> InputError {
        InputError { json_path: self.path(), ..InputError::at(&self.document.path, self.position(), message) }
    }

    fn mismatch(self, expected: &str) -> InputError {
        self.error(format!("expected {expected}, found {}", self.describe()))
    }

    /// What kind of value this is, with short values spelled out, for messages.
    pub fn describe(self) -> String {
        match &self.stored().kind {
            Kind::Null => "null".into(),
            Kind::Bool(b) => b.to_string(),
            Kind::Number(n) => n.to_string(),
            Kind::String(s) if s.chars().count() <= 60 => format!("the string {s:?}"),
            Kind::String(_) => "a string".into(),
            Kind::Array(_) => "an array".into(),
            Kind::Object(_) => "an object".into(),
        }
    }

    /// Whether this is `null`.
    pub fn is_null(self) -> bool {
        matches!(self.stored().kind, Kind::Null)
    }

    /// Whether this is an object.
    pub fn is_object(self) -> bool {
        matches!(self.stored().kind, Kind::Object(_))
    }

    /// The truth value, if it is one.
    pub fn as_bool(self) -> Option<bool> {
        match self.stored().kind {
            Kind::Bool(b) => Some(b),
            _ => None,
        }
    }

    /// The string, if it is one.
    pub fn as_str(self) -> Option<&'d str> {
        match &self.stored().kind {
            Kind::String(s) => Some(s),
            _ => None,
        }
    }

    /// The number as it is written, if it is one.
    pub fn as_number(self) -> Option<&'d str> {
        match &self.stored().kind {
            Kind::Number(n) => Some(n),
            _ => None,
        }
    }

    /// The items, if it is an array.
    pub fn as_array(self) -> Option<impl ExactSizeIterator<Item = Json<'d>> + Clone> {
        match &self.stored().kind {
            Kind::Array(items) => Some(items.iter().map(move |&id| Json { id, ..self })),
            _ => None,
        }
    }

    /// The members of an object in order, nothing for any other value.
    pub fn members(self) -> impl Iterator<Item = (&'d str, Json<'d>)> {
        let children: &'d [u32] = match &self.stored().kind {
            Kind::Object(children) => children,
            _ => &[],
        };
        children.iter().map(move |&id| {
            let value = Json { id, ..self };
            let Step::Key(key) = &value.stored().step else { unreachable!("members of objects have keys") };
            (&**key, value)
        })
    }

    /// The member called `key`, if this is an object that has one.
    pub fn get(self, key: &str) -> Option<Json<'d>> {
        self.members().find(|(k, _)| *k == key).map(|(_, v)| v)
    }

    /// The truth value.
    pub fn bool(self) -> Result<bool, InputError> {
        self.as_bool().ok_or_else(|| self.mismatch("true or false"))
    }

    /// The string.
    pub fn str(self) -> Result<&'d str, InputError> {
        self.as_str().ok_or_else(|| self.mismatch("a string"))
    }

    /// The items of an array.
    pub fn array(self) -> Result<impl ExactSizeIterator<Item = Json<'d>> + Clone, InputError> {
        self.as_array().ok_or_else(|| self.mismatch("an array"))
    }

    /// This value, if it is an object.
    pub fn object(self) -> Result<Json<'d>, InputError> {
        if self.is_object() { Ok(self) } else { Err(self.mismatch("an object")) }
    }

    /// The finite number.
    pub fn f64(self) -> Result<f64, InputError> {
        let text = self.as_number().ok_or_else(|| self.mismatch("a number"))?;
        let number: f64 = text.parse().map_err(|_| self.mismatch("a number"))?;
        if number.is_finite() {
            Ok(number)
        } else {
            Err(self.error(format!("the number {text} is too large")))
        }
    }

    /// The integer (written without fraction or exponent).
    pub fn i64(self) -> Result<i64, InputError> {
        let text = self.as_number().ok_or_else(|| self.mismatch("an integer"))?;
        text.parse().map_err(|_| self.mismatch("an integer"))
    }

    /// The member called `key` of an object that must have it.
    pub fn require(self, key: &str) -> Result<Json<'d>, InputError> {
        self.object()?.get(key).ok_or_else(|| self.error(format!("the key {key:?} is missing here")))
    }

    /// Appends a warning to `warnings` for each key of this object that is not in `known`.
    pub fn warn_unknown_keys(self, known: &[&str], warnings: &mut Vec<InputError>) {
        for (key, value) in self.members() {
            if !known.contains(&key) {
                warnings.push(value.error(format!("the key {key:?} is unknown here and ignored")));
            }
        }
    }
}

fn position_of(position: &struson::reader::JsonReaderPosition) -> Position {
    let line_position = position.line_pos.expect("the stream reader tracks lines");
    Position { line: line_position.line + 1, column: line_position.column + 1 }
}

fn syntax_error(path: &Path, error: &ReaderError) -> InputError {
    match error {
        ReaderError::SyntaxError(syntax) => {
            InputError::at(path, position_of(&syntax.location), explain(syntax.kind))
        }
        other => InputError::in_file(path, format!("not valid JSON: {other}")),
    }
}

fn explain(kind: SyntaxErrorKind) -> String {
    use SyntaxErrorKind as S;
    let what = match kind {
        S::IncompleteDocument => "the file ends in the middle of a value; is it truncated?",
        S::TrailingData => "there is more text after the end of the JSON value",
        S::CommentsNotEnabled => "comments are not allowed in JSON",
        S::MissingComma => "a comma is missing here",
        S::MissingColon => "a colon is missing here",
        S::UnexpectedComma => "this comma does not belong here",
        S::TrailingCommaNotEnabled => "JSON allows no comma before a closing bracket",
        S::UnexpectedColon => "this colon does not belong here",
        S::UnexpectedClosingBracket => "this closing bracket does not match",
        S::MalformedNumber | S::TrailingDataAfterNumber => "this is not a JSON number",
        S::InvalidLiteral | S::TrailingDataAfterLiteral => {
            "expected a JSON value (object, array, string, number, true, false or null)"
        }
        S::ExpectingMemberNameOrObjectEnd => "expected a key in double quotes or the end of the object",
        S::NotEscapedControlCharacter => "a control character in a string must be escaped",
        S::UnknownEscapeSequence | S::MalformedEscapeSequence => "this escape sequence is not valid in JSON",
        S::UnpairedSurrogatePairEscapeSequence => "this escape sequence is half of a surrogate pair",
        _ => "this is not valid JSON",
    };
    format!("JSON syntax error: {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Document, InputError> {
        Document::parse(Path::new("test.json"), text)
    }

    #[test]
    fn values_know_their_place_and_path() {
        let document = parse("{\"a\": [1,\n  {\"b c\": \"\\u2227\"}]}").expect("valid");
        let value = document.root().get("a").unwrap().as_array().unwrap().nth(1).unwrap().get("b c").unwrap();
        assert_eq!(value.as_str(), Some("∧"));
        assert_eq!(value.position(), Position { line: 2, column: 11 });
        assert_eq!(value.path(), "$.a[1][\"b c\"]");
    }

    #[test]
    fn duplicate_keys_are_errors_at_the_second() {
        let error = parse("{\"a\": 1,\n \"a\": 2}").unwrap_err();
        assert_eq!(error.position, Some(Position { line: 2, column: 7 }));
        assert!(error.message.contains("stands twice"));
    }

    #[test]
    fn truncated_text_is_an_error_with_a_place() {
        for text in ["", "{", "{\"a\"", "[1,", "\"abc", "{\"a\": tru"] {
            let error = parse(text).unwrap_err();
            assert!(error.position.is_some(), "{text:?}: {error}");
        }
    }

    #[test]
    fn deep_nesting_is_read_up_to_the_limit_and_refused_beyond() {
        let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(parse(&nested(MAX_DEPTH)).is_ok());
        assert!(parse(&nested(MAX_DEPTH + 1)).unwrap_err().message.contains("nested"));
    }
}
