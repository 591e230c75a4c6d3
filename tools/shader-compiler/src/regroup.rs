//! Pass `regroup`: reassociates sums and products of the source, so that they take fewer operations.
//!
//! WGSL lets an implementation reassociate: compute an expression in another order that has the same result in exact arithmetic [WGSL, "Reassociation and
//! Fusion"]. Three rules are applied, each of which removes operations:
//! 1. A factor of several terms of a sum is multiplied once: `a * x + a * y` becomes `a * (x + y)`. Factors in values that only such sums use are found too, as
//!    those of `normalize(v)` in `dot(normalize(v), l)`.
//! 2. Constant factors of a product are multiplied at compile time.
//! 3. Two factors or two terms that occur together in several expressions are computed once: in `base * light * 1.5` for three components, `light * 1.5`.
//!
//! Nothing else changes: an expression to which no rule applies keeps its order, terms never cancel, and constant terms stay with theirs, so that
//! `(x + 8388608.0) - 8388608.0` still rounds. The compiler's own sequences, such as those of quotients, are not [free](crate::ssa::Computation), and neither
//! are those of coordinate and vertex shaders: positions are the same in all programs that compute them by the same expression.
//!
//! | module | what it does |
//! |---|---|
//! | `trees` | finds the sums and products |
//! | `factors` | rules 1 and 2 |
//! | `pairs` | rule 3 |
//! | `rebuild` | computes the expressions that have changed |

mod factors;
mod pairs;
mod rebuild;
mod trees;

use crate::ssa::Program;
use trees::Forest;

