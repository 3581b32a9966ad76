//! Suites: TOML files that list instances and configurations of engines. `docs/formats.md` describes them.

use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use surefoot_model::{InputError, Position, Sources};
use toml::Spanned;

use super::name::printable;
use super::record::Answer;

/// A suite that was read. Names are unique.
#[derive(Debug)]
pub struct Suite {
    /// What it is called in reports.
    pub name: String,
    pub instances: Vec<Instance>,
    pub configurations: Vec<Configuration>,
    file: PathBuf,
    text: String,
}

/// Something to verify.
#[derive(Debug, Clone)]
pub struct Instance {
    pub name: String,
    pub family: String,
    pub source: Source,
    /// What follows `--property`, each.
    pub properties: Vec<String>,
    pub policy: PolicySource,
    /// More options of `verify`, about how the task is read.
    pub options: Vec<String>,
    pub expected: Option<Answer>,
    /// Which engine found out what is expected.
    pub known_by: Option<String>,
    span: Range<usize>,
}

/// Where the model comes from.
#[derive(Debug, Clone)]
pub enum Source {
    File(PathBuf),
    /// Arguments of `surefoot gen`.
    Generated(Vec<String>),
}

/// Where the policy comes from.
#[derive(Debug, Clone)]
pub enum PolicySource {
    /// The property names it.
    Property,
    File(PathBuf),
    Without,
}

/// An engine with options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    pub name: String,
    pub engine: String,
    pub options: Vec<String>,
    /// Where it is in the suite; `None` for an engine that the command line names.
    span: Option<Range<usize>>,
}

impl Configuration {
    /// An engine as it is.
    pub fn engine(name: &str) -> Configuration {
        Configuration { name: name.into(), engine: name.into(), options: Vec::new(), span: None }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSuite {
    name: Option<String>,
    #[serde(default)]
    configuration: Vec<Spanned<RawConfiguration>>,
    #[serde(default)]
    instance: Vec<Spanned<RawInstance>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawConfiguration {
    name: Spanned<String>,
    engine: String,
    #[serde(default)]
    options: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawInstance {
    name: Spanned<String>,
    family: Option<String>,
    model: Option<PathBuf>,
    generate: Option<Vec<String>>,
    property: Option<Properties>,
    policy: Option<PathBuf>,
    #[serde(default)]
    no_policy: bool,
    #[serde(default)]
    options: Vec<String>,
    expected: Option<Answer>,
    known_by: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected the file, the name or the index of a property, or a list of these")]
enum Properties {
    One(Pick),
    More(Vec<Pick>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Pick {
    Index(u32),
    Name(String),
}

impl Suite {
    /// Reads a suite.
    pub fn read(file: &Path) -> Result<Suite, InputError> {
        let text = Sources::default().read(file)?;
        let raw: RawSuite = toml::from_str(&text).map_err(|error| {
            let message = error.message().trim_end().to_string();
            match error.span() {
                Some(span) => InputError::at(file, position(&text, span.start), message),
                None => InputError::in_file(file, message),
            }
        })?;
        let folder = file.parent().unwrap_or(Path::new(""));
        let stem = || file.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
        let mut suite = Suite {
            name: raw.name.unwrap_or_else(stem),
            instances: Vec::new(),
            configurations: Vec::new(),
            file: file.to_path_buf(),
            text,
        };
        suite.unique(raw.configuration.iter().map(|raw| &raw.get_ref().name), "configuration")?;
        suite.unique(raw.instance.iter().map(|raw| &raw.get_ref().name), "instance")?;
        for raw in raw.configuration {
            let span = Some(raw.span());
            let RawConfiguration { name, engine, options } = raw.into_inner();
            suite.configurations.push(Configuration { name: name.into_inner(), engine, options, span });
        }
        for raw in raw.instance {
            let instance = suite.instance(raw, folder)?;
            suite.instances.push(instance);
        }
        if suite.instances.is_empty() {
            return Err(InputError::in_file(file, "the suite has no instances").with_hint(
                "an instance is `[[instance]]` with `name`, `model` or `generate`, and perhaps `property` and `policy`",
            ));
        }
        Ok(suite)
    }

    fn unique<'s>(
        &self,
        names: impl Iterator<Item = &'s Spanned<String>>,
        what: &str,
    ) -> Result<(), InputError> {
        let mut seen = HashSet::new();
        for name in names {
            if name.get_ref().is_empty() {
                return Err(self.error(&name.span(), format!("a name of an {what} is empty")));
            }
            if !seen.insert(name.get_ref()) {
                return Err(self
                    .error(&name.span(), format!("there are two {what}s `{}`", printable(name.get_ref()))));
            }
        }
        Ok(())
    }

    fn instance(&self, raw: Spanned<RawInstance>, folder: &Path) -> Result<Instance, InputError> {
        let span = raw.span();
        let raw = raw.into_inner();
        let name = raw.name.into_inner();
        let shown = printable(&name);
        let source = match (raw.model, raw.generate) {
            (Some(file), None) => Source::File(folder.join(file)),
            (None, Some(arguments)) => Source::Generated(arguments),
            (Some(_), Some(_)) => {
                return Err(self.error(&span, format!("`{shown}` has both `model` and `generate`")));
            }
            (None, None) => {
                return Err(self.error(&span, format!("`{shown}` has neither `model` nor `generate`")));
            }
        };
        let policy = match raw.policy {
            Some(_) if raw.no_policy => {
                return Err(self.error(&span, format!("`{shown}` has both `policy` and `no-policy`")));
            }
            Some(file) => PolicySource::File(folder.join(file)),
            None if raw.no_policy => PolicySource::Without,
            None => PolicySource::Property,
        };
        let properties = match raw.property {
            None => Vec::new(),
            Some(Properties::One(property)) => vec![property],
            Some(Properties::More(properties)) => properties,
        };
        let property = |pick: Pick| {
            let text = match pick {
                Pick::Index(index) => index.to_string(),
                Pick::Name(text) => text,
            };
            let file = folder.join(&text);
            let extension = file.extension().and_then(|extension| extension.to_str());
            if file.exists() || matches!(extension, Some("jani" | "json" | "gz")) {
                file.to_string_lossy().into_owned()
            } else {
                text
            }
        };
        Ok(Instance {
            name,
            family: raw.family.unwrap_or_else(|| "other".into()),
            source,
            properties: properties.into_iter().map(property).collect(),
            policy,
            options: raw.options,
            expected: raw.expected,
            known_by: raw.known_by,
            span,
        })
    }

    /// What is wrong with an instance, at its place in the file.
    pub fn instance_error(&self, instance: &Instance, message: &str) -> InputError {
        self.error(&instance.span, format!("`{}`: {message}", printable(&instance.name)))
    }

    /// What is wrong with a configuration, at its place in the file.
    pub fn configuration_error(&self, configuration: &Configuration, message: &str) -> InputError {
        let message = format!("the configuration `{}`: {message}", printable(&configuration.name));
        match &configuration.span {
            Some(span) => self.error(span, message),
            None => InputError::in_file(&self.file, message),
        }
    }

    fn error(&self, span: &Range<usize>, message: String) -> InputError {
        InputError::at(&self.file, position(&self.text, span.start), message)
    }
}

/// The line and column of a byte.
fn position(text: &str, byte: usize) -> Position {
    let before = &text.as_bytes()[..byte.min(text.len())];
    let line = before.split(|&byte| byte == b'\n').count() as u64;
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    Position { line, column: String::from_utf8_lossy(&before[start..]).chars().count() as u64 + 1 }
}
