//! Layers of neural networks and tiled programs against whole images computed in the obvious order.

use std::collections::BTreeMap;

use crate::common::{app, apps, random_inputs};
use pushmem_images::{Element, Image};

/// Runs the program on values from the whole range of their types, and compares all of its output.
fn compare(name: &str, expected: impl Fn(&BTreeMap<String, Image>) -> Image) {
    let program = app(name);
    for seed in 0..2 {
        let mut inputs = random_inputs(&program, seed, 65535);
        for image in inputs.values_mut().filter(|image| image.element() == Element::I16) {
            *image =
                filled(Element::I16, image.shape(), |indices| i64::from((image.get(indices).unwrap() * 40503) as i16));
        }
        let output = program.run(&inputs).unwrap().into_values().next().unwrap();
        let expected = expected(&inputs);
        assert_eq!(output.shape(), expected.shape(), "{name}");
        let differ = |place: &usize| output.values().at(*place) != expected.values().at(*place);
        let wrong = (0..output.values().len()).find(differ).map(|place| output.indices(place));
        assert_eq!(wrong, None, "{name} differs here");
        assert!(output.values().iter().any(|value| value != output.values().at(0)), "{name} is flat");
    }
}

/// An image whose elements are given as a function of their indices. Those of `i16` wrap.
fn filled(element: Element, shape: &[usize], value: impl Fn(&[i64]) -> i64) -> Image {
    let mut image = Image::new(element, shape);
    for place in 0..image.values().len() {
        let indices = image.indices(place);
        let value = value(&indices);
        image.set(&indices, if element == Element::I16 { i64::from(value as i16) } else { value });
    }
    image
}

fn signed(shape: &[usize], value: impl Fn(&[i64]) -> i64) -> Image {
    filled(Element::I16, shape, value)
}

/// The convolution of all channels; weights are [from, to, x, y].
fn convolution(input: &Image, weights: &Image, stride: i64) -> Image {
    let [_, to, size, _] = *weights.shape() else { panic!("weights have four dimensions") };
    let pixels = |extent: usize| (extent - size) / stride as usize + 1;
    signed(&[to, pixels(input.shape()[1]), pixels(input.shape()[2])], |p| {
        let mut sum = 0;
        for place in 0..weights.values().len() / to {
            let (from, tap) = (place / (size * size), place % (size * size));
            let (z, rx, ry) = (from as i64, (tap / size) as i64, (tap % size) as i64);
            let pixel = input.get(&[z, stride * p[1] + rx, stride * p[2] + ry]).unwrap();
            sum += weights.get(&[z, p[0], rx, ry]).unwrap() * pixel;
        }
        sum
    })
}

/// The convolution of each channel by itself; weights are [channel, x, y].
fn depthwise(input: &Image, weights: &Image) -> Image {
    let size = weights.shape()[1] as i64;
    let pixels = |extent: usize| extent + 1 - size as usize;
    let shape = input.shape();
    signed(&[shape[0], pixels(shape[1]), pixels(shape[2])], |p| {
        let taps = (0..size).flat_map(|ry| (0..size).map(move |rx| (rx, ry)));
        let product =
            |(rx, ry)| weights.get(&[p[0], rx, ry]).unwrap() * input.get(&[p[0], p[1] + rx, p[2] + ry]).unwrap();
        taps.map(product).sum()
    })
}

/// Each channel of the output is a weighted sum of all channels; weights are [from, to].
fn pointwise(input: &Image, weights: &Image) -> Image {
    let [from, to] = *weights.shape() else { panic!("weights have two dimensions") };
    signed(&[to, input.shape()[1], input.shape()[2]], |p| {
        (0..from as i64).map(|z| weights.get(&[z, p[0]]).unwrap() * input.get(&[z, p[1], p[2]]).unwrap()).sum()
    })
}

fn relu(input: &Image) -> Image {
    signed(input.shape(), |p| input.get(p).unwrap().max(0))
}

