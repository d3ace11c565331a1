//! Large images in tiles: a program whose output is a tile of a larger one, run again and again at other places.
//!
//! An image is exact in tiles if the program does the same everywhere: moving the tile moves all that it reads along with it. [`Motion`]
//! finds by how much the iterations of each loop, and the elements of each array, move with an element of the output, and refuses programs
//! in which something depends on the place itself: borders, reductions over the image, loop variables as values. [`Tiling`] has the tiles
//! of an image, and where each begins in every image.
//!
//! ```
//! use pushmem_files::Document;
//! use pushmem_nest::Program;
//! use pushmem_tiling::Tiling;
//!
//! let text = "
//! name: differences
//! inputs: {input: {type: u16, shape: [4]}}
//! outputs: {output: {type: i16, shape: [3]}}
//! nest:
//!   - for x in 0..3:
//!     - output[x] = input[x + 1] as i16 - input[x] as i16
//! ";
//! let program = Program::from_document(&Document::parse("differences.yaml", text).unwrap()).unwrap().program;
//! let tiling = Tiling::of(&program, &[7]).unwrap();
//! // The last tile overlaps the one before it.
//! assert_eq!(tiling.tiles().map(|tile| tile.offsets[0][0]).collect::<Vec<_>>(), [0, 3, 4]);
//! assert_eq!(tiling.images[0].size, [8]);
//! ```

mod check;
mod motion;
mod tiling;

pub use check::{compare, resized, run_tiles};
pub use motion::Motion;
pub use tiling::{Axis, Tile, TiledImage, Tiling};
