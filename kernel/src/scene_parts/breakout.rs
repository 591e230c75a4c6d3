//! The rules of the game `breakout`: a ball, a paddle that returns it, and bricks that it breaks
//!
//! Places and sizes are in pixels of a field of [`FIELD`] whose origin is the upper left corner; speeds in pixels a second. The rules advance in steps of
//! [`STEP_S`], so a game depends on the keys and the number of steps alone, not on the rate of frames.

use alloc::vec::Vec;

use renderer::glam::Vec2;

/// Width and height of the field.
pub const FIELD: Vec2 = Vec2::new(1280.0, 720.0);
/// Time of a step in seconds.
pub const STEP_S: f32 = 1.0 / 240.0;

/// Upper edge of the space in which the ball flies; the score is above it.
pub const CEILING: f32 = 72.0;
/// Width and height of the paddle, and the height of its upper edge.
pub const PADDLE: Vec2 = Vec2::new(150.0, 18.0);
/// The paddle's upper edge.
pub const PADDLE_TOP: f32 = 664.0;
/// Radius of the ball.
pub const RADIUS: f32 = 10.0;
/// Columns and rows of bricks.
pub const COLUMNS: usize = 12;
/// Rows of bricks: those above give more points.
pub const ROWS: usize = 6;
/// Width and height of a brick.
pub const BRICK: Vec2 = Vec2::new(94.0, 30.0);
/// Balls in a game.
pub const BALLS: u32 = 3;

/// Left and top of the bricks, and from one brick to the next.
const WALL: Vec2 = Vec2::new(50.0, 128.0);
const PITCH: Vec2 = Vec2::new(99.0, 36.0);
/// Speeds of the paddle and of the ball, which becomes faster with each level.
const PADDLE_SPEED: f32 = 900.0;
const BALL_SPEED: f32 = 520.0;
const FASTER: f32 = 60.0;
/// The paddle's steepest reflection: tangent of the angle from the vertical.
const STEEPEST: f32 = 1.4;

/// What the player does during a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Controls {
    /// Moves the paddle to the left.
    pub left: bool,
    /// Moves the paddle to the right.
    pub right: bool,
    /// Serves the ball.
    pub serve: bool,
}

/// Something to be seen or heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The ball broke the brick in a column and a row.
    Brick {
        /// From the left.
        column: usize,
        /// From the top.
        row: usize,
    },
    /// The paddle returned the ball.
    Paddle,
    /// The ball passed the paddle.
    Lost {
        /// Points so far.
        points: u32,
        /// Balls that are left.
        left: u32,
    },
    /// All bricks are broken, and a new wall stands.
    Level,
}

/// What the ball does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It lies on the paddle.
    Ready,
    /// It flies.
    Flying,
    /// The last one is lost.
    Over,
}

/// The state of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct Game {
    /// The middle of the paddle.
    pub paddle: f32,
    /// The middle of the ball.
    pub ball: Vec2,
    /// The ball's velocity.
    pub velocity: Vec2,
    /// Which bricks stand, by row and column.
    pub bricks: [[bool; COLUMNS]; ROWS],
    /// Points.
    pub score: u32,
    /// The highest score so far.
    pub best: u32,
    /// Balls that are left, the present one included.
    pub balls: u32,
    /// Walls that were broken.
    pub level: u32,
    /// What the ball does.
    pub phase: Phase,
}

impl Default for Game {
    fn default() -> Self {
        Self::new(0)
    }
}

/// The left upper corner of a brick.
#[must_use]
pub fn brick_corner(column: usize, row: usize) -> Vec2 {
    WALL + PITCH * Vec2::new(column as f32, row as f32)
}

/// Points for a brick.
const fn points(row: usize) -> u32 {
    10 * (ROWS - row) as u32
}

impl Game {
    /// A new game, in which a score has to be beaten.
    #[must_use]
    pub fn new(best: u32) -> Self {
        let mut game = Self {
            paddle: FIELD.x / 2.0,
            ball: Vec2::ZERO,
            velocity: Vec2::ZERO,
            bricks: [[true; COLUMNS]; ROWS],
            score: 0,
            best,
            balls: BALLS,
            level: 0,
            phase: Phase::Ready,
        };
        game.lay_ball();
        game
    }