/// Reassociates free sums and products; returns whether there is anything that it changes.
pub(crate) fn regroup(program: &mut Program) -> bool {
    let mut has_changed = false;
    let mut places = trees::places(program);
    for region in 0..=program.loops.len() as u32 {
        let mut forest = Forest::of(program, &places, region);
        factors::unscale_vectors(&mut forest);
        factors::factor(&mut forest, program);
        pairs::share(&mut forest);
        if forest.has_changed() {
            rebuild::rebuild(program, forest, region);
            places = trees::places(program);
            has_changed = true;
        }
    }
    has_changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eliminate_dead::eliminate_dead;
    use crate::ssa::{Op, Step, Value};
    use alloc::vec;
    use alloc::vec::Vec;
    use hashbrown::HashMap;
    use v3d_hw::qpu::{AddOp, MulOp};
    use v3d_sim::random::Random;

    /// The number of additions and multiplications.
    fn operations(program: &Program) -> [usize; 2] {
        let count = |wanted: fn(&Op) -> bool| {
            let steps = program.steps.iter();
            steps.filter(|step| matches!(step, Step::Compute(value) if wanted(&program.op(*value)))).count()
        };
        [count(|op| matches!(op, Op::Add(..))), count(|op| matches!(op, Op::Mul(..)))]
    }

    /// What a program without loops writes, in double precision, for some varyings.
    fn results(program: &Program, varyings: &[f64]) -> Vec<f64> {
        let mut values: HashMap<Value, f64> = HashMap::new();
        let mut written = Vec::new();
        for step in &program.steps {
            let Step::Compute(value) = *step else { continue };
            let of = |value: Value| match program.op(value) {
                Op::Const(bits) => f64::from(f32::from_bits(bits)),
                _ => *values.get(&value).unwrap_or_else(|| panic!("{value} is used before it is computed\n{program}")),
            };
            let result = match program.op(value) {
                Op::Varying(number) => varyings[number as usize],
                Op::Add(AddOp::Fadd, a, b) => of(a) + of(b),
                Op::Add(AddOp::Fsub, a, b) => of(a) - of(b),
                Op::Mul(MulOp::Fmul, a, b) => of(a) * of(b),
                Op::Color(a) => {
                    written.push(of(a));
                    continue;
                }
                other => panic!("{other:?}"),
            };
            values.insert(value, result);
        }
        written
    }

    /// A program of free operations on varyings, whose results are written.
    fn program(varyings: u32, make: impl FnOnce(&mut Program, &[Value]) -> Vec<Value>) -> Program {
        let mut program = Program::default();
        let varyings: Vec<Value> = (0..varyings).map(|number| program.value(Op::Varying(number))).collect();
        let results = program.freely(|program| make(program, &varyings));
        for result in results {
            program.value(Op::Color(result));
        }
        program
    }

    fn sum(program: &mut Program, terms: &[Value]) -> Value {
        terms[1..].iter().fold(terms[0], |sum, &term| program.fadd(sum, term))
    }

    fn dot(program: &mut Program, a: &[Value], b: &[Value]) -> Value {
        let products: Vec<Value> = a.iter().zip(b).map(|(&a, &b)| program.fmul(a, b)).collect();
        sum(program, &products)
    }

    fn scaled(program: &mut Program, a: &[Value], by: Value) -> Vec<Value> {
        a.iter().map(|&a| program.fmul(a, by)).collect()
    }

    /// The additions and multiplications that are left of a program.
    fn check(varyings: u32, expected: [usize; 2], make: impl FnOnce(&mut Program, &[Value]) -> Vec<Value>) {
        let mut program = program(varyings, make);
        let given: Vec<f64> = (0..varyings).map(|number| 1.0 + f64::from(number * number) / 7.0).collect();
        let before = results(&program, &given);
        regroup(&mut program);
        eliminate_dead(&mut program);
        assert_eq!(operations(&program), expected, "{program}");
        for (found, before) in results(&program, &given).into_iter().zip(before) {
            assert!((found - before).abs() <= 1e-6 * before.abs(), "{found}, not {before}\n{program}");
        }
    }

    #[test]
    fn a_common_factor_is_multiplied_once() {
        check(3, [1, 1], |program, v| {
            let [one, other] = [program.fmul(v[0], v[1]), program.fmul(v[2], v[0])];
            vec![program.fsub(one, other)]
        });
        // a * b + a needs no product less.
        check(2, [1, 1], |program, v| {
            let product = program.fmul(v[0], v[1]);
            vec![program.fadd(product, v[0])]
        });
    }

    #[test]
    fn scalars_are_multiplied_before_vectors() {
        check(6, [0, 5], |program, v| {
            let by = scaled(program, &v[..3], v[3]);
            let by = scaled(program, &by, v[4]);
            scaled(program, &by, v[5])
        });
    }

    #[test]
    fn constants_are_multiplied_at_compile_time() {
        check(1, [0, 1], |program, v| {
            let [two, three] = [program.float(3.0), program.float(1.5)];
            let product = program.fmul(v[0], two);
            vec![program.fmul(product, three)]
        });
        check(1, [0, 1], |program, v| {
            let products = [2.5, -0.5, 3.0].map(|constant| {
                let constant = program.float(constant);
                program.fmul(v[0], constant)
            });
            vec![sum(program, &products)]
        });
    }

    /// A vector that is scaled, and whose products with two others are summed: the sums are scaled.
    #[test]
    fn sums_are_scaled_instead_of_vectors() {
        check(10, [4, 8], |program, v| {
            let normal = scaled(program, &v[..3], v[9]);
            vec![dot(program, &normal, &v[3..6]), dot(program, &normal, &v[6..9])]
        });
        // With three of them nothing would be saved, and with another use of the vector an operation more.
        check(10, [4, 9], |program, v| {
            let normal = scaled(program, &v[..3], v[9]);
            vec![dot(program, &normal, &v[3..6]), dot(program, &normal, &v[6..9]), normal[0]]
        });
    }

    /// Two lights, each with a diffuse and a specular part, on three components.
    #[test]
    fn lights_of_three_components_are_added_once() {
        check(9, [1 + 1 + 3, 1 + 2 + 1 + 1 + 3], |program, v| {
            let constant = program.float(1.5);
            (0..3)
                .map(|component| {
                    let mut terms = Vec::new();
                    for light in [&v[3..6], &v[6..9]] {
                        let diffuse = program.fmul(v[component], light[0]);
                        let diffuse = program.fmul(diffuse, light[1]);
                        terms.push(program.fmul(diffuse, constant));
                        terms.push(program.fmul(light[2], light[1]));
                    }
                    sum(program, &terms)
                })
                .collect()
        });
    }

    /// An addition of a constant that rounds stays where it is, and so does all that is not free.
    #[test]
    fn roundings_are_kept() {
        let round = |program: &mut Program, v: &[Value]| {
            let constant = program.float(12_582_912.0);
            v.iter()
                .map(|&v| {
                    let sum = program.fadd(v, constant);
                    program.fsub(sum, constant)
                })
                .collect()
        };
        check(3, [6, 0], round);
        check(3, [1, 2], |program, v| {
            program.free = false;
            let products = [program.fmul(v[0], v[1]), program.fmul(v[0], v[2])];
            vec![program.fadd(products[0], products[1])]
        });
    }

    /// Random sums and products keep their results, and never take more operations.
    #[test]
    fn random_expressions_keep_their_results() {
        let mut saved = 0;
        for number in 0..400 {
            let mut random = Random::new(46, number);
            let made = program(6, |program, v| {
                let mut known = v.to_vec();
                known.extend([2.0, -0.75].map(|constant| program.float(constant)));
                for _ in 0..random.below(30) {
                    let mut any =
                        |most: usize| known[known.len() - 1 - random.below(known.len().min(most) as u32) as usize];
                    let value = match (any(6), any(100), any(100), any(100)) {
                        (a, b, ..) if random.one_in(4) => program.fmul(a, b),
                        (a, b, c, _) if random.one_in(3) => {
                            let product = program.fmul(b, c);
                            program.fmul(a, product)
                        }
                        (a, b, c, d) => {
                            let (one, other) = (program.fmul(a, b), program.fmul(c, d));
                            if random.one_in(2) { program.fadd(one, other) } else { program.fsub(one, other) }
                        }
                    };
                    known.push(value);
                }
                known.split_off(known.len() - 4)
            });
            let varyings: Vec<f64> = (0..6).map(|_| f64::from(random.below(2000)) / 1000.0 - 1.0).collect();
            let mut before = made.clone();
            eliminate_dead(&mut before);
            let mut after = before.clone();
            regroup(&mut after);
            eliminate_dead(&mut after);
            let [few, many] = [&after, &before].map(|program| operations(program).iter().sum::<usize>());
            assert!(few <= many, "{number}: {few} instead of {many} operations\n{before}\n{after}");
            saved += many - few;
            for (found, expected) in results(&after, &varyings).into_iter().zip(results(&before, &varyings)) {
                let off = (found - expected).abs() / expected.abs().max(1.0);
                assert!(off < 1e-5 || !expected.is_finite(), "{number}: {found}, not {expected}\n{before}\n{after}");
            }
        }
        assert!(saved > 300, "{saved} operations were saved");
    }
}
