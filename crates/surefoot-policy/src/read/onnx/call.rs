//! One node while it is read: its operands, its attributes, and what to say if something is wrong with it.

use std::path::Path;
use std::rc::Rc;

use surefoot_model::InputError;

use super::builder::Builder;
use super::classes::{self, Classes};
use super::message::{Attribute, Graph, Node, data_type};
use super::shape;
use super::tensor::{Numbers, Tensor};
use super::value::{Computed, Value};
use crate::network::Element;
use crate::parameter::Parameter;

/// Kinds of attributes, as ONNX numbers them; 0 stands in old files.
mod kind {
    pub(super) const FLOAT: i32 = 1;
    pub(super) const INT: i32 = 2;
    pub(super) const STRING: i32 = 3;
    pub(super) const TENSOR: i32 = 4;
    pub(super) const FLOATS: i32 = 6;
    pub(super) const INTS: i32 = 7;
    pub(super) const STRINGS: i32 = 8;
}

/// A node that is being read.
pub(super) struct Call<'c> {
    pub(super) path: &'c Path,
    pub(super) graph: &'c Graph,
    /// The classes of the whole model, which its reader goes by.
    pub(super) classes: Option<&'c Classes>,
    pub(super) node: &'c Node,
    pub(super) index: usize,
    /// Version of the operators.
    pub(super) version: i64,
    /// The operands; `None` where an optional one is left out.
    pub(super) inputs: Vec<Option<Value>>,
    pub(super) builder: &'c mut Builder,
    /// How many values and weights may still be created.
    pub(super) budget: &'c mut usize,
}

/// What operators give: their results in order, or why there are none.
pub(super) type Results = Result<Vec<Value>, InputError>;

/// Messages and limits.
impl Call<'_> {
    /// A mistake of this node.
    pub(super) fn error(&self, message: impl AsRef<str>) -> InputError {
        let node = describe(self.node, self.index);
        InputError::in_file(self.path, format!("{node}: {}", message.as_ref()))
    }

    /// Pays for that many values or weights.
    pub(super) fn pay(&mut self, count: Option<usize>) -> Result<(), InputError> {
        match count.and_then(|count| self.budget.checked_sub(count)) {
            Some(left) => {
                *self.budget = left;
                Ok(())
            }
            None => Err(self.error("the model becomes too large here")),
        }
    }

    /// Refuses tensors with very many axes.
    pub(super) fn check_rank(&self, rank: usize) -> Result<(), InputError> {
        if rank <= shape::RANK {
            return Ok(());
        }
        Err(self.error(format!("the result has {rank} axes, at most {} are supported", shape::RANK)))
    }

    /// Pays for a tensor. The only empty tensors are those with one axis.
    pub(super) fn pay_tensor(&mut self, extents: &[usize]) -> Result<(), InputError> {
        self.check_rank(extents.len())?;
        self.pay(shape::count(extents))?;
        if extents.contains(&0) && extents.len() != 1 {
            return Err(self.error(format!("the result is empty: its shape is {}", shape::describe(extents))));
        }
        Ok(())
    }
}

/// How messages name a node.
pub(super) fn describe(node: &Node, index: usize) -> String {
    let operator = &node.operator;
    if node.name.is_empty() {
        format!("node {index} ({operator})")
    } else {
        format!("node {index} `{}` ({operator})", node.name)
    }
}

