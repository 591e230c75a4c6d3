//! Breakout: a game with sprites, text and a score, played with the arrow keys
//!
//! The rules are in [`breakout`](crate::scene_parts::breakout). Here are the sprites, whose sheet is computed at the start, and sparks, which fly from bricks
//! that break. A canvas draws what is behind all; bricks, paddle, ball, glow and sparks are one draw of sprites, and each font is another. In a run with a
//! fixed step the game plays itself, so that its pictures can be compared.

use alloc::{boxed::Box, format, vec::Vec};
use core::f32::consts::TAU;

use oorandom::Rand32;
use renderer::{
    Blend, Canvas, Error, PassDescriptor, Sprite, SpriteAtlas, Sprites, Texture, TextureDescriptor,
    asset::Font,
    canvas::{Fill, FontAtlas, Shape, TextStyle},
    glam::Vec2,
    texture::TextureType,
};
use v3d::Fence;

use super::{Keys, Scene, SceneContext, SceneEntry, SceneError};
use crate::{
    gpu::{GpuDevice, GpuPass},
    scene_parts::{
        assets::{BODY_FONT, TITLE_FONT},
        breakout::{self, BRICK, Controls, Event, FIELD, Game, PADDLE, PADDLE_TOP, Phase, RADIUS, STEP_S},
        moment::Moment,
    },
    terminal::keyboard::{Key, Keyboard},
};

/// The entry in the table of scenes.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "breakout",
    description: "a game: arrows move the paddle, space serves the ball, q ends it",
    start: |context| Ok(Box::new(Breakout::new(context)?)),
};

/// Colours of the rows of bricks, from the top.
const ROWS: [[u8; 4]; breakout::ROWS] = [
    [236, 84, 92, 255],
    [244, 140, 66, 255],
    [246, 200, 80, 255],
    [112, 204, 124, 255],
    [76, 168, 236, 255],
    [148, 120, 238, 255],
];
const INK: [u8; 4] = [236, 240, 248, 255];
const FAINT: [u8; 4] = [128, 142, 170, 255];

/// Texels across the sheet of sprites.
const SHEET_PX: u32 = 256;
/// The parts of the sheet: first column, first row, width, height. A brick and the paddle are as large on the screen; the glow is drawn at any size.
const BRICK_SPRITE: [u16; 4] = [8, 8, 94, 30];
const PADDLE_SPRITE: [u16; 4] = [8, 48, 150, 18];
const BALL_SPRITE: [u16; 4] = [8, 80, 24, 24];
const GLOW_SPRITE: [u16; 4] = [64, 128, 96, 96];
/// Most sprites of one draw: all bricks, all sparks, the trail, the balls, and all letters that are drawn with one font.
const MAX_SPRITES: usize = 512;

/// Sparks of a brick, and for how long they fly.
const SPARKS: usize = 14;
const MAX_SPARKS: usize = 300;
const SPARK_S: f32 = 0.9;
/// Pixels a second, downwards, by which they become faster each second.
const GRAVITY: f32 = 620.0;
/// The longest time that the rules advance between two frames: the game waits for slower hosts.
const MAX_STEP_S: f32 = 0.1;

#[derive(Debug)]
struct Spark {
    place: Vec2,
    velocity: Vec2,
    color: [u8; 4],
    left_s: f32,
}

/// The sprites of a frame that have the same atlas.
#[derive(Debug)]
struct Layer {
    atlas: SpriteAtlas,
    sprites: Vec<Sprite>,
    /// The place on the screen of the field's corner.
    origin: Vec2,
}

impl Layer {
    fn new(atlas: SpriteAtlas) -> Self {
        Self { atlas, sprites: Vec::with_capacity(MAX_SPRITES), origin: Vec2::ZERO }
    }

    /// Removes the sprites of the frame before.
    fn begin(&mut self, origin: Vec2) {
        self.sprites.clear();
        self.origin = origin;
    }

    fn add(&mut self, part: [u16; 4], middle: Vec2, size: Vec2, tint: [u8; 4]) {
        let Vec2 { x, y } = self.origin + middle - size / 2.0;
        self.sprites.push(Sprite { tint, ..Sprite::at(part, [x, y, size.x, size.y]) });
    }

    fn glow(&mut self, middle: Vec2, size: f32, [red, green, blue, _]: [u8; 4], share: f32) {
        self.add(GLOW_SPRITE, middle, Vec2::splat(size), [red, green, blue, (255.0 * share) as u8]);
    }
}