/// The largest of `size` x `size` pixels, every `stride` pixels.
fn pool(input: &Image, size: usize, stride: usize) -> Image {
    let pixels = |extent: usize| (extent - size) / stride + 1;
    let shape = input.shape();
    signed(&[shape[0], pixels(shape[1]), pixels(shape[2])], |p| {
        let part = |place: usize| {
            let (x, y) = ((place % size) as i64, (place / size) as i64);
            input.get(&[p[0], p[1] * stride as i64 + x, p[2] * stride as i64 + y]).unwrap()
        };
        (0..size * size).map(part).max().unwrap()
    })
}

#[test]
fn resnet_layers() {
    for name in ["resnet", "resnet88", "resnet16", "resnet_tiled_small", "resnet_tiny"] {
        compare(name, |inputs| convolution(&inputs["input"], &inputs["weights"], 1));
    }
    compare("resnet_simple", |inputs| relu(&convolution(&inputs["input"], &inputs["weights"], 1)));
    let strides = [("1", 2), ("2_x", 1), ("3_1", 2), ("3_x", 1), ("4_1", 2), ("4_x", 1), ("5_1", 2), ("5_x", 1)];
    for (layer, stride) in strides {
        compare(&format!("resnet{layer}_small"), |inputs| convolution(&inputs["input"], &inputs["weights"], stride));
    }
}

#[test]
fn layers_in_full_are_read() {
    // From the layer's channels and pixels to its output's.
    let layers: [(&str, [u64; 2], [u64; 2], u64); 10] = [
        ("max_pool", [16, 58], [16, 56], 0),
        ("resnet1", [3, 229], [64, 112], 7),
        ("resnet2_x", [64, 58], [64, 56], 3),
        ("resnet3_1", [64, 57], [128, 28], 3),
        ("resnet3_x", [128, 30], [128, 28], 3),
        ("resnet4_1", [128, 29], [256, 14], 3),
        ("resnet4_x", [256, 16], [256, 14], 3),
        ("resnet5_1", [256, 15], [512, 7], 3),
        ("resnet5_x", [512, 9], [512, 7], 3),
        ("resnet_tiled", [16, 58], [16, 56], 3),
    ];
    assert_eq!(std::fs::read_dir(apps().join("layers")).unwrap().count(), layers.len());
    for (name, [from, pixels], [to, results], size) in layers {
        let program = app(&format!("layers/{name}"));
        assert_eq!(program.name, name);
        let shape = |array: &str| {
            let array = program.arrays.iter().find(|each| each.name == array);
            array.map(|array| array.shape.iter().map(|&extent| extent as u64).collect::<Vec<_>>())
        };
        assert_eq!(shape("input"), Some(vec![from, pixels, pixels]), "{name}");
        assert_eq!(shape("output"), Some(vec![to, results, results]), "{name}");
        assert_eq!(shape("weights"), (size > 0).then(|| vec![from, to, size, size]), "{name}");
    }
}

#[test]
fn other_layers() {
    compare("depthwise", |inputs| depthwise(&inputs["input"], &inputs["weights"]));
    for name in ["mobilenet", "mobilenet_rolled", "mobilenet_small"] {
        compare(name, |inputs| pointwise(&depthwise(&inputs["input"], &inputs["depthwise"]), &inputs["pointwise"]));
    }
    for name in ["fsrcnn", "fsrcnn_shared", "fsrcnn_unroll16"] {
        compare(name, |inputs| {
            let narrow = pointwise(&inputs["input"], &inputs["k0"]);
            pointwise(&convolution(&narrow, &inputs["k1"], 1), &inputs["k2"])
        });
    }
    compare("max_pool", |inputs| pool(&inputs["input"], 3, 1));
    compare("fully_connected", |inputs| {
        relu(&signed(&[10], |p| {
            let product = |z| inputs["weights"].get(&[z, p[0]]).unwrap() * inputs["input"].get(&[z]).unwrap();
            inputs["bias"].get(p).unwrap() + (0..64).map(product).sum::<i64>()
        }))
    });
}

