//! The stream that a stage produces, as the write port of a buffer.

use pushmem_affine::Affine;
use pushmem_buffers::Loop;
use pushmem_graph::Counter;

/// A stream of words: loops, innermost first, and the cycle of each word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WordStream {
    pub domain: Vec<Loop>,
    pub cycle: Affine,
    /// Number of each word.
    pub number: Affine,
}

/// The stream of a stage's results, including words between its rows where that is little more.
///
/// A row of 62 words in a period of 64 is stored as 64 words: then the stream is one dense sequence, of which any delay
/// is a simple ring. Rows with long pauses keep their loops. The words behind the last row are stored, too, where
/// nothing comes after it: they have no readers, but counters can count whole rows where their sum without the last
/// words is a prime.
pub(crate) fn stream_of(words: &Counter) -> WordStream {
    let loops = words.loops.iter().zip(&words.extent).zip(&words.cycle.stride);
    // (name, extent, stride)
    let mut levels: Vec<(String, u64, i64)> = Vec::new();
    let mut pause_behind = 0;
    for ((name, &extent), &stride) in loops {
        if let Some((_, inner, rate)) = levels.last_mut() {
            let slots = stride / *rate;
            let pause = slots - *inner as i64;
            if stride % *rate == 0 && pause >= 0 && pause <= *inner as i64 / 4 && levels.len() == 1 {
                let (row, words, _) = &mut levels[0];
                *words += slots as u64 * (extent - 1);
                pause_behind = pause as u64;
                *row = "n".to_owned();
                continue;
            }
        }
        levels.push((name.clone(), extent, stride));
    }
    if let [(_, extent, _)] = &mut levels[..] {
        *extent += pause_behind;
    }
    let mut count = 1;
    let number = levels.iter().map(|(_, extent, _)| {
        let stride = count;
        count *= *extent as i64;
        stride
    });
    let number = Affine { start: 0, stride: number.collect() };
    WordStream {
        cycle: Affine { start: words.cycle.start, stride: levels.iter().map(|(_, _, stride)| *stride).collect() },
        domain: levels.into_iter().map(|(name, extent, _)| Loop { name, extent }).collect(),
        number,
    }
}
