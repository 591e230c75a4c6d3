//! A dashboard: embedded-graphics on the GPU, with up to 10,000 primitives
//!
//! The panels in the background are a canvas that is built once and drawn in each frame. Everything that changes is drawn by embedded-graphics ([`dashboard`])
//! into a draw list, which takes the V3D a few draws. The dashboard shows the work of the frame so far and the driver's statistics.

use alloc::boxed::Box;

use embedded_graphics::{draw_target::DrawTargetExt, pixelcolor::Rgb888, prelude::Point};
use renderer::{
    Canvas, DrawList, Error, PassDescriptor,
    canvas::{Fill, FontAtlas, Shape, TextStyle},
};
use v3d::Fence;

use super::{Scene, SceneContext, SceneEntry, SceneError};
use crate::{
    gpu::GpuDevice,
    scene_parts::{
        assets::{BODY_FONT, TITLE_FONT},
        dashboard::{self, SIZE},
        moment::Moment,
    },
};

/// The entry in the table of scenes.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "ui",
    description: "a dashboard drawn by embedded-graphics: live statistics, up to 10,000 primitives",
    start: |context| Ok(Box::new(Ui::new(context)?)),
};

#[derive(Debug)]
struct Ui {
    backdrop: Canvas,
    list: DrawList<Rgb888>,
    field: dashboard::Field,
    /// Position of the dashboard, which is centred in the picture.
    corner: Point,
}

impl Ui {
    fn new(context: &mut SceneContext<'_>) -> Result<Self, SceneError> {
        let [width, height] = [context.target.width_px(), context.target.height_px()];
        let corner = Point::new((width as i32 - SIZE[0]) / 2, (height as i32 - SIZE[1]) / 2);
        let mut backdrop = Canvas::new(context.device, "backdrop", width, height)?;
        let all = Shape::rectangle(0.0, 0.0, width as f32, height as f32);
        backdrop.shape(&all, Fill::vertical([17, 23, 38, 255], [8, 10, 18, 255]))?;
        backdrop.set_origin(corner.x as f32, corner.y as f32);
        panels(context.device, &mut backdrop)?;
        let list = DrawList::new(context.device, "dashboard", width, height)?;
        Ok(Self { backdrop, list, field: dashboard::Field::new(), corner })
    }
}

/// The panels and their labels.
fn panels(device: &GpuDevice, canvas: &mut Canvas) -> Result<(), Error> {
    let title = FontAtlas::new(device, "title font", &TITLE_FONT)?;
    let body = FontAtlas::new(device, "body font", &BODY_FONT)?;
    canvas.text(&title, 44.0, 80.0, &TextStyle::new(44.0, [240, 244, 250, 255]), "VideoCore IV")?;
    let subtitle = "embedded-graphics, drawn by the V3D";
    canvas.text(&body, 1236.0, 78.0, &TextStyle::new(18.0, [122, 136, 158, 255]).to_the_left(), subtitle)?;
    let panels = [
        ([44.0, 116.0, 800.0, 560.0], "Waves"),
        ([864.0, 116.0, 204.0, 284.0], "Cells"),
        ([1076.0, 116.0, 172.0, 284.0], "This frame"),
        ([864.0, 412.0, 384.0, 116.0], "Driver"),
        ([864.0, 540.0, 384.0, 136.0], "Middle row"),
    ];
    for ([x, y, width, height], name) in panels {
        let panel = Shape::rectangle(x, y, width, height).rounded(14.0);
        canvas.shape(&panel, Fill::vertical([27, 35, 52, 255], [20, 26, 40, 255]))?;
        canvas.shape(&panel.outlined(1.5), [255, 255, 255, 22])?;
        canvas.text(&body, x + 18.0, y + 28.0, &TextStyle::new(18.0, [226, 232, 240, 255]), name)?;
    }
    Ok(())
}

impl Scene for Ui {
    fn frame(&mut self, context: &mut SceneContext<'_>, moment: &Moment) -> Result<Fence, SceneError> {
        let health = context.device.driver_ref()?.statistics();
        let Self { backdrop, list, field, corner } = self;
        list.reset();
        let mut dashboard = list.translated(*corner);
        let waves = field.waves(moment.tick());
        dashboard::field(&mut dashboard, field, &waves, moment.tick(), moment.number)?;
        dashboard::gauge(&mut dashboard, moment.tick())?;
        dashboard::health(&mut dashboard, &health)?;
        dashboard::profile(&mut dashboard, field, &waves)?;
        let counts = [
            list.rectangles(),
            list.draws() + backdrop.draws(),
            list.triangles() + backdrop.triangles(),
            list.vertex_bytes() + backdrop.vertex_bytes(),
        ];
        dashboard::counters(&mut list.translated(*corner), counts)?;

        let mut frame = context.device.frame()?;
        let mut pass = frame.pass(&PassDescriptor::to(&context.target).clear([0.0, 0.0, 0.0, 1.0]))?;
        backdrop.draw_to(&mut pass)?;
        list.draw_to(&mut pass)?;
        Ok(frame.submit()?)
    }
}
