//! The tiles of an image.

use itertools::Itertools;
use pushmem_files::{Code, Diagnostic};
use pushmem_images::Element;
use pushmem_nest::{ArrayKind, Program};
use serde::Serialize;

use crate::motion::Motion;
use pushmem_affine::Fraction;

/// A dimension of the output along which there are several tiles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Axis {
    /// The dimension.
    pub dimension: usize,
    /// Elements of the output of a tile, and of the image.
    pub tile: i64,
    /// See `tile`.
    pub size: i64,
    /// Elements from one tile to the next.
    pub step: i64,
    /// Tiles.
    pub count: i64,
    /// Where the last tile begins: it may overlap the one before it.
    pub last: i64,
}

impl Axis {
    /// Where a tile begins.
    pub fn offset(&self, number: i64) -> i64 {
        (number * self.step).min(self.last)
    }
}

/// An input or an output: its size in a tile and in the image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TiledImage {
    /// Its name.
    pub name: String,
    /// Whether the program writes it.
    pub output: bool,
    /// The type of its elements.
    #[serde(rename = "type")]
    pub element: Element,
    /// Elements in each dimension of a tile.
    pub tile: Vec<i64>,
    /// Elements in each dimension of the whole.
    pub size: Vec<i64>,
    /// By dimension and axis: the elements by which a tile moves here, for one element of the output.
    pub motion: Vec<Vec<Fraction>>,
}

/// A tile: where it begins in each image, by dimension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tile {
    /// By image and dimension.
    pub offsets: Vec<Vec<i64>>,
}

/// Most tiles of an image.
const MOST_TILES: i64 = 1 << 16;

/// An image in tiles.
#[derive(Clone, Debug)]
pub struct Tiling {
    /// The axes, the innermost first.
    pub axes: Vec<Axis>,
    /// Inputs and outputs, in the order of the program.
    pub images: Vec<TiledImage>,
    /// The motion along each axis.
    pub motions: Vec<Motion>,
}

impl Tiling {
    /// The tiles of an image whose first output has this size, each as large as the output of the program.
    ///
    /// # Errors
    /// When the size is not one of such images, or the program computes no tiles.
    pub fn of(program: &Program, size: &[i64]) -> Result<Tiling, Diagnostic> {
        let output =
            program.arrays.iter().position(|array| array.kind == ArrayKind::Output).expect("checked programs have one");
        let array = &program.arrays[output];
        if size.len() != array.shape.len() {
            let (given, wanted) = (size.iter().join("x"), array.shape.iter().join("x"));
            let message = format!(
                "an image of {given} has {} dimensions, and `{}` has {}",
                size.len(),
                array.name,
                array.shape.len()
            );
            return Err(Diagnostic::new(message)
                .with_help(format!("give the size of `{}`, of which a tile has {wanted}", array.name)));
        }
        let (mut axes, mut motions) = (Vec::new(), Vec::new());
        for (dimension, (&whole, &tile)) in size.iter().zip(&array.shape).enumerate() {
            if whole < tile {
                let message = format!(
                    "the image has {whole} elements in dimension {dimension} of `{}`, and a tile has {tile}",
                    array.name
                );
                return Err(Diagnostic::new(message).with_help(
                    "give a size that is at least that of a tile, or compile the program for smaller ones",
                ));
            }
            if whole > tile {
                let motion = Motion::along(program, output, dimension)?;
                axes.push(Axis::of(dimension, tile, whole, &motion, program, &array.name)?);
                motions.push(motion);
            }
        }
        let count = axes.iter().try_fold(1_i64, |product, axis: &Axis| product.checked_mul(axis.count));
        if count.is_none_or(|count| count > MOST_TILES) {
            let counts = axes.iter().map(|axis| axis.count).join(" x ");
            let message =
                format!("an image of {} has {counts} tiles; there are at most {MOST_TILES}", size.iter().join("x"));
            return Err(
                Diagnostic::new(message).with_help("compile the program for larger tiles, or cut the image before")
            );
        }
        let images = [ArrayKind::Input, ArrayKind::Output]
            .into_iter()
            .flat_map(|kind| program.arrays.iter().enumerate().filter(move |(_, array)| array.kind == kind));
        let images = images.map(|(number, array)| {
            let motion_in =
                |dimension: usize| motions.iter().map(|motion: &Motion| motion.arrays[number][dimension]).collect_vec();
            let motion = (0..array.shape.len()).map(motion_in).collect_vec();
            let size =
                array.shape.iter().zip(&motion).map(|(tile, motion)| tile + moved(&axes, motion, |axis| axis.last));
            TiledImage {
                name: array.name.clone(),
                output: array.kind == ArrayKind::Output,
                element: array.element.element().expect("arrays hold elements"),
                tile: array.shape.clone(),
                size: size.collect(),
                motion,
            }
        });
        let images = images.collect();
        Ok(Tiling { axes, images, motions })
    }

