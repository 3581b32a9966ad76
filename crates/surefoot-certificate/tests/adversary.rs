//! Certificates that try to get away with something, each against one weak spot that a checker could have.

use surefoot_certificate::{
    Bound, Certificate, Domain, Fact, Limits, Obligation, Region, Rejection, Report, Subject, TreeNode, check,
};
use surefoot_model::{
    Assignment, Command, ExprId, ExprPool, Label, LabelId, Outcome, Property, Start, TransitionSystem, Type,
    VarId, Variable, VariableType,
};
use surefoot_policy::{
    Arithmetic, Ensemble, Goal, OutOfDomain, Parameter, Policy, PolicyInput, Scorer, Semantics, Tree,
};

/// One variable `x`, the labels `a` and `b`, and a policy that prefers `a`.
struct Task {
    system: TransitionSystem,
    property: Property,
    policy: Policy,
    semantics: Semantics,
}

const READING: Semantics = Semantics {
    filter: false,
    goal: Goal::Ignore,
    out_of_domain: OutOfDomain::Error,
    arithmetic: Arithmetic::F64,
};

impl Task {
    /// Starts at 0. Nothing is unsafe, and there are no commands.
    fn new(lower: i32, upper: i32) -> Task {
        let mut system = TransitionSystem::default();
        system.variables.push(Variable::new("x", VariableType::Int { lower, upper }));
        system.labels = ["a", "b"].map(|name| Label { name: name.into() }).to_vec();
        let unsafe_states = system.exprs.bool(false);
        let start = Start { condition: None, listed: vec![vec![0]] };
        let property = Property {
            name: "p".into(),
            start,
            unsafe_states,
            hold: None,
            goal: None,
            predicates: Vec::new(),
            policy_file: None,
        };
        let base = [1.0, 0.0].map(Parameter::from).to_vec();
        let scorer = Scorer::Ensemble(Ensemble::new(1, base, Vec::new()).expect("well formed"));
        let inputs = vec![PolicyInput::Variable(VarId(0))];
        let policy = Policy::new(inputs, vec![LabelId(0), LabelId(1)], false, scorer).expect("fits");
        Task { system, property, policy, semantics: READING }
    }

    fn expression(&mut self, make: impl FnOnce(&mut ExprPool, ExprId) -> ExprId) -> ExprId {
        let x = self.system.exprs.variable_of_type(VarId(0), Type::Int);
        make(&mut self.system.exprs, x)
    }

    /// Adds a command that assigns to `x` where the guard holds.
    fn command(&mut self, label: Option<u32>, guard: ExprId, value: ExprId) {
        let probability = self.system.exprs.int(1);
        let assignments = vec![Assignment { variable: VarId(0), value }];
        let outcomes = vec![Outcome { probability, assignments, requirements: Vec::new() }];
        self.system.commands.push(Command {
            label: label.map(LabelId),
            guard,
            outcomes,
            origin: String::new(),
        });
    }

    fn check(&self, regions: Vec<Region>) -> Result<Report, Rejection> {
        let domain = |variable: &Variable| {
            let (lower, upper) = variable.ty.bounds().expect("discrete");
            Domain { name: variable.name.clone(), lower, upper }
        };
        let certificate = Certificate {
            inputs: Vec::new(),
            variables: self.system.variables.iter().map(domain).collect(),
            labels: vec!["a".into(), "b".into()],
            outputs: Some(vec![0, 1]),
            semantics: self.semantics,
            regions,
        };
        let subject = Subject {
            system: &self.system,
            property: &self.property,
            policy: Some(&self.policy),
            semantics: self.semantics,
            inputs: &[],
        };
        check(&certificate, &subject, &mut Limits { parts: 100_000, stop: &mut || false })
    }

    /// Which obligation fails, and at which value of `x`.
    fn failure(&self, regions: Vec<Region>) -> (Obligation, i32) {
        match self.check(regions) {
            Err(Rejection::Failed { obligation, state, .. }) => (obligation, state[0]),
            other => panic!("{other:?}"),
        }
    }
}

fn region(lower: i32, upper: i32, listed: &[u32]) -> Region {
    let bounds = vec![Bound { variable: 0, lower, upper }];
    Region { bounds, facts: Vec::new(), tree: vec![TreeNode::Leaf(listed.to_vec())] }
}