    fn lay_ball(&mut self) {
        self.ball = Vec2::new(self.paddle, PADDLE_TOP - RADIUS);
        self.velocity = Vec2::ZERO;
    }

    fn speed(&self) -> f32 {
        BALL_SPEED + FASTER * self.level as f32
    }

    /// Advances by [`STEP_S`]; adds what happened to `events`.
    pub fn step(&mut self, controls: Controls, events: &mut Vec<Event>) {
        let direction = f32::from(controls.right) - f32::from(controls.left);
        let half = PADDLE.x / 2.0;
        self.paddle = (self.paddle + direction * PADDLE_SPEED * STEP_S).clamp(half, FIELD.x - half);
        match self.phase {
            Phase::Ready => {
                self.lay_ball();
                if controls.serve {
                    // To the side to which the paddle moves, or else to the right.
                    let across = if direction < 0.0 { -0.45 } else { 0.45 };
                    self.velocity = Vec2::new(across, -1.0).normalize() * self.speed();
                    self.phase = Phase::Flying;
                }
            }
            Phase::Flying => self.fly(events),
            Phase::Over => {
                if controls.serve {
                    *self = Self::new(self.best.max(self.score));
                }
            }
        }
        self.best = self.best.max(self.score);
    }

    fn fly(&mut self, events: &mut Vec<Event>) {
        let before = self.ball;
        self.ball += self.velocity * STEP_S;
        // Each side reflects only what flies towards it, so a ball cannot stay inside.
        if self.ball.x < RADIUS {
            self.velocity.x = self.velocity.x.abs();
        }
        if self.ball.x > FIELD.x - RADIUS {
            self.velocity.x = -self.velocity.x.abs();
        }
        if self.ball.y < CEILING + RADIUS {
            self.velocity.y = self.velocity.y.abs();
        }
        self.meet_paddle(before, events);
        self.meet_brick(before, events);
        if self.ball.y > FIELD.y + RADIUS {
            self.balls -= 1;
            events.push(Event::Lost { points: self.score, left: self.balls });
            self.phase = if self.balls == 0 { Phase::Over } else { Phase::Ready };
            if self.phase == Phase::Ready {
                self.lay_ball();
            }
        }
    }

    /// The paddle reflects the ball, further to the side the further from the paddle's middle it hits.
    fn meet_paddle(&mut self, before: Vec2, events: &mut Vec<Event>) {
        let reach = PADDLE.x / 2.0 + RADIUS;
        let crosses = before.y + RADIUS <= PADDLE_TOP && self.ball.y + RADIUS > PADDLE_TOP;
        let off = (self.ball.x - self.paddle) / reach;
        if crosses && off.abs() <= 1.0 {
            self.ball.y = PADDLE_TOP - RADIUS;
            self.velocity = Vec2::new(STEEPEST * off, -1.0).normalize() * self.speed();
            events.push(Event::Paddle);
        }
    }

