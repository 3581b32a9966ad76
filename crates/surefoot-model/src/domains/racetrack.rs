//! Racetrack: drive a car with inertia over a grid without hitting a wall.
//!
//! A plain version with one automaton. A track is a drawing ([`Track`]); x grows to the right, y downwards.
//!
//! **Variables**: `x`, `y` (the car's cell), `dx`, `dy` −V..V (its velocity), `crashed` and `finished` 0..1.
//!
//! **Labels**: `accel_ax_ay` for ax, ay ∈ {−1, 0, 1}. The acceleration is added to the velocity, which must stay within
//! the bounds; then the car moves by the new velocity (vx, vy) along a discretised line: with m = max(|vx|, |vy|) it
//! enters, for i = 1..m, the cell at the offset (i·vx/m, i·vy/m), rounded half away from zero. The first cell entered
//! that is not free decides:
//!
//! - a wall or the outside: the car crashes, `crashed` := 1;
//! - a finish cell: the car finishes, `finished` := 1;
//! - if all are free, the car arrives in the last one with its new velocity.
//!
//! A car that crashes or finishes stays in its cell with velocity 0, and nothing is possible any more. With
//! `failing_probability` the acceleration has no effect and the car moves by its old velocity.
//!
//! **Unsafe**: `crashed` = 1. **Goal**: `finished` = 1. **Start**: any start cell (or any free cell) with velocity 0.
//!
//! In the model an edge belongs to one label, one old velocity and one kind of move; its guard describes the cells from
//! which that move is of this kind as a union of rectangles. No edge is enabled outside the free cells.

use std::collections::BTreeMap;

use serde_json::Value;

use super::build::{Chance, Model, Property, all, and, any, assign, at_least, at_most, choice, eq, shift};
use super::{Generated, ParameterError, parameter};

const X: &str = "x";
const Y: &str = "y";
const VELOCITY_X: &str = "dx";
const VELOCITY_Y: &str = "dy";
const CRASHED: &str = "crashed";
const FINISHED: &str = "finished";

/// A track as a drawing: one line per row, `#` wall, `.` free, `S` start (free too), `F` finish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Track {
    /// Name, which becomes part of the file names.
    pub name: String,
    /// The drawing; all lines have the same length.
    pub drawing: String,
}

/// A bend small enough to follow by hand.
const TINY: &str = "\
S.###
S..##
#...F
##..F";

/// Once around a block; start and finish lie back to back.
const RING: &str = "\
....S#F..
....S#F..
....S#F..
...###...
...###...
...###...
.........
.........
.........";

/// A wide right-hand corner between two straights, as in the small track of Barto, Bradtke and Singh (1995).
const CORNER: &str = "\
#####...........FF
####............FF
###.............FF
##..........######
#.........########
#........#########
S.......##########
S......###########
S......###########
S.....############";

impl Track {
    /// Names of the built-in tracks.
    pub const NAMES: [&'static str; 3] = ["tiny", "ring", "corner"];

    /// A built-in track.
    pub fn named(name: &str) -> Result<Self, ParameterError> {
        let drawing = match name {
            "tiny" => TINY,
            "ring" => RING,
            "corner" => CORNER,
            _ => {
                let allowed = format!("one of `{}`", Self::NAMES.join("`, `"));
                return Err(ParameterError::new("track", format_args!("`{name}`"), allowed));
            }
        };
        Ok(Self { name: name.to_owned(), drawing: drawing.to_owned() })
    }
}

/// Parameters of an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// The track.
    pub track: Track,
    /// Largest speed V in each direction, at least 1.
    pub top_speed: usize,
    /// Probability that an acceleration has no effect.
    pub failing_probability: f64,
    /// Whether the car may start in any free cell.
    pub start_anywhere: bool,
}

