//! Blocksworld: rebuild a tower upside down, block by block, without covering the table.
//!
//! **Variables**: `hand-empty` 0..1, `table-counter` 0..n (blocks on the table), for each block i its position
//! `block_i` 0..n (see [`Encoding`]), `clear_i` 0..1 (nothing on it, not in the hand), `cost_block_i` and `step_cost`
//! 0..B.
//!
//! **Labels**: `choose_table`, `choose_block_i`. With an empty hand a choice takes the block, with a full hand it is the
//! place to put the held block.
//!
//! | edge | label | guard | effect |
//! |---|---|---|---|
//! | pick up i | `choose_block_i` | hand empty, i clear, i on the table | i in the hand, counter − 1 |
//! | put down i | `choose_table` | i in the hand | i on the table, counter + 1 |
//! | stack i on j | `choose_block_j` | i in the hand, j clear | i on j |
//! | unstack i from j | `choose_block_i` | hand empty, i clear, i on j | i in the hand |
//!
//! Every move may fail: with `failing_probability` nothing moves and the block's cost grows. When it has reached the
//! bound B, the block is stuck (`cost_terminal`) or its moves never fail again.
//!
//! **Unsafe**: more than `table_limit` blocks on the table. **Goal**: block 0 on the table, block i on block i − 1.
//!
//! **Start**: hand empty, no costs, each block on the table or on a block of higher number, at most `table_limit` on the
//! table. These are the partitions of the blocks into at most `table_limit` stacks: 14, 202 and 4139 states for
//! n = 4, 6 and 8 and the limit n − 1. The initial state is the tower with block 0 on top.
//!
//! **Probabilistic variant**: while being stacked or unstacked, a block drops on the table with
//! `hazard_probability`, whatever its costs. (A block that drops while being picked up or put down ends where a failure
//! or success would leave it, so those moves have no further outcome.)

use serde_json::Value;

use super::build::{
    Chance, Model, Property, all, any, assign, at_least, at_most, eq, implies, ne, shift, sum,
};
use super::cost::Costs;
use super::{Generated, ParameterError, parameter};

const HAND: &str = "hand-empty";
const COUNTER: &str = "table-counter";
const TO_TABLE: &str = "choose_table";

/// What the values of `block_i` mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// 0 in the hand, 1 on the table, on block j: j + 2 if j < i, j + 1 if j > i. The published models.
    #[default]
    Legacy,
    /// 0 on the table, j + 1 on block j, the own number i + 1 in the hand.
    Direct,
}

/// Parameters of an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// Number n of blocks, at least 2.
    pub blocks: usize,
    /// Most blocks that may lie on the table, 1..n − 1.
    pub table_limit: usize,
    /// Most failures that a block's cost counts, at least 1.
    pub cost_bound: usize,
    /// Probability that a move fails.
    pub failing_probability: f64,
    /// Whether a block whose cost has reached the bound is stuck (else its moves never fail again).
    pub cost_terminal: bool,
    /// Meaning of the position variables.
    pub encoding: Encoding,
    /// Whether blocks may drop on the table.
    pub probabilistic: bool,
    /// Probability that a block drops; without effect unless `probabilistic`.
    pub hazard_probability: f64,
}

impl Default for Parameters {
    /// The instance '6 Blocks'.
    fn default() -> Self {
        Self {
            blocks: 6,
            table_limit: 5,
            cost_bound: 12,
            failing_probability: 0.5,
            cost_terminal: true,
            encoding: Encoding::Legacy,
            probabilistic: false,
            hazard_probability: 0.1,
        }
    }
}

impl Encoding {
    fn in_hand(self, block: usize) -> usize {
        match self {
            Self::Legacy => 0,
            Self::Direct => block + 1,
        }
    }

    fn on_table(self) -> usize {
        match self {
            Self::Legacy => 1,
            Self::Direct => 0,
        }
    }

    fn on(self, block: usize, below: usize) -> usize {
        match self {
            Self::Legacy if below < block => below + 2,
            Self::Legacy | Self::Direct => below + 1,
        }
    }
}

fn block(i: usize) -> String {
    format!("block_{i}")
}

fn clear(i: usize) -> String {
    format!("clear_{i}")
}

