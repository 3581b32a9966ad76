//! What the names of a graph stand for.
//!
//! Values that the network computes are kept one by one, as [`Element`]s of its nodes. So operators that only move
//! values cost nothing until something reads the result as a whole.

use std::rc::Rc;

use super::classes::Classes;
use super::tensor::Tensor;
use crate::ensemble::Ensemble;
use crate::network::Element;

/// What a name stands for.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// Known without any input.
    Constant(Rc<Tensor>),
    /// Values of the network.
    Computed(Computed),
    /// Numbers that are ordered as some scores are: probabilities of a softmax, or the scores of trees.
    Ranking(Ranking),
    /// The index of the highest score, or the class that belongs to it.
    Choice(Choice),
    /// The logarithm of the sum of exponentials of all values, which normalises them.
    Normaliser(Computed),
}

/// A tensor of values of the network.
#[derive(Debug, Clone)]
pub(super) struct Computed {
    pub(super) shape: Vec<usize>,
    /// As many as the shape says, at least one.
    pub(super) elements: Rc<[Element]>,
    /// Whether the values are integers.
    pub(super) integer: bool,
}

/// A tensor whose values are ordered as some scores are.
#[derive(Debug, Clone)]
pub(super) struct Ranking {
    pub(super) shape: Vec<usize>,
    pub(super) scores: Scores,
}

/// Which of the scores is the highest.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    pub(super) scores: Scores,
    /// The number or name that stands for each score; `None` if these are the indices themselves.
    pub(super) classes: Option<Rc<Classes>>,
    /// Whether it is the choice of the highest score everywhere. The label of a classifier for two classes may be another.
    pub(super) is_highest: bool,
}

impl Choice {
    /// The index of the highest score.
    pub(super) fn index(scores: Scores) -> Choice {
        Choice { scores, classes: None, is_highest: true }
    }

    /// The smallest and the largest number that it may be; `None` if it is a name.
    pub(super) fn range(&self) -> Option<(i64, i64)> {
        match self.classes.as_deref() {
            None => Some((0, self.scores.len() as i64 - 1)),
            Some(Classes::Numbers(numbers)) => {
                numbers.iter().min().copied().zip(numbers.iter().max().copied())
            }
            Some(Classes::Names(_)) => None,
        }
    }
}

/// What an output can be chosen by.
#[derive(Debug, Clone)]
pub(super) enum Scores {
    /// Values of the network.
    Network(Rc<[Element]>),
    /// Sums of trees.
    Trees(Rc<Ensemble>),
}

impl Scores {
    /// How many scores there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Scores::Network(elements) => elements.len(),
            Scores::Trees(ensemble) => ensemble.outputs(),
        }
    }

    /// Whether these are the same values, not only equal ones.
    pub(super) fn same(&self, other: &Scores) -> bool {
        match (self, other) {
            (Scores::Network(left), Scores::Network(right)) => left == right,
            (Scores::Trees(left), Scores::Trees(right)) => Rc::ptr_eq(left, right),
            _ => false,
        }
    }
}

impl Value {
    /// The extents, where they are known.
    pub(super) fn shape(&self) -> Option<&[usize]> {
        match self {
            Value::Constant(tensor) => Some(&tensor.shape),
            Value::Computed(computed) => Some(&computed.shape),
            Value::Ranking(ranking) => Some(&ranking.shape),
            Value::Choice(_) | Value::Normaliser(_) => None,
        }
    }
}