    /// The first brick that the ball touches is broken, and reflects it at the side on which the ball was before.
    fn meet_brick(&mut self, before: Vec2, events: &mut Vec<Event>) {
        let touched = (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| (column, row))).find(|&(column, row)| {
            let corner = brick_corner(column, row);
            let nearest = self.ball.clamp(corner, corner + BRICK);
            self.bricks[row][column] && self.ball.distance_squared(nearest) < RADIUS * RADIUS
        });
        let Some((column, row)) = touched else { return };
        let corner = brick_corner(column, row);
        let was_beside = before.x < corner.x || before.x > corner.x + BRICK.x;
        let was_above_or_below = before.y < corner.y || before.y > corner.y + BRICK.y;
        let away = before - (corner + BRICK / 2.0);
        if was_beside && !was_above_or_below {
            self.velocity.x = self.velocity.x.abs().copysign(away.x);
        } else {
            self.velocity.y = self.velocity.y.abs().copysign(away.y);
        }
        self.bricks[row][column] = false;
        self.score += points(row);
        events.push(Event::Brick { column, row });
        if self.bricks.iter().flatten().all(|stands| !stands) {
            self.bricks = [[true; COLUMNS]; ROWS];
            self.level += 1;
            self.phase = Phase::Ready;
            self.lay_ball();
            events.push(Event::Level);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVE: Controls = Controls { left: false, right: false, serve: true };
    const NONE: Controls = Controls { left: false, right: false, serve: false };

    /// Plays for some seconds; returns what happened.
    fn play(game: &mut Game, seconds: f32, mut controls: impl FnMut(&Game) -> Controls) -> Vec<Event> {
        let mut events = Vec::new();
        for _ in 0..(seconds / STEP_S) as u32 {
            let controls = controls(game);
            game.step(controls, &mut events);
        }
        events
    }

    /// A player who follows the ball, and returns it with a part of the paddle that depends on the score.
    fn follow(game: &Game) -> Controls {
        let aim = ((game.score / 10) % 7) as f32 * 15.0 - 45.0;
        let off = game.ball.x + aim - game.paddle;
        Controls { left: off < -4.0, right: off > 4.0, serve: game.phase == Phase::Ready }
    }

    #[test]
    fn the_paddle_stays_in_the_field() {
        let mut game = Game::default();
        play(&mut game, 5.0, |_| Controls { left: true, ..NONE });
        assert_eq!(game.paddle, 75.0);
        assert_eq!(game.ball, Vec2::new(75.0, 654.0));
        play(&mut game, 5.0, |_| Controls { right: true, ..NONE });
        assert_eq!(game.paddle, 1205.0);
    }

    /// From (640, 654) with a slope of 0.45 to the side, the ball reaches the lowest row, whose bricks end at 338, at x = 640 + 0.45 * (654 - 348) = 778,
    /// which is in column 7.
    #[test]
    fn a_served_ball_breaks_the_brick_on_its_way() {
        let mut game = Game::default();
        let events = play(&mut game, 0.7, |_| SERVE);
        assert_eq!(events, [Event::Brick { column: 7, row: 5 }]);
        assert_eq!((game.score, game.bricks[5][7]), (10, false));
        assert!(game.velocity.y > 0.0 && game.velocity.x > 0.0);
    }

    #[test]
    fn a_ball_that_nobody_returns_is_lost() {
        let mut game = Game::default();
        let events = play(&mut game, 20.0, |game| if game.phase == Phase::Ready { SERVE } else { NONE });
        let best = game.score;
        assert_eq!(events.iter().filter(|event| matches!(event, Event::Lost { .. })).count(), 3);
        assert_eq!(events.last(), Some(&Event::Lost { points: best, left: 0 }));
        assert_eq!((game.phase, game.balls), (Phase::Over, 0));
        play(&mut game, STEP_S * 1.5, |_| SERVE);
        assert_eq!((game.phase, game.balls, game.score, game.best), (Phase::Ready, 3, 0, best));
    }

    /// A player who never misses breaks all bricks: 12 times 10 + 20 + 30 + 40 + 50 + 60 points a wall.
    #[test]
    fn a_wall_gives_2520_points() {
        let mut game = Game::default();
        let mut events = Vec::new();
        while game.level == 0 && game.balls == BALLS && events.len() < 1000 {
            let controls = follow(&game);
            game.step(controls, &mut events);
        }
        assert_eq!((game.score, game.level, game.balls, game.phase), (2520, 1, BALLS, Phase::Ready));
        assert_eq!(events.last(), Some(&Event::Level));
    }

    #[test]
    fn the_ball_never_leaves_the_sides_and_keeps_its_speed() {
        let mut game = Game::default();
        play(&mut game, 120.0, |game| {
            assert!((0.0..=FIELD.x).contains(&game.ball.x) && game.ball.y > CEILING, "{:?}", game.ball);
            if game.phase == Phase::Flying {
                assert!((game.velocity.length() - game.speed()).abs() < 0.1, "{:?}", game.velocity);
            }
            follow(game)
        });
    }
}
