//! Animations as poses: the matrices of a skin's joints at equal distances of time.
//!
//! A joint's matrix takes a vertex from where it is in the mesh to where it is in the pose: its inverse bind matrix, then the transforms of its node and of all
//! nodes above it. The transform of the node that has the mesh has no effect [glTF 2.0, 3.7.3.3].

use crate::accessor;
use crate::model::{IDENTITY, Matrix, product};
use gltf::accessor::{DataType, Dimensions};
use gltf::animation::util::ReadOutputs;
use gltf::animation::{Interpolation, Property};

/// Most joints of a skin.
const MAX_JOINTS: usize = 32;
/// Poses a second, and most poses of all animations: more than two minutes.
const RATE_HZ: f32 = 30.0;
const MAX_POSES: usize = 4096;
/// Most nodes of a file.
const MAX_NODES: usize = 4096;

/// The poses of an animation.
#[derive(Debug)]
pub(crate) struct Poses {
    pub(crate) name: String,
    pub(crate) duration_s: f32,
    /// Three rows for each joint of each pose.
    pub(crate) matrices: Vec<[[f32; 4]; 3]>,
}

/// A node's transform in its parts.
#[derive(Clone, Copy, Debug)]
struct Placement {
    translation: [f32; 3],
    rotation: [f32; 4],
    scale: [f32; 3],
}

impl Placement {
    fn matrix(&self) -> Matrix {
        let Self { translation: [x, y, z], rotation, scale } = *self;
        let [i, j, k, w] = unit(rotation);
        let columns = [
            [1.0 - 2.0 * (j * j + k * k), 2.0 * (i * j + k * w), 2.0 * (i * k - j * w)],
            [2.0 * (i * j - k * w), 1.0 - 2.0 * (i * i + k * k), 2.0 * (j * k + i * w)],
            [2.0 * (i * k + j * w), 2.0 * (j * k - i * w), 1.0 - 2.0 * (i * i + j * j)],
        ];
        let scaled = |axis: usize| {
            let [a, b, c] = columns[axis].map(|number| number * scale[axis]);
            [a, b, c, 0.0]
        };
        [scaled(0), scaled(1), scaled(2), [x, y, z, 1.0]]
    }
}

fn unit(quaternion: [f32; 4]) -> [f32; 4] {
    let length = quaternion.iter().map(|part| part * part).sum::<f32>().sqrt();
    if length > 0.0 { quaternion.map(|part| part / length) } else { [0.0, 0.0, 0.0, 1.0] }
}

/// What a channel of an animation changes, and its values over time.
#[derive(Debug)]
struct Channel {
    node: usize,
    property: Property,
    interpolation: Interpolation,
    times: Vec<f32>,
    /// Three or four numbers for each time; with cubic interpolation three times as many: the tangent before, the value, the tangent behind.
    values: Vec<Vec<f32>>,
}

impl Channel {
    fn read(channel: &gltf::animation::Channel<'_>, buffers: &[Vec<u8>]) -> Result<Self, String> {
        use DataType::{F32, I8, I16, U8, U16};
        let (sampler, target) = (channel.sampler(), channel.target());
        let property = target.property();
        let (kind, types): (_, &[DataType]) = match property {
            Property::Translation | Property::Scale => (Dimensions::Vec3, &[F32]),
            Property::Rotation => (Dimensions::Vec4, &[F32, I8, U8, I16, U16]),
            Property::MorphTargetWeights => return Err("moves morph targets, which are not supported".to_owned()),
        };
        accessor::check(&sampler.input(), buffers, &[F32], Dimensions::Scalar)
            .map_err(|why| format!("has times {why}"))?;
        accessor::check(&sampler.output(), buffers, types, kind).map_err(|why| format!("has values {why}"))?;
        let reader = channel.reader(|buffer| buffers.get(buffer.index()).map(Vec::as_slice));
        let times: Vec<f32> = reader.read_inputs().ok_or("has no times")?.collect();
        let values: Vec<Vec<f32>> = match reader.read_outputs().ok_or("has no values")? {
            ReadOutputs::Translations(values) | ReadOutputs::Scales(values) => values.map(Vec::from).collect(),
            ReadOutputs::Rotations(values) => values.into_f32().map(Vec::from).collect(),
            ReadOutputs::MorphTargetWeights(_) => return Err("moves morph targets, which are not supported".to_owned()),
        };
        let interpolation = sampler.interpolation();
        let each = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        if values.len() != each * times.len() {
            return Err(format!("has {} values for {} times", values.len(), times.len()));
        }
        if !times.windows(2).all(|pair| pair[0] < pair[1]) || !times.iter().all(|time| time.is_finite() && *time >= 0.0)
        {
            return Err("has times that do not increase".to_owned());
        }
        if !values.iter().flatten().all(|value| value.is_finite()) {
            return Err("has a value that is not finite".to_owned());
        }
        Ok(Self { node: target.node().index(), property, interpolation, times, values })
    }

