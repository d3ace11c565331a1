//! Programs against straightforward implementations of what they compute.

use std::collections::BTreeMap;

use crate::common::{app, random_inputs};
use pushmem_images::Image;
use pushmem_nest::Program;

/// Executes the program and returns its only output.
fn run(program: &Program, inputs: &BTreeMap<String, Image>) -> Image {
    let outputs = program.run(inputs).unwrap();
    outputs.into_values().next().unwrap()
}

/// Runs the program on random images and compares every element of its output.
fn compare(program: &Program, largest: i64, expected: impl Fn(&Image, &[i64]) -> i64) {
    for seed in 0..3 {
        let inputs = random_inputs(program, seed, largest);
        let output = run(program, &inputs);
        let input = inputs.values().next().unwrap();
        for (position, found) in output.values().iter().enumerate() {
            let indices = output.indices(position);
            assert_eq!(found, expected(input, &indices), "{} at {indices:?}", program.name);
        }
    }
}

fn at(image: &Image, x: i64, y: i64) -> u16 {
    image.get(&[x, y]).unwrap() as u16
}

/// The weighted sum of the 3 x 3 elements whose first is at (x, y).
fn window(weights: [[u16; 3]; 3], x: i64, y: i64, pixel: impl Fn(i64, i64) -> u16) -> u16 {
    let mut sum = 0_u16;
    for (dy, row) in (0..).zip(weights) {
        for (dx, weight) in (0..).zip(row) {
            sum = sum.wrapping_add(weight.wrapping_mul(pixel(x + dx, y + dy)));
        }
    }
    sum
}

const BINOMIAL: [[u16; 3]; 3] = [[1, 2, 1], [2, 4, 2], [1, 2, 1]];

#[test]
fn brighten_blur() {
    compare(&app("brighten_blur"), 65535, |input, p| {
        let bright = |x, y| at(input, x, y).wrapping_mul(2);
        let (x, y) = (p[0], p[1]);
        let sum = [bright(x + 1, y), bright(x, y + 1), bright(x + 1, y + 1)];
        (sum.into_iter().fold(bright(x, y), u16::wrapping_add) / 4).into()
    });
}

#[test]
fn gaussian() {
    let weights = [[24, 30, 24], [30, 37, 30], [24, 30, 24]];
    for name in ["gaussian", "gaussian_unroll2", "gaussian_unroll8", "gaussian_unroll16"] {
        for largest in [255, 65535] {
            compare(&app(name), largest, |input, p| (window(weights, p[0], p[1], |x, y| at(input, x, y)) >> 8).into());
        }
    }
}

#[test]
fn convolutions() {
    let weights = [[11, 14, 17], [12, 255, 18], [13, 16, 19]];
    compare(&app("conv_3_3"), 65535, |input, p| window(weights, p[0], p[1], |x, y| at(input, x, y)).into());
    let weights = [[11, 14, 17], [12, 0, 18], [13, 16, 19]];
    compare(&app("strided_conv"), 65535, |input, p| window(weights, 2 * p[0], 2 * p[1], |x, y| at(input, x, y)).into());
    compare(&app("cascade"), 65535, |input, p| {
        window(BINOMIAL, p[0], p[1], |x, y| window(BINOMIAL, x, y, |x, y| at(input, x, y))).into()
    });
    compare(&app("conv_1_2"), 65535, |input, p| {
        at(input, p[0], p[1]).wrapping_add(at(input, p[0] + 1, p[1]).wrapping_mul(3)).into()
    });
    compare(&app("conv_1_3"), 65535, |input, p| {
        let tap = |offset, weight| at(input, p[0] + offset, p[1]).wrapping_mul(weight);
        tap(0, 1).wrapping_add(tap(1, 3)).wrapping_add(tap(2, 2)).into()
    });
}

#[test]
fn up_sample() {
    for name in ["up_sample", "up_sample_unroll4"] {
        compare(&app(name), 65535, |input, p| (at(input, p[0] / 2, p[1] / 2) as u8).into());
    }
}

#[test]
fn down_sample() {
    compare(&app("down_sample"), 65535, |input, p| {
        let pixel = |x, y| input.get(&[2 * p[0] + x, 2 * p[1] + y, p[2]]).unwrap() as u16;
        let sum = pixel(0, 0).wrapping_add(pixel(1, 0)).wrapping_add(pixel(0, 1)).wrapping_add(pixel(1, 1));
        ((sum / 4) as u8).into()
    });
}

