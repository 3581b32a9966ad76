//! A restricted reader of pickles, for state dicts of `PyTorch` and nothing else.
//!
//! A pickle is a program for a stack machine that can call any function of Python. Here nothing is ever called: the
//! machine knows the instructions that build numbers, texts, tuples and dicts, and the [names](super::name) that
//! state dicts mention, whose calls it reads as data. Any other instruction and any other name is an error that says which.
//!
//! Values live in one list and refer to each other by index, so nothing recurses, not even when they are dropped. Each
//! instruction makes at most one value, so memory is proportional to the length of the pickle.

use std::collections::HashMap;

use super::super::state_dict::NumberType;
use super::name::{Callable, Name};

/// The index of a value.
pub(super) type Id = usize;

/// A value that a pickle describes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float,
    Text(String),
    Tuple(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    Name(Name),
    /// Numbers in a file of the archive.
    Storage {
        key: String,
        number: NumberType,
    },
    /// A view of a storage.
    Tensor {
        storage: Id,
        offset: usize,
        shape: Vec<usize>,
        strides: Vec<usize>,
    },
}

/// All values of a pickle.
pub(super) struct Pickle {
    pub values: Vec<Value>,
    /// The value that the pickle stands for.
    pub root: Id,
}

/// Why a pickle is not read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It asks for a function or class that no state dict needs.
    Name(String),
    /// It has an instruction that no state dict needs, or makes no sense.
    Damaged { at: usize, what: String },
}

/// Reads a pickle.
pub(super) fn read(bytes: &[u8]) -> Result<Pickle, Refusal> {
    let mut machine = Machine { bytes, at: 0, values: Vec::new(), stack: Vec::new(), memo: HashMap::new() };
    loop {
        if let Some(root) = machine.step()? {
            return Ok(Pickle { values: machine.values, root });
        }
    }
}

/// What is on the stack: a value, or the mark under the items of a tuple or dict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    Value(Id),
    Mark,
}

struct Machine<'b> {
    bytes: &'b [u8],
    at: usize,
    values: Vec<Value>,
    stack: Vec<Slot>,
    memo: HashMap<u32, Id>,
}

impl<'b> Machine<'b> {
    /// Executes an instruction; the last one gives the value of the pickle.
    fn step(&mut self) -> Result<Option<Id>, Refusal> {
        match self.byte()? {
            b'.' => return self.pop().map(Some),
            // Protocol and frame: how the rest is written.
            0x80 => drop(self.take(1)?),
            0x95 => drop(self.take(8)?),
            b'N' => self.push(Value::None),
            0x88 => self.push(Value::Bool(true)),
            0x89 => self.push(Value::Bool(false)),
            b'K' => {
                let value = self.byte()?;
                self.push(Value::Int(value.into()));
            }
            b'M' => {
                let value = u16::from_le_bytes(self.array()?);
                self.push(Value::Int(value.into()));
            }
            b'J' => {
                let value = i32::from_le_bytes(self.array()?);
                self.push(Value::Int(value.into()));
            }
            0x8a => self.long()?,
            b'G' => {
                self.take(8)?;
                self.push(Value::Float);
            }
            b'X' => {
                let length = u32::from_le_bytes(self.array()?);
                self.text(length as usize)?;
            }
            0x8c => {
                let length = self.byte()?;
                self.text(length.into())?;
            }
            b'(' => self.stack.push(Slot::Mark),
            b')' => self.push(Value::Tuple(Vec::new())),
            count @ 0x85..=0x87 => {
                let mut items = Vec::new();
                for _ in 0x84..count {
                    items.push(self.pop()?);
                }
                items.reverse();
                self.push(Value::Tuple(items));
            }
            b't' => {
                let items = self.since_mark()?;
                self.push(Value::Tuple(items));
            }
            b'}' => self.push(Value::Dict(Vec::new())),
            b's' => {
                let value = self.pop()?;
                let key = self.pop()?;
                self.insert(&[key, value])?;
            }
            b'u' => {
                let items = self.since_mark()?;
                self.insert(&items)?;
            }
            b'q' => {
                let place = self.byte()?;
                self.remember(place.into())?;
            }
            b'r' => {
                let place = u32::from_le_bytes(self.array()?);
                self.remember(place)?;
            }
            0x94 => self.remember(self.memo.len() as u32)?,
            b'h' => {
                let place = self.byte()?;
                self.recall(place.into())?;
            }
            b'j' => {
                let place = u32::from_le_bytes(self.array()?);
                self.recall(place)?;
            }
            b'c' => {
                let module = self.line()?;
                let name = self.line()?;
                self.name(&module, &name)?;
            }
            0x93 => {
                let [name, module] = [self.pop()?, self.pop()?].map(|id| self.values[id].clone());
                let (Value::Text(module), Value::Text(name)) = (module, name) else {
                    return Err(self.damaged("a name that is no text"));
                };
                self.name(&module, &name)?;
            }
            b'Q' => self.storage()?,
            b'R' => self.call()?,
            b'b' => self.attributes()?,
            other => {
                return Err(self.damaged(&format!("the instruction {other:#04x}, which no state dict has")));
            }
        }
        Ok(None)
    }