#[test]
fn several_layers() {
    let block = |input: &Image, inputs: &BTreeMap<String, Image>| {
        let middle = relu(&convolution(input, &inputs["weights1"], 1));
        let last = convolution(&middle, &inputs["weights2"], 1);
        relu(&signed(last.shape(), |p| last.get(p).unwrap() + input.get(&[p[0], p[1] + 2, p[2] + 2]).unwrap()))
    };
    compare("residual_block", |inputs| block(&inputs["input"], inputs));
    compare("residual_block_tiled", |inputs| {
        let image = |t: i64| signed(&[8, 14, 14], |p| inputs["input"].get(&[p[0], p[1], p[2], t]).unwrap());
        let results: Vec<Image> = (0..6).map(|t| block(&image(t), inputs)).collect();
        signed(&[8, 10, 10, 6], |p| results[p[3] as usize].get(&p[..3]).unwrap())
    });
    compare("cnn", |inputs| {
        let (image, weights) = (&inputs["input"], &inputs["weights1"]);
        let one_channel = signed(&[1, 30, 30], |p| image.get(&p[1..]).unwrap());
        let weights = signed(&[1, 8, 3, 3], |p| weights.get(&p[1..]).unwrap());
        let first = pool(&relu(&convolution(&one_channel, &weights, 1)), 2, 2);
        pool(&relu(&convolution(&first, &inputs["weights2"], 1)), 2, 2)
    });
}

#[test]
fn matrices() {
    compare("gemm_tiled", |inputs| {
        signed(&[64, 64, 4], |p| {
            let product = |r| inputs["a"].get(&[r, p[1], p[2]]).unwrap() * inputs["b"].get(&[p[0], r, p[2]]).unwrap();
            (0..64).map(product).sum()
        })
    });
    compare("transpose", |inputs| filled(Element::U16, &[64, 64], |p| inputs["input"].get(&[p[1], p[0]]).unwrap()));
}

#[test]
fn tiles_one_after_the_other() {
    let mean = |image: &dyn Fn(i64, i64) -> i64, x: i64, y: i64| {
        let sum = image(x, y) + image(x + 1, y) + image(x, y + 1) + image(x + 1, y + 1);
        i64::from(sum as u16 / 4)
    };
    compare("brighten_blur_tiled", |inputs| {
        filled(Element::U16, &[63, 63, 16], |p| {
            mean(&|x, y| i64::from((2 * inputs["input"].get(&[x, y, p[2]]).unwrap()) as u16), p[0], p[1])
        })
    });
    for name in ["gpyr_tiled", "gpyr_tiled_shared"] {
        compare(name, |inputs| {
            let half = |image: &Image| {
                let [width, height, tiles] = *image.shape() else { panic!("tiles of images") };
                filled(Element::U16, &[width / 2, height / 2, tiles], |p| {
                    mean(&|x, y| image.get(&[x, y, p[2]]).unwrap(), 2 * p[0], 2 * p[1])
                })
            };
            half(&half(&half(&inputs["input"])))
        });
    }
    compare("three_stage", |inputs| {
        filled(Element::U16, &[40, 6], |p| {
            let tenth = |y: i64| {
                let edge = |y: i64| inputs["input"].get(&[p[0], y, p[1]]).unwrap();
                (edge(10 * y) - edge(10 * y + 9)).abs()
            };
            tenth(0).max(tenth(9))
        })
    });
}

