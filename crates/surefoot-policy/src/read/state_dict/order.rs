//! The order of the layers of a state dict, if it is beyond doubt.
//!
//! Layers whose names differ in one number (`net.0`, `net.2`; `fc1`, `fc2`) follow each other as the numbers say. If
//! there are other names too (`net.0`, `net.2`, `head`), the shapes decide: exactly one order that respects the numbers
//! must lead from the inputs to the outputs. Everything else is refused, since layers of equal shapes in the wrong order
//! make a network that looks right.

use std::collections::BTreeMap;
use std::path::Path;

use surefoot_model::InputError;

use super::{LIST_LAYERS, Linear};

/// Orders that are tried before the question counts as undecided.
const TRIES: usize = 100_000;

/// The layers in their order, from `sizes.0` inputs to `sizes.1` outputs.
pub(super) fn ordered<'t>(
    path: &Path,
    layers: Vec<Linear<'t>>,
    sizes: (usize, usize),
) -> Result<Vec<Linear<'t>>, InputError> {
    let groups = groups(path, layers)?;
    if let [group] = &groups[..] {
        return Ok(group.clone());
    }
    let mut search = Search { groups: &groups, outputs: sizes.1, tries: 0, found: Vec::new() };
    search.run(sizes.0);
    match &search.found[..] {
        _ if search.tries >= TRIES => Err(unclear(path, &groups, "too many orders are possible")),
        [only] => Ok(only.clone()),
        [] => {
            let (inputs, outputs) = sizes;
            let reason =
                format!("no order leads from {inputs} inputs through all of them to {outputs} outputs");
            Err(unclear(path, &groups, &reason))
        }
        _ => Err(unclear(path, &groups, "their names do not say it, and several orders fit")),
    }
}

fn unclear(path: &Path, groups: &[Vec<Linear<'_>>], reason: &str) -> InputError {
    let layers = groups.iter().flatten();
    let names: Vec<String> = layers.clone().take(12).map(|layer| format!("{:?}", layer.name)).collect();
    let more = if layers.count() > names.len() { ", …" } else { "" };
    let message = format!("the order of the layers {}{more} is unclear: {reason}", names.join(", "));
    InputError::in_file(path, message).with_hint(LIST_LAYERS)
}

/// Layers whose names have the same text around their numbers, each group in the order of the number.
fn groups<'t>(path: &Path, layers: Vec<Linear<'t>>) -> Result<Vec<Vec<Linear<'t>>>, InputError> {
    let mut groups: BTreeMap<String, Vec<(Vec<u64>, Linear<'t>)>> = BTreeMap::new();
    for layer in layers {
        let (text, numbers) = split(layer.name);
        groups.entry(text).or_default().push((numbers, layer));
    }
    let mut ordered = Vec::new();
    for mut group in groups.into_values() {
        let first = &group[0].0;
        let differs = |place: &usize| group.iter().any(|(numbers, _)| numbers[*place] != first[*place]);
        let differing: Vec<usize> = (0..first.len()).filter(differs).collect();
        let layers = |group: &[(Vec<u64>, Linear<'t>)]| group.iter().map(|(_, layer)| *layer).collect();
        match differing[..] {
            [] if group.len() == 1 => {}
            [place] => {
                group.sort_by_key(|(numbers, _)| numbers[place]);
                let gaps: Vec<u64> =
                    group.windows(2).map(|pair| pair[1].0[place] - pair[0].0[place]).collect();
                if gaps.contains(&0) {
                    return Err(unclear(path, &[layers(&group)], "two have the same number"));
                }
                // In a `Sequential`, an activation has a number too.
                if gaps.contains(&1) && gaps.iter().any(|&gap| gap > 1) {
                    let reason = "there is something between some of them, and nothing between others";
                    return Err(unclear(path, &[layers(&group)], reason));
                }
            }
            _ => return Err(unclear(path, &[layers(&group)], "their names differ in several numbers")),
        }
        ordered.push(layers(&group));
    }
    Ok(ordered)
}

/// The text of a name with a mark in place of each number, and the numbers.
fn split(name: &str) -> (String, Vec<u64>) {
    let mut text = String::new();
    let mut numbers = Vec::new();
    let mut rest = name;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let end =
            rest[start..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |length| start + length);
        // A number beyond all bounds is as good as the largest one: equal numbers are refused.
        numbers.push(rest[start..end].parse().unwrap_or(u64::MAX));
        text.push_str(&rest[..start]);
        text.push('\u{0}');
        rest = &rest[end..];
    }
    text.push_str(rest);
    (text, numbers)
}

/// Looks for orders in which each layer reads what the one before it gives, until there are two.
struct Search<'g, 't> {
    groups: &'g [Vec<Linear<'t>>],
    outputs: usize,
    tries: usize,
    found: Vec<Vec<Linear<'t>>>,
}

impl<'t> Search<'_, 't> {
    fn run(&mut self, inputs: usize) {
        let all: usize = self.groups.iter().map(Vec::len).sum();
        let mut used = vec![0; self.groups.len()];
        // The group of each layer so far, and the next one to try after it.
        let mut path: Vec<usize> = Vec::new();
        let mut size = inputs;
        let mut next = 0;
        loop {
            self.tries += 1;
            if self.tries >= TRIES || self.found.len() > 1 {
                return;
            }
            let fits = |group: &usize| {
                self.groups[*group].get(used[*group]).is_some_and(|layer| layer.inputs == size)
            };
            if let Some(group) = (next..self.groups.len()).find(fits) {
                size = self.groups[group][used[group]].neurons;
                used[group] += 1;
                path.push(group);
                next = 0;
                if path.len() == all && size == self.outputs {
                    self.found.push(self.layers(&path));
                }
            } else if let Some(group) = path.pop() {
                used[group] -= 1;
                size = self.groups[group][used[group]].inputs;
                next = group + 1;
            } else {
                return;
            }
        }
    }

    fn layers(&self, path: &[usize]) -> Vec<Linear<'t>> {
        let mut used = vec![0; self.groups.len()];
        let take = |&group: &usize| {
            used[group] += 1;
            self.groups[group][used[group] - 1]
        };
        path.iter().map(take).collect()
    }
}
