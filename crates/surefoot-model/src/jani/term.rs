//! Values of expressions while a model is read: scalars, and arrays as the list of their elements.
//!
//! Arrays exist only during reading. They are rectangular and stored row by row, so the element `a[1][2]` of an array with
//! dimensions `[2, 3]` is number `1 * 3 + 2`.

use std::rc::Rc;

use crate::expr::{ExprId, ExprPool, TypeError};
use crate::jani::fold;
use crate::value::Type;

/// No array may have more elements.
pub(super) const MAX_ELEMENTS: usize = 100_000;

/// An expression, or an array of expressions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Term {
    Scalar(ExprId),
    Array(Rc<Array>),
}

/// A rectangular array of expressions, row by row; it has at least one element.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Array {
    pub(super) dimensions: Vec<usize>,
    pub(super) elements: Vec<ExprId>,
}

impl Term {
    /// A scalar if there are no dimensions, an array otherwise.
    pub(super) fn new(dimensions: Vec<usize>, elements: Vec<ExprId>) -> Term {
        debug_assert_eq!(dimensions.iter().product::<usize>(), elements.len());
        if dimensions.is_empty() {
            Term::Scalar(elements[0])
        } else {
            Term::Array(Rc::new(Array { dimensions, elements }))
        }
    }

    /// The lengths of the array and its sub-arrays, nothing for a scalar.
    pub(super) fn dimensions(&self) -> &[usize] {
        match self {
            Term::Scalar(_) => &[],
            Term::Array(array) => &array.dimensions,
        }
    }

    /// The scalar, or the elements row by row.
    pub(super) fn elements(&self) -> &[ExprId] {
        match self {
            Term::Scalar(id) => std::slice::from_ref(id),
            Term::Array(array) => &array.elements,
        }
    }

    /// Applies `f` to the scalar or to each element.
    pub(super) fn try_map<E>(&self, mut f: impl FnMut(ExprId) -> Result<ExprId, E>) -> Result<Term, E> {
        match self {
            Term::Scalar(id) => Ok(Term::Scalar(f(*id)?)),
            Term::Array(array) => {
                let elements = array.elements.iter().map(|&e| f(e)).collect::<Result<_, E>>()?;
                Ok(Term::new(array.dimensions.clone(), elements))
            }
        }
    }

    /// What it is, for messages.
    pub(super) fn describe(&self, pool: &ExprPool) -> String {
        match self {
            Term::Scalar(id) => format!("{} value", with_article(pool.ty(*id))),
            Term::Array(array) => {
                let lengths: Vec<String> = array.dimensions.iter().map(ToString::to_string).collect();
                format!("an array of length {}", lengths.join(" × "))
            }
        }
    }
}

/// `a bool`, `an int`, `a real`.
pub(super) fn with_article(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "a bool",
        Type::Int => "an int",
        Type::Real => "a real",
    }
}

impl Array {
    /// Element number `index`: a scalar, or an array of one dimension less.
    pub(super) fn access(&self, pool: &mut ExprPool, index: ExprId) -> Result<Term, TypeError> {
        let rest = self.dimensions[1..].to_vec();
        let row = self.elements.len() / self.dimensions[0];
        let elements = (0..row)
            .map(|offset| {
                let column: Vec<ExprId> = self.elements.iter().skip(offset).step_by(row).copied().collect();
                fold::select(pool, &column, index)
            })
            .collect::<Result<_, _>>()?;
        Ok(Term::new(rest, elements))
    }
}