#[test]
fn boundaries() {
    let blur = |program: &str, place: fn(i64) -> Option<i64>| {
        compare(&app(program), 65535, |input, p| {
            let pixel = |x, y| place(x).zip(place(y)).map_or(0, |(x, y)| at(input, x, y));
            (window(BINOMIAL, p[0] - 1, p[1] - 1, pixel) / 16).into()
        });
    };
    blur("bc_const", |place| (0..64).contains(&place).then_some(place));
    blur("bc_repeat", |place| Some(place.clamp(0, 63)));
    blur("bc_mirror", |place| {
        Some(match place {
            -1 => 0,
            64 => 63,
            inside => inside,
        })
    });
}

/// Harris corners as functions of functions; slow and obvious.
struct Harris<'a> {
    pixel: &'a dyn Fn(i64, i64) -> i16,
    limit: i16,
    divisor: i16,
}

impl Harris<'_> {
    fn gradient(&self, x: i64, y: i64, along_x: bool) -> i16 {
        let pixel = |along: i64, across: i64| {
            if along_x { (self.pixel)(x + along, y + across) } else { (self.pixel)(x + across, y + along) }
        };
        let side = |along| {
            let twice = pixel(along, 0).wrapping_mul(2);
            pixel(along, -1).wrapping_add(twice).wrapping_add(pixel(along, 1))
        };
        side(1).wrapping_sub(side(-1)).clamp(-self.limit, self.limit)
    }

    fn sum(&self, x: i64, y: i64, first_along_x: bool, second_along_x: bool) -> i16 {
        let mut sum = 0_i16;
        for (dx, dy) in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy))) {
            let first = self.gradient(x + dx, y + dy, first_along_x);
            let second = self.gradient(x + dx, y + dy, second_along_x);
            sum = sum.wrapping_add(first.wrapping_mul(second).div_euclid(self.divisor));
        }
        sum.div_euclid(64)
    }

    fn measure(&self, x: i64, y: i64) -> i16 {
        let (xx, yy, xy) = (self.sum(x, y, true, true), self.sum(x, y, false, false), self.sum(x, y, true, false));
        let trace = xx.wrapping_add(yy);
        let determinant = xx.wrapping_mul(yy).wrapping_sub(xy.wrapping_mul(xy));
        determinant.wrapping_sub(trace.wrapping_mul(trace).div_euclid(16))
    }

    fn corner(&self, x: i64, y: i64) -> i64 {
        let here = self.measure(x, y);
        let mut neighbours = (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy))).filter(|place| *place != (0, 0));
        if neighbours.all(|(dx, dy)| here > self.measure(x + dx, y + dy)) && here >= 1 { 255 } else { 0 }
    }
}

#[test]
fn harris() {
    let names = ["harris", "harris_unroll3", "harris_sch2", "harris_sch3", "harris_sch4", "harris_sch5", "harris_sch6"];
    let of_schedules = |name: &str| name.starts_with("harris_sch");
    for (name, limit, divisor) in names.map(|name| if of_schedules(name) { (name, 180, 64) } else { (name, 255, 128) })
    {
        let program = app(name);
        // Where values do not wrap there are corners; random bits test the wrapping.
        for (seed, largest) in [(0, 255), (1, 32767)] {
            let inputs = random_inputs(&program, seed, largest);
            let input = &inputs["input"];
            let pixel = |x, y| input.get(&[x, y]).unwrap() as i16;
            let reference = Harris { pixel: &pixel, limit, divisor };
            let output = run(&program, &inputs);
            // Every place for one of the programs, fewer for those that differ in their loops only.
            let step = if name == "harris" { 1 } else { 3 };
            for (position, found) in output.values().iter().enumerate().step_by(step) {
                let p = output.indices(position);
                assert_eq!(found, reference.corner(p[0], p[1]), "{name} at {p:?}");
            }
            assert!(largest > 255 || output.values().to_vec().contains(&255), "{name} finds corners");
        }
    }
}

