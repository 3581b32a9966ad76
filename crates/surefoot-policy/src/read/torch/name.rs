//! The names of Python that a state dict may mention. Nothing behind them is ever called.

use super::super::state_dict::NumberType;

/// A known name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    /// Something whose calls are read as data.
    Callable(Callable),
    /// The type of the numbers of a tensor.
    Storage(NumberType),
}

/// A function or class whose calls are read as data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Callable {
    OrderedDict,
    RebuildTensor,
    RebuildParameter,
}

impl Callable {
    /// How Python calls it.
    pub(super) fn python(self) -> &'static str {
        match self {
            Callable::OrderedDict => "collections.OrderedDict",
            Callable::RebuildTensor => "torch._utils._rebuild_tensor_v2",
            Callable::RebuildParameter => "torch._utils._rebuild_parameter",
        }
    }
}

/// Storages of numbers that no network here computes in. A state dict may have such tensors beside its layers.
const OTHER_STORAGES: [(&str, &str); 8] = [
    ("HalfStorage", "float16"),
    ("BFloat16Storage", "bfloat16"),
    ("LongStorage", "int64"),
    ("IntStorage", "int32"),
    ("ShortStorage", "int16"),
    ("CharStorage", "int8"),
    ("ByteStorage", "uint8"),
    ("BoolStorage", "bool"),
];

impl Name {
    /// The name, if it is known.
    pub(super) fn find(module: &str, name: &str) -> Option<Name> {
        Some(match (module, name) {
            ("collections", "OrderedDict") => Name::Callable(Callable::OrderedDict),
            ("torch._utils", "_rebuild_tensor_v2") => Name::Callable(Callable::RebuildTensor),
            ("torch._utils", "_rebuild_parameter") => Name::Callable(Callable::RebuildParameter),
            ("torch", "FloatStorage") => Name::Storage(NumberType::Single),
            ("torch", "DoubleStorage") => Name::Storage(NumberType::Double),
            ("torch", _) => {
                let (_, number) = OTHER_STORAGES.iter().find(|(storage, _)| *storage == name)?;
                Name::Storage(NumberType::Other((*number).to_string()))
            }
            _ => return None,
        })
    }
}