#[test]
fn nothing_wraps_at_the_ends_of_32_bits() {
    let mut task = Task::new(i32::MIN, i32::MAX);
    let next = task.expression(|exprs, x| {
        let one = exprs.int(1);
        exprs.add(x, one).expect("integers")
    });
    let always = task.system.exprs.bool(true);
    task.command(None, always, next);
    let all = || vec![region(i32::MIN, i32::MAX, &[0])];
    assert_eq!(task.failure(all()), (Obligation::Successor, i32::MAX));
    assert_eq!(task.failure(vec![region(0, i32::MAX - 1, &[0])]), (Obligation::Successor, i32::MAX - 1));
    task.semantics.out_of_domain = OutOfDomain::Block;
    task.check(all()).expect("nothing is above the largest value");
    task.check(vec![region(0, i32::MAX, &[0])]).expect("it goes up only");
    assert_eq!(task.failure(vec![region(i32::MIN, 0, &[0])]), (Obligation::Successor, 0));
}

#[test]
fn values_beyond_64_bits_have_no_value() {
    let mut task = Task::new(0, 10);
    let huge = task.expression(|exprs, x| {
        let (most, zero) = (exprs.int(i64::MAX), exprs.int(0));
        let product = exprs.mul(x, most).expect("integers");
        exprs.mul(product, zero).expect("integers")
    });
    let always = task.system.exprs.bool(true);
    task.command(None, always, huge);
    task.check(vec![region(0, 1, &[0])]).expect("0 and the largest integer fit");
    assert_eq!(task.failure(vec![region(0, 2, &[0])]), (Obligation::Successor, 2));
}

#[test]
fn facts_that_no_state_satisfies_cover_nothing() {
    let task = Task::new(i32::MIN, i32::MAX);
    let with = |factor, limit| {
        let facts = vec![Fact { terms: vec![(0, factor)], limit }];
        vec![Region { facts, ..region(i32::MIN, i32::MAX, &[0]) }]
    };
    for (factor, limit) in [(0, -1), (1, i64::MIN), (i32::MIN, i64::MIN), (i32::MAX, i64::MIN)] {
        assert_eq!(task.failure(with(factor, limit)), (Obligation::Start, 0));
    }
    for (factor, limit) in [(i32::MIN, i64::MAX), (i32::MAX, 0), (0, 0)] {
        task.check(with(factor, limit)).expect("0 satisfies it");
    }
}

#[test]
fn regions_that_are_no_sets_are_malformed() {
    let task = Task::new(-5, 5);
    let bound = |lower, upper| Bound { variable: 0, lower, upper };
    let fact = |terms: &[(u32, i32)]| Fact { terms: terms.to_vec(), limit: 9 };
    let good = region(-5, 5, &[0]);
    task.check(vec![good.clone()]).expect("nothing happens");
    for wrong in [
        Region { bounds: vec![bound(1, 0)], ..good.clone() },
        Region { bounds: vec![bound(0, 0), bound(-5, 5)], ..good.clone() },
        Region { bounds: vec![bound(0, 6)], ..good.clone() },
        Region { bounds: vec![Bound { variable: 1, lower: 0, upper: 0 }], ..good.clone() },
        Region { facts: vec![fact(&[(0, 1), (0, -1)])], ..good.clone() },
        Region { facts: vec![fact(&[(7, 1)])], ..good.clone() },
        Region { tree: vec![TreeNode::Leaf(vec![1, 0])], ..good.clone() },
        Region { tree: vec![TreeNode::Leaf(vec![0, 0])], ..good.clone() },
        Region { tree: vec![TreeNode::Leaf(vec![2])], ..good.clone() },
        Region { tree: Vec::new(), ..good.clone() },
        Region { tree: vec![TreeNode::Leaf(vec![0]), TreeNode::Leaf(vec![0])], ..good.clone() },
        Region { tree: vec![TreeNode::Split { variable: 1, at: 0 }], ..good },
    ] {
        assert!(matches!(task.check(vec![wrong.clone()]), Err(Rejection::Malformed(_))), "{wrong:?}");
    }
}

