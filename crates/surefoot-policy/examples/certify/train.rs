//! Trains small networks: mini-batches, cross-entropy, Adam (Kingma and Ba 2015). One thread, single precision, and no
//! function of the platform, so that the same seed gives the same weights everywhere.

use crate::random::Random;

const BATCH: usize = 64;
const RATE: f32 = 2e-3;
const DECAY: [f32; 2] = [0.9, 0.999];

/// A layer whose weights are stored input by input.
pub struct Layer {
    pub weights: Vec<f32>,
    pub biases: Vec<f32>,
}

/// A network with rectified linear units in all layers but the last.
pub struct Trained {
    pub layers: Vec<Layer>,
}

/// An input and the right output.
pub struct Lesson {
    pub input: Vec<f32>,
    pub output: usize,
}

impl Layer {
    fn random(inputs: usize, outputs: usize, random: &mut Random) -> Layer {
        let limit = (6.0 / inputs as f64).sqrt();
        let weights = (0..inputs * outputs).map(|_| (limit * random.symmetric()) as f32).collect();
        Layer { weights, biases: vec![0.0; outputs] }
    }

    fn zero(&self) -> Layer {
        Layer { weights: vec![0.0; self.weights.len()], biases: vec![0.0; self.biases.len()] }
    }

    fn forward(&self, input: &[f32], output: &mut Vec<f32>) {
        output.clone_from(&self.biases);
        for (&value, weights) in input.iter().zip(self.weights.chunks_exact(self.biases.len())) {
            if value != 0.0 {
                add_multiple(output, value, weights);
            }
        }
    }

    /// Adds the gradient of this layer to `gradient`; the gradient of its input to `before`, unless that is empty.
    fn backward(&self, input: &[f32], after: &[f32], gradient: &mut Layer, before: &mut [f32]) {
        add_multiple(&mut gradient.biases, 1.0, after);
        for (&value, sums) in input.iter().zip(gradient.weights.chunks_exact_mut(after.len())) {
            if value != 0.0 {
                add_multiple(sums, value, after);
            }
        }
        for (slope, weights) in before.iter_mut().zip(self.weights.chunks_exact(after.len())) {
            *slope = product(weights, after);
        }
    }

    fn parameters(&mut self) -> impl Iterator<Item = &mut f32> {
        self.weights.iter_mut().chain(&mut self.biases)
    }
}

impl Trained {
    pub fn new(sizes: &[usize], random: &mut Random) -> Trained {
        let layers = sizes.windows(2).map(|pair| Layer::random(pair[0], pair[1], random));
        Trained { layers: layers.collect() }
    }

    /// Learns in some steps from mini-batches of lessons.
    pub fn learn(&mut self, steps: usize, mut lesson: impl FnMut() -> Lesson) {
        let zero = || self.layers.iter().map(Layer::zero).collect::<Vec<_>>();
        let (mut gradient, mut mean, mut square) = (zero(), zero(), zero());
        let mut values = vec![Vec::new(); self.layers.len() + 1];
        let mut power = [1.0; 2];
        for step in 0..steps {
            gradient.iter_mut().flat_map(Layer::parameters).for_each(|slope| *slope = 0.0);
            for _ in 0..BATCH {
                let lesson = lesson();
                values[0].clone_from(&lesson.input);
                self.add_gradient(&mut values, lesson.output, &mut gradient);
            }
            power = [power[0] * DECAY[0], power[1] * DECAY[1]];
            let rate = RATE * (1.0 - step as f32 / steps as f32);
            let moments = mean.iter_mut().zip(&mut square);
            for ((layer, gradient), (mean, square)) in self.layers.iter_mut().zip(&mut gradient).zip(moments)
            {
                let moments = mean.parameters().zip(square.parameters());
                for ((parameter, slope), (mean, square)) in
                    layer.parameters().zip(gradient.parameters()).zip(moments)
                {
                    let slope = *slope / BATCH as f32;
                    *mean = DECAY[0] * *mean + (1.0 - DECAY[0]) * slope;
                    *square = DECAY[1] * *square + (1.0 - DECAY[1]) * slope * slope;
                    let [mean, square] = [*mean / (1.0 - power[0]), *square / (1.0 - power[1])];
                    *parameter -= rate * mean / (square.sqrt() + 1e-8);
                }
            }
        }
    }