/// A layer as networks of 8 bits have it: sums of 32 bits, and a scale of m / 2^22 rounded to nearest, here in 64 bits.
#[test]
fn a_quantized_layer() {
    let program = app("quantized_convolution");
    let multipliers = program.tables[0].values.clone();
    for seed in 0..4 {
        let mut inputs = random_inputs(&program, seed, 255);
        let weight = |indices: &[i64]| (indices.iter().fold(seed as i64, |sum, index| sum * 31 + index) * 40503) >> 3;
        let signed = |shape: &[usize], bits: u32| {
            let mut image = Image::new(if bits == 8 { Element::I8 } else { Element::I32 }, shape);
            for place in 0..image.values().len() {
                let indices = image.indices(place);
                image.set(&indices, weight(&indices) << (64 - bits) >> (64 - bits));
            }
            image
        };
        inputs.insert("weights".to_owned(), signed(&[4, 4, 3, 3], 8));
        let bias = filled(Element::I32, &[4], |p| [-100_000, 0, 77_777, 2_000_000][p[0] as usize]);
        inputs.insert("bias".to_owned(), bias);
        let output = &program.run(&inputs).unwrap()["output"];
        let (pixels, weights, bias) = (&inputs["pixels"], &inputs["weights"], &inputs["bias"]);
        for place in 0..output.values().len() {
            let indices = output.indices(place);
            let [k, x, y] = *indices.as_slice() else { panic!("an image of three dimensions") };
            let mut sum = bias.get(&[k]).unwrap();
            for (c, rx, ry) in (0..36).map(|tap| (tap % 4, tap / 4 % 3, tap / 12)) {
                sum += weights.get(&[c, k, rx, ry]).unwrap() * pixels.get(&[c, x + rx, y + ry]).unwrap();
            }
            let scaled = (sum * multipliers[k as usize] + (1 << 21)) >> 22;
            assert_eq!(output.get(&indices), Some((scaled + 3).clamp(0, 255)), "{indices:?} of seed {seed}");
        }
        assert!(output.values().iter().any(|value| value != output.values().at(0)), "it is flat");
    }
}

/// LeNet-5 with sums of 32 bits, each scaled by a power of two and clipped to 8 bits.
#[test]
fn lenet() {
    let clipped = |sum: i64, shift: u32| ((sum + (1 << (shift - 1))) >> shift).clamp(0, 255);
    let layer = |inputs: &BTreeMap<String, Image>, number: usize, shift: u32, input: &Image| {
        let (weights, bias) = (&inputs[&format!("weights{number}")], &inputs[&format!("bias{number}")]);
        let channels = bias.shape()[0];
        let pixels = input.shape()[1] - 4;
        filled(Element::U8, &[channels, pixels, pixels], |p| {
            let taps = (0..5).flat_map(|v| (0..5).map(move |u| (u, v)));
            let sum: i64 = taps
                .map(|(u, v)| {
                    (0..input.shape()[0] as i64)
                        .map(|c| {
                            let weight = match weights.shape().len() {
                                3 => weights.get(&[p[0], u, v]),
                                _ => weights.get(&[c, p[0], u, v]),
                            };
                            weight.unwrap() * input.get(&[c, p[1] + u, p[2] + v]).unwrap()
                        })
                        .sum::<i64>()
                })
                .sum();
            clipped(sum + bias.get(&[p[0]]).unwrap(), shift)
        })
    };
    // Fully connected: all inputs in a row.
    let sums = |inputs: &BTreeMap<String, Image>, number: usize, input: &[i64]| {
        let [weights, bias] = ["weights", "bias"].map(|name| inputs[&format!("{name}{number}")].values().to_vec());
        let of_output =
            |(weights, bias): (&[i64], &i64)| bias + weights.iter().zip(input).map(|(w, x)| w * x).sum::<i64>();
        weights.chunks(input.len()).zip(&bias).map(of_output).collect::<Vec<_>>()
    };
    let program = app("lenet");
    for seed in 0..3 {
        let inputs = random_inputs(&program, seed, 127);
        let digit = &inputs["digit"];
        let digit = Image::from_values(Element::U8, &[1, 32, 32], digit.values().iter()).unwrap();
        let first = pool(&layer(&inputs, 1, 9, &digit), 2, 2);
        let second = pool(&layer(&inputs, 2, 10, &first), 2, 2);
        let third: Vec<i64> =
            sums(&inputs, 3, &second.values().to_vec()).into_iter().map(|sum| clipped(sum, 10)).collect();
        let fourth: Vec<i64> = sums(&inputs, 4, &third).into_iter().map(|sum| clipped(sum, 10)).collect();
        let outputs = program.run(&inputs).unwrap();
        assert_eq!(outputs["scores"].values().to_vec(), sums(&inputs, 5, &fourth), "seed {seed}");
    }
}