#[test]
fn harris_without_last_stage_and_in_colour() {
    let program = app("harris_sch8");
    let inputs = random_inputs(&program, 5, 32767);
    let pixel = |x, y| inputs["input"].get(&[x, y]).unwrap() as i16;
    let reference = Harris { pixel: &pixel, limit: 180, divisor: 64 };
    let output = run(&program, &inputs);
    for (position, found) in output.values().iter().enumerate() {
        let p = output.indices(position);
        assert_eq!(found, reference.measure(p[0], p[1]).into(), "{p:?}");
    }

    let program = app("harris_color");
    let inputs = random_inputs(&program, 6, 255);
    let channel = |c, x, y| inputs["input"].get(&[c, x, y]).unwrap();
    let pixel = |x, y| ((77 * channel(0, x, y) + 150 * channel(1, x, y) + 29 * channel(2, x, y)) / 256) as i16;
    let reference = Harris { pixel: &pixel, limit: 180, divisor: 64 };
    let output = run(&program, &inputs);
    for (position, found) in output.values().iter().enumerate().step_by(3) {
        let p = output.indices(position);
        assert_eq!(found, reference.corner(p[0], p[1]), "{p:?}");
    }
}

#[test]
fn unsharp() {
    const WEIGHTS: [[i32; 5]; 5] =
        [[3, 7, 8, 7, 3], [7, 14, 17, 14, 7], [8, 17, 21, 17, 8], [7, 14, 17, 14, 7], [3, 7, 8, 7, 3]];
    for (name, largest) in
        [("unsharp", 255), ("unsharp", 65535), ("unsharp_unroll3", 255), ("unsharp_new", 255), ("unsharp_new", 65535)]
    {
        compare(&app(name), largest, |input, p| {
            let channel = |c, x, y| input.get(&[c, x, y]).unwrap() as u32;
            let gray = |x, y| {
                let sum = 77 * channel(0, x, y) + 150 * channel(1, x, y) + 29 * channel(2, x, y);
                (sum as u16) / 256
            };
            let mut blurred = 0;
            for (dy, row) in (-2..).zip(WEIGHTS) {
                for (dx, weight) in (-2..).zip(row) {
                    blurred += weight * i32::from(gray(p[1] + dx, p[2] + dy));
                }
            }
            let mean = (blurred as i16).div_euclid(256) as u8;
            let here = gray(p[1], p[2]);
            let sharp = (2 * i32::from(here) - i32::from(mean)).clamp(0, 255);
            let value = channel(p[0], p[1], p[2]) as u16;
            if name != "unsharp_new" {
                let ratio = (sharp * 32 / i32::from(here).max(1)).min(255) as u16;
                (ratio.wrapping_mul(value) / 32).min(255).into()
            } else {
                let reciprocal = 256 / i32::from(here).clamp(1, 255);
                let ratio = (sharp * reciprocal) as u16;
                let product = i32::from(ratio).wrapping_mul(i32::from(value));
                (product.div_euclid(256) as i16).into()
            }
        });
    }
}

/// The colours at a place of a Bayer mosaic.
fn demosaic(pixel: &dyn Fn(i64, i64) -> u16, x: i64, y: i64) -> [u16; 3] {
    let avg = |a: u16, b: u16| a.wrapping_add(b).wrapping_add(1) / 2;
    let i = |dx: i64, dy: i64| pixel(x + dx, y + dy);
    let closer = |a: u16, b: u16, c: u16, d: u16| a.abs_diff(b) < c.abs_diff(d);
    let green = |dx: i64, dy: i64, back: i64| {
        // To the left and below for red, to the right and above for blue.
        let (here, beside, across) = (i(dx, dy), i(dx + back, dy), i(dx, dy - back));
        if closer(here, beside, here, across) { avg(beside, here) } else { avg(here, across) }
    };
    let gr = |dx, dy| green(dx, dy, -1);
    let gb = |dx, dy| green(dx, dy, 1);
    let corrected = |base: u16, mean: u16, greens: u16| base.wrapping_add(mean).wrapping_sub(greens);
    let c = i(0, 0);
    match (y.rem_euclid(2), x.rem_euclid(2)) {
        (0, 0) => [
            corrected(c, avg(c, i(1, 0)), avg(gr(1, 0), gr(0, 0))),
            c,
            corrected(c, avg(c, i(0, 1)), avg(gb(0, 1), gb(0, 0))),
        ],
        (0, _) => {
            let blue = if closer(i(-1, 1), c, i(0, 1), i(-1, 0)) {
                corrected(gr(0, 0), avg(i(-1, 1), c), avg(gb(-1, 1), gb(0, 0)))
            } else {
                corrected(gr(0, 0), avg(i(0, 1), i(-1, 0)), avg(gb(0, 1), gb(-1, 0)))
            };
            [c, gr(0, 0), blue]
        }
        (_, 0) => {
            let red = if closer(i(1, -1), c, i(0, -1), i(1, 0)) {
                corrected(gb(0, 0), avg(c, i(1, -1)), avg(gr(1, -1), gr(0, 0)))
            } else {
                corrected(gb(0, 0), avg(i(1, 0), i(0, -1)), avg(gr(1, 0), gr(0, -1)))
            };
            [red, gb(0, 0), c]
        }
        _ => [
            corrected(c, avg(c, i(0, -1)), avg(gr(0, 0), gr(0, -1))),
            c,
            corrected(c, avg(c, i(-1, 0)), avg(gb(0, 0), gb(-1, 0))),
        ],
    }
}

