//! Time in scenes
//!
//! A scene computes its picture from the time, not from the number of frames, so it moves at the same speed whether a board shows sixty frames a second or a
//! slow host four. A counted run, whose pictures are compared, has a fixed step: a sixtieth of a second for each frame.

/// Frames a second of a run with a fixed step, and ticks a second of [`Moment::ticks`].
pub const RATE: u64 = 60;
/// Parts of a tick that are told apart.
const PARTS: u64 = 1024;

/// The time of a frame, counted from the start of the scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The frame's number, counted from 0.
    pub number: u64,
    /// The time in parts of ticks.
    parts: u64,
    /// The time since the frame before, in the same unit.
    step_parts: u64,
    is_fixed: bool,
}

impl Moment {
    /// Frame `number` of a run with a fixed step.
    #[must_use]
    pub const fn fixed(number: u64) -> Self {
        Self { number, parts: number * PARTS, step_parts: PARTS, is_fixed: true }
    }

    /// Frame `number` of a run that began with frame `first` some microseconds ago; `before` is the frame before it.
    #[must_use]
    pub fn live(number: u64, first: u64, elapsed_us: u64, before: Option<&Self>) -> Self {
        let parts = first * PARTS + elapsed_us * (RATE * PARTS) / 1_000_000;
        Self {
            number,
            parts,
            step_parts: before.map_or(0, |before| parts.saturating_sub(before.parts)),
            is_fixed: false,
        }
    }

    /// Whether each frame is a sixtieth of a second, however long it takes: there is no player then.
    #[must_use]
    pub const fn is_fixed(&self) -> bool {
        self.is_fixed
    }

    /// The time in ticks of a sixtieth of a second, within a period of so many ticks: it is less than `period`.
    #[must_use]
    pub const fn ticks(&self, period: u64) -> f32 {
        // Exact for periods of less than 2^24 parts.
        (self.parts % (period * PARTS)) as f32 / PARTS as f32
    }

    /// Whole ticks since the start.
    #[must_use]
    pub const fn tick(&self) -> u64 {
        self.parts / PARTS
    }

    /// The time in seconds.
    #[must_use]
    pub const fn seconds(&self) -> f32 {
        (self.parts as f64 / (RATE * PARTS) as f64) as f32
    }

    /// The time since the frame before in seconds; 0 in the first frame of a run whose step is not fixed.
    #[must_use]
    pub const fn step_s(&self) -> f32 {
        self.step_parts as f32 / (RATE * PARTS) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_step_is_a_sixtieth_of_a_second() {
        let moment = Moment::fixed(90);
        assert_eq!(
            (moment.seconds(), moment.step_s(), moment.ticks(1000), moment.ticks(60)),
            (1.5, 1.0 / 60.0, 90.0, 30.0)
        );
    }

    #[test]
    fn a_live_run_follows_the_clock() {
        let first = Moment::live(60, 60, 0, None);
        assert_eq!((first.seconds(), first.step_s()), (1.0, 0.0));
        let next = Moment::live(61, 60, 250_000, Some(&first));
        assert_eq!((next.seconds(), next.step_s(), next.ticks(20)), (1.25, 0.25, 15.0));
        // The clock of a slow host.
        let late = Moment::live(62, 60, 10_250_000, Some(&next));
        assert_eq!((late.seconds(), late.step_s()), (11.25, 10.0));
    }
}
