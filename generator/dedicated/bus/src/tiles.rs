//! Large images in tiles, for the driver.

use pushmem_csr::upper;
use pushmem_files::text;
use pushmem_systemverilog::File;
use pushmem_tiling::{Tile, Tiling};
use serde::Serialize;

/// The tiles of an image, for a driver.
struct Plan<'a> {
    tiling: &'a Tiling,
    /// The beginning of the names of the driver, and of those of the tiles.
    driver: &'a str,
    stem: &'a str,
    /// The program, where the driver loads one.
    program: Option<&'a str>,
    /// The header with the driver's types.
    header: String,
}

impl Plan<'_> {
    /// Axes of the tables: at least one.
    fn axes(&self) -> usize {
        self.tiling.axes.len().max(1)
    }

    /// For each image the first one that is the same array: several streams may read or write one.
    fn firsts(&self) -> Vec<usize> {
        let images = &self.tiling.images;
        let first = |name: &String| images.iter().position(|image| image.name == *name).unwrap_or_default();
        images.iter().map(|image| first(&image.name)).collect()
    }
}

/// The plan as other hosts read it.
#[derive(Serialize)]
struct Described<'a> {
    axes: &'a [pushmem_tiling::Axis],
    images: &'a [pushmem_tiling::TiledImage],
    tiles: Vec<Tile>,
}

/// The files of the tiles of an image, for the driver of a shell: in C, of the words that elements have in memory, and as JSON, of
/// elements. `module` is that of the shell, `program` the name of the program where the driver loads one.
pub fn tile_files(tiling: &Tiling, in_words: &Tiling, module: &str, program: Option<&str>) -> Vec<File> {
    let driver = module.to_lowercase();
    let header = program.map_or_else(|| format!("{driver}_driver.h"), |program| format!("{program}_program.h"));
    let plan = Plan { tiling: in_words, driver: &driver, stem: program.unwrap_or(&driver), program, header };
    let described = Described { axes: &tiling.axes, images: &tiling.images, tiles: tiling.tiles().collect() };
    let json = serde_json::to_string(&described).expect("figures are numbers and names");
    vec![
        (format!("driver/{}_tiles.h", plan.stem), text!("driver/tiles.h", plan: &'a Plan<'a> = &plan)),
        (format!("driver/{}_tiles.c", plan.stem), text!("driver/tiles.c", plan: &'a Plan<'a> = &plan)),
        ("driver/run.c".to_owned(), text!("driver/run.c", plan: &'a Plan<'a> = &plan)),
        ("tiles.json".to_owned(), json + "\n"),
    ]
}