/// Splits outside of the region leave one side without states. What is listed there means nothing; the other side counts.
#[test]
fn splits_outside_of_a_region_hide_nothing() {
    let task = Task::new(-5, 5);
    let tree = |at: i32, left: u32, right: u32| {
        let leaves = [left, right].map(|output| TreeNode::Leaf(vec![output]));
        let [left, right] = leaves;
        vec![Region { tree: vec![TreeNode::Split { variable: 0, at }, left, right], ..region(-1, 1, &[]) }]
    };
    for at in [i32::MIN, -5, -1] {
        task.check(tree(at, 1, 0)).expect("all states are on the right");
        assert_eq!(task.failure(tree(at, 0, 1)).0, Obligation::Choice);
    }
    for at in [2, 6, i32::MAX] {
        task.check(tree(at, 0, 1)).expect("all states are on the left");
        assert_eq!(task.failure(tree(at, 1, 0)).0, Obligation::Choice);
    }
    assert_eq!(task.failure(tree(0, 0, 1)), (Obligation::Choice, 0));
}

#[test]
fn undefined_conditions_are_never_safe() {
    // 1/x > 0 has no value at 0.
    let quotient = |exprs: &mut ExprPool, x| {
        let (one, zero) = (exprs.int(1), exprs.int(0));
        let quotient = exprs.div(one, x).expect("numbers");
        exprs.lt(zero, quotient).expect("numbers")
    };
    let mut task = Task::new(-5, 5);
    let condition = task.expression(quotient);
    task.property.start.condition = Some(condition);
    task.property.start.listed.clear();
    // Also where no region is.
    assert_eq!(task.failure(vec![region(1, 5, &[0])]), (Obligation::Start, 0));

    let mut task = Task::new(-5, 5);
    task.property.unsafe_states = task.expression(quotient);
    assert_eq!(task.failure(vec![region(-5, 0, &[0])]), (Obligation::Safe, 0));

    let mut task = Task::new(-5, 5);
    let (guard, same) = (task.expression(quotient), task.expression(|_, x| x));
    task.command(None, guard, same);
    assert_eq!(task.failure(vec![region(-5, 5, &[0])]), (Obligation::Safe, 0));
    task.semantics.out_of_domain = OutOfDomain::Block;
    task.check(vec![region(-5, 5, &[0])]).expect("without a value it is not enabled");
}

#[test]
fn goals_spare_what_is_unsafe_only_if_strict() {
    let mut task = Task::new(-5, 5);
    let above = task.expression(|exprs, x| {
        let zero = exprs.int(0);
        exprs.lt(zero, x).expect("integers")
    });
    (task.property.unsafe_states, task.property.goal) = (above, Some(above));
    // It leads out, but not from goals.
    let minimum = task.system.exprs.int(-5);
    task.command(None, above, minimum);
    for (goal, safe) in [(Goal::Ignore, false), (Goal::Terminal, false), (Goal::Strict, true)] {
        task.semantics.goal = goal;
        assert_eq!(task.check(vec![region(0, 5, &[0])]).is_ok(), safe, "{goal:?}");
    }
}

#[test]
fn where_no_label_is_applicable_only_the_policy_rests() {
    let mut task = Task::new(-5, 5);
    let never = task.system.exprs.bool(false);
    let same = task.expression(|_, x| x);
    task.command(Some(0), never, same);
    assert_eq!(task.failure(vec![region(0, 0, &[])]), (Obligation::Choice, 0));
    task.semantics.filter = true;
    task.check(vec![region(0, 0, &[])]).expect("no output competes");
    let next = task.expression(|exprs, x| {
        let one = exprs.int(1);
        exprs.add(x, one).expect("integers")
    });
    let always = task.system.exprs.bool(true);
    task.command(None, always, next);
    assert_eq!(task.failure(vec![region(0, 0, &[])]), (Obligation::Successor, 0));
}

/// The best output is not applicable in one state only; there the other one is chosen.
#[test]
fn an_output_that_competes_almost_everywhere_does_not_win_everywhere() {
    let mut task = Task::new(-5, 5);
    task.semantics.filter = true;
    let elsewhere = task.expression(|exprs, x| {
        let three = exprs.int(3);
        let equal = exprs.eq(x, three).expect("integers");
        exprs.not(equal).expect("a condition")
    });
    let (always, same) = (task.system.exprs.bool(true), task.expression(|_, x| x));
    task.command(Some(0), elsewhere, same);
    task.command(Some(1), always, same);
    assert_eq!(task.failure(vec![region(-5, 5, &[0])]), (Obligation::Choice, 3));
    task.check(vec![region(-5, 2, &[0])]).expect("`a` is applicable");
}