    fn damaged(&self, what: &str) -> Refusal {
        Refusal::Damaged { at: self.at, what: what.to_string() }
    }

    fn take(&mut self, count: usize) -> Result<&'b [u8], Refusal> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.bytes.len());
        let Some(end) = end else { return Err(self.damaged("the end, where more must follow")) };
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Refusal> {
        Ok(self.take(1)?[0])
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Refusal> {
        Ok(self.take(N)?.try_into().expect("as many bytes were taken"))
    }

    fn line(&mut self) -> Result<String, Refusal> {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|&byte| byte == b'\n');
        let length = length.ok_or_else(|| self.damaged("a name without an end"))?;
        let line = String::from_utf8_lossy(self.take(length)?).into_owned();
        self.take(1)?;
        Ok(line)
    }

    fn text(&mut self, length: usize) -> Result<(), Refusal> {
        let bytes = self.take(length)?;
        let text = std::str::from_utf8(bytes).map_err(|_| self.damaged("a text that is not UTF-8"))?;
        self.push(Value::Text(text.to_string()));
        Ok(())
    }

    /// An integer of any length, of which 8 bytes are enough here.
    fn long(&mut self) -> Result<(), Refusal> {
        let length = usize::from(self.byte()?);
        let bytes = self.take(length)?;
        if length > 8 {
            return Err(self.damaged("an integer that is too large"));
        }
        let sign = if bytes.last().is_some_and(|&byte| byte >= 0x80) { 0xff } else { 0 };
        let mut all = [sign; 8];
        all[..length].copy_from_slice(bytes);
        self.push(Value::Int(i64::from_le_bytes(all)));
        Ok(())
    }

    fn push(&mut self, value: Value) {
        self.stack.push(Slot::Value(self.values.len()));
        self.values.push(value);
    }

    fn pop(&mut self) -> Result<Id, Refusal> {
        match self.stack.pop() {
            Some(Slot::Value(id)) => Ok(id),
            Some(Slot::Mark) | None => Err(self.damaged("a value that is missing")),
        }
    }

    fn top(&self) -> Result<Id, Refusal> {
        match self.stack.last() {
            Some(&Slot::Value(id)) => Ok(id),
            Some(Slot::Mark) | None => Err(self.damaged("a value that is missing")),
        }
    }

    /// All values above the last mark, which goes too.
    fn since_mark(&mut self) -> Result<Vec<Id>, Refusal> {
        let mark = self.stack.iter().rposition(|&slot| slot == Slot::Mark);
        let mark = mark.ok_or_else(|| self.damaged("a mark that is missing"))?;
        let items = self.stack.drain(mark..).skip(1);
        Ok(items.filter_map(|slot| if let Slot::Value(id) = slot { Some(id) } else { None }).collect())
    }

