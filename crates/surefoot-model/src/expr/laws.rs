//! Laws that tie the evaluators together, on random expressions over random small domains.

use proptest::prelude::*;

use super::*;

/// Variables 0..3 are integers, 3..5 Booleans.
const INTEGERS: usize = 3;
const BOOLEANS: usize = 2;

/// Each step combines earlier expressions; operand numbers are taken modulo what there is.
type Step = (u8, u16, u16, u16);

fn build(steps: &[Step]) -> (ExprPool, ExprId) {
    let mut pool = ExprPool::new();
    let mut booleans = vec![pool.bool(true), pool.bool(false)];
    let mut numbers: Vec<ExprId> = [-2, -1, 0, 1, 2, 3, i64::MAX].map(|i| pool.int(i)).to_vec();
    numbers.push(pool.real(0.5));
    for v in 0..INTEGERS {
        numbers.push(pool.variable_of_type(VarId(v as u32), Type::Int));
    }
    for v in INTEGERS..INTEGERS + BOOLEANS {
        booleans.push(pool.variable_of_type(VarId(v as u32), Type::Bool));
    }
    let mut last = booleans[0];
    for &(op, i, j, k) in steps {
        let number = |n: u16| numbers[numbers.len() - 1 - n as usize % numbers.len()];
        let boolean = |n: u16| booleans[booleans.len() - 1 - n as usize % booleans.len()];
        let (x, y, z) = (number(i), number(j), number(k));
        let (a, b, c) = (boolean(i), boolean(j), boolean(k));
        let built = match op % 24 {
            0 => pool.not(a),
            1 => pool.and(a, b),
            2 => pool.or(a, b),
            3 => pool.implies(a, b),
            4 => pool.eq(x, y),
            5 => pool.ne(x, y),
            6 => pool.lt(x, y),
            7 => pool.le(x, y),
            8 => pool.add(x, y),
            9 => pool.sub(x, y),
            10 => pool.mul(x, y),
            11 => pool.div(x, y),
            12 => pool.modulo(x, y),
            13 => pool.min(x, y),
            14 => pool.max(x, y),
            15 => pool.floor(x),
            16 => pool.ceil(x),
            17 => pool.truncate(x),
            18 => pool.abs(x),
            19 => pool.sign(x),
            20 => pool.ite(c, x, y),
            21 => pool.ite(c, a, b),
            22 => pool.select(&[x, y, z], number(i.wrapping_add(j))),
            _ => pool.eq(a, b),
        };
        // Ill-typed combinations (`%` of a real, …) are left out.
        if let Ok(id) = built {
            last = id;
            if pool.ty(id) == Type::Bool { booleans.push(id) } else { numbers.push(id) }
        }
    }
    (pool, last)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(any::<Step>(), 1..25)
}

fn boxes() -> impl Strategy<Value = (Vec<i32>, Vec<i32>)> {
    let integers = prop::collection::vec((-3..=3, 0..3), INTEGERS);
    let booleans = prop::collection::vec((0..=1, 0..=1), BOOLEANS);
    (integers, booleans).prop_map(|(integers, booleans)| {
        let bounds = integers
            .into_iter()
            .map(|(lower, size)| (lower, lower + size))
            .chain(booleans.into_iter().map(|(a, b): (i32, i32)| (a.min(b), a.max(b))));
        bounds.unzip()
    })
}

fn points(lower: &[i32], upper: &[i32]) -> Vec<Vec<i32>> {
    let mut points = vec![Vec::new()];
    for (&lower, &upper) in lower.iter().zip(upper) {
        points = points
            .iter()
            .flat_map(|p| (lower..=upper).map(move |value| [p.as_slice(), &[value]].concat()))
            .collect();
    }
    points
}

fn at(program: &Program, point: &[i32]) -> PointValue {
    let mut slots = Vec::new();
    program.run_state(point, &mut slots);
    program.output(0, &slots)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn a_box_encloses_the_values_of_its_points(steps in steps(), (lower, upper) in boxes()) {
        let (pool, root) = build(&steps);
        let program = Program::new(&pool, &[root]);
        let enclosure = program.over_box(&lower, &upper, &mut Vec::new());
        for point in points(&lower, &upper) {
            match (at(&program, &point), enclosure.values) {
                (Err(_), _) => prop_assert!(enclosure.undefined),
                (Ok(Value::Bool(b)), Range::Bool { can_be_false, can_be_true }) => {
                    prop_assert!((b && can_be_true) || (!b && can_be_false));
                }
                (Ok(Value::Int(i)), Range::Int(l, u)) => prop_assert!(l <= i && i <= u),
                (Ok(Value::Real(r)), Range::Real(l, u)) => prop_assert!(l <= r && r <= u),
                (value, range) => prop_assert!(false, "{value:?} is not of the type of {range:?}"),
            }
        }
    }

    #[test]
    fn rewriting_keeps_values_and_undefinedness(steps in steps(), (lower, upper) in boxes(), fixed in 0u32..32) {
        let (pool, root) = build(&steps);
        let program = Program::new(&pool, &[root]);
        let is_fixed = |v: VarId| fixed >> v.0 & 1 == 1;
        let mut to = ExprPool::new();
        let replace = |v: VarId| match lower[v.index()] {
            _ if !is_fixed(v) => Replacement::Variable(v),
            value if v.index() >= INTEGERS => Replacement::Value(Value::Bool(value != 0)),
            value => Replacement::Value(Value::Int(i64::from(value))),
        };
        let rewritten = Rewriter::new(&pool, &mut to, replace).rewrite(root);
        prop_assert_eq!(to.ty(rewritten), pool.ty(root));
        let rewritten = Program::new(&to, &[rewritten]);
        prop_assert!(rewritten.len() <= program.len());
        for point in points(&lower, &upper) {
            if (0..point.len()).all(|v| !is_fixed(VarId(v as u32)) || point[v] == lower[v]) {
                prop_assert_eq!(at(&rewritten, &point).ok(), at(&program, &point).ok());
            }
        }
    }

    #[test]
    fn a_batch_gives_the_values_of_its_points(steps in steps(), (lower, upper) in boxes()) {
        let (pool, root) = build(&steps);
        prop_assume!(pool.ty(root) != Type::Real);
        let program = Program::new(&pool, &[root]);
        let points = points(&lower, &upper);
        let columns: Vec<Vec<i32>> =
            (0..lower.len()).map(|v| points.iter().map(|point| point[v]).collect()).collect();
        let mut batch = BatchProgram::new(program.clone(), &lower, &upper);
        match batch.run(points.len(), |v| &columns[v.index()]) {
            Ok(values) => {
                for (point, &value) in points.iter().zip(values) {
                    prop_assert_eq!(at(&program, point).unwrap().as_int(), Some(value));
                }
            }
            Err((lane, undefined)) => {
                prop_assert_eq!(at(&program, &points[lane]), Err(undefined));
                prop_assert!(points[..lane].iter().all(|point| at(&program, point).is_ok()));
            }
        }
    }
}