/// Operands.
impl Call<'_> {
    /// An operand that may be left out.
    pub(super) fn optional(&self, index: usize) -> Option<Value> {
        self.inputs.get(index).cloned().flatten()
    }

    /// An operand that must be there.
    pub(super) fn value(&self, index: usize) -> Result<Value, InputError> {
        self.optional(index).ok_or_else(|| self.error(format!("operand {index} is missing")))
    }

    /// An operand that the network computes, as numbers that are no integers.
    pub(super) fn computed(&self, index: usize) -> Result<Computed, InputError> {
        match self.value(index)? {
            Value::Computed(computed) if !computed.integer => Ok(computed),
            other => Err(self.refuse(index, &other)),
        }
    }

    /// Explains why an operand cannot be used.
    pub(super) fn refuse(&self, index: usize, value: &Value) -> InputError {
        match value {
            Value::Computed(computed) if computed.integer => self
                .error(format!("operand {index} holds integers, and arithmetic on them is not supported"))
                .with_hint("cast the input to float first"),
            Value::Computed(_) => self.error(format!("operand {index} must be constant")),
            Value::Constant(_) => self.error(format!("operand {index} must not be constant")),
            Value::Ranking(_) | Value::Normaliser(_) => self
                .error(format!("operand {index} comes from a softmax or a tree ensemble"))
                .with_hint("these are supported at the end of a model only"),
            Value::Choice(_) => self
                .error(format!("operand {index} is the chosen label"))
                .with_hint("ArgMax is supported at the end of a model only"),
        }
    }

    /// An operand that is constant.
    pub(super) fn constant(&self, index: usize) -> Result<Rc<Tensor>, InputError> {
        match self.value(index)? {
            Value::Constant(tensor) => Ok(tensor),
            other => Err(self.refuse(index, &other)),
        }
    }

    /// Constant finite numbers.
    pub(super) fn weights(&self, index: usize) -> Result<Rc<Tensor>, InputError> {
        let tensor = self.constant(index)?;
        self.numbers(index, &tensor)?;
        Ok(tensor)
    }

    /// The numbers of a constant operand, which must be finite.
    pub(super) fn numbers<'t>(
        &self,
        index: usize,
        tensor: &'t Tensor,
    ) -> Result<&'t [Parameter], InputError> {
        match &tensor.numbers {
            Numbers::Float(numbers) if numbers.iter().all(|number| number.double.is_finite()) => Ok(numbers),
            Numbers::Float(_) => Err(self.error(format!("operand {index} holds infinity or NaN"))),
            Numbers::Int(_) => Err(self.error(format!("operand {index} holds integers"))),
        }
    }

    /// Constant integers, such as axes.
    pub(super) fn ints(&self, index: usize) -> Result<Vec<i64>, InputError> {
        match &self.constant(index)?.numbers {
            Numbers::Int(numbers) => Ok(numbers.clone()),
            Numbers::Float(_) => Err(self.error(format!("operand {index} must hold integers"))),
        }
    }

    /// Constant integers that may be left out.
    pub(super) fn optional_ints(&self, index: usize) -> Result<Option<Vec<i64>>, InputError> {
        self.optional(index).map(|_| self.ints(index)).transpose()
    }

    /// An axis of a tensor with this rank.
    pub(super) fn axis(&self, axis: i64, rank: usize) -> Result<usize, InputError> {
        let wrong = || self.error(format!("axis {axis} does not exist: there are {rank} axes"));
        shape::axis(axis, rank).ok_or_else(wrong)
    }

    /// Different axes of a tensor with this rank.
    pub(super) fn axes(&self, axes: &[i64], rank: usize) -> Result<Vec<usize>, InputError> {
        if axes.len() > rank {
            return Err(self.error(format!("{} axes are given, but there are {rank}", axes.len())));
        }
        let mut found = Vec::new();
        for &axis in axes {
            let axis = self.axis(axis, rank)?;
            if found.contains(&axis) {
                return Err(self.error(format!("axis {axis} is given twice")));
            }
            found.push(axis);
        }
        Ok(found)
    }

    /// Axes that are an operand since a version, and an attribute before it.
    pub(super) fn given_axes(&self, since: i64) -> Result<Option<Vec<i64>>, InputError> {
        if self.version >= since { self.optional_ints(1) } else { self.attribute_ints("axes") }
    }
}

