//! Prints how long a policy's choice takes per state, for several policies, arithmetics and instruction sets.
//!
//! Run it with `cargo run --release -p surefoot-policy --example throughput`.

use std::time::Instant;

use surefoot_model::{LabelId, VarId};
use surefoot_policy::{
    Activation, Arithmetic, Ensemble, InstructionSet, Layer, Network, Parameter, Policy, PolicyInput, Scorer,
    Tree, TreeNode,
};

const STATES: usize = 4096;

/// Random numbers without a dependency (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn parameter(&mut self) -> Parameter {
        Parameter::from((self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0)
    }
}

fn network(sizes: &[usize], random: &mut Random) -> Scorer {
    let layers = sizes.windows(2).enumerate().map(|(index, pair)| {
        let activation = if index + 2 == sizes.len() { Activation::Identity } else { Activation::Relu };
        let weights = (0..pair[0] * pair[1]).map(|_| random.parameter()).collect();
        let biases = (0..pair[1]).map(|_| random.parameter()).collect();
        Layer::new(pair[0], weights, biases, activation).expect("well formed")
    });
    Scorer::Network(Network::new(layers.collect()).expect("layers fit"))
}

fn ensemble(inputs: usize, outputs: usize, trees: usize, depth: u32, random: &mut Random) -> Scorer {
    let splits = (1_u32 << depth) - 1;
    let mut tree = |class: usize| {
        let nodes = (0..=2 * splits).map(|index| {
            if index < splits {
                let threshold = Parameter::from((random.next() % 10) as f64 + 0.5);
                let feature = (random.next() % inputs as u64) as u32;
                TreeNode::Split { feature, threshold, left: 2 * index + 1, right: 2 * index + 2 }
            } else {
                TreeNode::Leaf(index - splits)
            }
        });
        let nodes = nodes.collect();
        let mut values = vec![Parameter::from(0.0); (splits as usize + 1) * outputs];
        values.iter_mut().skip(class).step_by(outputs).for_each(|value| *value = random.parameter());
        Tree::new(outputs, nodes, values).expect("well formed")
    };
    let trees = (0..trees).map(|index| tree(index % outputs)).collect();
    Scorer::Ensemble(Ensemble::new(inputs, vec![Parameter::from(0.0); outputs], trees).expect("trees fit"))
}

fn measure(scorer: Scorer, random: &mut Random) {
    println!("{}", scorer.shape());
    let columns: Vec<Vec<i32>> =
        (0..scorer.inputs()).map(|_| (0..STATES).map(|_| (random.next() % 11) as i32).collect()).collect();
    let inputs = (0..scorer.inputs()).map(|input| PolicyInput::Variable(VarId(input as u32))).collect();
    let outputs = (0..scorer.outputs()).map(|output| LabelId(output as u32)).collect();
    let policy = Policy::new(inputs, outputs, false, scorer).expect("sizes fit");
    let evaluators = [
        ("f64", policy.evaluator(Arithmetic::F64)),
        ("f64 scores", policy.scoring_evaluator(Arithmetic::F64)),
        ("f32", policy.evaluator(Arithmetic::F32)),
        ("real", policy.evaluator(Arithmetic::Real)),
        ("any-f32", policy.evaluator(Arithmetic::AnyF32)),
    ];
    for (name, evaluator) in evaluators {
        for set in InstructionSet::ALL {
            let Some(mut evaluator) = evaluator.clone().with_instruction_set(set) else { continue };
            let mut batch = || {
                evaluator.run(STATES, |input| &columns[input]);
                let mut sum = 0;
                for state in 0..STATES {
                    evaluator.possible(state, |_| true, |output| sum += output);
                }
                std::hint::black_box(sum);
            };
            // The best of several rounds: other programs disturb the rest.
            let round = |batch: &mut dyn FnMut()| {
                let (start, mut batches) = (Instant::now(), 0);
                while start.elapsed().as_millis() < 8 {
                    batch();
                    batches += 1;
                }
                start.elapsed().as_nanos() as f64 / (batches * STATES) as f64
            };
            batch();
            let best = (0..24).map(|_| round(&mut batch)).fold(f64::INFINITY, f64::min);
            println!("  {name:>10} {set:>9} {best:>9.1} ns/state");
        }
    }
}

fn main() {
    let mut random = Random(1);
    for sizes in [&[14, 16, 16, 5][..], &[20, 32, 32, 7], &[20, 64, 64, 7], &[20, 256, 256, 7]] {
        measure(network(sizes, &mut random), &mut random);
    }
    measure(ensemble(20, 7, 70, 6, &mut random), &mut random);
    measure(ensemble(20, 7, 700, 4, &mut random), &mut random);
}
