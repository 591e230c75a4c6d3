//! The swapchain: selects the page for the next frame, and tracks frames in flight
//!
//! The next frame is drawn into a page that is neither displayed nor being drawn into.

use alloc::collections::VecDeque;

/// The pages, and the frames `F` in flight, oldest first.
#[derive(Debug)]
pub struct Swapchain<F> {
    pages: usize,
    next: usize,
    shown: usize,
    /// The displayed page can no longer be changed.
    is_stuck: bool,
    under_way: VecDeque<(usize, F)>,
}

impl<F> Swapchain<F> {
    /// A swapchain of this number of pages, of which `shown` is displayed.
    #[must_use]
    pub fn starting_at(shown: usize, pages: usize) -> Self {
        Self { pages: pages.max(1), next: shown + 1, shown, is_stuck: false, under_way: VecDeque::new() }
    }

    /// The page into which the next frame may be drawn; `None` if the oldest frame in flight must be taken out first.
    #[must_use]
    pub fn free_page(&self) -> Option<usize> {
        if self.is_stuck || self.pages == 1 {
            return self.under_way.is_empty().then_some(self.shown);
        }
        // A failed frame is not displayed, so the page after the youngest frame may be the displayed one.
        let mut in_turn = (self.next..self.next + self.pages).map(|turn| turn % self.pages);
        let in_use = |page| page == self.shown || self.under_way.iter().any(|&(other, _)| other == page);
        in_turn.find(|&page| !in_use(page))
    }

    /// Records that a frame is being drawn into the free page.
    pub fn begin(&mut self, page: usize, frame: F) {
        self.next = page + 1;
        self.under_way.push_back((page, frame));
    }

    /// Removes the oldest frame.
    pub fn take_oldest(&mut self) -> Option<(usize, F)> {
        self.under_way.pop_front()
    }

    /// Records that the display shows this page.
    pub fn present(&mut self, page: usize) {
        self.shown = page;
    }

    /// Records that the displayed page can no longer be changed: from now on all frames are drawn into it.
    pub fn stay(&mut self) {
        self.is_stuck = true;
    }

    /// The displayed page.
    #[must_use]
    pub fn shown(&self) -> usize {
        self.shown
    }
}

#[cfg(test)]
mod tests {
    use oorandom::Rand32;

    use super::*;

    /// With 1 to 4 pages, and random sequences of drawing and failing (seed 7), no frame is drawn into a page that is displayed or in use, unless there is no
    /// other.
    #[test]
    fn no_frame_disturbs_another_or_the_display() {
        let mut random = Rand32::new(7);
        for pages in 1..=4 {
            let mut swapchain = Swapchain::starting_at(0, pages);
            let mut in_use: Vec<usize> = Vec::new();
            let mut most = 0;
            for frame in 0..2000u32 {
                if let Some(page) = swapchain.free_page() {
                    assert!(page < pages);
                    assert!(pages == 1 || page != swapchain.shown(), "{pages} pages: drawn on show");
                    assert!(!in_use.contains(&page), "{pages} pages: drawn twice at once");
                    swapchain.begin(page, frame);
                    in_use.push(page);
                    most = most.max(in_use.len());
                }
                if swapchain.free_page().is_none() || random.rand_range(0..3) == 0 {
                    let (page, _) = swapchain.take_oldest().unwrap();
                    in_use.remove(0);
                    // One frame in eight fails and is not displayed.
                    if random.rand_range(0..8) != 0 {
                        swapchain.present(page);
                    }
                }
            }
            assert_eq!(most, (pages - 1).max(1), "{pages} pages");
        }
    }

    #[test]
    fn a_display_that_stays_is_drawn_on() {
        let mut swapchain = Swapchain::starting_at(0, 3);
        swapchain.begin(1, ());
        swapchain.take_oldest();
        swapchain.present(1);
        swapchain.begin(2, ());
        swapchain.stay();
        assert_eq!(swapchain.free_page(), None, "a frame is under way");
        swapchain.take_oldest();
        assert_eq!(swapchain.free_page(), Some(1));
        swapchain.begin(1, ());
        assert_eq!(swapchain.free_page(), None);
    }
}
