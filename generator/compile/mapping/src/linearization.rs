//! Linearization: the elements of an array as the words of a memory, by the strides of its dimensions (dissertation §5.2–5.6).

use pushmem_affine::Affine;

use crate::nest::Nest;

/// Words from one value of each coordinate to the next.
pub(crate) struct Strides {
    pub strides: Vec<i64>,
    /// Words of a group, and how many there is place for in its rows.
    pub words: u64,
    pub block: u64,
}

impl Strides {
    /// For coordinates of these sizes, where the `grouped` innermost ones share rows; with none, each word has a row of its
    /// own.
    pub fn of(sizes: &[u64], fetch_width: u64, grouped: usize) -> Strides {
        let words: u64 = sizes[..grouped].iter().product();
        let block = words.next_multiple_of(fetch_width);
        let mut strides = Vec::new();
        let mut next = 1;
        for (level, &size) in sizes.iter().enumerate() {
            if level == grouped {
                next = block;
            }
            strides.push(next as i64);
            next *= size;
        }
        Strides { strides, words, block }
    }

    /// Loops through the rows, one group after the other; `outside` are the sizes outside the group. The time does not
    /// matter.
    pub fn space(&self, outside: &[u64], fetch_width: u64) -> Nest {
        let rows = self.block / fetch_width;
        let mut row = Affine { start: 0, stride: vec![1] };
        let mut next = rows;
        for size in outside {
            row.stride.push(next as i64);
            next *= size;
        }
        let extent = [&[rows], outside].concat();
        Nest { cycle: Affine::constant(0, extent.len()), extent: extent.into(), functions: vec![row] }
    }
}