impl Default for Parameters {
    /// The track `tiny`, speed at most 2, accelerations that always take effect.
    fn default() -> Self {
        Self {
            track: Track { name: "tiny".to_owned(), drawing: TINY.to_owned() },
            top_speed: 2,
            failing_probability: 0.0,
            start_anywhere: false,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cell {
    Wall,
    Free,
    Start,
    Finish,
}

type Position = (i64, i64);

/// How a move ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ending {
    Arrives,
    Finishes,
    Crashes,
}

struct Grid {
    width: i64,
    height: i64,
    cells: Vec<Cell>,
}

impl Grid {
    fn parse(track: &Track) -> Result<Self, ParameterError> {
        let refuse = |given: String, allowed| Err(ParameterError::new("track", given, allowed));
        if track.name.is_empty() || track.name.contains(['/', '\\']) {
            return refuse(
                format!("named `{}`", track.name),
                "named by a word that can be part of a file name",
            );
        }
        let rows: Vec<&str> = track.drawing.lines().collect();
        let width = rows.first().map_or(0, |row| row.chars().count());
        let mut cells = Vec::new();
        for (y, row) in rows.iter().enumerate() {
            if row.chars().count() != width {
                return refuse(format!("a drawing whose row {y} differs in length"), "a rectangle");
            }
            for character in row.chars() {
                cells.push(match character {
                    '#' => Cell::Wall,
                    '.' => Cell::Free,
                    'S' => Cell::Start,
                    'F' => Cell::Finish,
                    other => {
                        return refuse(
                            format!("a drawing with `{other}`"),
                            "drawn with `#`, `.`, `S` and `F`",
                        );
                    }
                });
            }
        }
        if !cells.contains(&Cell::Start) || !cells.contains(&Cell::Finish) {
            let given = "a drawing without start or without finish".to_owned();
            return refuse(given, "a drawing with at least one `S` and one `F`");
        }
        Ok(Self { width: width as i64, height: rows.len() as i64, cells })
    }

    /// The cell at a position; the outside is wall.
    fn at(&self, (x, y): Position) -> Cell {
        if (0..self.width).contains(&x) && (0..self.height).contains(&y) {
            self.cells[(y * self.width + x) as usize]
        } else {
            Cell::Wall
        }
    }

    fn positions(&self) -> impl Iterator<Item = Position> + use<> {
        let (width, height) = (self.width, self.height);
        (0..height).flat_map(move |y| (0..width).map(move |x| (x, y)))
    }

    /// The cells in which the car can be, in reading order.
    fn drivable(&self) -> impl Iterator<Item = Position> + '_ {
        self.positions().filter(|&position| matches!(self.at(position), Cell::Free | Cell::Start))
    }

    /// Walks from a cell along a velocity.
    fn ending(&self, (x, y): Position, (vx, vy): Position) -> Ending {
        let steps = vx.abs().max(vy.abs());
        for step in 1..=steps {
            match self.at((x + rounded(step * vx, steps), y + rounded(step * vy, steps))) {
                Cell::Wall => return Ending::Crashes,
                Cell::Finish => return Ending::Finishes,
                Cell::Free | Cell::Start => {}
            }
        }
        Ending::Arrives
    }

    /// The condition that the car is in one of `cells`, as a union of rectangles that may overlap.
    fn region(&self, cells: &[Position]) -> Vec<Value> {
        let mut uncovered = cells.to_vec();
        let mut rectangles = Vec::new();
        while let Some(&seed) = uncovered.first() {
            let gain =
                |rectangle: &Rectangle| uncovered.iter().filter(|cell| rectangle.contains(**cell)).count();
            let wide = Rectangle::grown(seed, cells, [0, 1]);
            let high = Rectangle::grown(seed, cells, [1, 0]);
            let best = if gain(&high) > gain(&wide) { high } else { wide };
            uncovered.retain(|cell| !best.contains(*cell));
            rectangles.push(and(best.condition(self)));
        }
        rectangles
    }
}

/// `numerator / denominator` to the nearest integer, halves away from zero.
fn rounded(numerator: i64, denominator: i64) -> i64 {
    (2 * numerator.abs() + denominator) / (2 * denominator) * numerator.signum()
}

/// A box of cells: for x and for y the smallest and the largest value.
struct Rectangle([(i64, i64); 2]);

impl Rectangle {
    /// The largest rectangle around `seed` within `cells`, when grown along the given axes one after the other.
    fn grown(seed: Position, cells: &[Position], axes: [usize; 2]) -> Self {
        let mut rectangle = Self([(seed.0, seed.0), (seed.1, seed.1)]);
        for axis in axes {
            for direction in [-1, 1] {
                while let Some(larger) = rectangle.extended(axis, direction, cells) {
                    rectangle = larger;
                }
            }
        }
        rectangle
    }

