//! Steps with objects in space: each pixel is compared with a ray through it.

use renderer::glam::{DMat4, DVec2, DVec3, Vec3};

use crate::reference::{Camera, agreed, assert_near, bytes, difference, middle, pixels, share, slack};
use crate::steps::{self, light, prepared_draws, render_to_texture, transform};

#[test]
fn step_4_shows_fifteen_cubes() {
    let camera = Camera::new(transform::EYE, Vec3::ZERO, transform::SIZE_PX);
    let cubes: Vec<DMat4> = (-1..=1i8)
        .flat_map(|row| (-2..=2i8).map(move |column| (column, row)))
        .map(|(column, row)| {
            let place = f64::from(transform::SPACING) * DVec3::new(column.into(), row.into(), 0.0);
            (DMat4::from_translation(place) * transform::turned(column, row).as_dmat4()).inverse()
        })
        .collect();
    let hit = |at: DVec2| {
        let ray = camera.ray(at);
        let to = |n: usize| {
            let ray = ray.seen_from(cubes[n]);
            ray.to_box(DVec3::splat(0.7)).map(|(far, normal)| (far, n, normal, ray.at(far)))
        };
        (0..cubes.len()).filter_map(to).min_by(|a, b| a.0.total_cmp(&b.0))
    };
    let mut pixels_of = [0; 15];
    for (x, y, pixel) in pixels(steps::picture(4)) {
        match agreed(x, y, 0.8, |at| hit(at).map(|(_, n, normal, _)| (n, normal))) {
            Some(Some((n, _))) => {
                let color = |at: DVec2| 255.0 * (0.15 + 0.8 * (hit(at).unwrap().3 / 1.4 + 0.5));
                assert_near(x, y, pixel, color(middle(x, y)), 2.0 + slack(x, y, color));
                pixels_of[n] += 1;
            }
            Some(None) => assert_eq!(pixel, transform::BACKGROUND, "({x}, {y})"),
            None => {}
        }
    }
    assert!(pixels_of.iter().all(|&pixels| pixels > 1500), "{pixels_of:?}");
}

#[test]
fn step_6_is_as_bright_as_it_faces_the_light() {
    let camera = Camera::new(light::EYE, Vec3::ZERO, light::SIZE_PX);
    let hit = |at: DVec2| {
        let ray = camera.ray(at);
        let to = |n: usize| {
            let (middle, radius, _) = light::BALLS[n];
            let far = ray.to_ball(middle.as_dvec3(), radius.into())?;
            Some((far, n, (ray.at(far) - middle.as_dvec3()) / f64::from(radius)))
        };
        (0..light::BALLS.len()).filter_map(to).min_by(|a, b| a.0.total_cmp(&b.0))
    };
    let (mut seen, mut dark, mut sum) = ([0; 4], 0, 0.0);
    for (x, y, pixel) in pixels(steps::picture(6)) {
        match agreed(x, y, 1.0, |at| hit(at).map(|(_, n, _)| n)) {
            Some(Some(n)) => {
                let (_, _, normal) = hit(middle(x, y)).unwrap();
                let facing = normal.dot(light::TO_LIGHT.as_dvec3());
                let color = share(light::BALLS[n].2[..3].try_into().unwrap());
                let expected = color * (facing.max(0.0) + f64::from(light::AMBIENT)).min(1.0);
                // Light is interpolated between vertices. The terminator does not coincide with vertices, so the sphere is brighter there by up to a quarter
                // of the light's change from one vertex to the next, 0.1.
                assert_near(x, y, pixel, expected, 7.0);
                sum += difference(pixel, expected);
                seen[n] += 1;
                dark += u32::from(facing < 0.0);
            }
            Some(None) => assert_eq!(pixel, light::SPACE, "({x}, {y})"),
            None => {}
        }
    }
    let all: u32 = seen.iter().sum();
    assert!(seen.iter().all(|&pixels| pixels > 1000) && dark > 2000, "{seen:?}, {dark} dark");
    assert!(sum / f64::from(all) < 1.0, "{} of 255 off", sum / f64::from(all));
}

/// The card of step 8 at a point, from -1 to 1, y upwards; `None` near an edge.
fn card(place: DVec2) -> Option<DVec3> {
    const SECTOR: f64 = std::f64::consts::TAU / render_to_texture::SECTORS as f64;
    let (radius, angle) = (place.length(), place.to_angle().rem_euclid(std::f64::consts::TAU));
    let sector = (angle / SECTOR).floor();
    // Two of 128 texels, and the distance of the straight rim from a circle.
    let margin = 2.0 * 2.0 / 128.0;
    let to_border = radius * (angle - SECTOR * (angle / SECTOR).round()).sin().abs();
    if radius > 0.9 + margin {
        Some(bytes(render_to_texture::CARD))
    } else if radius < 0.9 * (SECTOR / 2.0).cos() - margin && to_border > margin {
        Some(share(render_to_texture::hue(sector as u16)))
    } else {
        None
    }
}

