//! Statistics of frame times: minimum, maximum, mean

/// Times of the frames of a run, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameTimes {
    /// Number of frames.
    pub frames: u64,
    /// Sum of all times.
    pub total_us: u64,
    /// The shortest time.
    pub shortest_us: u64,
    /// The longest time.
    pub longest_us: u64,
}

impl FrameTimes {
    /// Adds a frame.
    pub fn add(&mut self, frame_us: u64) {
        self.shortest_us = if self.frames == 0 { frame_us } else { self.shortest_us.min(frame_us) };
        self.longest_us = self.longest_us.max(frame_us);
        self.total_us += frame_us;
        self.frames += 1;
    }

    /// The mean time, if there was a frame.
    #[must_use]
    pub fn mean_us(&self) -> Option<u64> {
        self.total_us.checked_div(self.frames)
    }
}

#[cfg(test)]
mod tests {
    use super::FrameTimes;

    #[test]
    fn the_extremes_and_the_mean_are_those_of_the_frames() {
        let mut times = FrameTimes::default();
        assert_eq!(times.mean_us(), None);
        for frame_us in [30, 10, 50] {
            times.add(frame_us);
        }
        assert_eq!((times.shortest_us, times.longest_us, times.mean_us()), (10, 50, Some(30)));
    }
}
