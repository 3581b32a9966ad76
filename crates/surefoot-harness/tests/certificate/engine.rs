//! Certificates that IC3 makes. Verdicts are those of brute force, both checkers accept what proves them, and both reject
//! it once it is changed in a way that matters.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use surefoot_certificate::{Certificate, Subject};
use surefoot_engines::ic3::{Options, Proof, verify};
use surefoot_engines::{Control, Task};
use surefoot_harness::expect::{Coverage, Expected};
use surefoot_harness::random::{RandomTask, Size, tasks};
use surefoot_harness::reference::explore;
use surefoot_harness::run::{cases, check};

use crate::make::{inputs, subject};
use crate::oracle::{LIMIT, Oracle};
use crate::python::Python;
use crate::random::Random;
use crate::{agrees, tamper, verdict};

/// What is left of the meaning of a certificate by these, or what IC3 does not make.
const HARMLESS: [&str; 4] = [
    "a region listed twice",
    "regions in another order",
    "the limit of a fact moved by one",
    "a factor of a fact negated, or the fact removed",
];

/// How often a kind of change was rejected, by each checker.
#[derive(Debug, Default, Clone, Copy)]
struct Rejected {
    first: u32,
    second: u32,
}

struct Test {
    python: Option<Python>,
    /// Tasks that were compared with brute force, and certificates that both checkers, or only the first, accepted.
    tasks: u32,
    accepted: Rejected,
    rejected: BTreeMap<&'static str, Rejected>,
}

impl Test {
    fn task(&mut self, task: &Task, random: &mut Random) -> Result<(), TestCaseError> {
        let (Ok(exploration), Some(oracle)) = (explore(task, LIMIT), Oracle::new(task)) else {
            return Ok(());
        };
        let (answer, certificate) = match verify(task, Options::default(), &Control::unlimited()) {
            Ok(Proof { outcome, certificate, .. }) => (Ok(outcome), certificate),
            Err(error) => (Err(error), None),
        };
        let expected = Expected::of(&exploration, Coverage::Any);
        expected.check(task, &answer, false).map_err(TestCaseError::fail)?;
        self.tasks += 1;
        match certificate {
            Some(made) => self.certificate(task, &oracle, &Certificate { inputs: inputs(), ..made }, random),
            None => Ok(()),
        }
    }

    fn certificate(
        &mut self,
        task: &Task,
        oracle: &Oracle<'_>,
        made: &Certificate,
        random: &mut Random,
    ) -> Result<(), TestCaseError> {
        let inputs = inputs();
        let about = subject(task, &inputs);
        prop_assert_eq!(Certificate::read(&made.write()), Ok(made.clone()));
        agrees(made, &about, true)?;
        self.accepted.first += 1;
        self.accepted.second += u32::from(self.second(made, &about, true)?);
        for (name, change) in tamper::CONTENTS {
            let mut changed = made.clone();
            if change(&mut changed, random).is_some() {
                let proves = oracle.proves(&changed);
                agrees(&changed, &about, proves)?;
                self.judged(name, &changed, &about, proves, random)?;
            }
        }
        for (name, change) in tamper::BINDING {
            let mut changed = made.clone();
            if change(&mut changed).is_some() {
                prop_assert!(verdict(&changed, &about).is_err(), "{}", name);
                self.judged(name, &changed, &about, false, random)?;
            }
        }
        for (name, change) in tamper::TASKS {
            let mut other = task.clone();
            if change(&mut other, random).is_some() {
                let proves = Oracle::new(&other).expect("as small").proves(made);
                agrees(made, &subject(&other, &inputs), proves)?;
                self.judged(name, made, &subject(&other, &inputs), proves, random)?;
            }
        }
        Ok(())
    }

    /// Counts what the first checker said, and asks the second one now and then.
    fn judged(
        &mut self,
        name: &'static str,
        certificate: &Certificate,
        about: &Subject<'_>,
        proves: bool,
        random: &mut Random,
    ) -> Result<(), TestCaseError> {
        let asked = random.one_in(5) && self.second(certificate, about, proves)?;
        let rejected = self.rejected.entry(name).or_default();
        rejected.first += u32::from(!proves);
        rejected.second += u32::from(asked && !proves);
        Ok(())
    }

    /// Whether the second checker could say something; it must be right.
    fn second(
        &mut self,
        certificate: &Certificate,
        about: &Subject<'_>,
        proves: bool,
    ) -> Result<bool, TestCaseError> {
        let answer = self.python.as_mut().and_then(|python| python.accepts(certificate, about));
        match answer {
            None => Ok(false),
            Some((accepts, _)) if accepts == proves => Ok(true),
            Some((_, text)) => Err(TestCaseError::fail(format!(
                "brute force: {proves}, second checker: {text}{certificate:?}"
            ))),
        }
    }
}

#[test]
fn certificates_of_ic3_are_accepted_and_changed_ones_rejected() {
    let test = RefCell::new(Test {
        python: Python::new(),
        tasks: 0,
        accepted: Rejected::default(),
        rejected: BTreeMap::new(),
    });
    check(&(tasks(Size::Small), any::<u64>()), 5000, |(random_task, seed): (RandomTask, u64)| {
        test.borrow_mut().task(&random_task.task, &mut Random(seed))
    });
    let test = test.into_inner();
    println!("{} tasks, accepted {:?}", test.tasks, test.accepted);
    for (name, rejected) in &test.rejected {
        println!("{name}: {rejected:?}");
    }
}