    fn extended(&self, axis: usize, direction: i64, cells: &[Position]) -> Option<Self> {
        let mut bounds = self.0;
        if direction < 0 {
            bounds[axis].0 -= 1;
        } else {
            bounds[axis].1 += 1;
        }
        let larger = Self(bounds);
        let inside = cells.iter().filter(|cell| larger.contains(**cell)).count() as i64;
        let area: i64 = bounds.iter().map(|(low, high)| high - low + 1).product();
        (inside == area).then_some(larger)
    }

    fn contains(&self, (x, y): Position) -> bool {
        let [(left, right), (top, bottom)] = self.0;
        (left..=right).contains(&x) && (top..=bottom).contains(&y)
    }

    /// The bounds that are tighter than the grid's.
    fn condition(&self, grid: &Grid) -> Vec<Value> {
        let mut bounds = Vec::new();
        for ((low, high), (variable, size)) in self.0.into_iter().zip([(X, grid.width), (Y, grid.height)]) {
            if low == high {
                bounds.push(eq(variable, low));
                continue;
            }
            if low > 0 {
                bounds.push(at_least(variable, low));
            }
            if high < size - 1 {
                bounds.push(at_most(variable, high));
            }
        }
        bounds
    }
}

/// Writes the instance.
pub fn generate(parameters: &Parameters) -> Result<Generated, ParameterError> {
    let grid = Grid::parse(&parameters.track)?;
    parameter::count("top_speed", parameters.top_speed, 1..=10)?;
    parameter::probability("failing_probability", parameters.failing_probability)?;
    let failing = Chance { constant: "failing_probability", value: parameters.failing_probability };
    let starts: Vec<_> = grid
        .drivable()
        .filter(|&position| parameters.start_anywhere || grid.at(position) == Cell::Start)
        .collect();
    let (first_x, first_y) = *starts.first().expect("a parsed track has a start cell");

    let mut model = Model::new(format!("racetrack_{}", parameters.track.name));
    model.chance_if_positive(failing);
    let top = parameters.top_speed as i64;
    model.variable(X, 0, grid.width - 1, first_x);
    model.variable(Y, 0, grid.height - 1, first_y);
    model.variable(VELOCITY_X, -top, top, 0);
    model.variable(VELOCITY_Y, -top, top, 0);
    model.variable(CRASHED, 0, 1, 0);
    model.variable(FINISHED, 0, 1, 0);
    let accelerations = || (-1..=1).flat_map(|ax| (-1..=1).map(move |ay| (ax, ay)));
    for acceleration in accelerations() {
        model.label(label(acceleration));
    }
    for acceleration in accelerations() {
        for velocity in (-top..=top).flat_map(|vx| (-top..=top).map(move |vy| (vx, vy))) {
            add_moves(&mut model, &grid, top, failing, acceleration, velocity);
        }
    }
    let standing = [CRASHED, FINISHED, VELOCITY_X, VELOCITY_Y].map(|variable| eq(variable, 0));
    let start = [standing.as_slice(), &[any(&grid.region(&starts))]].concat();
    Ok(model.finish(Property { start: all(&start), reach: eq(CRASHED, 1), goal: eq(FINISHED, 1) }))
}

fn label((ax, ay): Position) -> String {
    format!("accel_{ax}_{ay}")
}

/// Adds the moves of a car with the old `velocity` (vx, vy): one edge per kind of ending.
fn add_moves(
    model: &mut Model,
    grid: &Grid,
    top: i64,
    failing: Chance,
    (ax, ay): Position,
    (vx, vy): Position,
) {
    let (new_x, new_y) = (vx + ax, vy + ay);
    if new_x.abs() > top || new_y.abs() > top {
        return;
    }
    let may_fail = failing.value > 0.0;
    let mut kinds: BTreeMap<(Ending, Option<Ending>), Vec<Position>> = BTreeMap::new();
    for cell in grid.drivable() {
        let failed = may_fail.then(|| grid.ending(cell, (vx, vy)));
        kinds.entry((grid.ending(cell, (new_x, new_y)), failed)).or_default().push(cell);
    }
    for ((ending, failed), cells) in kinds {
        let mut guard = vec![eq(VELOCITY_X, vx), eq(VELOCITY_Y, vy), eq(CRASHED, 0), eq(FINISHED, 0)];
        guard.push(any(&grid.region(&cells)));
        let failure = failed.map(|ending| (failing, effect(ending, (vx, vy))));
        let outcomes = choice(effect(ending, (new_x, new_y)), failure.into_iter().collect());
        model.edge(&label((ax, ay)), guard, outcomes);
    }
}

fn effect(ending: Ending, (vx, vy): Position) -> Vec<Value> {
    let velocity = |vx, vy| [assign(VELOCITY_X, vx), assign(VELOCITY_Y, vy)];
    match ending {
        Ending::Arrives => [[shift(X, vx), shift(Y, vy)], velocity(vx, vy)].concat(),
        Ending::Finishes => [[assign(FINISHED, 1)].as_slice(), &velocity(0, 0)].concat(),
        Ending::Crashes => [[assign(CRASHED, 1)].as_slice(), &velocity(0, 0)].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::edges;
    use super::*;

    #[test]
    fn every_built_in_track_is_generated() {
        for name in Track::NAMES {
            let track = Track::named(name).expect("built in");
            let generated =
                generate(&Parameters { track, ..Parameters::default() }).expect("valid parameters");
            assert_eq!(generated.labels.len(), 9);
            assert_eq!(generated.labels[0], "accel_-1_-1");
            let variables: Vec<_> =
                generated.variables.iter().map(|variable| variable.name.as_str()).collect();
            assert_eq!(variables, ["x", "y", "dx", "dy", "crashed", "finished"]);
            let contents = &generated.files[0].contents;
            assert!(contents.len() < 2_000_000, "{name} takes {} bytes", contents.len());
            // (old velocity, acceleration) pairs within the speed bounds, each with one to three endings.
            assert!((169..=3 * 169).contains(&edges(&generated).len()));
        }
    }

    #[test]
    fn the_line_is_rounded_away_from_zero() {
        let walk = |vx: i64, vy: i64| -> Vec<_> {
            let steps = vx.abs().max(vy.abs());
            (1..=steps).map(|step| (rounded(step * vx, steps), rounded(step * vy, steps))).collect()
        };
        assert_eq!(walk(2, 1), [(1, 1), (2, 1)]);
        assert_eq!(walk(-2, -1), [(-1, -1), (-2, -1)]);
        assert_eq!(walk(3, 1), [(1, 0), (2, 1), (3, 1)]);
        assert_eq!(walk(0, -2), [(0, -1), (0, -2)]);
    }

    #[test]
    fn the_first_special_cell_decides() {
        let track = Track { name: "test".to_owned(), drawing: "S.F#".to_owned() };
        let grid = Grid::parse(&track).expect("a valid drawing");
        assert!(grid.ending((0, 0), (1, 0)) == Ending::Arrives);
        assert!(grid.ending((0, 0), (3, 0)) == Ending::Finishes);
        assert!(grid.ending((0, 0), (-1, 0)) == Ending::Crashes);
        assert!(grid.ending((0, 0), (1, 1)) == Ending::Crashes);
    }

    #[test]
    fn senseless_parameters_are_refused() {
        let refused = |parameters: Parameters| generate(&parameters).expect_err("refused").parameter;
        assert_eq!(refused(Parameters { top_speed: 0, ..Parameters::default() }), "top_speed");
        let parameters = Parameters { failing_probability: f64::NAN, ..Parameters::default() };
        assert_eq!(refused(parameters), "failing_probability");
        for drawing in ["", "S.\n.", "S..", "..F", "S?F"] {
            let track = Track { name: "test".to_owned(), drawing: drawing.to_owned() };
            assert_eq!(refused(Parameters { track, ..Parameters::default() }), "track");
        }
        let error = Track::named("oval").expect_err("not built in");
        assert_eq!(error.to_string(), "`track` is `oval`, but must be one of `tiny`, `ring`, `corner`");
    }
}
