//! Sums and means along axes.
//!
//! A mean is the sum divided by the number of terms, which is how runtimes compute it.

use surefoot_model::InputError;

use super::super::builder::Weights;
use super::super::call::{Call, Results};
use super::super::shape;
use super::super::value::{Computed, Value};
use crate::network::Element;
use crate::parameter::Parameter;

/// `ReduceSum`.
pub(super) fn sum(call: &mut Call<'_>) -> Results {
    let value = call.computed(0)?;
    let axes = call.given_axes(13)?;
    let reduction = Reduction::new(call, &value, axes)?;
    let elements = reduction.sums(call, &value)?;
    Ok(vec![Call::result(reduction.shape, elements)])
}

/// `ReduceMean`.
pub(super) fn mean(call: &mut Call<'_>) -> Results {
    let value = call.computed(0)?;
    let axes = call.given_axes(18)?;
    let reduction = Reduction::new(call, &value, axes)?;
    let sums = reduction.sums(call, &value)?;
    let terms = value.elements.len() / sums.len();
    if terms == 1 {
        return Ok(vec![Call::result(reduction.shape, sums)]);
    }
    let divisors = vec![Parameter::from(terms as f64); sums.len()];
    let elements = call.builder.quotient(&sums, divisors);
    Ok(vec![Call::result(reduction.shape, elements)])
}

/// Which values a reduction puts together.
pub(super) struct Reduction {
    /// The group of each value.
    groups: Vec<usize>,
    count: usize,
    /// The shape of the result.
    pub(super) shape: Vec<usize>,
}

impl Reduction {
    /// Reads the attributes that all reductions have.
    pub(super) fn new(
        call: &mut Call<'_>,
        value: &Computed,
        axes: Option<Vec<i64>>,
    ) -> Result<Reduction, InputError> {
        let axes = self::axes(call, axes, value.shape.len())?;
        let keep = call.flag("keepdims", true)?;
        call.pay(Some(value.elements.len()))?;
        let (groups, kept) = shape::reduced(&value.shape, &axes);
        let count = shape::size(&kept);
        let stays = |&(axis, _): &(usize, usize)| keep || !axes.contains(&axis);
        let shape = kept.into_iter().enumerate().filter(stays).map(|(_, extent)| extent).collect();
        Ok(Reduction { groups, count, shape })
    }

    /// The elements of each group, in order.
    pub(super) fn groups(&self, value: &Computed) -> Vec<Vec<Element>> {
        let mut groups = vec![Vec::new(); self.count];
        for (&group, &element) in self.groups.iter().zip(value.elements.iter()) {
            groups[group].push(element);
        }
        groups
    }

    fn sums(&self, call: &mut Call<'_>, value: &Computed) -> Result<Vec<Element>, InputError> {
        if self.count == value.elements.len() {
            return Ok(value.elements.to_vec());
        }
        call.pay(Some(value.elements.len()))?;
        let mut rows = vec![Vec::new(); self.count];
        for (index, &group) in self.groups.iter().enumerate() {
            rows[group].push((index as u32, Parameter::from(1.0)));
        }
        let biases = vec![Parameter::from(0.0); self.count];
        Ok(call.builder.layer(&value.elements, Weights::Sparse(rows), biases))
    }
}

/// The axes that are reduced. Without any given, these are all, unless `noop_with_empty_axes`: then there are none.
pub(super) fn axes(call: &Call<'_>, given: Option<Vec<i64>>, rank: usize) -> Result<Vec<usize>, InputError> {
    match given {
        Some(axes) if !axes.is_empty() => call.axes(&axes, rank),
        _ if call.flag("noop_with_empty_axes", false)? => Ok(Vec::new()),
        _ => Ok((0..rank).collect()),
    }
}

/// The values of a reduction over all of a computed tensor along one axis; `None` if other axes have several values.
pub(super) fn whole(value: &Value, axis: usize) -> Option<()> {
    let shape = value.shape()?;
    let others = shape.iter().enumerate().filter(|&(other, _)| other != axis);
    others.map(|(_, &extent)| (extent == 1).then_some(())).collect()
}