#[test]
fn demosaic_by_parity() {
    for largest in [255, 65535] {
        compare(&app("demosaic"), largest, |input, p| {
            demosaic(&|x, y| at(input, x, y), p[0], p[1])[p[2] as usize].into()
        });
    }
}

#[test]
fn camera_pipeline() {
    for largest in [255, 65535] {
        compare(&app("camera_pipeline"), largest, |input, p| {
            let denoised = |x: i64, y: i64| {
                let far = [at(input, x - 2, y), at(input, x + 2, y), at(input, x, y - 2), at(input, x, y + 2)];
                at(input, x, y).min(far.into_iter().max().unwrap()).max(far.into_iter().min().unwrap())
            };
            let colours = demosaic(&denoised, p[0], p[1]).map(|colour| colour as i16);
            let (weights, offset): ([i16; 3], i16) =
                [([200, -44, 17], -3900), ([-38, 159, -21], -2541), ([-8, -73, 228], -2008)][p[2] as usize];
            let sum =
                weights.iter().zip(colours).fold(offset, |sum, (w, colour)| sum.wrapping_add(w.wrapping_mul(colour)));
            let entry = (sum.div_euclid(256) as u16).min(255);
            if entry == 0 { 0 } else { (i64::from(entry) - 1) / 4 }
        });
    }
}

#[test]
fn laplacian_pyramid() {
    const WEIGHTS: [[u16; 3]; 3] = [[3, 21, 3], [21, 158, 21], [3, 21, 3]];
    type Level<'a> = Box<dyn Fn(i64, i64) -> u16 + 'a>;
    // Each function remembers its values: unfolded, there are millions of calls.
    fn remember<'a>(function: impl Fn(i64, i64) -> u16 + 'a) -> Level<'a> {
        let known = std::cell::RefCell::new(std::collections::HashMap::new());
        Box::new(move |x, y| {
            if let Some(value) = known.borrow().get(&(x, y)) {
                return *value;
            }
            let value = function(x, y);
            known.borrow_mut().insert((x, y), value);
            value
        })
    }
    let program = app("laplacian_pyramid");
    let inputs = random_inputs(&program, 7, 65535);
    let input = |x: i64, y: i64| at(&inputs["input"], x, y);
    let low0 = remember(|x, y| window(WEIGHTS, x - 1, y - 1, input) / 256);
    let half1 = |x: i64, y: i64| low0(2 * x, 2 * y);
    let low1 = remember(|x, y| window(WEIGHTS, x - 1, y - 1, half1) / 256);
    let half2 = |x: i64, y: i64| low1(2 * x, 2 * y);
    let up1 = |x: i64, y: i64| window(WEIGHTS, x - 1, y - 1, |x, y| half2(x.div_euclid(2), y.div_euclid(2))) / 256;
    let sum1 = remember(|x, y| up1(x, y).wrapping_add(half1(x, y).wrapping_sub(low1(x, y))));
    let output = run(&program, &inputs);
    for (position, found) in output.values().iter().enumerate() {
        let p = output.indices(position);
        let (x, y) = (p[0], p[1]);
        let up0 = window(WEIGHTS, x - 1, y - 1, |x, y| sum1(x.div_euclid(2), y.div_euclid(2))) / 256;
        let expected = up0.wrapping_add(input(x, y).wrapping_sub(low0(x, y)));
        assert_eq!(found, expected.into(), "{p:?}");
    }
}

