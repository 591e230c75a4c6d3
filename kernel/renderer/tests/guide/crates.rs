//! Step 9: textures, light and antialiased edges, compared pixel by pixel with ray casting.

use renderer::glam::{DMat4, DVec2, DVec3, Vec3};

use crate::reference::{Camera, Texels, agreed, assert_near, bytes, middle, pixels, slack};
use crate::steps::{self, multisample};

/// The surface that a ray hits.
#[derive(Clone, Copy, Debug)]
struct Surface {
    /// A crate's number, or the floor's, which is one more.
    body: usize,
    /// The outward normal, in the world.
    normal: DVec3,
    uv: DVec2,
}

struct Scene {
    camera: Camera,
    /// From the world to each crate.
    crates: Vec<DMat4>,
    wood: Texels,
    tiles: Texels,
}

impl Scene {
    fn new() -> Self {
        let to_crate = |&(place, by): &(Vec3, f32)| {
            DMat4::from_rotation_y(-f64::from(by)) * DMat4::from_translation(-place.as_dvec3())
        };
        let side = multisample::SIDE_PX;
        Self {
            camera: Camera::new(multisample::EYE, multisample::LOOKS_AT, multisample::SIZE_PX),
            crates: multisample::CRATES.iter().map(to_crate).collect(),
            wood: Texels { side, texel: Box::new(multisample::wood) },
            tiles: Texels { side, texel: Box::new(multisample::tiles) },
        }
    }

    /// The surface at a point of the picture; `None` is the sky.
    fn surface(&self, at: DVec2) -> Option<Surface> {
        let ray = self.camera.ray(at);
        let of_crate = |body: usize| {
            let own = ray.seen_from(self.crates[body]);
            let (far, normal) = own.to_box(DVec3::splat(0.5))?;
            let place = own.at(far);
            // The texture is upright on the sides; on the top, its up direction is away from a viewer in front of the crate.
            let up = if normal.y == 0.0 { DVec3::Y } else { DVec3::NEG_Z };
            let uv = DVec2::new(0.5 + place.dot(up.cross(normal)), 0.5 - place.dot(up));
            Some((far, Surface { body, normal: self.crates[body].transpose().transform_vector3(normal), uv }))
        };
        let far = -ray.from.y / ray.along.y;
        let place = ray.at(far);
        // The floor is 80 wide; two by two tiles have one copy of the texture and are 2 wide.
        let on_floor = far > 0.0 && place.x.abs().max(place.z.abs()) < 40.0;
        let uv = DVec2::new(20.0 + 0.5 * place.x, 20.0 + 0.5 * place.z);
        let floor = on_floor.then_some((far, Surface { body: self.crates.len(), normal: DVec3::Y, uv }));
        let all = (0..self.crates.len()).filter_map(of_crate).chain(floor);
        all.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, surface)| surface)
    }

    fn texels(&self, surface: &Surface) -> &Texels {
        if surface.body == self.crates.len() { &self.tiles } else { &self.wood }
    }

    /// The colour of a surface whose texture is magnified.
    fn color(&self, surface: &Surface) -> DVec3 {
        light(surface) * self.texels(surface).linear(surface.uv)
    }

    /// The maximum distance in texels between neighbouring pixels, along both axes of the texture together.
    fn texels_a_pixel(&self, x: u32, y: u32) -> Option<f64> {
        let here = self.surface(middle(x, y))?;
        let step = |right: f64, down: f64| {
            let there = self.surface(middle(x, y) + DVec2::new(right, down))?;
            Some((there.uv - here.uv).abs().element_sum() * f64::from(multisample::SIDE_PX))
        };
        Some(step(1.0, 0.0)?.max(step(0.0, 1.0)?))
    }
}

fn light(surface: &Surface) -> f64 {
    surface.normal.dot(multisample::TO_LIGHT.as_dvec3()).max(0.0) + f64::from(multisample::AMBIENT)
}

