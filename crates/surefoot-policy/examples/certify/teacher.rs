//! A scripted policy for blocksworld, which networks are trained to imitate.
//!
//! It builds the goal tower (block 0 on the table, block i on block i − 1) from below. What is in the way goes to the
//! table, or onto another block where that would cover the table. It needs four blocks or more.

use surefoot_model::domains::InputVariable;

use crate::random::Random;

/// Where the blocks are.
#[derive(Clone)]
pub struct Arrangement {
    blocks: usize,
    /// Blocks from the lowest to the clear one.
    stacks: Vec<Vec<usize>>,
    held: Option<usize>,
}

/// What can be chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    Table,
    Block(usize),
}

impl Choice {
    /// The position among the labels of the generated model.
    pub fn label(self) -> usize {
        match self {
            Choice::Table => 0,
            Choice::Block(block) => block + 1,
        }
    }
}

impl Arrangement {
    /// All arrangements of a number of blocks, with an empty hand or a full one.
    pub fn all(blocks: usize) -> Vec<Arrangement> {
        let everything: Vec<usize> = (0..blocks).collect();
        let arrange = |held: Option<usize>| {
            let standing: Vec<usize> =
                everything.iter().copied().filter(|&block| Some(block) != held).collect();
            stacks_of(&standing).into_iter().map(move |stacks| Arrangement { blocks, stacks, held })
        };
        std::iter::once(None).chain(everything.iter().copied().map(Some)).flat_map(arrange).collect()
    }

    /// How many blocks of the goal tower stand already.
    fn built(&self) -> usize {
        let tower = self.stacks.iter().find(|stack| stack[0] == 0);
        tower
            .map_or(0, |stack| stack.iter().enumerate().take_while(|&(place, &block)| place == block).count())
    }

    /// What the teacher chooses. When the goal is reached, there is nothing sensible to do; it says `Table`.
    pub fn teach(&self) -> Choice {
        let next = self.built();
        // The block that the next one is put on can take it.
        let is_ready = next == 0 || self.is_clear(next - 1);
        // Places on the table; one is kept for block 0.
        let free = self.blocks - 1 - self.stacks.len().min(self.blocks - 1);
        let kept = usize::from(next == 0);
        match self.held {
            Some(held) if held == next && next > 0 && is_ready => Choice::Block(next - 1),
            Some(0) if next == 0 && free > 0 => Choice::Table,
            Some(_) if free <= kept => Choice::Block(self.highest_clear(next)),
            Some(_) => Choice::Table,
            None if next == self.blocks => Choice::Table,
            None if next == 0 && self.is_clear(0) && free == 0 => Choice::Block(self.highest_clear(0)),
            None if self.is_clear(next) && !is_ready => Choice::Block(self.top_above(next - 1)),
            None => Choice::Block(self.top_above(next)),
        }
    }

    /// The clear block of the highest number outside of the stack of another block.
    fn highest_clear(&self, other: usize) -> usize {
        let stacks = self.stacks.iter().filter(|stack| !stack.contains(&other));
        *stacks.filter_map(|stack| stack.last()).max().expect("there are several stacks")
    }

    fn is_clear(&self, block: usize) -> bool {
        self.stacks.iter().any(|stack| stack.last() == Some(&block))
    }

    /// The clear block of the stack in which a block stands.
    fn top_above(&self, block: usize) -> usize {
        let stack = self.stacks.iter().find(|stack| stack.contains(&block)).expect("it is not in the hand");
        *stack.last().expect("stacks are not empty")
    }

    /// A state of the model, in the encoding of the published models. Costs, which the teacher ignores, are random.
    pub fn state(&self, variables: &[InputVariable], random: &mut Random) -> Vec<i32> {
        let value = |variable: &InputVariable| {
            let block = |prefix: &str| variable.name.strip_prefix(prefix)?.parse::<usize>().ok();
            if variable.name == "hand-empty" {
                i32::from(self.held.is_none())
            } else if variable.name == "table-counter" {
                self.stacks.len() as i32
            } else if let Some(block) = block("block_") {
                self.position(block)
            } else if let Some(block) = block("clear_") {
                i32::from(self.is_clear(block))
            } else {
                random.between(variable.lower as i32, variable.upper as i32)
            }
        };
        variables.iter().map(value).collect()
    }

    /// 0 in the hand, 1 on the table, on block j: j + 2 if j is less than the block, else j + 1.
    fn position(&self, block: usize) -> i32 {
        let Some(stack) = self.stacks.iter().find(|stack| stack.contains(&block)) else { return 0 };
        let place = stack.iter().position(|&other| other == block).expect("it is in there");
        match place.checked_sub(1).map(|below| stack[below]) {
            None => 1,
            Some(below) if below < block => below as i32 + 2,
            Some(below) => below as i32 + 1,
        }
    }
}

/// All ways to stand blocks in stacks: each block begins a stack or goes into any place of those of the others.
fn stacks_of(blocks: &[usize]) -> Vec<Vec<Vec<usize>>> {
    let Some((&block, others)) = blocks.split_last() else { return vec![Vec::new()] };
    let mut all = Vec::new();
    for stacks in stacks_of(others) {
        for stack in 0..stacks.len() {
            for place in 0..=stacks[stack].len() {
                let mut larger = stacks.clone();
                larger[stack].insert(place, block);
                all.push(larger);
            }
        }
        let mut more = stacks;
        more.push(vec![block]);
        all.push(more);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Arrangement {
        /// Does what was chosen.
        fn act(&mut self, choice: Choice) {
            match (self.held.take(), choice) {
                (Some(held), Choice::Table) => self.stacks.push(vec![held]),
                (Some(held), Choice::Block(on)) => {
                    let stack = self.stacks.iter_mut().find(|stack| stack.last() == Some(&on));
                    stack.expect("the block is clear").push(held);
                }
                (None, Choice::Block(block)) => {
                    let stack = self.stacks.iter_mut().find(|stack| stack.last() == Some(&block));
                    self.held = stack.expect("the block is clear").pop();
                    self.stacks.retain(|stack| !stack.is_empty());
                }
                (None, Choice::Table) => panic!("nothing is held"),
            }
        }
    }

    #[test]
    fn the_teacher_reaches_the_goal_safely_from_everywhere() {
        for (blocks, count) in [(4, 125), (6, 7057)] {
            let arrangements = Arrangement::all(blocks);
            assert_eq!(arrangements.len(), count);
            for mut arrangement in arrangements {
                for step in 0.. {
                    assert!(step <= 6 * blocks, "the teacher goes round in circles");
                    if arrangement.built() == blocks {
                        break;
                    }
                    let before = arrangement.stacks.len();
                    arrangement.act(arrangement.teach());
                    assert!(arrangement.stacks.len() <= before.max(blocks - 1), "the table is covered");
                }
            }
        }
    }
}
