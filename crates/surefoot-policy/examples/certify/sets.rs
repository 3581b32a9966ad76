//! The query sets: which policy each asks about, and which questions.

use surefoot_model::domains::policy::EnsembleShape;

pub struct Set {
    pub name: &'static str,
    /// Blocks of the blocksworld instance that the policy is made for.
    pub blocks: usize,
    pub source: Source,
    pub questions: Questions,
    /// Of the policy and the questions.
    pub seed: u64,
}

/// Where the policy comes from.
#[derive(Clone, Copy)]
pub enum Source {
    /// A network with random weights and these hidden layers.
    Random(&'static [usize]),
    /// A network that was trained to imitate a teacher.
    Trained(&'static [usize]),
    Ensemble(EnsembleShape),
    /// A random network with this many hidden layers, which has no file.
    Sparse {
        layers: usize,
        neurons: usize,
    },
    /// A random network with many inputs and two hidden layers of this size, which has no file.
    Wide {
        neurons: usize,
    },
}

#[derive(Clone, Copy)]
pub enum Questions {
    /// Random ones, at most this many.
    AtMost(usize),
    /// Boxes around random states: most variables may differ by a few values.
    Around,
    /// The hardest of many.
    Hardest,
}

/// The set of a published network, whose files are not part of this repository.
pub const PUBLISHED: &str = "published-2x32";

/// Its hardest questions.
pub const HARD_PUBLISHED: &str = "hard-published-2x32";

pub fn sets() -> Vec<Set> {
    let any = Questions::AtMost(usize::MAX);
    let network = |name, blocks, hidden, seed| {
        let source = Source::Random(hidden);
        Set { name, blocks, source, questions: any, seed }
    };
    let trained = |name, blocks, hidden, seed| Set {
        source: Source::Trained(hidden),
        ..network(name, blocks, hidden, seed)
    };
    let ensemble = |name, trees, depth, boosted, seed| {
        let source = Source::Ensemble(EnsembleShape { trees, depth, boosted });
        Set { name, blocks: 6, source, questions: any, seed }
    };
    // Most of their questions take as long as they may.
    let sparse = |name, layers, neurons, seed| {
        let source = Source::Sparse { layers, neurons };
        Set { name, blocks: 0, source, questions: Questions::AtMost(48), seed }
    };
    let hard = |name, set: Set| Set { name, questions: Questions::Hardest, ..set };
    vec![
        network("2x16", 4, &[16, 16], 0),
        network("2x32", 6, &[32, 32], 1),
        network("2x64", 6, &[64, 64], 2),
        network("2x256", 6, &[256, 256], 3),
        Set { questions: Questions::AtMost(70), ..network("4x512", 6, &[512, 512, 512, 512], 4) },
        sparse("sparse-8k", 4, 2000, 5),
        sparse("sparse-34k", 4, 8500, 6),
        Set {
            name: "wide-2x32",
            blocks: 0,
            source: Source::Wide { neurons: 32 },
            questions: Questions::Around,
            seed: 17,
        },
        ensemble("forest-5x4", 5, 4, false, 7),
        ensemble("forest-30x6", 30, 6, false, 8),
        ensemble("forest-30x10", 30, 10, false, 9),
        ensemble("boosted-30x6", 30, 6, true, 10),
        ensemble("boosted-30x10", 30, 10, true, 11),
        trained("trained-2x16", 4, &[16, 16], 13),
        trained("trained-2x32", 6, &[32, 32], 14),
        trained("trained-2x64", 6, &[64, 64], 15),
        trained("trained-2x256", 6, &[256, 256], 16),
        hard("hard-2x16", network("2x16", 4, &[16, 16], 0)),
        hard("hard-2x32", network("2x32", 6, &[32, 32], 1)),
        hard("hard-trained-2x32", trained("trained-2x32", 6, &[32, 32], 14)),
    ]
}