/// Attributes.
impl Call<'_> {
    fn attribute(&self, name: &str, kind: i32) -> Result<Option<&Attribute>, InputError> {
        match self.node.attributes.iter().find(|attribute| attribute.name == name) {
            Some(attribute) if attribute.kind != kind && attribute.kind != 0 => {
                Err(self.error(format!("the attribute `{name}` has the wrong type")))
            }
            found => Ok(found),
        }
    }

    /// A number; the same in both precisions.
    pub(super) fn attribute_float(&self, name: &str) -> Result<Option<Parameter>, InputError> {
        let Some(attribute) = self.attribute(name, kind::FLOAT)? else { return Ok(None) };
        if attribute.float.is_nan() {
            return Err(self.error(format!("the attribute `{name}` is no number")));
        }
        Ok(Some(Parameter::from(f64::from(attribute.float))))
    }

    pub(super) fn attribute_int(&self, name: &str) -> Result<Option<i64>, InputError> {
        Ok(self.attribute(name, kind::INT)?.map(|attribute| attribute.int))
    }

    /// An integer that stands for yes or no.
    pub(super) fn flag(&self, name: &str, default: bool) -> Result<bool, InputError> {
        Ok(self.attribute_int(name)?.map_or(default, |int| int != 0))
    }

    pub(super) fn attribute_ints(&self, name: &str) -> Result<Option<Vec<i64>>, InputError> {
        Ok(self.attribute(name, kind::INTS)?.map(|attribute| attribute.ints.clone()))
    }

    pub(super) fn attribute_floats(&self, name: &str) -> Result<Option<Vec<Parameter>>, InputError> {
        let number = |&number: &f32| Parameter::from(f64::from(number));
        Ok(self.attribute(name, kind::FLOATS)?.map(|it| it.floats.iter().map(number).collect()))
    }

    pub(super) fn attribute_string(&self, name: &str) -> Result<Option<String>, InputError> {
        let text = |it: &Attribute| String::from_utf8_lossy(&it.string).into_owned();
        Ok(self.attribute(name, kind::STRING)?.map(text))
    }

    pub(super) fn attribute_strings(&self, name: &str) -> Result<Option<&[Vec<u8>]>, InputError> {
        Ok(self.attribute(name, kind::STRINGS)?.map(|attribute| attribute.strings.as_slice()))
    }

    /// A tensor of small numbers, each as one byte.
    pub(super) fn attribute_bytes(&self, name: &str) -> Result<Vec<u8>, InputError> {
        let Some(tensor) = self.attribute(name, kind::TENSOR)?.and_then(|it| it.tensor.as_ref()) else {
            return Err(self.error(format!("the attribute `{name}` is missing")));
        };
        if tensor.data_type != data_type::UINT8 || tensor.location != 0 {
            return Err(self.error(format!("the attribute `{name}` must be of type uint8, in this file")));
        }
        if !tensor.raw.is_empty() {
            return Ok(tensor.raw.clone());
        }
        let byte = |&number: &i32| u8::try_from(number).ok();
        let bytes: Option<Vec<u8>> = tensor.ints.iter().map(byte).collect();
        bytes.ok_or_else(|| self.error(format!("the attribute `{name}` holds a number above 255")))
    }

    pub(super) fn attribute_tensor(&self, name: &str) -> Result<Option<Tensor>, InputError> {
        let tensor = self.attribute(name, kind::TENSOR)?.and_then(|attribute| attribute.tensor.as_ref());
        let wrong = |reason| self.error(format!("the attribute `{name}` cannot be read: {reason}"));
        tensor.map(|tensor| Tensor::read(tensor).map_err(wrong)).transpose()
    }
}

/// Classes.
impl Call<'_> {
    /// The classes that this operator lists, if it does. They must be those of the whole model: it is these that are compared
    /// with the outputs.
    pub(super) fn own_classes(&mut self) -> Result<Option<Rc<Classes>>, InputError> {
        classes::of_node(self.node).map(|classes| self.checked_classes(classes)).transpose()
    }

    /// The classes in the table that is an operand.
    pub(super) fn table(&mut self, index: usize) -> Result<Rc<Classes>, InputError> {
        self.pay(self.graph.nodes.len().checked_add(self.graph.initializers.len()))?;
        let name = self.node.inputs.get(index);
        let found = name.and_then(|name| classes::table(self.graph, name));
        let classes = found.ok_or_else(|| {
            self.error(format!("operand {index} must be a constant row of names or whole numbers"))
                .with_hint("remove the output that gives the label, if the scores are an output too")
        })?;
        self.checked_classes(classes)
    }

    fn checked_classes(&mut self, classes: Classes) -> Result<Rc<Classes>, InputError> {
        self.pay(Some(classes.len()))?;
        if self.classes != Some(&classes) {
            return Err(self
                .error("its classes are others than those of another operator of the model")
                .with_hint("export the classifier with one list of classes"));
        }
        if !classes.are_different() {
            return Err(self
                .error("two classes are called the same")
                .with_hint("give each class a name of its own"));
        }
        Ok(Rc::new(classes))
    }
}

/// Results.
impl Call<'_> {
    /// Values of the network.
    pub(super) fn result(shape: Vec<usize>, elements: Vec<Element>) -> Value {
        Value::Computed(Computed { shape, elements: elements.into(), integer: false })
    }

    /// A constant.
    pub(super) fn known(tensor: Tensor) -> Value {
        Value::Constant(Rc::new(tensor))
    }
}