    /// Puts keys and values, in turns, into the dict on top of the stack.
    fn insert(&mut self, items: &[Id]) -> Result<(), Refusal> {
        let dict = self.top()?;
        if !items.len().is_multiple_of(2) {
            return Err(self.damaged("a key without a value"));
        }
        let Value::Dict(members) = &mut self.values[dict] else {
            return Err(self.damaged("members of something that is no dict"));
        };
        members.extend(items.chunks_exact(2).map(|pair| (pair[0], pair[1])));
        Ok(())
    }

    fn remember(&mut self, place: u32) -> Result<(), Refusal> {
        let value = self.top()?;
        self.memo.insert(place, value);
        Ok(())
    }

    fn recall(&mut self, place: u32) -> Result<(), Refusal> {
        let value = self.memo.get(&place).copied();
        let value = value.ok_or_else(|| self.damaged("a value that was not remembered"))?;
        self.stack.push(Slot::Value(value));
        Ok(())
    }

    fn name(&mut self, module: &str, name: &str) -> Result<(), Refusal> {
        let known = Name::find(module, name).ok_or_else(|| Refusal::Name(format!("{module}.{name}")))?;
        self.push(Value::Name(known));
        Ok(())
    }

    /// The items of the tuple on top of the stack, which goes. Tuples of arguments, shapes and strides are short.
    fn tuple(&mut self) -> Result<Vec<Id>, Refusal> {
        let id = self.pop()?;
        self.items(id).map(<[Id]>::to_vec).ok_or_else(|| self.damaged("something else than a short tuple"))
    }

    fn items(&self, id: Id) -> Option<&[Id]> {
        match &self.values[id] {
            Value::Tuple(items) if items.len() <= 8 => Some(items),
            _ => None,
        }
    }

    /// The numbers that a *persistent id* names: `("storage", FloatStorage, key, place, count)`.
    fn storage(&mut self) -> Result<(), Refusal> {
        let items = self.tuple()?;
        let items: Vec<&Value> = items.iter().map(|&id| &self.values[id]).collect();
        match items[..] {
            [Value::Text(kind), Value::Name(Name::Storage(number)), Value::Text(key), Value::Text(_), Value::Int(_)]
                // A key is a small number. A long one would be copied by each reference.
                if kind == "storage" && key.len() <= 20 =>
            {
                let storage = Value::Storage { key: key.clone(), number: number.clone() };
                self.push(storage);
                Ok(())
            }
            _ => Err(self.damaged("a reference to something else than the numbers of a tensor")),
        }
    }

    /// What a call would give. Only its arguments are looked at.
    fn call(&mut self) -> Result<(), Refusal> {
        let ids = self.tuple()?;
        let callable = self.pop()?;
        let Value::Name(Name::Callable(callable)) = self.values[callable] else {
            return Err(self.damaged("a call of something that is not called"));
        };
        let arguments: Vec<&Value> = ids.iter().map(|&id| &self.values[id]).collect();
        let result = match (callable, &arguments[..]) {
            (Callable::OrderedDict, []) => Some(Value::Dict(Vec::new())),
            // A seventh argument would say that the numbers are negated or conjugated.
            (
                Callable::RebuildTensor,
                [Value::Storage { .. }, Value::Int(offset), _, _, Value::Bool(_), _],
            ) => self.view(ids[0], *offset, ids[2], ids[3]),
            (Callable::RebuildParameter, [tensor @ Value::Tensor { .. }, Value::Bool(_), Value::Dict(_)]) => {
                Some((*tensor).clone())
            }
            _ => None,
        };
        let what = || format!("a call of `{}` with arguments that make no sense", callable.python());
        self.push(result.ok_or_else(|| self.damaged(&what()))?);
        Ok(())
    }