    /// The tiles of the image of which an input has this size: the smallest such image where several have.
    ///
    /// # Errors
    /// As [`Tiling::of`], and when no image has such an input.
    pub fn of_input(program: &Program, input: &str, size: &[i64]) -> Result<Tiling, Diagnostic> {
        let array = program.array(input).expect("an input of the program");
        let output =
            program.arrays.iter().position(|array| array.kind == ArrayKind::Output).expect("checked programs have one");
        let number = program.arrays.iter().position(|array| array.name == input).expect("an input of the program");
        let mut whole = program.arrays[output].shape.clone();
        let mut refused = None;
        for (dimension, elements) in whole.iter_mut().enumerate() {
            if size == array.shape || size.len() != array.shape.len() {
                break;
            }
            // Where tiles cannot move along a dimension, the image is as small as a tile there.
            let motion = match Motion::along(program, output, dimension) {
                Ok(motion) => motion,
                Err(problem) => {
                    refused.get_or_insert(problem);
                    continue;
                }
            };
            let moves = motion.arrays[number].iter().zip(size).zip(&array.shape);
            let more = moves.filter(|((motion, _), _)| motion.numerator > 0);
            let more = more.map(|((motion, size), tile)| (size - tile) * motion.denominator / motion.numerator);
            *elements += more.min().unwrap_or(0).max(0);
        }
        let wrong = |wanted: &[i64]| {
            let (given, wanted) = (size.iter().join("x"), wanted.iter().join("x"));
            let message = format!(
                "the image for `{input}` has {given} elements, and no tiles of `{}` read so many",
                program.name
            );
            Diagnostic::new(message).or_code(Code::Image).with_help(format!(
                "give one of {wanted}, or a larger one in dimensions in which the program does the same everywhere"
            ))
        };
        let tiling = Tiling::of(program, &whole)?;
        let found = tiling.images.iter().find(|image| image.name == input).expect("it has all images");
        if found.size == size { Ok(tiling) } else { Err(refused.unwrap_or_else(|| wrong(&found.size))) }
    }

    /// The same with these images, in their order: hardware may have them in another one than the program, and none for an input that
    /// nothing reads.
    ///
    /// # Panics
    /// When a name is that of no image.
    #[must_use]
    pub fn of_images<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Tiling {
        let image =
            |name: &str| self.images.iter().find(|image| image.name == name).expect("an image of the program").clone();
        Tiling { images: names.into_iter().map(image).collect(), ..self.clone() }
    }

    /// The same in [parts of elements in memory](pushmem_nest::Type::in_memory): where elements have two words, these are side by side
    /// in the innermost dimension.
    #[must_use]
    pub fn in_words(&self, program: &Program) -> Tiling {
        let in_words = |image: &TiledImage| {
            let mut image = image.clone();
            let words = program.array(&image.name).map_or(1, |array| array.element.words().len() as i64);
            let sizes = [&mut image.tile, &mut image.size].into_iter().filter_map(|sizes| sizes.first_mut());
            sizes.for_each(|size| *size *= words);
            if words > 1 {
                image.element = Element::U16;
            }
            for motion in image.motion.first_mut().into_iter().flatten() {
                *motion = Fraction::new(motion.numerator * words, motion.denominator);
            }
            image
        };
        Tiling { images: self.images.iter().map(in_words).collect(), ..self.clone() }
    }

    /// The number of tiles.
    pub fn count(&self) -> i64 {
        self.axes.iter().map(|axis| axis.count).product()
    }

    /// The tiles in their order: the innermost axis first.
    pub fn tiles(&self) -> impl Iterator<Item = Tile> {
        (0..self.count()).map(|number| self.tile(number))
    }

    /// A tile by its number.
    pub fn tile(&self, number: i64) -> Tile {
        let mut left = number;
        let places = self.axes.iter().map(|axis| {
            let place = axis.offset(left % axis.count);
            left /= axis.count;
            place
        });
        let places = places.collect_vec();
        let of_image = |image: &TiledImage| {
            let sum =
                |motion: &Vec<Fraction>| motion.iter().zip(&places).map(|(motion, place)| motion.of(*place)).sum();
            image.motion.iter().map(sum).collect()
        };
        Tile { offsets: self.images.iter().map(of_image).collect() }
    }
}

/// Elements that an image moves by, for elements of the output along each axis.
pub(crate) fn moved(axes: &[Axis], motion: &[Fraction], by: impl Fn(&Axis) -> i64) -> i64 {
    axes.iter().zip(motion).map(|(axis, motion)| motion.of(by(axis))).sum()
}

impl Axis {
    fn of(
        dimension: usize,
        tile: i64,
        size: i64,
        motion: &Motion,
        program: &Program,
        name: &str,
    ) -> Result<Axis, Diagnostic> {
        let (last, unit) = (size - tile, motion.unit);
        let place = format!("dimension {dimension} of `{name}`");
        if last % unit != 0 {
            let less = size - last % unit;
            let message =
                format!("no tiles of {tile} elements cover {size} in {place}: they are multiples of {unit} apart");
            return Err(Diagnostic::new(message).with_help(format!("give {less} or {}", less + unit)));
        }
        let longest = longest_step(program, motion);
        let step = longest - longest % unit;
        if step == 0 {
            let message = format!(
                "tiles of {tile} elements in {place} leave gaps: they are multiples of {unit} apart, and elements of an output reach {longest} far"
            );
            return Err(Diagnostic::new(message).with_help("compile the program for a larger output"));
        }
        Ok(Axis { dimension, tile, size, step, count: 1 + (last + step - 1) / step, last })
    }
}

/// The most elements of the output between two tiles that leave no gap in any output: a second output may be smaller than the first.
fn longest_step(program: &Program, motion: &Motion) -> i64 {
    let outputs = program.arrays.iter().zip(&motion.arrays).filter(|(array, _)| array.kind == ArrayKind::Output);
    let reaches = outputs.flat_map(|(array, motions)| {
        array
            .shape
            .iter()
            .zip(motions)
            .filter(|(_, motion)| motion.numerator > 0)
            .map(|(size, motion)| size * motion.denominator / motion.numerator)
    });
    reaches.min().unwrap_or(0)
}