    /// The values at a time; before the first and behind the last time those of that time.
    fn at(&self, time: f32) -> Vec<f32> {
        let cubic = self.interpolation == Interpolation::CubicSpline;
        let value = |key: usize| &self.values[if cubic { 3 * key + 1 } else { key }];
        let after = self.times.partition_point(|&other| other <= time);
        let last = self.times.len() - 1;
        let Some(before) = after.checked_sub(1) else { return value(0).clone() };
        if before == last {
            return value(last).clone();
        }
        let span = self.times[after] - self.times[before];
        let share = (time - self.times[before]) / span;
        let (from, to) = (value(before), value(after));
        match self.interpolation {
            Interpolation::Step => from.clone(),
            Interpolation::Linear if self.property == Property::Rotation => slerp(from, to, share),
            Interpolation::Linear => from.iter().zip(to).map(|(from, to)| from + (to - from) * share).collect(),
            Interpolation::CubicSpline => {
                let (leaving, arriving) = (&self.values[3 * before + 2], &self.values[3 * after]);
                let (square, cube) = (share * share, share * share * share);
                let number = |n: usize| {
                    from[n] * (2.0 * cube - 3.0 * square + 1.0)
                        + span * leaving[n] * (cube - 2.0 * square + share)
                        + to[n] * (3.0 * square - 2.0 * cube)
                        + span * arriving[n] * (cube - square)
                };
                (0..from.len()).map(number).collect()
            }
        }
    }

    fn apply(&self, time: f32, placements: &mut [Placement]) {
        let Some(placement) = placements.get_mut(self.node) else { return };
        match (self.property, self.at(time).as_slice()) {
            (Property::Translation, &[x, y, z]) => placement.translation = [x, y, z],
            (Property::Scale, &[x, y, z]) => placement.scale = [x, y, z],
            (Property::Rotation, &[i, j, k, w]) => placement.rotation = unit([i, j, k, w]),
            _ => {}
        }
    }
}

/// Spherical linear interpolation of two quaternions, the shorter way.
fn slerp(from: &[f32], to: &[f32], share: f32) -> Vec<f32> {
    let cosine: f32 = from.iter().zip(to).map(|(a, b)| a * b).sum();
    let sign = cosine.signum();
    let angle = cosine.abs().min(1.0).acos();
    let weights = if angle < 1e-4 {
        [1.0 - share, share]
    } else {
        [((1.0 - share) * angle).sin() / angle.sin(), (share * angle).sin() / angle.sin()]
    };
    from.iter().zip(to).map(|(a, b)| weights[0] * a + sign * weights[1] * b).collect()
}

/// The skeleton of a file: its nodes, and the joints of its skin.
struct Skeleton {
    placements: Vec<Placement>,
    parents: Vec<Option<usize>>,
    /// All nodes, each behind its parent.
    order: Vec<usize>,
    /// Nodes and inverse bind matrices.
    joints: Vec<(usize, Matrix)>,
}

