//! Step 11: the planet, each pixel computed in double precision from the shader's formulas.

use renderer::glam::{DVec2, DVec3, Vec3};

use crate::reference::{Camera, Ray, agreed, assert_near, difference, middle, pixels, share, slack};
use crate::steps::{self, own_shader};

const DUST: DVec3 = DVec3::new(0.72, 0.50, 0.33);
const CLOUD: DVec3 = DVec3::new(0.97, 0.90, 0.78);
const STORM: DVec3 = DVec3::new(0.50, 0.26, 0.17);

/// The colour of the clouds where the planet has this normal.
fn clouds(normal: DVec3) -> DVec3 {
    let place = normal * DVec3::new(2.0, 6.0, 2.0);
    let mut displaced = place;
    for octave in 1..=5i8 {
        let frequency = 1.6f64.powi(i32::from(octave) - 1);
        let phase = f64::from(octave) * DVec3::new(0.0, 1.3, 2.1);
        let turned = DVec3::new(displaced.y, displaced.z, displaced.x);
        displaced += 0.5 / frequency * (1.7 * frequency * turned + phase).map(f64::cos);
    }
    let swirl = displaced - place;
    let latitude = 8.0 * normal.y + 0.9 * swirl.y;
    let band = 0.5 + 0.5 * (1.5 * latitude).sin();
    let streak = 0.5 + 0.5 * (5.0 * latitude + 2.0 * swirl.x).sin();
    DUST.lerp(CLOUD, band).lerp(STORM, (0.75 - 0.6 * band) * streak)
}

/// The colour that a ray sees, from 0 to 255; `None` if it misses the planet.
fn seen(ray: Ray) -> Option<DVec3> {
    let normal = ray.at(ray.to_ball(DVec3::ZERO, 1.0)?);
    let height_of_sun = normal.dot(own_shader::TO_SUN.as_dvec3());
    let day = ((height_of_sun + 0.08) / 0.9).clamp(0.0, 1.0);
    let grazing = 1.0 - normal.dot(-ray.along.normalize()).clamp(0.0, 1.0);
    let haze = own_shader::AIR.as_dvec3() * grazing.powi(3) * (height_of_sun + 0.35).clamp(0.0, 1.0);
    Some(255.0 * (clouds(normal) * day + haze).clamp(DVec3::ZERO, DVec3::ONE))
}

#[test]
fn step_11_computes_what_the_shader_says() {
    let camera = Camera::new(own_shader::EYE, Vec3::ZERO, own_shader::SIZE_PX);
    let (mut hit, mut sum, mut dark) = (0, 0.0, 0);
    for (x, y, pixel) in pixels(steps::picture(11)) {
        match agreed(x, y, 1.0, |at| seen(camera.ray(at)).is_some()) {
            Some(true) => {
                let color = |at: DVec2| seen(camera.ray(at)).unwrap_or_else(|| share([0.0; 3]));
                let expected = color(middle(x, y));
                // The sphere is made of flat triangles, which lie up to 0.001 below it.
                assert_near(x, y, pixel, expected, 3.0 + slack(x, y, color));
                sum += difference(pixel, expected);
                hit += 1;
                dark += u32::from(expected.max_element() < 10.0);
            }
            Some(false) => assert_eq!(pixel, own_shader::SPACE, "({x}, {y})"),
            None => {}
        }
    }
    assert!(hit > 40_000 && dark > 1_000, "{hit} of the planet, {dark} dark");
    assert!(sum / f64::from(hit) < 1.0, "{} of 255 off", sum / f64::from(hit));
}