#[test]
fn step_8_shows_the_wheel_on_the_cube() {
    let camera = Camera::new(render_to_texture::EYE, Vec3::ZERO, render_to_texture::SIZE_PX);
    let side = |at: DVec2| camera.ray(at).to_box(DVec3::ONE).map(|(_, normal)| normal);
    let (mut wheel, mut around) = (0, 0);
    for (x, y, pixel) in pixels(steps::picture(8)) {
        match agreed(x, y, 1.0, side) {
            Some(Some(normal)) => {
                let ray = camera.ray(middle(x, y));
                let place = ray.at(ray.to_box(DVec3::ONE).unwrap().0);
                // The sides are upright; the top is as seen by a viewer in front of the cube.
                let on_side = match normal {
                    DVec3::X => DVec2::new(-place.z, place.y),
                    DVec3::Y => DVec2::new(place.x, -place.z),
                    DVec3::Z => place.truncate(),
                    _ => panic!("the eye sees no other side"),
                };
                let Some(expected) = card(on_side) else { continue };
                assert_near(x, y, pixel, expected, 2.0);
                if expected == bytes(render_to_texture::CARD) {
                    around += 1;
                } else {
                    wheel += 1;
                }
            }
            Some(None) => assert_eq!(pixel, render_to_texture::SKY, "({x}, {y})"),
            None => {}
        }
    }
    assert!(wheel > 10_000 && around > 10_000, "{wheel} of the wheel, {around} around it");
}

/// The pillars that rays through a block of pixels may hit.
fn candidates(camera: &Camera, pillars: &[(DMat4, DVec3, f64)], from: DVec2, to: DVec2) -> Vec<usize> {
    let (ray, corner) = (camera.ray((from + to) / 2.0), camera.ray(from));
    let spread = (corner.along - ray.along).length();
    let is_near = |&n: &usize| {
        let (_, middle, radius) = pillars[n];
        let off = middle - ray.from;
        let far = off.dot(ray.along) / ray.along.length_squared();
        (off - far * ray.along).length() < radius + (far + radius) * spread
    };
    (0..pillars.len()).filter(is_near).collect()
}

#[test]
fn step_14_shows_a_thousand_pillars() {
    const BLOCK: u32 = 8;
    let camera = Camera::new(prepared_draws::EYE, prepared_draws::LOOKS_AT, prepared_draws::SIZE_PX);
    let pillars: Vec<(DMat4, DVec3, f64)> = (0..prepared_draws::COUNT)
        .map(|n| {
            let place = prepared_draws::place(n).as_dmat4();
            (place.inverse(), place.transform_point3(DVec3::ZERO), place.transform_vector3(DVec3::ONE).length())
        })
        .collect();
    let [width, height] = prepared_draws::SIZE_PX;
    let picture = steps::picture(14);
    let (mut seen, mut agreeing, mut background, mut wrong) = (vec![false; pillars.len()], 0, 0, 0);
    for (left, top) in (0..height / BLOCK).flat_map(|y| (0..width / BLOCK).map(move |x| (BLOCK * x, BLOCK * y))) {
        let corner = DVec2::new(left.into(), top.into());
        let near = candidates(&camera, &pillars, corner - 1.0, corner + f64::from(BLOCK) + 1.0);
        let hit = |at: DVec2| {
            let to = |&n: &usize| {
                let ray = camera.ray(at).seen_from(pillars[n].0);
                ray.to_box(DVec3::ONE).map(|(far, normal)| (far, n, normal, ray.at(far)))
            };
            near.iter().filter_map(to).min_by(|a, b| a.0.total_cmp(&b.0))
        };
        for (x, y) in (0..BLOCK * BLOCK).step_by(3).map(|n| (left + n % BLOCK, top + n / BLOCK)) {
            let pixel = picture.pixel(x, y);
            let side = |at: DVec2| hit(at).map(|(_, n, normal, _)| (n, normal));
            // The edges of a pillar may be between two points that are farther from each other.
            let close = agreed(x, y, 0.4, side);
            match agreed(x, y, 0.8, side).filter(|_| close.is_some()) {
                Some(Some((n, _))) => {
                    let color = |at: DVec2| share(prepared_draws::color(hit(at).unwrap().3.as_vec3().to_array()));
                    let off = difference(pixel, color(middle(x, y))) - slack(x, y, color);
                    wrong += u32::from(off > 2.0);
                    seen[n] = true;
                    agreeing += 1;
                }
                Some(None) => {
                    wrong += u32::from(pixel != prepared_draws::DUSK);
                    background += 1;
                }
                None => {}
            }
        }
    }
    let seen = seen.into_iter().filter(|&seen| seen).count();
    println!("{seen} pillars seen at {agreeing} pixels, the background at {background}; {wrong} pixels are different");
    assert!(seen > 600 && agreeing > 8_000 && background > 20_000, "{seen} pillars, {agreeing}, {background}");
    // A sliver of another pillar, narrower than the distance of those points, may cover one of a pixel's four samples.
    assert!(wrong <= agreeing / 1000, "{wrong} of {agreeing} pixels have another colour");
}