/// The letters of a frame that have the same font.
#[derive(Debug)]
struct Letters {
    font: FontAtlas,
    layer: Layer,
}

impl Letters {
    fn new(device: &GpuDevice, label: &'static str, font: &Font) -> Result<Self, Error> {
        let font = FontAtlas::new(device, label, font)?;
        let layer = Layer::new(SpriteAtlas::of_font(&font)?);
        Ok(Self { font, layer })
    }

    /// Adds a text at a place of the field.
    fn add(&mut self, sprites: &Sprites, [x, y]: [f32; 2], style: &TextStyle, text: &str) -> Result<(), Error> {
        let Layer { sprites: letters, origin, .. } = &mut self.layer;
        sprites.append_text(letters, &self.font, [origin.x + x, origin.y + y], style, text)
    }
}

#[derive(Debug)]
struct Breakout {
    canvas: Canvas,
    sprites: Sprites,
    /// What is drawn with the sheet.
    sheet: Layer,
    title: Letters,
    body: Letters,
    game: Game,
    /// Time that has passed and that the rules have not advanced yet.
    owed_s: f32,
    sparks: Vec<Spark>,
    /// The last places of the ball, the newest last.
    trail: Vec<Vec2>,
    /// Scatters sparks.
    scatter: Rand32,
}

impl Breakout {
    fn new(context: &mut SceneContext<'_>) -> Result<Self, SceneError> {
        let SceneContext { device, target, .. } = context;
        Ok(Self {
            canvas: Canvas::new(device, "breakout", target.width_px(), target.height_px())?,
            sprites: Sprites::new(device, "breakout", MAX_SPRITES, Blend::ALPHA)?,
            sheet: Layer::new(SpriteAtlas::of_texture(&sheet(device)?)?),
            title: Letters::new(device, "title font", &TITLE_FONT)?,
            body: Letters::new(device, "body font", &BODY_FONT)?,
            game: Game::default(),
            owed_s: 0.0,
            sparks: Vec::with_capacity(MAX_SPARKS),
            trail: Vec::with_capacity(TRAIL + 1),
            scatter: Rand32::new(1),
        })
    }

    /// Advances the rules by the time since the frame before; returns what happened.
    fn advance(&mut self, step_s: f32, mut controls: impl FnMut(&Game) -> Controls) -> Vec<Event> {
        let step_s = step_s.min(MAX_STEP_S);
        self.owed_s += step_s;
        let mut events = Vec::new();
        while self.owed_s >= STEP_S {
            self.owed_s -= STEP_S;
            let controls = controls(&self.game);
            self.game.step(controls, &mut events);
        }
        for spark in &mut self.sparks {
            spark.left_s -= step_s;
            spark.velocity.y += GRAVITY * step_s;
            spark.place += spark.velocity * step_s;
        }
        self.sparks.retain(|spark| spark.left_s > 0.0);
        for event in &events {
            match *event {
                Event::Brick { column, row } => self.burst(column, row),
                Event::Lost { .. } | Event::Level => self.trail.clear(),
                Event::Paddle => {}
            }
        }
        if self.trail.len() == TRAIL {
            self.trail.remove(0);
        }
        self.trail.push(self.game.ball);
        events
    }

    /// Lets sparks fly from a brick.
    fn burst(&mut self, column: usize, row: usize) {
        for _ in 0..SPARKS {
            let place = breakout::brick_corner(column, row)
                + BRICK * Vec2::new(self.scatter.rand_float(), self.scatter.rand_float());
            let speed = 60.0 + 260.0 * self.scatter.rand_float();
            let velocity = Vec2::from_angle(TAU * self.scatter.rand_float()) * speed;
            let left_s = SPARK_S * (0.4 + 0.6 * self.scatter.rand_float());
            if self.sparks.len() < MAX_SPARKS {
                self.sparks.push(Spark { place, velocity, color: ROWS[row], left_s });
            }
        }
    }

    /// Draws the state of the game.
    fn draw(&mut self, pass: &mut GpuPass<'_>) -> Result<(), Error> {
        let size = self.canvas.size_px().map(|side| side as f32);
        // The field is in the middle of larger screens.
        let origin = ((Vec2::from_array(size) - FIELD) / 2.0).max(Vec2::ZERO);
        self.draw_background(size, origin)?;
        self.canvas.draw_to(pass)?;
        for layer in [&mut self.sheet, &mut self.title.layer, &mut self.body.layer] {
            layer.begin(origin);
        }
        self.place_things();
        self.place_words()?;
        for Layer { atlas, sprites, .. } in [&self.sheet, &self.title.layer, &self.body.layer] {
            self.sprites.draw_to(pass, atlas, sprites)?;
        }
        Ok(())
    }