#[test]
fn small_ones() {
    compare(&app("pointwise"), 65535, |input, p| at(input, p[0], p[1]).wrapping_mul(2).into());
    compare(&app("rom"), 65535, |input, p| (i64::from(at(input, p[0], p[1]).min(255)) - 1).max(0) / 4);
    let output = run(&app("counter"), &random_inputs(&app("counter"), 0, 0));
    assert!(output.values().iter().zip(0..).all(|(found, place)| found == place));
    fn level(input: &Image, level_number: u32, x: i64, y: i64) -> u16 {
        if level_number == 0 {
            return at(input, x, y);
        }
        let part = |dx, dy| level(input, level_number - 1, 2 * x + dx, 2 * y + dy);
        part(0, 0).wrapping_add(part(1, 0)).wrapping_add(part(0, 1)).wrapping_add(part(1, 1)) / 4
    }
    for name in ["gpyr", "gpyr_shared"] {
        compare(&app(name), 65535, |input, p| level(input, 3, p[0], p[1]).into());
    }
}

#[test]
fn layers() {
    let program = app("matmul");
    let inputs = random_inputs(&program, 8, 32767);
    let output = run(&program, &inputs);
    for (position, found) in output.values().iter().enumerate() {
        let p = output.indices(position);
        let products = (0..64).map(|r| inputs["a"].get(&[r, p[1]]).unwrap() * inputs["b"].get(&[p[0], r]).unwrap());
        assert_eq!(found, (products.sum::<i64>() as i16).into(), "{p:?}");
    }
    for (name, channels, relu) in [("resnet_tiny", 1, false), ("resnet_simple", 1, true), ("resnet88", 8, false)] {
        let program = app(name);
        let inputs = random_inputs(&program, 9, 32767);
        let output = run(&program, &inputs);
        for (position, found) in output.values().iter().enumerate() {
            let p = output.indices(position);
            let mut sum = 0;
            for (z, rx, ry) in (0..channels).flat_map(|z| (0..9).map(move |tap| (z, tap % 3, tap / 3))) {
                let weight = inputs["weights"].get(&[z, p[0], rx, ry]).unwrap();
                sum += weight * inputs["input"].get(&[z, p[1] + rx, p[2] + ry]).unwrap();
            }
            let value = i64::from(sum as i16);
            assert_eq!(found, if relu { value.max(0) } else { value }, "{name} at {p:?}");
        }
    }
}

#[test]
fn stereo() {
    let program = app("stereo_small");
    let inputs = random_inputs(&program, 10, 65535);
    let output = run(&program, &inputs);
    for (position, found) in output.values().iter().enumerate() {
        let p = output.indices(position);
        let difference = |shift: i64| {
            let window = (-8..8).flat_map(|wy| (-8..8).map(move |wx| (wx, wy)));
            window.fold(0_u16, |sum, (wx, wy)| {
                let right = at(&inputs["right"], p[0] + wx, p[1] + wy);
                sum.wrapping_add(right.abs_diff(at(&inputs["left"], p[0] + wx + 5 + shift, p[1] + wy)))
            })
        };
        let best = (0..10).map(difference).min().unwrap();
        let shift = (0..10).rev().find(|&shift| difference(shift) == best).unwrap();
        assert_eq!(found, i64::from((shift * 255 / 10) as u8), "{p:?}");
    }
}