fn choose(i: usize) -> String {
    format!("choose_block_{i}")
}

/// Writes the instance.
pub fn generate(parameters: &Parameters) -> Result<Generated, ParameterError> {
    let n = parameters.blocks;
    parameter::count("blocks", n, 2..=100)?;
    parameter::count("table_limit", parameters.table_limit, 1..=n - 1)?;
    let hazard = if parameters.probabilistic { parameters.hazard_probability } else { 0.0 };
    let costs = Costs::new(
        parameters.cost_bound,
        parameters.failing_probability,
        parameters.cost_terminal,
        Chance { constant: "dropping_probability", value: hazard },
    )?;

    let variant = if parameters.probabilistic { "_probabilistic" } else { "" };
    let mut model = Model::new(format!("blocksworld_{n}_{}{variant}", parameters.table_limit));
    costs.declare_constants(&mut model);
    declare_variables(&mut model, parameters);
    costs.declare_variables(&mut model, (0..n).map(block));
    model.label(TO_TABLE);
    for i in 0..n {
        model.label(choose(i));
    }
    for i in 0..n {
        add_table_edges(&mut model, &costs, parameters.encoding, i);
        for j in (0..n).filter(|&j| j != i) {
            add_stack_edges(&mut model, &costs, parameters.encoding, i, j);
        }
    }
    Ok(model.finish(Property {
        start: start(parameters),
        reach: at_least(COUNTER, parameters.table_limit + 1),
        goal: goal(parameters),
    }))
}

fn declare_variables(model: &mut Model, parameters: &Parameters) {
    let n = parameters.blocks;
    let encoding = parameters.encoding;
    model.variable(HAND, 0, 1, 1);
    model.variable(COUNTER, 0, n as i64, 1);
    for i in 0..n {
        let position = if i + 1 < n { encoding.on(i, i + 1) } else { encoding.on_table() };
        model.variable(block(i), 0, n as i64, position as i64);
    }
    for i in 0..n {
        model.variable(clear(i), 0, 1, i64::from(i == 0));
    }
}

fn takes(encoding: Encoding, i: usize) -> Vec<Value> {
    vec![assign(HAND, 0), assign(block(i), encoding.in_hand(i)), assign(clear(i), 0)]
}

fn puts(position: usize, i: usize) -> Vec<Value> {
    vec![assign(HAND, 1), assign(block(i), position), assign(clear(i), 1)]
}

fn add_table_edges(model: &mut Model, costs: &Costs, encoding: Encoding, i: usize) {
    let table = encoding.on_table();

    let guard = [at_least(HAND, 1), at_least(clear(i), 1), eq(block(i), table)];
    let effect = [takes(encoding, i), vec![shift(COUNTER, -1)]].concat();
    costs.add_edges(model, &choose(i), &block(i), &guard, &effect, None);

    let guard = [eq(block(i), encoding.in_hand(i)), at_most(HAND, 0), at_most(clear(i), 0)];
    let effect = [puts(table, i), vec![shift(COUNTER, 1)]].concat();
    costs.add_edges(model, TO_TABLE, &block(i), &guard, &effect, None);
}

fn add_stack_edges(model: &mut Model, costs: &Costs, encoding: Encoding, i: usize, j: usize) {
    let on_j = encoding.on(i, j);
    let drops = [puts(encoding.on_table(), i), vec![shift(COUNTER, 1)]].concat();

    let guard =
        [at_least(clear(j), 1), eq(block(i), encoding.in_hand(i)), at_most(HAND, 0), at_most(clear(i), 0)];
    let effect = [puts(on_j, i), vec![assign(clear(j), 0)]].concat();
    costs.add_edges(model, &choose(j), &block(i), &guard, &effect, Some(&drops));

    let guard = [at_least(HAND, 1), at_least(clear(i), 1), eq(block(i), on_j), at_most(clear(j), 0)];
    let effect = [takes(encoding, i), vec![assign(clear(j), 1)]].concat();
    let drops = [drops, vec![assign(clear(j), 1)]].concat();
    costs.add_edges(model, &choose(i), &block(i), &guard, &effect, Some(&drops));
}