    /// What is behind all sprites.
    fn draw_background(&mut self, [width, height]: [f32; 2], origin: Vec2) -> Result<(), Error> {
        let canvas = &mut self.canvas;
        canvas.reset();
        canvas.set_origin(0.0, 0.0);
        let all = Shape::rectangle(0.0, 0.0, width, height);
        canvas.shape(&all, Fill::vertical([22, 28, 52, 255], [9, 10, 20, 255]))?;
        canvas.set_origin(origin.x, origin.y);
        canvas.shape(&Shape::rectangle(0.0, 0.0, FIELD.x, breakout::CEILING - 4.0), [14, 18, 34, 255])?;
        canvas.shape(&Shape::rectangle(0.0, breakout::CEILING - 4.0, FIELD.x, 2.0), [255, 255, 255, 36])
    }

    /// Balls that are left, bricks, paddle, ball and sparks.
    fn place_things(&mut self) {
        let Self { sheet, game, sparks, trail, .. } = self;
        for ball in 0..game.balls {
            sheet.add(BALL_SPRITE, Vec2::new(1240.0 - 34.0 * ball as f32, 36.0), Vec2::splat(24.0), INK);
        }
        for (row, stands) in game.bricks.iter().enumerate() {
            for column in (0..breakout::COLUMNS).filter(|&column| stands[column]) {
                let corner = breakout::brick_corner(column, row);
                sheet.add(BRICK_SPRITE, corner + BRICK / 2.0, BRICK, ROWS[row]);
            }
        }
        let paddle = Vec2::new(game.paddle, PADDLE_TOP + PADDLE.y / 2.0);
        sheet.add(PADDLE_SPRITE, paddle, PADDLE, [188, 214, 240, 255]);
        if game.phase != Phase::Over {
            for (age, place) in trail.iter().rev().enumerate().skip(1) {
                let share = 1.0 - age as f32 / TRAIL as f32;
                sheet.glow(*place, 10.0 + 24.0 * share, [120, 190, 255, 255], 0.35 * share);
            }
            sheet.glow(game.ball, 88.0, [120, 190, 255, 255], 0.5);
            sheet.add(BALL_SPRITE, game.ball, Vec2::splat(2.4 * RADIUS), [255; 4]);
        }
        for spark in sparks.iter() {
            sheet.glow(spark.place, 18.0, spark.color, (spark.left_s / SPARK_S).min(1.0));
        }
    }

    /// Title, score, and what the keys do.
    fn place_words(&mut self) -> Result<(), Error> {
        let Self { sprites, title, body, game, .. } = self;
        title.add(sprites, [32.0, 47.0], &TextStyle::new(32.0, INK), "Breakout")?;
        for (right, name, number) in
            [(660.0, "score", game.score), (880.0, "best", game.best), (1040.0, "wall", game.level + 1)]
        {
            let text = format!("{number}");
            title.add(sprites, [right, 47.0], &TextStyle::new(32.0, INK).to_the_left(), &text)?;
            let left = right - title.font.width_px(&text, 32.0) - 12.0;
            body.add(sprites, [left, 46.0], &TextStyle::new(18.0, FAINT).to_the_left(), name)?;
        }
        let words = match game.phase {
            Phase::Ready => "space serves the ball; the arrows move the paddle",
            Phase::Flying => return Ok(()),
            Phase::Over => "space begins a new game; q ends",
        };
        let middle = FIELD / 2.0;
        if game.phase == Phase::Over {
            let text = format!("{} points", game.score);
            title.add(sprites, [middle.x, middle.y + 70.0], &TextStyle::new(64.0, INK).centered(), &text)?;
        }
        body.add(sprites, [middle.x, middle.y + 130.0], &TextStyle::new(18.0, FAINT).centered(), words)
    }
}

/// Places of the ball that its trail shows.
const TRAIL: usize = 14;

/// The keys that the game knows: arrows, or `a` and `d`; space.
fn controls(keyboard: &Keyboard) -> Controls {
    let down = |keys: [Key; 2]| keys.into_iter().any(|key| keyboard.is_down(key));
    Controls {
        left: down([Key::Left, Key::Character('a')]),
        right: down([Key::Right, Key::Character('d')]),
        serve: keyboard.is_pressed(Key::Character(' ')),
    }
}