#[test]
fn camera_pipeline_new() {
    let program = app("camera_pipeline_new");
    let curve = &program.tables[0].values;
    for largest in [255, 65535] {
        compare(&program, largest, |input, p| {
            let denoised = |x: i64, y: i64| {
                let far = [at(input, x - 2, y), at(input, x + 2, y), at(input, x, y - 2), at(input, x, y + 2)];
                at(input, x, y).min(far.into_iter().max().unwrap())
            };
            let avg = |a: u16, b: u16| a.wrapping_add(b).wrapping_add(1) / 2;
            let closer = |a: u16, b: u16, c: u16, d: u16| a.abs_diff(b) < c.abs_diff(d);
            let (x, y) = (p[0] / 2, p[1] / 2);
            // Planes at offsets from here.
            let gr = |dx: i64, dy: i64| denoised(2 * (x + dx), 2 * (y + dy));
            let r = |dx: i64, dy: i64| denoised(2 * (x + dx) + 1, 2 * (y + dy));
            let b = |dx: i64, dy: i64| denoised(2 * (x + dx), 2 * (y + dy) + 1);
            let gb = |dx: i64, dy: i64| denoised(2 * (x + dx) + 1, 2 * (y + dy) + 1);
            let g_r = |dx: i64, dy: i64| {
                let (right, here) = (gr(dx + 1, dy), gr(dx, dy));
                let (above, below) = (gb(dx, dy - 1), gb(dx, dy));
                if closer(right, here, above, below) { avg(right, here) } else { avg(above, below) }
            };
            let g_b = |dx: i64, dy: i64| {
                let (left, here) = (gb(dx - 1, dy), gb(dx, dy));
                let (below, above) = (gr(dx, dy + 1), gr(dx, dy));
                if closer(left, here, below, above) { avg(left, here) } else { avg(below, above) }
            };
            let corrected = |base: u16, mean: u16, greens: u16| base.wrapping_add(mean).wrapping_sub(greens);
            let colours = match (p[1] % 2, p[0] % 2) {
                (0, 0) => [
                    corrected(gr(0, 0), avg(r(-1, 0), r(0, 0)), avg(g_r(0, 0), g_r(-1, 0))),
                    gr(0, 0),
                    corrected(gr(0, 0), avg(b(0, 0), b(0, -1)), avg(g_b(0, 0), g_b(0, -1))),
                ],
                (0, _) => {
                    let blue = if closer(b(0, 0), b(1, -1), b(1, 0), b(0, -1)) {
                        corrected(g_r(0, 0), avg(b(0, 0), b(1, -1)), avg(g_b(0, 0), g_b(1, -1)))
                    } else {
                        corrected(g_r(0, 0), avg(b(1, 0), b(0, -1)), avg(g_b(1, 0), g_b(0, -1)))
                    };
                    [r(0, 0), g_r(0, 0), blue]
                }
                (_, 0) => {
                    let red = if closer(r(0, 0), r(-1, 1), r(-1, 0), r(0, 1)) {
                        corrected(g_b(0, 0), avg(r(0, 0), r(-1, 1)), avg(g_r(0, 0), g_r(-1, 1)))
                    } else {
                        corrected(g_b(0, 0), avg(r(-1, 0), r(0, 1)), avg(g_r(-1, 0), g_r(0, 1)))
                    };
                    [red, g_b(0, 0), b(0, 0)]
                }
                _ => [
                    corrected(gb(0, 0), avg(r(0, 0), r(0, 1)), avg(g_r(0, 0), g_r(0, 1))),
                    gb(0, 0),
                    corrected(gb(0, 0), avg(b(0, 0), b(1, 0)), avg(g_b(0, 0), g_b(1, 0))),
                ],
            };
            let (weights, offset): ([i32; 3], i32) =
                [([549, -103, 7], -10221), ([-96, 373, 62], -7254), ([-31, -261, 883], -5563)][p[2] as usize];
            let sum: i32 = weights.iter().zip(colours).map(|(weight, colour)| weight * i32::from(colour)).sum();
            let entry = ((sum + offset) >> 8) as i16;
            curve[entry.clamp(0, 1023) as usize]
        });
    }
}

#[test]
fn exposure_fusion() {
    let program = app("exposure_fusion");
    for (seed, largest) in [(0, 255), (1, 65535)] {
        let inputs = random_inputs(&program, seed, largest);
        let output = run(&program, &inputs);
        for (position, found) in output.values().iter().enumerate() {
            let p = output.indices(position);
            // Subsampled images are the image at multiples.
            let image = |name: &str, level: i64, x: i64, y: i64| {
                let scale = 1 << level;
                inputs[name].get(&[x * scale, y * scale, p[2]]).unwrap() as u16
            };
            let weight = |name: &str, level: i64, x: i64, y: i64| {
                let (bright, dark) = (image("bright", level, x, y), image("dark", level, x, y));
                let sum = bright.wrapping_add(dark).wrapping_mul(2).wrapping_add(1);
                image(name, level, x, y).wrapping_mul(256) / sum
            };
            let detail = |name: &str, level: i64, x: i64, y: i64| {
                let coarse = if level == 2 { 0 } else { image(name, level + 1, x / 2, y / 2) };
                image(name, level, x, y).wrapping_sub(coarse)
            };
            let merged = |level: i64, x: i64, y: i64| {
                let part = |name: &str| weight(name, level, x, y).wrapping_mul(detail(name, level, x, y));
                part("dark").wrapping_add(part("bright")) / 128
            };
            let (x, y) = (p[0], p[1]);
            let coarse = merged(1, x / 2, y / 2).wrapping_add(merged(2, x / 4, y / 4));
            assert_eq!(found, merged(0, x, y).wrapping_add(coarse).into(), "{p:?}");
        }
    }
}