/// In start states a block lies on the table or on a higher block, so in both encodings the position code j + 1
/// means 'on j', whatever the block: two blocks share a code only on the table.
fn start(parameters: &Parameters) -> Value {
    let n = parameters.blocks;
    let table = parameters.encoding.on_table();
    let mut conjuncts = vec![eq(HAND, 1), at_most(COUNTER, parameters.table_limit)];
    for i in 0..n {
        let mut places = vec![eq(block(i), table)];
        if i + 1 < n {
            places.push(at_least(block(i), i + 2));
        }
        conjuncts.push(any(&places));
    }
    for j in 0..n {
        for i in 0..j {
            conjuncts.push(any(&[ne(block(i), block(j)), eq(block(j), table)]));
            conjuncts.push(implies(eq(block(i), j + 1), at_most(clear(j), 0)));
        }
        let mut clear_or_covered = vec![at_least(clear(j), 1)];
        clear_or_covered.extend((0..j).map(|i| eq(block(i), j + 1)));
        conjuncts.push(any(&clear_or_covered));
    }
    // Each stack has one lowest and one clear block.
    let stacks: Vec<_> = (0..n).map(|i| clear(i).into()).collect();
    conjuncts.push(eq(COUNTER, sum(&stacks)));
    conjuncts.extend(Costs::start((0..n).map(block)));
    all(&conjuncts)
}

fn goal(parameters: &Parameters) -> Value {
    let encoding = parameters.encoding;
    let on_previous = |i: usize| eq(block(i), encoding.on(i, i - 1));
    let mut conjuncts = vec![eq(block(0), encoding.on_table())];
    conjuncts.extend((1..parameters.blocks).map(on_previous));
    all(&conjuncts)
}

#[cfg(test)]
mod tests {
    use super::super::tests::edges;
    use super::*;

    #[test]
    fn counts_follow_the_number_of_blocks() {
        for (blocks, expected) in [(4, 32), (6, 72), (8, 128)] {
            let mut parameters = Parameters { blocks, table_limit: blocks - 1, ..Parameters::default() };
            let generated = generate(&parameters).expect("valid parameters");
            assert_eq!(edges(&generated).len(), expected);
            assert_eq!(generated.variables.len(), 3 + 3 * blocks);
            assert_eq!(generated.labels.len(), blocks + 1);

            parameters.cost_terminal = false;
            assert_eq!(edges(&generate(&parameters).expect("valid parameters")).len(), 2 * expected);
        }
    }

    #[test]
    fn only_stacking_and_unstacking_can_drop_a_block() {
        let parameters =
            Parameters { blocks: 4, table_limit: 3, probabilistic: true, ..Parameters::default() };
        let generated = generate(&parameters).expect("valid parameters");
        let outcomes = |edge: &Value| edge["destinations"].as_array().expect("a list").len();
        let with_drop = edges(&generated).iter().filter(|edge| outcomes(edge) == 3).count();
        assert_eq!(with_drop, 4 * 2 * 3);
    }

    #[test]
    fn senseless_parameters_are_refused() {
        let refused = |parameters: Parameters| generate(&parameters).expect_err("refused").parameter;
        assert_eq!(refused(Parameters { blocks: 1, ..Parameters::default() }), "blocks");
        assert_eq!(refused(Parameters { table_limit: 0, ..Parameters::default() }), "table_limit");
        assert_eq!(refused(Parameters { table_limit: 6, ..Parameters::default() }), "table_limit");
        assert_eq!(refused(Parameters { cost_bound: 0, ..Parameters::default() }), "cost_bound");
        for failing_probability in [-0.1, 1.5, f64::NAN] {
            let parameters = Parameters { failing_probability, ..Parameters::default() };
            assert_eq!(refused(parameters), "failing_probability");
        }
        let parameters = Parameters { probabilistic: true, hazard_probability: 0.6, ..Parameters::default() };
        assert_eq!(refused(parameters), "hazard_probability");
    }

    #[test]
    fn the_refusal_names_parameter_value_and_range() {
        let error = generate(&Parameters { blocks: 1, ..Parameters::default() }).expect_err("refused");
        assert_eq!(error.to_string(), "`blocks` is 1, but must be between 2 and 100");
    }
}