#[test]
fn large_files_take_time_in_proportion_or_reach_the_limit() {
    let task = Task::new(0, i32::MAX);
    // A tree as deep as it is long.
    let splits = (1..20_000).flat_map(|at| [TreeNode::Split { variable: 0, at }, TreeNode::Leaf(vec![0])]);
    let tree: Vec<TreeNode> = splits.chain([TreeNode::Leaf(vec![0])]).collect();
    let deep = Region { tree: tree.clone(), ..region(0, i32::MAX, &[]) };
    assert_eq!(task.check(vec![deep]).map(|report| report.leaves), Ok(20_000));
    // The same over one state.
    let narrow = Region { tree, ..region(0, 0, &[]) };
    assert_eq!(task.check(vec![narrow]).map(|report| report.leaves), Ok(1));
    // The same region many times.
    let many = vec![region(0, 5, &[0]); 40_000];
    assert!(task.check(many).is_ok());
    let too_many = vec![region(0, 5, &[0]); 60_000];
    assert!(matches!(task.check(too_many), Err(Rejection::NotChecked(_))));
}

/// What the start condition says in linear terms is used, and no more than that.
#[test]
fn facts_of_start_conditions_are_read_as_they_are() {
    let at_most = |limit| {
        let facts = vec![Fact { terms: vec![(0, 1)], limit }];
        vec![Region { facts, ..region(-5, 5, &[0]) }]
    };
    let start = |make: &dyn Fn(&mut ExprPool, ExprId) -> ExprId| {
        let mut task = Task::new(-5, 5);
        let condition = task.expression(make);
        task.property.start = Start { condition: Some(condition), listed: Vec::new() };
        task
    };
    let compare = |exprs: &mut ExprPool, factor: i64, x, limit: i64| {
        let (factor, limit) = (exprs.int(factor), exprs.int(limit));
        let product = exprs.mul(factor, x).expect("integers");
        exprs.lt(product, limit).expect("integers")
    };
    for (factor, limit, most) in [(1, 3, 2), (2, 3, 1), (1 << 39, 1 << 40, 1), (1 << 50, 1 << 51, 1)] {
        let task = start(&|exprs, x| compare(exprs, factor, x, limit));
        task.check(at_most(most)).expect("they are the same states");
        assert_eq!(task.failure(at_most(most - 1)), (Obligation::Start, most as i32));
    }
    // x < 3 or x = 5, and not x = 1
    let either = start(&|exprs, x| {
        let (one, five) = (exprs.int(1), exprs.int(5));
        let (small, is_one) = (compare(exprs, 1, x, 3), exprs.eq(x, one).expect("integers"));
        let is_five = exprs.eq(x, five).expect("integers");
        let either = exprs.or(small, is_five).expect("conditions");
        let other = exprs.not(is_one).expect("a condition");
        exprs.or(either, other).expect("conditions")
    });
    either.check(at_most(5)).expect("all states");
    assert_eq!(either.failure(at_most(4)), (Obligation::Start, 5));
    // A conjunct that is false is no fact of the other alternative.
    let guarded = start(&|exprs, x| {
        let (small, smaller) = (compare(exprs, 1, x, 5), compare(exprs, 1, x, -5));
        let (three, both) = (exprs.int(3), exprs.and(small, smaller).expect("conditions"));
        let is_three = exprs.eq(three, x).expect("integers");
        exprs.or(both, is_three).expect("conditions")
    });
    guarded.check(at_most(3)).expect("3 is the only one");
    assert_eq!(guarded.failure(at_most(2)), (Obligation::Start, 3));
}