impl Skeleton {
    fn new(gltf: &gltf::Document, skin: &gltf::Skin<'_>, buffers: &[Vec<u8>]) -> Result<Self, String> {
        let count = gltf.nodes().len();
        if count > MAX_NODES {
            return Err(format!("it has more than {MAX_NODES} nodes"));
        }
        let mut parents = vec![None; count];
        for (node, child) in
            gltf.nodes().flat_map(|node| node.children().map(move |child| (node.index(), child.index())))
        {
            if parents[child].replace(node).is_some() {
                return Err(format!("node {child} has two parents"));
            }
        }
        let place = |node: gltf::Node<'_>| {
            let (translation, rotation, scale) = node.transform().decomposed();
            Placement { translation, rotation, scale }
        };
        let joint_count = skin.joints().count();
        if joint_count > MAX_JOINTS {
            return Err(format!("its skin has {joint_count} joints; {MAX_JOINTS} are possible"));
        }
        let inverse: Vec<Matrix> = match skin.inverse_bind_matrices() {
            None => vec![IDENTITY; joint_count],
            Some(matrices) => {
                accessor::check(&matrices, buffers, &[DataType::F32], Dimensions::Mat4)
                    .map_err(|why| format!("its inverse bind matrices are accessor {}, and {why}", matrices.index()))?;
                let reader = skin.reader(|buffer| buffers.get(buffer.index()).map(Vec::as_slice));
                reader.read_inverse_bind_matrices().ok_or("its inverse bind matrices cannot be read")?.collect()
            }
        };
        if inverse.len() < joint_count {
            return Err(format!("it has {} inverse bind matrices for {joint_count} joints", inverse.len()));
        }
        let joints = skin.joints().map(|joint| joint.index()).zip(inverse).collect();
        let order = order(&parents)?;
        Ok(Self { placements: gltf.nodes().map(place).collect(), parents, order, joints })
    }

    /// The matrices of all joints with these placements of all nodes.
    fn matrices(&self, placements: &[Placement]) -> Result<Vec<[[f32; 4]; 3]>, String> {
        let mut worlds = vec![IDENTITY; placements.len()];
        for &node in &self.order {
            let own = placements[node].matrix();
            worlds[node] = self.parents[node].map_or(own, |parent| product(&worlds[parent], &own));
        }
        let matrix = |&(node, inverse): &(usize, Matrix)| {
            let whole = product(&worlds[node], &inverse);
            let rows = std::array::from_fn(|row| std::array::from_fn(|column| whole[column][row]));
            if rows.as_flattened().iter().all(|number: &f32| number.is_finite()) {
                Ok(rows)
            } else {
                Err(format!("the matrix of node {node} is not finite"))
            }
        };
        self.joints.iter().map(matrix).collect()
    }
}

/// All nodes in an order in which each comes behind its parent.
fn order(parents: &[Option<usize>]) -> Result<Vec<usize>, String> {
    let mut children = vec![Vec::new(); parents.len()];
    let mut order = Vec::new();
    for (node, parent) in parents.iter().enumerate() {
        match parent {
            Some(parent) => children[*parent].push(node),
            None => order.push(node),
        }
    }
    let mut at = 0;
    while let Some(&node) = order.get(at) {
        order.append(&mut children[node]);
        at += 1;
    }
    // What is above itself hangs from no root.
    if order.len() == parents.len() { Ok(order) } else { Err("a node is above itself".to_owned()) }
}