#[test]
fn networks() {
    let program = app("mobilenet");
    let inputs = random_inputs(&program, 11, 32767);
    let output = run(&program, &inputs);
    for (position, found) in output.values().iter().enumerate() {
        let p = output.indices(position);
        let mut sum = 0;
        for c in 0..4 {
            let taps = (0..9).map(|tap| (tap % 3, tap / 3)).map(|(i, j)| {
                inputs["depthwise"].get(&[c, i, j]).unwrap() * inputs["input"].get(&[c, p[1] + i, p[2] + j]).unwrap()
            });
            sum += inputs["pointwise"].get(&[c, p[0]]).unwrap() * i64::from(taps.sum::<i64>() as i16);
        }
        assert_eq!(found, i64::from(sum as i16), "{p:?}");
    }

    let program = app("fsrcnn");
    let inputs = random_inputs(&program, 12, 32767);
    let value = |name: &str, indices: &[i64]| inputs[name].get(indices).unwrap();
    let wrapped = |sum: i64| i64::from(sum as i16);
    let size = 8 * 30 * 30;
    let place = |w: i64, x: i64, y: i64| (w + 8 * (x + 30 * y)) as usize;
    let (mut first, mut second) = (vec![0; size], vec![0; size]);
    for (y, x, w) in (0..30).flat_map(|y| (0..30 * 8).map(move |rest| (y, rest / 8, rest % 8))) {
        first[place(w, x, y)] = wrapped((0..64).map(|z| value("k0", &[z, w]) * value("input", &[z, x, y])).sum());
    }
    for (y, x, w) in (0..28).flat_map(|y| (0..28 * 8).map(move |rest| (y, rest / 8, rest % 8))) {
        let taps = (0..72).map(|tap| (tap % 8, tap / 8 % 3, tap / 24));
        let products = taps.map(|(z, rx, ry)| value("k1", &[z, w, rx, ry]) * first[place(z, x + rx, y + ry)]);
        second[place(w, x, y)] = wrapped(products.sum());
    }
    let output = run(&program, &inputs);
    for (position, found) in output.values().iter().enumerate() {
        let p = output.indices(position);
        let products = (0..8).map(|z| value("k2", &[z, p[0]]) * second[place(z, p[1], p[2])]);
        assert_eq!(found, wrapped(products.sum()), "{p:?}");
    }
}

#[test]
fn nlmeans() {
    compare(&app("nlmeans"), 255, |input, p| {
        let pixel = |c: i64, x: i64, y: i64| input.get(&[c, x, y]).unwrap() as u16;
        let (mut sum, mut weights) = (0_i16, 0_u16);
        for (dx, dy) in (-2..2).flat_map(|dx| (-2..2).map(move |dy| (dx, dy))) {
            let mut distance = 0_u16;
            for (i, j, c) in (0..48).map(|place| (place % 4 - 2, place / 4 % 4 - 2, place / 16)) {
                let (x, y) = (p[1] + i, p[2] + j);
                let difference = pixel(c, x, y).wrapping_sub(pixel(c, x + dx, y + dy));
                distance = distance.wrapping_add(difference.wrapping_mul(difference));
            }
            let weight = distance.wrapping_mul(16);
            weights = weights.wrapping_add(weight);
            sum = sum.wrapping_add(weight.wrapping_mul(pixel(p[0], p[1] + dx, p[2] + dy)) as i16);
        }
        sum.wrapping_mul(weights as i16).clamp(0, 255).into()
    });
}

#[test]
fn an_integral_image_of_32_bits() {
    let program = app("integral_image_32");
    let inputs = random_inputs(&program, 5, 255);
    let output = &program.run(&inputs).unwrap()["output"];
    let mut above = [0; 64];
    for y in 0..48 {
        let mut row = 0;
        for (x, above) in above.iter_mut().enumerate() {
            row += inputs["input"].get(&[x as i64, y]).unwrap();
            *above += row;
            assert_eq!(output.get(&[x as i64, y]), Some(*above), "at {x}, {y}");
        }
    }
    assert!(output.values().iter().any(|value| value > 65_535), "it needs no 32 bits");
}
