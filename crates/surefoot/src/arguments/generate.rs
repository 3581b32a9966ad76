//! Arguments of `gen`: the parameters of each benchmark domain, and of random policies.
//!
//! Defaults come from the domains themselves, so that help and generators cannot disagree.

use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand, ValueEnum};
use surefoot_model::domains::blocksworld::Encoding;
use surefoot_model::domains::{beluga, blocksworld, line, npuzzle, racetrack, transport};

use super::task::constant;

/// What to generate, and where to.
#[derive(Debug, Clone, Args)]
pub struct GenerateArguments {
    #[command(subcommand)]
    pub what: Generate,
    /// The folder to write to; created if necessary
    #[arg(long, value_name = "DIR", default_value = ".", global = true, help_heading = "Output")]
    pub out: PathBuf,
    /// Overwrite files that differ
    #[arg(long, global = true, help_heading = "Output")]
    pub force: bool,
}

/// What to generate.
#[derive(Debug, Clone, Subcommand)]
pub enum Generate {
    /// Rebuild a tower of blocks; unsafe: too many blocks on the table
    Blocksworld(BlocksworldArguments),
    /// Order the tiles of a sliding puzzle; unsafe: one tile at a forbidden place
    Npuzzle(NpuzzleArguments),
    /// Carry packages along a line of locations; unsafe: overload on a bridge or on a way back
    Transport(TransportArguments),
    /// Carry packages with a truck that has inertia and drives forward only; unsafe: driving off the end of the line
    OneWayLine(LineArguments),
    /// The same with a truck that drives forward and backward
    TwoWayLine(LineArguments),
    /// Sort cargo in racks between a plane and production lines; unsafe: too many swaps, or a full rack
    Beluga(BelugaArguments),
    /// Drive a car with inertia around a track; unsafe: hitting a wall
    Racetrack(RacetrackArguments),
    /// A random policy for a model: a neural network or a tree ensemble with its interface file
    Policy(PolicyArguments),
}

fn blocksworld_default() -> blocksworld::Parameters {
    blocksworld::Parameters::default()
}

/// Parameters of blocksworld.
#[derive(Debug, Clone, Args)]
pub struct BlocksworldArguments {
    /// Number of blocks
    #[arg(long, value_name = "N", default_value_t = blocksworld_default().blocks)]
    pub blocks: usize,
    /// Most blocks that may lie on the table
    #[arg(long, value_name = "N", default_value_t = blocksworld_default().table_limit)]
    pub table_limit: usize,
    /// Most failures that a block's cost counts
    #[arg(long, value_name = "N", default_value_t = blocksworld_default().cost_bound)]
    pub cost_bound: usize,
    /// Probability that a move fails
    #[arg(long, value_name = "P", default_value_t = blocksworld_default().failing_probability)]
    pub failing_probability: f64,
    /// Whether a block whose cost has reached the bound is stuck (else its moves never fail again)
    #[arg(long, value_name = "BOOL", action = ArgAction::Set, default_value_t = blocksworld_default().cost_terminal)]
    pub cost_terminal: bool,
    /// Meaning of the position variables
    #[arg(long, value_enum, default_value_t = EncodingName::Legacy)]
    pub encoding: EncodingName,
    /// Blocks may drop on the table
    #[arg(long)]
    pub probabilistic: bool,
    /// Probability that a block drops
    #[arg(long, value_name = "P", requires = "probabilistic", default_value_t = blocksworld_default().hazard_probability)]
    pub hazard_probability: f64,
}

/// Meaning of the position variables of blocksworld.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EncodingName {
    /// 0 in the hand, 1 on the table, then the other blocks: the published models
    Legacy,
    /// 0 on the table, j + 1 on block j, the own number in the hand
    Direct,
}