/// The poses of all animations; without any, one of the nodes as they are.
pub(crate) fn all(gltf: &gltf::Document, skin: &gltf::Skin<'_>, buffers: &[Vec<u8>]) -> Result<Vec<Poses>, String> {
    let skeleton = Skeleton::new(gltf, skin, buffers)?;
    let (mut all, mut count) = (Vec::new(), 0.0);
    for animation in gltf.animations() {
        let channels: Result<Vec<Channel>, String> =
            animation.channels().map(|channel| Channel::read(&channel, buffers)).collect();
        let channels = channels.map_err(|reason| format!("a channel of animation {} {reason}", animation.index()))?;
        let duration_s = channels.iter().filter_map(|channel| channel.times.last()).fold(0.0f32, |a, &b| a.max(b));
        let steps = (duration_s * RATE_HZ).round().max(1.0);
        count += steps + 1.0;
        if count > MAX_POSES as f32 {
            return Err(format!("its animations have more than {MAX_POSES} poses, at {RATE_HZ} a second"));
        }
        let mut matrices = Vec::new();
        for step in 0..=steps as usize {
            let mut placements = skeleton.placements.clone();
            let time = duration_s * step as f32 / steps;
            channels.iter().for_each(|channel| channel.apply(time, &mut placements));
            matrices.extend(skeleton.matrices(&placements)?);
        }
        all.push(Poses { name: animation.name().unwrap_or_default().to_owned(), duration_s, matrices });
    }
    if all.is_empty() {
        let matrices = skeleton.matrices(&skeleton.placements)?;
        all.push(Poses { name: String::new(), duration_s: 0.0, matrices });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(property: Property, interpolation: Interpolation, times: &[f32], values: &[&[f32]]) -> Channel {
        let values = values.iter().map(|value| value.to_vec()).collect();
        Channel { node: 0, property, interpolation, times: times.to_vec(), values }
    }

    #[test]
    fn values_are_interpolated_as_gltf_says() {
        let keys: [&[f32]; 2] = [&[0.0, 0.0, 4.0], &[2.0, 0.0, 0.0]];
        let moved = |interpolation, time| channel(Property::Translation, interpolation, &[1.0, 3.0], &keys).at(time);
        assert_eq!(moved(Interpolation::Linear, 1.5), [0.5, 0.0, 3.0]);
        assert_eq!(moved(Interpolation::Step, 2.9), [0.0, 0.0, 4.0]);
        assert_eq!(moved(Interpolation::Linear, 0.0), [0.0, 0.0, 4.0]);
        assert_eq!(moved(Interpolation::Linear, 9.0), [2.0, 0.0, 0.0]);
        // From 0 with slope 1 to 2 with slope 1, in 2 seconds: a straight line. Without slopes: half of the way at half of the time, 5/32 at a quarter.
        let cubic = |slope: f32, time| {
            let (still, tangent) = ([0.0; 3], [slope; 3]);
            let values: [&[f32]; 6] = [&still, &[0.0; 3], &tangent, &tangent, &[2.0; 3], &still];
            channel(Property::Scale, Interpolation::CubicSpline, &[0.0, 2.0], &values).at(time)[0]
        };
        assert!((cubic(1.0, 0.5) - 0.5).abs() < 1e-6 && (cubic(1.0, 1.7) - 1.7).abs() < 1e-6);
        assert!((cubic(0.0, 1.0) - 1.0).abs() < 1e-6 && (cubic(0.0, 0.5) - 2.0 * 5.0 / 32.0).abs() < 1e-6);
        // A quarter turn about z, and the same as its negative: a third of it are 30 degrees, of half of which this is the sine.
        let half = std::f32::consts::FRAC_PI_8 * 2.0;
        let quarter = [0.0, 0.0, half.sin(), half.cos()];
        for sign in [1.0, -1.0] {
            let to = quarter.map(|part: f32| sign * part);
            let values: [&[f32]; 2] = [&[0.0, 0.0, 0.0, 1.0], &to];
            let turned = channel(Property::Rotation, Interpolation::Linear, &[0.0, 3.0], &values).at(1.0);
            assert!((turned[2] - (std::f32::consts::PI / 12.0).sin()).abs() < 1e-6, "{turned:?}");
        }
    }

    /// A quarter turn about z, twice as large along x, moved by (1, 2, 3): (1, 1, 1) becomes (-1, 2, 1), and then (0, 4, 4).
    #[test]
    fn placements_scale_turn_and_move() {
        let half = std::f32::consts::FRAC_PI_4;
        let placement = Placement {
            translation: [1.0, 2.0, 3.0],
            rotation: [0.0, 0.0, half.sin(), half.cos()],
            scale: [2.0, 1.0, 1.0],
        };
        let matrix = placement.matrix();
        let at: Vec<f32> = (0..3).map(|row| (0..4).map(|column| matrix[column][row]).sum()).collect();
        assert!(at.iter().zip([0.0, 4.0, 4.0]).all(|(a, b)| (a - b).abs() < 1e-5), "{at:?}");
    }

    /// An arm of two joints, each 1 long: the second turned by 90 degrees. What is at (0, 2) in the mesh, the tip, comes to (-1, 1).
    #[test]
    fn joints_follow_those_above() {
        let still = Placement { translation: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0], scale: [1.0; 3] };
        let half = std::f32::consts::FRAC_PI_4;
        let bent = Placement { translation: [0.0, 1.0, 0.0], rotation: [0.0, 0.0, half.sin(), half.cos()], ..still };
        let mut inverse = IDENTITY;
        inverse[3] = [0.0, -1.0, 0.0, 1.0];
        let skeleton = Skeleton {
            placements: vec![still, bent],
            parents: vec![None, Some(0)],
            order: order(&[None, Some(0)]).unwrap(),
            joints: vec![(0, IDENTITY), (1, inverse)],
        };
        let matrices = skeleton.matrices(&skeleton.placements).unwrap();
        let tip = matrices[1].map(|row| 2.0 * row[1] + row[3]);
        assert!((tip[0] + 1.0).abs() < 1e-6 && (tip[1] - 1.0).abs() < 1e-6 && tip[2] == 0.0, "{tip:?}");
        assert!(order(&[None, Some(2), Some(1)]).unwrap_err().contains("above itself"));
        assert_eq!(order(&[Some(2), None, Some(1)]).unwrap(), [1, 2, 0]);
    }
}
