//! State variables and their domains.

use crate::value::Type;

/// Index of a variable in the state vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

impl VarId {
    /// The position in the state vector.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The domain of a variable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum VariableType {
    /// 0 (false) or 1 (true).
    Bool,
    /// Integers from `lower` to `upper`, both included.
    Int {
        /// Smallest value.
        lower: i32,
        /// Largest value.
        upper: i32,
    },
    /// Real numbers from `lower` to `upper`, both included.
    Real {
        /// Smallest value.
        lower: f64,
        /// Largest value.
        upper: f64,
    },
}

impl VariableType {
    /// The type of the variable as an expression.
    pub fn ty(self) -> Type {
        match self {
            VariableType::Bool => Type::Bool,
            VariableType::Int { .. } => Type::Int,
            VariableType::Real { .. } => Type::Real,
        }
    }

    /// Smallest and largest value of a discrete variable (`Bool`: 0 and 1); `None` for reals.
    pub fn bounds(self) -> Option<(i32, i32)> {
        match self {
            VariableType::Bool => Some((0, 1)),
            VariableType::Int { lower, upper } => Some((lower, upper)),
            VariableType::Real { .. } => None,
        }
    }
}

/// Where a variable stands in the model file: how policy interfaces and properties refer to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The automaton instance that owns it, `None` for a global variable.
    pub scope: Option<Scope>,
    /// What it is in that scope.
    pub symbol: Symbol,
}

/// An automaton instance.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scope {
    /// Name of the automaton.
    pub automaton: String,
    /// Position of the instance in the composition, from 0.
    pub instance: u32,
}

/// A scalar of the state vector within its scope.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// The current location of the automaton instance.
    Location,
    /// A variable of this name.
    Scalar(String),
    /// An element of an array of this name (arrays of arrays are numbered row by row).
    Element(String, u32),
}

/// A state variable. Locations of automata are integer variables too, with [`Variable::value_names`].
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Unique name. Array elements are `a[0]`, `a[1]`, …; locals and locations are qualified by their automaton.
    pub name: String,
    /// The domain.
    pub ty: VariableType,
    /// Names of the values `0, 1, …` of a location variable, for printing; empty for all others.
    pub value_names: Vec<String>,
    /// Where it stands in the model file.
    pub origin: Origin,
}

impl Variable {
    /// A global scalar variable.
    pub fn new(name: impl Into<String>, ty: VariableType) -> Self {
        let name = name.into();
        let origin = Origin { scope: None, symbol: Symbol::Scalar(name.clone()) };
        Variable { name, ty, value_names: Vec::new(), origin }
    }

    /// Prints a value of this variable: `true`/`false` for Booleans, the name for locations, the number otherwise.
    pub fn display(&self, value: i32) -> String {
        match self.ty {
            VariableType::Bool => (value != 0).to_string(),
            _ => match self.value_names.get(value as usize) {
                Some(name) => name.clone(),
                None => value.to_string(),
            },
        }
    }
}