impl From<BlocksworldArguments> for blocksworld::Parameters {
    fn from(arguments: BlocksworldArguments) -> Self {
        blocksworld::Parameters {
            blocks: arguments.blocks,
            table_limit: arguments.table_limit,
            cost_bound: arguments.cost_bound,
            failing_probability: arguments.failing_probability,
            cost_terminal: arguments.cost_terminal,
            encoding: match arguments.encoding {
                EncodingName::Legacy => Encoding::Legacy,
                EncodingName::Direct => Encoding::Direct,
            },
            probabilistic: arguments.probabilistic,
            hazard_probability: arguments.hazard_probability,
        }
    }
}

fn npuzzle_default() -> npuzzle::Parameters {
    npuzzle::Parameters::default()
}

/// Parameters of the sliding puzzle.
#[derive(Debug, Clone, Args)]
pub struct NpuzzleArguments {
    /// Columns of the board
    #[arg(long, value_name = "N", default_value_t = npuzzle_default().width)]
    pub width: usize,
    /// Rows of the board
    #[arg(long, value_name = "N", default_value_t = npuzzle_default().height)]
    pub height: usize,
    /// Most failures that a tile's cost counts
    #[arg(long, value_name = "N", default_value_t = npuzzle_default().cost_bound)]
    pub cost_bound: usize,
    /// Probability that a move fails
    #[arg(long, value_name = "P", default_value_t = npuzzle_default().failing_probability)]
    pub failing_probability: f64,
    /// Whether a tile whose cost has reached the bound is stuck (else its moves never fail again)
    #[arg(long, value_name = "BOOL", action = ArgAction::Set, default_value_t = npuzzle_default().cost_terminal)]
    pub cost_terminal: bool,
    /// Tiles move left and right within their row only
    #[arg(long)]
    pub row_check: bool,
    /// A tile may slip to the forbidden position
    #[arg(long)]
    pub probabilistic: bool,
    /// Probability that the tile slips
    #[arg(long, value_name = "P", requires = "probabilistic", default_value_t = npuzzle_default().hazard_probability)]
    pub hazard_probability: f64,
}

impl From<NpuzzleArguments> for npuzzle::Parameters {
    fn from(arguments: NpuzzleArguments) -> Self {
        npuzzle::Parameters {
            width: arguments.width,
            height: arguments.height,
            cost_bound: arguments.cost_bound,
            failing_probability: arguments.failing_probability,
            cost_terminal: arguments.cost_terminal,
            row_check: arguments.row_check,
            probabilistic: arguments.probabilistic,
            hazard_probability: arguments.hazard_probability,
        }
    }
}

fn transport_default() -> transport::Parameters {
    transport::Parameters::default()
}

/// Parameters of transport.
#[derive(Debug, Clone, Args)]
pub struct TransportArguments {
    /// Number of packages
    #[arg(long, value_name = "N", default_value_t = transport_default().packages)]
    pub packages: usize,
    /// Number of locations
    #[arg(long, value_name = "N", default_value_t = transport_default().locations)]
    pub locations: usize,
    /// Packages that the truck holds
    #[arg(long, value_name = "N", default_value_t = transport_default().truck_capacity)]
    pub truck_capacity: usize,
    /// Packages that the last road bears
    #[arg(long, value_name = "N", default_value_t = transport_default().bridge_capacity)]
    pub bridge_capacity: usize,
    /// Probability that a driving truck loses a package, harmlessly
    #[arg(long, value_name = "P", default_value_t = transport_default().dropping_probability)]
    pub dropping_probability: f64,
    /// Units of fuel in the tank [default: fuel is not modelled]
    #[arg(long, value_name = "N")]
    pub tank_capacity: Option<usize>,
    /// A truck with at least two packages may lose one, which is unsafe
    #[arg(long)]
    pub probabilistic: bool,
    /// Probability of that loss
    #[arg(long, value_name = "P", requires = "probabilistic", default_value_t = transport_default().hazard_probability)]
    pub hazard_probability: f64,
}

