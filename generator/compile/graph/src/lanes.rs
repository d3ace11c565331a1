//! Streams as lanes: the words of a beat, side by side.

/// The words of each of the lanes of a stream, from its [`Beats`](crate::Beats).
pub fn deinterleaved<Word: Copy>(beats: &[Word], lanes: usize) -> Vec<Vec<Word>> {
    (0..lanes).map(|lane| beats.iter().skip(lane).step_by(lanes).copied().collect()).collect()
}

/// The [`Beats`](crate::Beats) of a stream, from the words of each of its lanes: as many beats as every lane has words.
pub fn interleaved<Word: Copy>(lanes: &[impl AsRef<[Word]>]) -> Vec<Word> {
    let beats = lanes.iter().map(|lane| lane.as_ref().len()).min().unwrap_or(0);
    (0..beats).flat_map(|beat| lanes.iter().map(move |lane| lane.as_ref()[beat])).collect()
}
