//! Logarithmic axes of time, and the frame of a plot.

use std::fmt::Write as _;

use super::escaped;

/// The least time that is told apart.
const LEAST: f64 = 0.01;

/// Where things are in a plot.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

/// A logarithmic axis from the least time to a limit.
#[derive(Debug, Clone, Copy)]
pub struct Axis {
    limit: f64,
}

impl Axis {
    /// The axis up to a limit in seconds.
    pub fn up_to(limit: f64) -> Axis {
        Axis { limit: limit.max(10.0 * LEAST) }
    }

    /// The place of a time, from 0 to 1. All times beyond the ends are at the ends.
    pub fn place(self, seconds: f64) -> f64 {
        (seconds.clamp(LEAST, self.limit) / LEAST).ln() / (self.limit / LEAST).ln()
    }

    /// Powers of ten, with their names.
    pub fn ticks(self) -> impl Iterator<Item = (f64, String)> {
        let tick = |power: i32| (10_f64.powi(power), power);
        let name = |(seconds, power): (f64, i32)| {
            let text = if power < 0 {
                format!("{seconds:.*}", power.unsigned_abs() as usize)
            } else {
                format!("{seconds:.0}")
            };
            (seconds, format!("{text} s"))
        };
        (-2..12).map(tick).take_while(move |(seconds, _)| *seconds <= self.limit * 1.000_001).map(name)
    }
}

impl Frame {
    pub fn x(&self, part: f64) -> f64 {
        self.left + part * self.width
    }

    pub fn y(&self, part: f64) -> f64 {
        self.top + (1.0 - part) * self.height
    }

    /// The beginning of an image of this size, with its title for people who do not see it.
    pub fn open(width: f64, height: f64, title: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"currentColor\">\n<title>{}</title>\n",
            escaped(title)
        )
    }

    /// The border.
    pub fn border(&self) -> String {
        let Frame { left, top, width, height } = self;
        format!(
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"currentColor\" \
             stroke-opacity=\"0.5\"/>\n"
        )
    }

    /// Lines and names of times from the bottom to the top.
    pub fn times_upwards(&self, axis: Axis) -> String {
        let mut svg = String::new();
        for (seconds, name) in axis.ticks() {
            let y = self.y(axis.place(seconds));
            svg += &line((self.left, y), (self.left + self.width, y), 0.15);
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>",
                self.left - 6.0,
                y + 4.0
            );
        }
        svg
    }

    /// Lines and names of times from the left to the right.
    pub fn times_rightwards(&self, axis: Axis) -> String {
        let mut svg = String::new();
        let bottom = self.top + self.height;
        for (seconds, name) in axis.ticks() {
            let x = self.x(axis.place(seconds));
            svg += &line((x, self.top), (x, bottom), 0.15);
            let _ = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{name}</text>",
                bottom + 16.0
            );
        }
        svg
    }
}

/// A thin line.
pub fn line(from: (f64, f64), to: (f64, f64), opacity: f64) -> String {
    format!(
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"currentColor\" stroke-opacity=\"{opacity}\"/>\n",
        from.0, from.1, to.0, to.1
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_placed_by_their_logarithm() {
        let axis = Axis::up_to(100.0);
        assert!((axis.place(1.0) - 0.5).abs() < 1e-12);
        assert_eq!((axis.place(0.0), axis.place(0.01)), (0.0, 0.0));
        assert_eq!((axis.place(100.0), axis.place(1e9)), (1.0, 1.0));
        // The axis goes on beyond a limit below 0.1 s; what has no time is at its end.
        assert_eq!(Axis::up_to(0.05).place(f64::INFINITY), 1.0);
        let names: Vec<String> = axis.ticks().map(|(_, name)| name).collect();
        assert_eq!(names, ["0.01 s", "0.1 s", "1 s", "10 s", "100 s"]);
    }
}