/// A player that follows the ball, for runs with a fixed step.
fn follow(game: &Game) -> Controls {
    // Not with the paddle's middle, so that the ball does not fly straight up.
    let off = game.ball.x + 30.0 - game.paddle;
    Controls { left: off < -6.0, right: off > 6.0, serve: game.phase != Phase::Flying }
}

/// Light and coverage of the sprites: white, to be tinted, with alpha.
fn sheet(device: &GpuDevice) -> Result<Texture, Error> {
    let texel = |at: Vec2| {
        let within = |part: [u16; 4]| {
            let [left, top, width, height] = part.map(f32::from);
            let half = Vec2::new(width, height) / 2.0;
            let from_middle = at - (Vec2::new(left, top) + half);
            (from_middle.abs().cmple(half + 4.0).all()).then_some((from_middle, half))
        };
        if let Some((at, half)) = within(BRICK_SPRITE) {
            let inside = rounded(at, half, 6.0);
            let bevel = (inside / 4.0).clamp(0.0, 1.0);
            let light = 0.72 + 0.16 * (1.0 - (at.y + half.y) / (2.0 * half.y));
            let edge = if at.y < 0.0 { 1.0 } else { 0.5 };
            return (edge + (light - edge) * bevel, inside);
        }
        if let Some((at, half)) = within(PADDLE_SPRITE) {
            let inside = rounded(at, half, half.y);
            let round = (at.y / half.y).clamp(-1.0, 1.0);
            return ((0.9 - 0.45 * round).min(1.0), inside);
        }
        if let Some((at, half)) = within(BALL_SPRITE) {
            let inside = 10.0 - at.length();
            let lit = 1.0 - (at + half * 0.3).length() / (1.9 * half.x);
            return (0.55 + 0.45 * lit.clamp(0.0, 1.0), inside);
        }
        if let Some((at, half)) = within(GLOW_SPRITE) {
            let share = (1.0 - at.length() / half.x).max(0.0);
            return (1.0, share * share - 0.5);
        }
        (1.0, -1.0)
    };
    let pixel = |n: u32| {
        let at = Vec2::new((n % SHEET_PX) as f32 + 0.5, (n / SHEET_PX) as f32 + 0.5);
        let (light, inside) = texel(at);
        // Coverage goes from 0 half a texel outside of the edge to 1 half a texel inside.
        let alpha = (inside + 0.5).clamp(0.0, 1.0);
        let light = (255.0 * light) as u8;
        [light, light, light, (255.0 * alpha) as u8]
    };
    let pixels: Vec<u8> = (0..SHEET_PX * SHEET_PX).flat_map(pixel).collect();
    let descriptor = TextureDescriptor::new("sprites", TextureType::Rgba8888, SHEET_PX, SHEET_PX);
    Texture::from_pixels(device, &descriptor, &pixels)
}

/// How far a place is inside of a rectangle with rounded corners; negative outside.
fn rounded(at: Vec2, half: Vec2, radius: f32) -> f32 {
    let beyond = at.abs() - (half - radius);
    radius - beyond.max(Vec2::ZERO).length() - beyond.max_element().min(0.0)
}

impl Scene for Breakout {
    fn keys(&self) -> Keys {
        Keys::Scene
    }

    fn frame(&mut self, context: &mut SceneContext<'_>, moment: &Moment) -> Result<Fence, SceneError> {
        let mut pressed = controls(&context.keyboard);
        let events = if moment.is_fixed() {
            self.advance(moment.step_s(), follow)
        } else {
            // A key that is pressed serves one ball.
            self.advance(moment.step_s(), |_| {
                let now = pressed;
                pressed.serve = false;
                now
            })
        };
        let score = self.game.score;
        for event in events {
            // Output that cannot be printed is lost; the game goes on.
            let _ = match event {
                Event::Lost { points, left } => {
                    writeln!(context.output, "a ball is lost with {points} points; {left} left")
                }
                Event::Level => writeln!(context.output, "the wall is broken with {score} points"),
                Event::Brick { .. } | Event::Paddle => Ok(()),
            };
        }
        let mut frame = context.device.frame()?;
        let mut pass = frame.pass(&PassDescriptor::to(&context.target).clear([0.0, 0.0, 0.0, 1.0]))?;
        self.draw(&mut pass)?;
        Ok(frame.submit()?)
    }
}
