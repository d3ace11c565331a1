//! Images in tiles, and programs that compute none.

use std::collections::BTreeMap;
use std::path::Path;

use pushmem_files::{Diagnostic, Document};
use pushmem_images::Image;
use pushmem_nest::{ArrayKind, Program};
use pushmem_programs::{random_network, random_program, random_program_with_parameters};
use pushmem_tiling::{Tiling, compare, resized, run_tiles};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn app(name: &str) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../../apps/{name}.yaml"));
    Program::read(&path).unwrap_or_else(|error| panic!("{name}: {error}")).program
}

fn program(text: &str) -> Program {
    let checked = Document::parse("tile.yaml", text).and_then(|document| Program::from_document(&document));
    checked.unwrap_or_else(|error| panic!("{error}")).program
}

#[test]
fn images_of_too_many_tiles_are_refused() {
    let error = Tiling::of(&app("gaussian"), &[1 << 20, 1 << 20]).unwrap_err();
    assert_eq!(error.to_string(), "an image of 1048576x1048576 has 16913 x 16913 tiles; there are at most 65536");
}

/// The image in tiles is the image at once.
fn is_exact(program: &Program, size: &[i64]) -> Tiling {
    let tiling = Tiling::of(program, size).unwrap_or_else(|error| panic!("{}: {error}", program.name));
    let whole = resized(program, &tiling);
    let inputs: BTreeMap<String, Image> = whole.random_inputs(&mut ChaCha8Rng::seed_from_u64(1)).into_iter().collect();
    run_tiles(program, &tiling, &inputs, |inputs| program.run(inputs))
        .and_then(|found| compare(program, &tiling, &inputs, &found))
        .unwrap_or_else(|error| panic!("{error}: {size:?}\n{program}"));
    tiling
}

fn refusal(program: &Program, more: i64) -> Diagnostic {
    let output = program.arrays_of(ArrayKind::Output).next().unwrap();
    let size: Vec<i64> = output.shape.iter().map(|size| size + more).collect();
    Tiling::of(program, &size).unwrap_err()
}

#[test]
fn stencils_are_exact_in_tiles() {
    let tiling = is_exact(&app("gaussian"), &[100, 150]);
    assert_eq!(tiling.images[0].size, [102, 152]);
    assert_eq!(tiling.axes.iter().map(|axis| (axis.count, axis.last)).collect::<Vec<_>>(), [(2, 38), (3, 88)]);
    is_exact(&app("gaussian_unroll4"), &[70, 70]);
    is_exact(&app("unsharp"), &[3, 61, 125]);
    is_exact(&app("harris"), &[70, 62]);
}

#[test]
fn reduction_and_enlargement_move_by_whole_elements() {
    let down = is_exact(&app("down_sample"), &[40, 70, 4]);
    assert_eq!(down.images[0].size, [80, 140, 4]);
    let up = is_exact(&app("up_sample"), &[150, 256]);
    assert_eq!(up.images[0].size, [75, 128]);
    let error = Tiling::of(&app("up_sample"), &[151, 256]).unwrap_err();
    assert!(error.to_string().contains("multiples of 2 apart"), "{error}");
    assert_eq!(error.help(), Some("give 150 or 152"));
}

#[test]
fn the_size_of_an_input_says_the_tiles() {
    let size = |program: &str, input: &[i64]| {
        Tiling::of_input(&app(program), "input", input)
            .map(|tiling| tiling.images.last().expect("an output").size.clone())
    };
    assert_eq!(size("gaussian", &[102, 152]).unwrap(), [100, 150]);
    assert_eq!(size("gaussian", &[64, 64]).unwrap(), [62, 62]);
    assert_eq!(size("down_sample", &[80, 140, 4]).unwrap(), [40, 70, 4]);
    assert_eq!(size("up_sample", &[75, 128]).unwrap(), [150, 256]);
    let smaller = size("gaussian", &[64, 63]).unwrap_err();
    assert_eq!(
        smaller.to_string(),
        "the image for `input` has 64x63 elements, and no tiles of `gaussian` read so many"
    );
    // Where it may not be larger, the reason is a place in the program.
    assert!(size("bc_mirror", &[200, 130]).unwrap_err().location().is_some());
}

/// Reductions over dimensions that do not move are exact, along those of the output.
#[test]
fn products_of_matrices_are_exact() {
    let text = "
name: product
inputs: {a: {type: u16, shape: [5, 4]}, b: {type: u16, shape: [3, 5]}}
outputs: {output: {type: u16, shape: [3, 4]}}
nest:
  - for y in 0..4:
    - for x in 0..3:
      - output[x, y] = 0
      - for k in 0..5:
        - output[x, y] += a[k, y] * b[x, k]
";
    let tiling = is_exact(&program(text), &[7, 9]);
    assert_eq!((&tiling.images[0].size[..], &tiling.images[1].size[..]), (&[5, 9][..], &[7, 5][..]));
}

