//! Statistics of frame times: the shortest, the longest, the mean

/// Times of the frames of one run, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameTimes {
    /// How many frames.
    pub frames: u64,
    /// All of them together.
    pub total_us: u64,
    /// The shortest one.
    pub shortest_us: u64,
    /// The longest one.
    pub longest_us: u64,
}

impl FrameTimes {
    /// Takes a frame into account.
    pub fn add(&mut self, frame_us: u64) {
        self.shortest_us = if self.frames == 0 { frame_us } else { self.shortest_us.min(frame_us) };
        self.longest_us = self.longest_us.max(frame_us);
        self.total_us += frame_us;
        self.frames += 1;
    }

    /// The mean, if there was a frame.
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
