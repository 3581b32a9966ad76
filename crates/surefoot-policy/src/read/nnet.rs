//! The `.nnet` format: lines of comma-separated numbers.
//!
//! After comments (`// …`) come the header (number of layers, inputs, outputs, largest layer), the layer sizes, an
//! unused flag, and one line each of minima, maxima, means and ranges of the inputs. Then each layer follows: one
//! line of weights per neuron, then one line with the bias per neuron. A comma at the end of a line is optional,
//! blank lines are skipped.
//!
//! Minima, maxima, means and ranges were meant for clipping and normalising. Policies in this format are trained on
//! plain values, so they are checked and otherwise ignored; a warning says so where they would have made a
//! difference.

use std::path::Path;

use surefoot_model::{InputError, Position};

use super::line::Line;
use crate::layer::{Activation, Layer};
use crate::network::Network;
use crate::parameter::Parameter;

/// Reads the network in `text`, the contents of the file at `path`.
pub(super) fn read(path: &Path, text: &str, warnings: &mut Vec<InputError>) -> Result<Network, InputError> {
    let mut reader = Reader::new(path, text);
    let sizes = reader.sizes()?;
    let inputs = sizes[0];
    reader.line("the unused flag")?.numbers(1)?;
    reader.line("the minima of the inputs")?.numbers(inputs)?;
    reader.line("the maxima of the inputs")?.numbers(inputs)?;
    for (what, neutral) in [("means", 0.0), ("ranges", 1.0)] {
        let line = reader.line(&format!("the {what} of the inputs and the outputs"))?;
        let numbers = line.numbers(inputs.saturating_add(1))?;
        if let Some(different) = numbers.iter().position(|number| number.double != neutral) {
            let message = format!("the {what} are ignored: surefoot does not normalise inputs or outputs");
            let hint =
                format!("all {what} should be {neutral}; fold the normalisation into weights and biases");
            warnings.push(line.error_at(different, message).with_hint(hint));
        }
    }
    let mut layers = Vec::new();
    for (index, pair) in sizes.windows(2).enumerate() {
        let activation = if index + 2 == sizes.len() { Activation::Identity } else { Activation::Relu };
        layers.push(reader.layer(index + 1, pair[0], pair[1], activation, warnings)?);
    }
    reader.end()?;
    Network::new(layers).map_err(|error| InputError::in_file(path, error.to_string()))
}

struct Reader<'t> {
    path: &'t Path,
    lines: std::iter::Enumerate<std::str::Lines<'t>>,
    /// Where the file ends, for messages about missing lines.
    last: u64,
    warned_of_range: bool,
}

impl<'t> Reader<'t> {
    fn new(path: &'t Path, text: &'t str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        let last = text.lines().count() as u64 + 1;
        Reader { path, lines: text.lines().enumerate(), last, warned_of_range: false }
    }

    fn next_line(&mut self) -> Option<(u64, &'t str)> {
        let (index, text) = self.lines.find(|(_, text)| !text.trim().is_empty())?;
        Some((index as u64 + 1, text))
    }

    /// The next line with numbers.
    fn line(&mut self, what: &str) -> Result<Line<'t>, InputError> {
        let (number, text) = self.next_line().ok_or_else(|| {
            let position = Position { line: self.last, column: 1 };
            InputError::at(self.path, position, format!("the file ends, but {what} must follow"))
                .with_hint("the file may be truncated")
        })?;
        Ok(Line::separated_by_commas(self.path, number, text, what))
    }

    /// Reads the header: the sizes of all layers, from the inputs to the outputs.
    fn sizes(&mut self) -> Result<Vec<usize>, InputError> {
        let mut first = self.line("the header")?;
        while first.starts_with("//") {
            first = self.line("the header")?;
        }
        let header = first.counts(4)?;
        let line = self.line("the layer sizes")?;
        let sizes = line.counts(header[0].saturating_add(1))?;
        for (size, header, column, what) in [
            (sizes[0], header[1], 0, "inputs"),
            (sizes[sizes.len() - 1], header[2], sizes.len() - 1, "outputs"),
        ] {
            if size != header {
                let message = format!("the header announces {header} {what}, but this layer has size {size}");
                return Err(line.error_at(column, message));
            }
        }
        Ok(sizes)
    }

    fn layer(
        &mut self,
        layer: usize,
        inputs: usize,
        neurons: usize,
        activation: Activation,
        warnings: &mut Vec<InputError>,
    ) -> Result<Layer, InputError> {
        // Grows with what is read: the announced sizes may be nonsense.
        let mut weights = Vec::new();
        for neuron in 1..=neurons {
            let line = self.line(&format!("the weights of neuron {neuron} of layer {layer}"))?;
            weights.extend(self.parameters(&line, inputs, warnings)?);
        }
        let mut biases = Vec::new();
        for neuron in 1..=neurons {
            let line = self.line(&format!("the bias of neuron {neuron} of layer {layer}"))?;
            biases.extend(self.parameters(&line, 1, warnings)?);
        }
        Layer::new(inputs, weights, biases, activation)
            .map_err(|error| InputError::in_file(self.path, error.to_string()))
    }

    /// The numbers of a line, with a warning at the first one in the file that single precision cannot represent.
    fn parameters(
        &mut self,
        line: &Line<'_>,
        count: usize,
        warnings: &mut Vec<InputError>,
    ) -> Result<Vec<Parameter>, InputError> {
        let numbers = line.numbers(count)?;
        if !self.warned_of_range
            && let Some(index) = numbers.iter().position(|number| number.single.is_infinite())
        {
            self.warned_of_range = true;
            let message = "this number exceeds the range of f32: it is infinite in single precision";
            warnings.push(line.error_at(index, message));
        }
        Ok(numbers)
    }

    fn end(&mut self) -> Result<(), InputError> {
        match self.next_line() {
            None => Ok(()),
            Some((number, text)) => {
                let line = Line::separated_by_commas(self.path, number, text, "the end");
                Err(line
                    .error_at(0, "the network is complete, but there is more text")
                    .with_hint("check the number of layers and their sizes at the top of the file"))
            }
        }
    }
}