/// The step makes the largest value of three variables at once. What the fact asks of the state before it is a factor beyond 64 bits.
#[test]
fn sums_of_facts_do_not_wrap() {
    let most = i32::MAX;
    let mut task = Task::new(0, most);
    for (name, upper) in [("y", most), ("z", most), ("w", 1)] {
        task.system.variables.push(Variable::new(name, VariableType::Int { lower: 0, upper }));
    }
    task.property.start.listed = vec![vec![0, 0, 0, 1]];
    let exprs = &mut task.system.exprs;
    let (factor, w) = (exprs.int(most.into()), exprs.variable_of_type(VarId(3), Type::Int));
    let (value, always) = (exprs.mul(factor, w).expect("integers"), exprs.bool(true));
    task.property.unsafe_states = task.expression(|exprs, x| exprs.eq(x, factor).expect("integers"));
    task.command(None, always, value);
    let others = [1, 2].map(|variable| Assignment { variable: VarId(variable), value });
    task.system.commands[0].outcomes[0].assignments.extend(others);
    let facts = vec![Fact { terms: vec![(0, most), (1, most), (2, most)], limit: 0 }];
    let everywhere = Region { facts, bounds: Vec::new(), tree: vec![TreeNode::Leaf(vec![0])] };
    assert_eq!(task.failure(vec![everywhere]), (Obligation::Successor, 0));
}

/// Readers refuse all of this, and the checker does not rely on it.
#[test]
fn tasks_that_no_reader_makes_are_not_misread() {
    // Of two assignments to a variable, the last one counts.
    let mut task = Task::new(0, 9);
    let exprs = &mut task.system.exprs;
    let (always, zero, five) = (exprs.bool(true), exprs.int(0), exprs.int(5));
    task.command(None, always, zero);
    let last = Assignment { variable: VarId(0), value: five };
    task.system.commands[0].outcomes[0].assignments.push(last);
    let facts = vec![Fact { terms: vec![(0, 1)], limit: 0 }];
    let at_zero = Region { facts, bounds: Vec::new(), tree: vec![TreeNode::Leaf(vec![0])] };
    assert_eq!(task.failure(vec![at_zero]), (Obligation::Successor, 0));
    // A score that is no number loses against all others.
    let mut task = Task::new(0, 9);
    let split = surefoot_policy::TreeNode::Split { feature: 0, threshold: 5.0.into(), left: 1, right: 2 };
    let nodes = vec![split, surefoot_policy::TreeNode::Leaf(0), surefoot_policy::TreeNode::Leaf(1)];
    let values = [f64::NAN, 0.0, 10.0, 0.0].map(Parameter::from).to_vec();
    let tree = Tree::new(2, nodes, values).expect("well formed");
    let base = [0.0, 0.0].map(Parameter::from).to_vec();
    task.policy.scorer = Scorer::Ensemble(Ensemble::new(1, base, vec![tree]).expect("well formed"));
    assert_eq!(task.failure(vec![region(0, 9, &[0])]).0, Obligation::Choice);
    task.check(vec![region(0, 4, &[1]), region(5, 9, &[0])]).expect("so it chooses");
    // Nothing times infinity is no number.
    let mut task = Task::new(0, 0);
    task.property.unsafe_states = task.expression(|exprs, x| {
        let (infinity, most) = (exprs.real(f64::INFINITY), exprs.real(f64::MAX));
        let product = exprs.mul(x, infinity).expect("numbers");
        exprs.lt(most, product).expect("numbers")
    });
    assert_eq!(task.failure(vec![region(0, 0, &[0])]), (Obligation::Safe, 0));
}

/// Facts are kept by steps that keep their sums, and by no others.
#[test]
fn facts_are_kept_only_by_steps_that_keep_them() {
    let mut task = Task::new(0, 9);
    let next = task.expression(|exprs, x| {
        let one = exprs.int(1);
        exprs.add(x, one).expect("integers")
    });
    let few = task.expression(|exprs, x| {
        let four = exprs.int(4);
        exprs.le(x, four).expect("integers")
    });
    task.command(None, few, next);
    let at_most = |limit| {
        let facts = vec![Fact { terms: vec![(0, 1)], limit }];
        vec![Region { facts, ..region(0, 9, &[0]) }]
    };
    task.check(at_most(5)).expect("it stops there");
    assert_eq!(task.failure(at_most(4)), (Obligation::Successor, 4));
    let twice = vec![Region { facts: vec![Fact { terms: vec![(0, 2)], limit: 9 }], ..region(0, 9, &[0]) }];
    assert_eq!(task.failure(twice), (Obligation::Successor, 4));
}