impl From<TransportArguments> for transport::Parameters {
    fn from(arguments: TransportArguments) -> Self {
        transport::Parameters {
            packages: arguments.packages,
            locations: arguments.locations,
            truck_capacity: arguments.truck_capacity,
            bridge_capacity: arguments.bridge_capacity,
            dropping_probability: arguments.dropping_probability,
            tank_capacity: arguments.tank_capacity,
            probabilistic: arguments.probabilistic,
            hazard_probability: arguments.hazard_probability,
        }
    }
}

fn line_default() -> line::Parameters {
    line::Parameters::default()
}

/// Parameters of the lines.
#[derive(Debug, Clone, Args)]
pub struct LineArguments {
    /// Number of packages
    #[arg(long, value_name = "N", default_value_t = line_default().packages)]
    pub packages: usize,
    /// Number of locations
    #[arg(long, value_name = "N", default_value_t = line_default().locations)]
    pub locations: usize,
    /// Packages that the truck holds
    #[arg(long, value_name = "N", default_value_t = line_default().truck_capacity)]
    pub truck_capacity: usize,
    /// Largest speed
    #[arg(long, value_name = "N", default_value_t = line_default().top_speed)]
    pub top_speed: usize,
    /// Where the packages belong [default: the last location]
    #[arg(long, value_name = "N")]
    pub goal_location: Option<usize>,
    /// The icy locations, such as `2,3`
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub icy_locations: Vec<usize>,
    /// Probability that the velocity does not obey at an icy location
    #[arg(long, value_name = "P", default_value_t = line_default().icy_probability)]
    pub icy_probability: f64,
    /// Probability that a loaded truck in motion loses a package
    #[arg(long, value_name = "P", default_value_t = line_default().dropping_probability)]
    pub dropping_probability: f64,
    /// Probability that a pick-up or drop has no effect
    #[arg(long, value_name = "P", default_value_t = line_default().slipping_probability)]
    pub slipping_probability: f64,
    /// The goal asks for velocity 0
    #[arg(long)]
    pub parking: bool,
    /// Units of fuel in the tank [default: fuel is not modelled]
    #[arg(long, value_name = "N")]
    pub tank_capacity: Option<usize>,
}

impl LineArguments {
    /// The parameters, for one of the two domains.
    pub fn parameters(self, direction: line::Direction) -> line::Parameters {
        line::Parameters {
            direction,
            packages: self.packages,
            locations: self.locations,
            truck_capacity: self.truck_capacity,
            top_speed: self.top_speed,
            goal_location: self.goal_location,
            icy_locations: self.icy_locations,
            icy_probability: self.icy_probability,
            dropping_probability: self.dropping_probability,
            slipping_probability: self.slipping_probability,
            parking: self.parking,
            tank_capacity: self.tank_capacity,
        }
    }
}

fn beluga_default() -> beluga::Parameters {
    beluga::Parameters::default()
}

/// Parameters of beluga.
#[derive(Debug, Clone, Args)]
pub struct BelugaArguments {
    /// Number of jigs
    #[arg(long, value_name = "N", default_value_t = beluga_default().jigs)]
    pub jigs: usize,
    /// Number of racks
    #[arg(long, value_name = "N", default_value_t = beluga_default().racks)]
    pub racks: usize,
    /// The order in which production line 0 takes its jigs [default: 0,3 of four jigs, else all even ones]
    #[arg(long, value_name = "N,…", value_delimiter = ',', requires = "line_1")]
    pub line_0: Vec<usize>,
    /// The order in which production line 1 takes its jigs [default: 2,1 of four jigs, else all odd ones]
    #[arg(long, value_name = "N,…", value_delimiter = ',', requires = "line_0")]
    pub line_1: Vec<usize>,
    /// Jigs that a rack holds [default: three times the number of jigs]
    #[arg(long, value_name = "N")]
    pub rack_capacity: Option<usize>,
    /// Pushes after which no further one is possible
    #[arg(long, value_name = "N", default_value_t = beluga_default().max_swaps)]
    pub max_swaps: usize,
    /// Probability that line 0 demands next, while both do
    #[arg(long, value_name = "P", default_value_t = beluga_default().line_probability)]
    pub line_probability: f64,
    /// Unsafe is a last rack with at most N free places [default: unsafe is the last possible push]
    #[arg(long, value_name = "N")]
    pub last_rack_free: Option<usize>,
}