    fn view(&self, storage: Id, offset: i64, shape: Id, strides: Id) -> Option<Value> {
        let count = |&item: &Id| match self.values[item] {
            Value::Int(count) => usize::try_from(count).ok(),
            _ => None,
        };
        let counts = |tuple: Id| self.items(tuple)?.iter().map(count).collect::<Option<Vec<usize>>>();
        let (shape, strides) = (counts(shape)?, counts(strides)?);
        let offset = usize::try_from(offset).ok()?;
        (shape.len() == strides.len()).then_some(Value::Tensor { storage, offset, shape, strides })
    }

    /// Attributes of a dict (`_metadata` of a state dict, say) mean nothing; nothing else has any.
    fn attributes(&mut self) -> Result<(), Refusal> {
        self.pop()?;
        let target = self.top()?;
        match self.values[target] {
            Value::Dict(_) => Ok(()),
            _ => Err(self.damaged("attributes of something that is no dict")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(bytes: &[u8]) -> Refusal {
        match read(bytes) {
            Ok(pickle) => panic!("{:?} was read", pickle.values[pickle.root]),
            Err(refusal) => refusal,
        }
    }

    #[test]
    fn functions_of_python_are_named_and_refused() {
        // What `pickle` makes of an object with `__reduce__` that returns `(os.system, ("echo owned",))`.
        let attack = b"\x80\x02cposix\nsystem\nq\x00X\n\x00\x00\x00echo ownedq\x01\x85q\x02Rq\x03.";
        assert_eq!(refused(attack), Refusal::Name("posix.system".into()));
        let newer =
            b"\x80\x04\x95\x1d\x00\x00\x00\x00\x00\x00\x00\x8c\x08builtins\x94\x8c\x04eval\x94\x93\x94.";
        assert_eq!(refused(newer), Refusal::Name("builtins.eval".into()));
    }

    #[test]
    fn other_instructions_are_refused() {
        // INST, OBJ, NEWOBJ, EXT1, REDUCE without a callable, GLOBAL that is cut off.
        for bytes in
            [&b"(ios\nsystem\n."[..], b"(o.", b")\x81.", b"\x82\x01.", b"N)R.", b"cos\n", b"", b"(", b"\x80"]
        {
            assert!(matches!(refused(bytes), Refusal::Damaged { .. }), "{bytes:?}");
        }
    }

    #[test]
    fn tensors_that_are_more_than_a_view_are_refused() {
        let tensor = |more: &[u8]| {
            let storage = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x02tQ";
            let view = b"K\x00K\x02\x85K\x01\x85\x89}";
            [b"ctorch._utils\n_rebuild_tensor_v2\n(", &storage[..], view, more, b"tR."].concat()
        };
        let pickle = read(&tensor(b"")).unwrap_or_else(|refusal| panic!("{refusal:?}"));
        assert!(matches!(&pickle.values[pickle.root], Value::Tensor { shape, .. } if *shape == [2]));
        // `{"neg": True}`: the numbers are to be negated.
        assert!(matches!(refused(&tensor(b"}X\x03\x00\x00\x00neg\x88s")), Refusal::Damaged { .. }));
    }

    #[test]
    fn deep_and_shared_values_cost_no_stack() {
        // A tuple in a tuple in a tuple …
        let mut deep = vec![b')'];
        deep.resize(1_000_000, 0x85);
        deep.push(b'.');
        assert!(read(&deep).is_ok());
        // Each tuple holds the one before twice: without sharing there would be 2^60 of them.
        let mut shared = b")q\x00".to_vec();
        for _ in 0..60 {
            shared.extend(b"h\x00\x86q\x00");
        }
        shared.push(b'.');
        assert!(read(&shared).is_ok());
    }

    #[test]
    fn integers_have_a_sign() {
        let value = |bytes: &[u8]| read(bytes).map(|pickle| pickle.values[pickle.root].clone());
        assert_eq!(value(b"J\xff\xff\xff\xff."), Ok(Value::Int(-1)));
        assert_eq!(value(b"\x8a\x02\x00\x80."), Ok(Value::Int(-32768)));
        assert_eq!(value(b"\x8a\x00."), Ok(Value::Int(0)));
        assert_eq!(value(b"M\xff\xff."), Ok(Value::Int(65535)));
    }
}
