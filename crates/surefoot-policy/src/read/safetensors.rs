//! The safetensors format: the length of a JSON header, the header, and then the numbers of all tensors.
//!
//! The header names for each tensor its type, its shape and which bytes of the rest it has.

use std::path::Path;

use surefoot_model::json::{Document, Json};
use surefoot_model::{InputError, utf8_text};

use super::state_dict::{NumberType, Tensor, Tensors, dense};

/// Whether the contents can only be a safetensors file: the length of a header that is JSON and fits into the file.
pub(super) fn recognise(contents: &[u8]) -> bool {
    header_length(contents).is_some() && contents.get(8) == Some(&b'{')
}

fn header_length(contents: &[u8]) -> Option<usize> {
    let length = u64::from_le_bytes(contents.get(..8)?.try_into().ok()?);
    usize::try_from(length).ok().filter(|&length| length > 0 && length <= contents.len() - 8)
}

/// Reads all tensors.
pub(super) fn read(path: &Path, contents: &[u8]) -> Result<Tensors, InputError> {
    let length = header_length(contents).ok_or_else(|| InputError::in_file(path, "the header is cut off"))?;
    let (header, numbers) = contents[8..].split_at(length);
    let text = utf8_text(path, header.to_vec())?;
    let document = Document::parse(path, &text)?;
    let mut list = Vec::new();
    for (name, json) in document.root().object()?.members() {
        // Free text that means nothing to a reader.
        if name != "__metadata__" {
            list.push(tensor(name, json, numbers.len())?);
        }
    }
    Ok(Tensors { storages: vec![numbers.to_vec()], list })
}

fn tensor(name: &str, json: Json<'_>, available: usize) -> Result<Tensor, InputError> {
    let (number, bytes) = match json.require("dtype")?.str()? {
        "F32" => (NumberType::Single, 4),
        "F64" => (NumberType::Double, 8),
        other => (NumberType::Other(other.to_string()), 1),
    };
    let shape: Vec<usize> = json.require("shape")?.array()?.map(count).collect::<Result<_, _>>()?;
    let place = json.require("data_offsets")?;
    let ends: Vec<usize> = place.array()?.map(count).collect::<Result<_, _>>()?;
    let &[from, to] = &ends[..] else {
        return Err(place.error("expected two numbers: the first byte and the end"));
    };
    if from > to || to > available {
        let message = format!("bytes {from} to {to} are not in the file, which has {available} of them");
        return Err(place.error(message).with_hint("the file may be truncated"));
    }
    if number == NumberType::Single || number == NumberType::Double {
        let size = shape.iter().try_fold(bytes, |size: usize, &axis| size.checked_mul(axis));
        if size != Some(to - from) {
            return Err(
                place.error(format!("{} bytes do not hold numbers of the shape {shape:?}", to - from))
            );
        }
        // Formats whose numbers may begin anywhere would need views in bytes; none of these do.
        if from % bytes != 0 {
            return Err(
                place.error(format!("the numbers begin at byte {from}, which is no multiple of {bytes}"))
            );
        }
    }
    let strides = dense(&shape).ok_or_else(|| json.error("the shape is too large"))?;
    Ok(Tensor { name: name.to_string(), shape, number, storage: 0, offset: from / bytes, strides })
}

fn count(json: Json<'_>) -> Result<usize, InputError> {
    usize::try_from(json.i64()?).map_err(|_| json.error("expected a number from 0"))
}