#[test]
fn images_have_the_order_of_the_hardware() {
    let tiling = Tiling::of(&app("gaussian"), &[100, 62]).unwrap();
    let turned = tiling.of_images(["output", "input"]);
    assert_eq!(turned.images.iter().map(|image| image.size[0]).collect::<Vec<_>>(), [100, 102]);
    assert_eq!(turned.tile(1).offsets, [[38, 0], [38, 0]]);
}

/// Elements that depend on the phase of the place move by multiples of its period.
#[test]
fn patterns_move_by_their_period() {
    let text = "
name: pattern
inputs: {input: {type: u16, shape: [8]}}
outputs: {output: {type: u16, shape: [8]}}
nest:
  - for x in 0..8:
    - output[x] = sel(x % 4 == 0, input[x], input[x] + 1)
";
    let tiling = is_exact(&program(text), &[20]);
    assert_eq!(tiling.axes[0].step, 8);
    assert!(Tiling::of(&program(text), &[18]).is_err());
}

#[test]
fn what_depends_on_the_place_is_refused() {
    for name in ["bc_mirror", "bc_repeat", "bc_const"] {
        let error = refusal(&app(name), 10);
        assert!(error.to_string().contains("depends on where the tile is"), "{name}: {error}");
        assert!(error.help().is_some());
    }
    let sum = program(
        "
name: share
inputs: {input: {type: u16, shape: [8]}}
outputs: {output: {type: u16, shape: [8]}}
buffers: {sum: {type: u16, shape: [1]}}
nest:
  - sum[0] = 0
  - for x in 0..8:
    - sum[0] += input[x]
  - for x in 0..8:
    - output[x] = input[x] - sum[0]
",
    );
    assert!(refusal(&sum, 3).to_string().contains("write the same element of `sum`"), "{}", refusal(&sum, 3));
    let ramp = program(
        "
name: ramp
inputs: {input: {type: u16, shape: [8]}}
outputs: {output: {type: u16, shape: [8]}}
nest:
  - for x in 0..8:
    - output[x] = input[x] + x as u16
",
    );
    assert!(refusal(&ramp, 3).to_string().contains("the value depends"), "{}", refusal(&ramp, 3));
    let flipped = program(
        "
name: flipped
inputs: {input: {type: u16, shape: [8]}}
outputs: {output: {type: u16, shape: [8]}}
nest:
  - for x in 0..8:
    - output[x] = input[7 - x]
",
    );
    assert!(refusal(&flipped, 3).to_string().contains("backwards"), "{}", refusal(&flipped, 3));
    // Sums along a diagonal have more terms in a larger image.
    let diagonal = program(
        "
name: diagonal
inputs: {input: {type: u16, shape: [4, 4]}}
outputs: {output: {type: u16, shape: [7]}}
nest:
  - for x in 0..7:
    - output[x] = 0
  - for y in 0..4:
    - for x in 0..4:
      - output[x + y] += input[x, y]
",
    );
    assert!(Tiling::of(&diagonal, &[9]).unwrap_err().to_string().contains("neighbouring tiles"));
}

#[test]
fn sizes_that_are_none_of_images_are_refused() {
    let gaussian = app("gaussian");
    let refused = |size: &[i64]| Tiling::of(&gaussian, size).unwrap_err().to_string();
    assert!(refused(&[100]).contains("has 1 dimensions"), "{}", refused(&[100]));
    assert!(refused(&[61, 100]).contains("a tile has 62"), "{}", refused(&[61, 100]));
    assert_eq!(Tiling::of(&gaussian, &[62, 62]).unwrap().count(), 1);
}

/// Of random programs, those that the analysis takes are exact in tiles: stencils with boundaries and changes of scale, networks of reductions.
#[test]
fn random_programs_are_exact_or_refused() {
    let (mut taken, mut refused) = (0, 0);
    for seed in 0..RANDOM {
        for text in [random_program(seed), random_program_with_parameters(seed), random_network(seed)] {
            let program = program(&text);
            let shape = program.arrays_of(ArrayKind::Output).next().unwrap().shape.clone();
            let mut together = shape.clone();
            for dimension in 0..shape.len() {
                let grown = |more: i64| {
                    let mut size = shape.clone();
                    size[dimension] += more;
                    size
                };
                // The least growth by which tiles move at all, and one beyond a tile.
                let sizes = (1..=12).chain([shape[dimension] + 12]).map(grown);
                let mut fits = sizes.filter(|size| Tiling::of(&program, size).is_ok());
                let Some(size) = fits.next() else {
                    refused += 1;
                    continue;
                };
                taken += 1;
                is_exact(&program, &size);
                together[dimension] = size[dimension];
                if let Some(size) = fits.next_back() {
                    is_exact(&program, &size);
                }
            }
            is_exact(&program, &together);
        }
    }
    assert!(taken > RANDOM && refused > RANDOM / 2, "{taken} taken, {refused} refused");
}

/// Random programs of each kind.
const RANDOM: u64 = 60;
