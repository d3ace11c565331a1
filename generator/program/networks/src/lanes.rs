//! How many elements each nest computes at once, for a number of multipliers.
//!
//! The layer that takes the most cycles gets more multipliers, again and again, as long as there are some.

use itertools::iproduct;

use crate::network::{Convolution, LayerOperation, Network};

/// How many times faster nests without products are than the busiest with products.
const QUICKER: i64 = 8;

/// The lanes of a sum of products: channels of the result, and channels of the input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lanes {
    pub results: i64,
    pub terms: i64,
}

impl Lanes {
    /// Multipliers that these lanes take.
    fn multipliers(self) -> i64 {
        self.results * self.terms
    }
}

/// The lanes of all layers.
#[derive(Clone, Debug)]
pub(crate) struct Allocation {
    /// Of each layer that sums products; others have none.
    lanes: Vec<Option<Lanes>>,
    /// The cycles of the busiest of them.
    cycles: i64,
}

impl Allocation {
    /// The lanes of a network for so many multipliers.
    pub fn of(network: &Network, multipliers: u64) -> Allocation {
        let mut nests: Vec<Option<Nest>> = network
            .layers
            .iter()
            .map(|layer| match &layer.operation {
                LayerOperation::Convolution(convolution) => {
                    let [_, width, height] = network.tensors[layer.output].shape;
                    Some(Nest::of(convolution, width * height))
                }
                _ => None,
            })
            .collect();
        let mut free = i64::try_from(multipliers).unwrap_or(i64::MAX) - nests.iter().flatten().count() as i64;
        while let Some(busiest) = nests.iter_mut().flatten().max_by_key(|nest| nest.cycles()) {
            let own = busiest.lanes.multipliers();
            match busiest.more() {
                Some(lanes) if lanes.multipliers() - own <= free => {
                    free -= lanes.multipliers() - own;
                    busiest.lanes = lanes;
                }
                _ => break,
            }
        }
        let cycles = nests.iter().flatten().map(Nest::cycles).max().unwrap_or(0);
        Allocation { lanes: nests.into_iter().map(|nest| Some(nest?.lanes)).collect(), cycles }
    }

    /// The lanes of a layer that sums products.
    pub fn of_layer(&self, layer: usize) -> Lanes {
        self.lanes[layer].unwrap_or(Lanes { results: 1, terms: 1 })
    }

    /// The fewest lanes along channels with which a nest over a tensor is much faster than the busiest sum of products: each row waits for
    /// all nests on its way, one after the other.
    pub fn keeping_up(&self, [channels, width, height]: [i64; 3]) -> i64 {
        let is_fast = |lanes: &i64| channels * width * height / lanes <= self.cycles / QUICKER;
        divisors(channels).find(is_fast).unwrap_or(channels)
    }
}

/// The nest of a sum of products.
#[derive(Clone, Debug)]
struct Nest {
    /// Channels of the result, and of the input that each takes; both within a group.
    channels: [i64; 2],
    /// Iterations beside those of channels.
    others: i64,
    lanes: Lanes,
}

impl Nest {
    fn of(convolution: &Convolution, pixels: i64) -> Nest {
        let [columns, rows] = convolution.window.extent;
        let channels = convolution.window.input.extent[0];
        let taps = columns * rows * pixels;
        // Channels of groups of one are lanes of the result.
        let (channels, others) = match convolution.is_depthwise() {
            true => ([channels, 1], taps),
            false => {
                ([convolution.channels / convolution.groups, channels / convolution.groups], taps * convolution.groups)
            }
        };
        Nest { channels, others, lanes: Lanes { results: 1, terms: 1 } }
    }

    fn cycles(&self) -> i64 {
        self.channels[0] * self.channels[1] * self.others / self.lanes.multipliers()
    }

    /// The next more lanes: of as many multipliers those with the fewest words.
    fn more(&self) -> Option<Lanes> {
        let [results, terms] = self.channels;
        let all = iproduct!(divisors(results), divisors(terms)).map(|(results, terms)| Lanes { results, terms });
        let more = all.filter(|lanes| lanes.multipliers() > self.lanes.multipliers());
        more.min_by_key(|lanes| (lanes.multipliers(), lanes.results + lanes.terms))
    }
}

/// The divisors of a number, ascending.
fn divisors(number: i64) -> impl Iterator<Item = i64> + Clone {
    (1..=number).filter(move |divisor| number % divisor == 0)
}
