//! Sparse layers: the weights that are there, row by row.

use crate::layer::Layer;
use crate::parameter::Parameter;

/// A layer whose neurons read few of the values before them.
#[derive(Debug)]
pub(super) struct SparseLayer<T> {
    /// Neuron `n` owns the entries from `starts[n]` to `starts[n + 1]`.
    starts: Vec<usize>,
    /// Which value is read, with its weight.
    entries: Vec<(u32, T)>,
    biases: Vec<T>,
}

impl<T: Copy> SparseLayer<T> {
    pub(super) fn new(layer: &Layer, number: impl Fn(Parameter) -> T) -> Self {
        let (mut starts, mut entries) = (vec![0], Vec::with_capacity(layer.stored()));
        for neuron in 0..layer.neurons() {
            entries.extend(layer.row(neuron).map(|(input, weight)| (input as u32, number(weight))));
            starts.push(entries.len());
        }
        let biases = (0..layer.neurons()).map(|neuron| number(layer.bias(neuron))).collect();
        SparseLayer { starts, entries, biases }
    }

    pub(super) fn neurons(&self) -> usize {
        self.biases.len()
    }

    /// Each neuron's entries and bias.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&[(u32, T)], T)> {
        let rows = self.starts.windows(2).map(|ends| &self.entries[ends[0]..ends[1]]);
        rows.zip(self.biases.iter().copied())
    }
}
