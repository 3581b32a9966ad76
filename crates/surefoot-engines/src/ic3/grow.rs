//! prototype
use super::reason::Reason;
use super::{Run, Stop};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use surefoot_model::Program;

impl Run<'_> {
    pub(super) fn grow(&mut self) -> Result<(), Stop> {
        let wide: usize = std::env::var("WIDE").ok().and_then(|v| v.parse().ok()).unwrap_or(10);
        let n = self.problem.domain.lower.len();
        let narrow: Vec<usize> = (0..n)
            .filter(|&i| (self.problem.domain.upper[i] - self.problem.domain.lower[i]) < wide as i32)
            .collect();
        let mut map: FxHashMap<Vec<i32>, (Reason, bool)> = FxHashMap::default();
        let mut queue: VecDeque<Vec<i32>> = VecDeque::new();
        let t = std::time::Instant::now();
        let mut starts = 0;
        while let Some(s) = self.states.start(1)? {
            starts += 1;
            let key: Vec<i32> = narrow.iter().map(|&i| s[i]).collect();
            let mut r = Reason::of_state(&s);
            if let Some((old, _)) = map.get(&key) {
                for i in 0..n {
                    r.lower[i] = r.lower[i].min(old.lower[i]);
                    r.upper[i] = r.upper[i].max(old.upper[i]);
                }
            } else {
                queue.push_back(key.clone());
            }
            self.states.add(&r, 1);
            map.insert(key, (r, true));
        }
        eprintln!("starts {starts} configs {} {:?}", map.len(), t.elapsed());
        let values: Vec<Vec<(usize, Program)>> = vec![];
        let _ = values;
        let task = &self.problem.task;
        let progs: Vec<Vec<Vec<(usize, Program)>>> = task
            .system
            .commands
            .iter()
            .map(|c| {
                c.outcomes
                    .iter()
                    .map(|o| {
                        o.assignments
                            .iter()
                            .map(|a| (a.variable.index(), Program::new(&task.system.exprs, &[a.value])))
                            .collect()
                    })
                    .collect()
            })
            .collect();
        let mut slots = Vec::new();
        let mut steps = 0u64;
        let mut tests = 0u64;
        while let Some(key) = queue.pop_front() {
            let entry = map.get_mut(&key).unwrap();
            entry.1 = false;
            let region = entry.0.clone();
            steps += 1;
            if self.states.bad(&region)?.is_some() {
                eprintln!("unsafe region {region:?} after {steps} steps, {} configs, {:?}", map.len(), t.elapsed());
                return Ok(());
            }
            if self.problem.task.semantics.goal != crate::task::Goal::Ignore {
                let st = self.status(&region.lower.clone())?;
                if st.ends_run { continue; }
            }
            for command in 0..self.problem.commands.len() {
                let info = &self.problem.commands[command];
                let Some(part) = info.hull.as_ref().and_then(|h| h.intersection(&region)) else { continue };
                if info.guard.over_box(&part.lower, &part.upper, &mut slots).truth()
                    == surefoot_model::expr::Truth::False
                {
                    continue;
                }
                if let Some(output) = info.output {
                    tests += 1;
                    if self.steps.policy(&part, output)?.is_none() {
                        continue;
                    }
                }
                for outcome in &progs[command] {
                    let mut image = part.clone();
                    for (v, p) in outcome {
                        let e = p.over_box(&part.lower, &part.upper, &mut slots);
                        let (lo, hi) = range(&e);
                        image.lower[*v] = lo.max(self.problem.domain.lower[*v]);
                        image.upper[*v] = hi.min(self.problem.domain.upper[*v]);
                    }
                    if (0..n).any(|i| image.lower[i] > image.upper[i]) {
                        continue;
                    }
                    assert!(narrow.iter().all(|&i| image.lower[i] == image.upper[i]));
                    let key2: Vec<i32> = narrow.iter().map(|&i| image.lower[i]).collect();
                    if let Some((old, queued)) = map.get_mut(&key2) {
                        if !old.includes(&image) {
                            for i in 0..n {
                                old.lower[i] = old.lower[i].min(image.lower[i]);
                                old.upper[i] = old.upper[i].max(image.upper[i]);
                            }
                            if !*queued {
                                *queued = true;
                                queue.push_back(key2);
                            }
                        }
                    } else {
                        map.insert(key2.clone(), (image, true));
                        queue.push_back(key2);
                    }
                }
            }
        }
        eprintln!("fixpoint: {} configs, {steps} steps, {tests} tests, {:?}", map.len(), t.elapsed());
        Ok(())
    }
}

fn range(e: &surefoot_model::expr::Enclosure) -> (i32, i32) {
    if let surefoot_model::expr::Range::Int(a, b) = e.values { return (a as i32, b as i32); }
    panic!("{e:?}")
}