impl From<BelugaArguments> for beluga::Parameters {
    fn from(arguments: BelugaArguments) -> Self {
        let default = beluga_default();
        let jigs = arguments.jigs;
        let lines = if !arguments.line_0.is_empty() {
            [arguments.line_0, arguments.line_1]
        } else if jigs == default.jigs {
            default.lines
        } else {
            [(0..jigs).step_by(2).collect(), (1..jigs).step_by(2).collect()]
        };
        beluga::Parameters {
            jigs,
            racks: arguments.racks,
            lines,
            rack_capacity: arguments.rack_capacity,
            max_swaps: arguments.max_swaps,
            line_probability: arguments.line_probability,
            hazard: arguments.last_rack_free.map_or(default.hazard, beluga::Hazard::LastRackFree),
        }
    }
}

fn racetrack_default() -> racetrack::Parameters {
    racetrack::Parameters::default()
}

/// Parameters of racetrack.
#[derive(Debug, Clone, Args)]
pub struct RacetrackArguments {
    /// The track: `tiny`, `ring`, `corner`, or a file with a drawing: `#` wall, `.` free, `S` start, `F` finish
    #[arg(long, value_name = "NAME|FILE", default_value_t = racetrack_default().track.name)]
    pub track: String,
    /// Largest speed in each direction
    #[arg(long, value_name = "N", default_value_t = racetrack_default().top_speed)]
    pub top_speed: usize,
    /// Probability that an acceleration has no effect
    #[arg(long, value_name = "P", default_value_t = racetrack_default().failing_probability)]
    pub failing_probability: f64,
    /// The car may start in any free cell
    #[arg(long)]
    pub start_anywhere: bool,
}

/// Parameters of random policies.
#[derive(Debug, Clone, Args)]
pub struct PolicyArguments {
    /// The model that the policy is for (JANI)
    pub model: PathBuf,
    /// A file with properties, for the command that is suggested next [default: `NAME.property.jani` beside `NAME.jani`]
    #[arg(long, value_name = "FILE")]
    pub property: Option<PathBuf>,
    /// Values of the model's constants, such as `a=1,b=true`; may be given several times
    #[arg(long = "const", value_name = "NAME=VALUE,…", value_delimiter = ',', value_parser = constant)]
    pub constants: Vec<(String, String)>,
    /// What computes the scores
    #[arg(long, value_enum)]
    pub kind: PolicyKind,
    /// Sizes of the hidden layers of a network [default: 16,16]
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub hidden: Option<Vec<usize>>,
    /// Number of trees of an ensemble; boosted: for each output [default: 10]
    #[arg(long, value_name = "N")]
    pub trees: Option<usize>,
    /// Splits on the way to a leaf of an ensemble [default: 4]
    #[arg(long, value_name = "N")]
    pub depth: Option<usize>,
    /// The policy chooses among the applicable labels only
    #[arg(long)]
    pub filter: bool,
    /// The variables that the policy reads [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub inputs: Vec<String>,
    /// Seed of the random numbers; equal seeds give equal files
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Name of the files [default: made from the model and the kind]
    #[arg(long)]
    pub name: Option<String>,
}

/// Kinds of policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PolicyKind {
    /// A neural network with `ReLU` layers
    Network,
    /// A random forest: each tree scores all outputs
    Forest,
    /// A boosted ensemble: each tree scores one output
    Boosted,
}
