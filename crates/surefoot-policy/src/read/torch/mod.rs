//! State dicts as `torch.save(model.state_dict(), "policy.pt")` writes them: a zip archive with a pickle that describes
//! the tensors (`data.pkl`), and a file with the numbers of each storage (`data/0`, `data/1`, …).
//!
//! The pickle is read by [a reader that executes nothing](pickle).

mod name;
mod pickle;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use surefoot_model::InputError;

use super::archive::Archive;
use super::state_dict::{NumberType, Tensor, Tensors};
use pickle::{Id, Pickle, Refusal, Value};

const SAVE: &str = "save the weights alone: torch.save(model.state_dict(), \"policy.pt\")";

/// Whether the contents begin like a pickle: what `PyTorch` wrote before version 1.6, and what `pickle` writes.
pub(super) fn is_pickle(contents: &[u8]) -> bool {
    matches!(contents, [0x80, 2..=5, ..])
}

/// Refuses a file that is a pickle and no archive.
pub(super) fn refused_pickle(path: &Path) -> InputError {
    let message =
        "this is a pickle; of these, only the archives that PyTorch has written since version 1.6 are read";
    InputError::in_file(path, message).with_hint(SAVE)
}

/// The folder within an archive that holds a state dict, if there is one.
pub(super) fn folder(archive: &Archive<'_>) -> Option<String> {
    let folder = archive.names().find_map(|name| name.strip_suffix("data.pkl"))?;
    (folder.is_empty() || folder.ends_with('/')).then(|| folder.to_string())
}

/// Reads all tensors of the state dict in a folder of an archive.
pub(super) fn read(path: &Path, archive: &mut Archive<'_>, folder: &str) -> Result<Tensors, InputError> {
    if let Some(order) = archive.read(&format!("{folder}byteorder"))?
        && order != b"little"
    {
        let message = format!("the byte order is {:?}, expected \"little\"", String::from_utf8_lossy(&order));
        return Err(InputError::in_file(path, message));
    }
    let bytes = archive.require(&format!("{folder}data.pkl"))?;
    let pickle = pickle::read(&bytes).map_err(|refusal| refused(path, refusal))?;
    let Value::Dict(members) = &pickle.values[pickle.root] else {
        let message = format!("the file holds {}, expected a state dict", kind(&pickle.values[pickle.root]));
        return Err(InputError::in_file(path, message).with_hint(SAVE));
    };
    let mut tensors = Tensors::default();
    let mut storages: HashMap<&str, usize> = HashMap::new();
    let mut names: HashSet<String> = HashSet::new();
    for &(name, value) in members {
        let (tensor, storage) = tensor(path, &pickle, name, value)?;
        let Value::Storage { key, .. } = &pickle.values[storage] else {
            unreachable!("tensors are views of storages")
        };
        let place = if let Some(&place) = storages.get(key.as_str()) {
            place
        } else {
            storages.insert(key, tensors.storages.len());
            tensors.storages.push(archive.require(&format!("{folder}data/{key}"))?);
            tensors.storages.len() - 1
        };
        if !names.insert(tensor.name.clone()) {
            return Err(InputError::in_file(path, format!("there are two tensors {:?}", tensor.name)));
        }
        tensors.list.push(Tensor { storage: place, ..tensor });
    }
    Ok(tensors)
}

/// A member of a state dict, and the storage that it is a view of.
fn tensor(path: &Path, pickle: &Pickle, name: Id, value: Id) -> Result<(Tensor, Id), InputError> {
    let Value::Text(name) = &pickle.values[name] else {
        let message = "a key of the state dict is no text".to_string();
        return Err(InputError::in_file(path, message).with_hint(SAVE));
    };
    let Value::Tensor { storage, offset, shape, strides } = &pickle.values[value] else {
        let message = format!("{name:?} is {}, but a state dict holds tensors", kind(&pickle.values[value]));
        return Err(InputError::in_file(path, message).with_hint(SAVE));
    };
    let number = match &pickle.values[*storage] {
        Value::Storage { number, .. } => number.clone(),
        _ => NumberType::Other("unknown".into()),
    };
    let (shape, strides) = (shape.clone(), strides.clone());
    Ok((Tensor { name: name.clone(), shape, number, storage: 0, offset: *offset, strides }, *storage))
}

/// What a value is, for messages.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::None => "`None`",
        Value::Bool(_) => "a truth value",
        Value::Int(_) | Value::Float => "a number",
        Value::Text(_) => "a text",
        Value::Tuple(_) => "a tuple",
        Value::Dict(_) => "a dict",
        Value::Name(_) => "a name",
        Value::Storage { .. } => "a storage",
        Value::Tensor { .. } => "a tensor",
    }
}

fn refused(path: &Path, refusal: Refusal) -> InputError {
    let message = match refusal {
        Refusal::Name(name) => {
            // A name from a file may hold anything, such as what controls a terminal.
            let name: String = name.chars().take(80).flat_map(char::escape_debug).collect();
            format!(
                "this is a pickle that asks for `{name}`; surefoot executes nothing and reads only state dicts"
            )
        }
        Refusal::Damaged { at, what } => {
            format!("the pickle in the file cannot be read: at byte {at} is {what}")
        }
    };
    InputError::in_file(path, message).with_hint(SAVE)
}