    /// Fills in the values of all layers; those of the inputs are given.
    fn forward(&self, values: &mut [Vec<f32>]) {
        for (index, layer) in self.layers.iter().enumerate() {
            let (before, after) = values.split_at_mut(index + 1);
            layer.forward(&before[index], &mut after[0]);
            if index + 1 < self.layers.len() {
                after[0].iter_mut().for_each(|value| *value = value.max(0.0));
            }
        }
    }

    /// Adds the gradient of the cross-entropy for one lesson, and leaves the scores' gradient in place of the scores.
    fn add_gradient(&self, values: &mut [Vec<f32>], output: usize, gradient: &mut [Layer]) {
        self.forward(values);
        let last = self.layers.len();
        let mut after = std::mem::take(&mut values[last]);
        let greatest = after.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        for score in &mut after {
            *score = libm::expf(*score - greatest);
        }
        let sum: f32 = after.iter().sum();
        for score in &mut after {
            *score /= sum;
        }
        after[output] -= 1.0;
        values[last].clone_from(&after);
        for (index, layer) in self.layers.iter().enumerate().rev() {
            let input = &values[index];
            let mut before = vec![0.0; if index == 0 { 0 } else { input.len() }];
            layer.backward(input, &after, &mut gradient[index], &mut before);
            for (slope, &value) in before.iter_mut().zip(input) {
                if value <= 0.0 {
                    *slope = 0.0;
                }
            }
            after = before;
        }
    }

    /// How many of the lessons it knows, between 0 and 1.
    pub fn accuracy(&self, lessons: &[Lesson]) -> f64 {
        let mut values = vec![Vec::new(); self.layers.len() + 1];
        let is_right = |lesson: &&Lesson| {
            values[0].clone_from(&lesson.input);
            self.forward(&mut values);
            let scores = &values[self.layers.len()];
            (0..scores.len()).all(|other| other == lesson.output || scores[other] < scores[lesson.output])
        };
        lessons.iter().filter(is_right).count() as f64 / lessons.len() as f64
    }
}

fn add_multiple(sums: &mut [f32], factor: f32, terms: &[f32]) {
    for (sum, &term) in sums.iter_mut().zip(terms) {
        *sum += factor * term;
    }
}

/// A scalar product, in eight sums so that the compiler may use vectors.
fn product(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_is_that_of_the_cross_entropy() {
        let mut random = Random(3);
        let mut network = Trained::new(&[3, 9, 10, 4], &mut random);
        let input = vec![0.3, -0.8, 0.5];
        let loss = |network: &Trained| {
            let mut values = vec![input.clone(), vec![], vec![], vec![]];
            network.forward(&mut values);
            let sum: f64 = values[3].iter().map(|&score| f64::from(score).exp()).sum();
            sum.ln() - f64::from(values[3][2])
        };
        let mut gradient: Vec<Layer> = network.layers.iter().map(Layer::zero).collect();
        network.add_gradient(&mut [input.clone(), vec![], vec![], vec![]], 2, &mut gradient);
        for (index, gradient) in gradient.iter_mut().enumerate() {
            for (place, slope) in gradient.parameters().enumerate() {
                let mut shifted = |step: f32| {
                    let parameter = network.layers[index].parameters().nth(place).expect("it exists");
                    let before = *parameter;
                    *parameter += step;
                    let loss = loss(&network);
                    *network.layers[index].parameters().nth(place).expect("it exists") = before;
                    loss
                };
                let expected = (shifted(1e-3) - shifted(-1e-3)) / 2e-3;
                assert!((expected - f64::from(*slope)).abs() < 2e-3, "{expected} {slope}");
            }
        }
    }
}