/// Bodies by their number, sides of crates by their normal.
fn side_of(surface: Option<Surface>) -> Option<(usize, [i64; 3])> {
    surface.map(|surface| (surface.body, (surface.normal * 1000.0).to_array().map(|part| part.round() as i64)))
}

#[test]
fn step_9_is_textured_and_lit() {
    let scene = Scene::new();
    let (mut sky, mut near, mut far, mut far_pixels) = (0, [0; 4], DVec3::ZERO, Vec::new());
    for (x, y, pixel) in pixels(steps::picture(9)) {
        match agreed(x, y, 1.2, |at| side_of(scene.surface(at))) {
            Some(Some((body, _))) => {
                let texels = scene.texels_a_pixel(x, y).unwrap();
                if texels < 0.95 {
                    // One step of 255 for filtering, one for the light and one for their product.
                    let color = |at: DVec2| scene.color(&scene.surface(at).unwrap());
                    assert_near(x, y, pixel, color(middle(x, y)), 3.0 + slack(x, y, color));
                    near[body] += 1;
                } else if texels > 16.0 {
                    far += bytes(pixel);
                    far_pixels.push(bytes(pixel));
                }
            }
            Some(None) => {
                assert_eq!(pixel, multisample::SKY, "({x}, {y})");
                sky += 1;
            }
            None => {}
        }
    }
    assert!(sky > 10_000 && near.iter().all(|&pixels| pixels > 500), "{sky} of the sky, {near:?} near");
    // In the distance the mip levels are close to the mean of the tiles.
    let floor = Surface { body: 3, normal: DVec3::Y, uv: DVec2::ZERO };
    let (count, expected) = (far_pixels.len() as f64, light(&floor) * scene.tiles.mean());
    let off = (far / count - expected).abs().max_element();
    assert!(count > 2000.0 && off < 4.0, "{count} pixels are {:.1} and should be {expected:.1}", far / count);
    let spread = far_pixels.iter().map(|pixel| (*pixel - expected).x.abs()).sum::<f64>() / count;
    let unfiltered = (scene.tiles.mean() - bytes(multisample::tiles(1, 1))).x.abs() * light(&floor);
    assert!(spread < 0.5 * unfiltered, "{spread:.1} around the mean, where single texels are {unfiltered:.1}");
}

#[test]
fn step_9_has_smooth_edges() {
    let scene = Scene::new();
    let sky = bytes(multisample::SKY);
    let (mut edges, mut between) = (0, 0);
    for (x, y, pixel) in pixels(steps::picture(9)) {
        let places = (0..16 * 16).map(|n: u32| {
            DVec2::new(f64::from(x) + (f64::from(n % 16) + 0.5) / 16.0, f64::from(y) + (f64::from(n / 16) + 0.5) / 16.0)
        });
        // Only edges of crates in front of the sky, which has one colour.
        if agreed(x, y, 0.5, |at| side_of(scene.surface(at))).is_some() {
            continue;
        }
        let surfaces: Vec<Option<Surface>> = places.map(|at| scene.surface(at)).collect();
        let covering: Vec<&Surface> = surfaces.iter().flatten().collect();
        if covering.is_empty() || covering.len() == surfaces.len() || covering.iter().any(|surface| surface.body == 3) {
            continue;
        }
        let covered = covering.len() as f64 / surfaces.len() as f64;
        let color = covering.iter().map(|surface| scene.color(surface)).sum::<DVec3>() / covering.len() as f64;
        // Four samples measure coverage in steps of a quarter, and they are not exactly on the pixel's centre.
        let most = 0.3 * (color - sky).abs().max_element() + 6.0;
        assert_near(x, y, pixel, sky.lerp(color, covered), most);
        edges += 1;
        let from_sky = (bytes(pixel) - sky).length() / (color - sky).length();
        between += u32::from((0.15..0.85).contains(&from_sky));
    }
    assert!(edges > 100 && between > edges / 3, "{between} of {edges} pixels are neither sky nor wood");
}
