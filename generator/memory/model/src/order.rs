//! Which fetch a word is meant to come from.

/// The order in which an output reads the words of its fetches.
///
/// The words of a run have numbers, counted through all rows in the order of their fetches. Where every row is there when it
/// is read, and until it was read, the number is an affine function of the loops that read, as the address is. The address
/// tells it modulo the words of the transpose buffer; its steps, one for each loop, are learned when a loop steps for the
/// first time. Loops whose addresses continue each other are one loop here: a configuration may have merged or split them,
/// because their addresses are the same modulo the buffer, while their words are not. So the first turn of a loop also shows
/// where it consists of two.
#[derive(Clone, Debug)]
pub(crate) struct ReadOrder {
    /// Innermost first.
    loops: Vec<Loop>,
    begun: bool,
    /// The number of the last word, if it is known.
    last: Option<i64>,
}

#[derive(Clone, Debug)]
struct Loop {
    extent: u64,
    index: u64,
    /// From the last word of the loops inside to the first of their next turn.
    step: Option<i64>,
}

impl ReadOrder {
    /// The order of loops of these extents, with the step that each makes in the addresses, modulo the transpose buffer.
    pub fn new(loops: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (extent, delta) in loops.into_iter().filter(|(extent, _)| *extent > 1) {
            match merged.last_mut() {
                Some((inner, same)) if *same == delta => *inner *= extent,
                _ => merged.push((extent, delta)),
            }
        }
        let loops = merged.into_iter().map(|(extent, _)| Loop { extent, index: 0, step: None }).collect();
        ReadOrder { loops, begun: false, last: None }
    }

    /// Takes the number of the next word, if it is known, and gives that of the word that was meant in its place.
    ///
    /// A loop that goes back to words read before is not told from a row that came too early where fetches are `wasteful`,
    /// which is when a row was replaced of which no word was read: then it is taken for the latter.
    pub fn read(&mut self, number: Option<i64>, wasteful: bool) -> Option<i64> {
        let level = self.advance();
        let (Some(level), Some(last)) = (level, self.last) else {
            self.last = number;
            return None;
        };
        let known = self.loops[level].step;
        let meant = known.map(|step| last + step);
        let (Some(number), Some(meant)) = (number, meant) else {
            self.loops[level].step = known.or(number.map(|number| number - last));
            self.last = number.or(meant);
            return None;
        };
        let is_meant = number == meant || !(wasteful && number < meant) && self.split(level, number - last);
        self.last = Some(if is_meant { number } else { meant });
        (!is_meant).then_some(meant)
    }

    /// Goes to the next iteration, and tells which loop steps; none for the first.
    fn advance(&mut self) -> Option<usize> {
        if !std::mem::replace(&mut self.begun, true) {
            return None;
        }
        for (level, place) in self.loops.iter_mut().enumerate() {
            place.index += 1;
            if place.index < place.extent {
                return Some(level);
            }
            place.index = 0;
        }
        None
    }

    /// Makes two loops of one whose first turns all made the same step, and which now makes another, if it can be two.
    fn split(&mut self, level: usize, step: i64) -> bool {
        let Loop { extent, index, step: inner } = self.loops[level];
        let first_turn = self.loops[level + 1..].iter().all(|outside| outside.index == 0);
        if !first_turn || index < 2 || extent % index != 0 {
            return false;
        }
        self.loops[level] = Loop { extent: index, index: 0, step: inner };
        self.loops.insert(level + 1, Loop { extent: extent / index, index: 1, step: Some(step) });
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Words of a transpose buffer.
    const WORDS: i64 = 8;

    /// The numbers of all words of loops of (extent, stride).
    fn numbers(loops: &[(u64, i64)]) -> Vec<i64> {
        let mut numbers = vec![0];
        for &(extent, stride) in loops {
            let turn = std::mem::take(&mut numbers);
            numbers.extend((0..extent as i64).flat_map(|index| turn.iter().map(move |number| number + index * stride)));
        }
        numbers
    }

    /// The order of these loops as a tile has it: it knows their addresses only.
    fn order(loops: &[(u64, i64)]) -> ReadOrder {
        let mut travelled = 0;
        ReadOrder::new(loops.iter().map(|&(extent, stride)| {
            let delta = (stride - travelled).rem_euclid(WORDS) as u64;
            travelled += stride * (extent as i64 - 1);
            (extent, delta)
        }))
    }

    fn stale(order: &mut ReadOrder, numbers: &[i64], wasteful: bool) -> Vec<(usize, i64)> {
        let meant = numbers.iter().map(|&number| order.read(Some(number), wasteful));
        meant.enumerate().filter_map(|(place, meant)| Some((place, meant?))).collect()
    }

    proptest! {
        /// Whatever the loops are, and however their addresses merge.
        #[test]
        fn affine_orders_are_right(loops in prop::collection::vec((1_u64..7, -30_i64..30), 0..5)) {
            prop_assert_eq!(stale(&mut order(&loops), &numbers(&loops), false), []);
        }

        /// A word of another turn of the buffer, once every step is known, is found wherever it is.
        #[test]
        fn a_word_of_another_turn_is_found(
            loops in prop::collection::vec((2_u64..7, -30_i64..30), 1..5),
            place in any::<prop::sample::Index>(),
            turns in prop::sample::select(vec![-2, -1, 1, 2]),
        ) {
            let mut numbers = numbers(&loops);
            // The first turn of the outermost loop teaches.
            let first = numbers.len() / loops.last().unwrap().0 as usize + 1;
            prop_assume!(first < numbers.len());
            let place = first + place.index(numbers.len() - first);
            let meant = numbers[place];
            numbers[place] += turns * WORDS;
            let mut order = order(&loops);
            let found = stale(&mut order, &numbers, false);
            // A loop may end with it, or seem to: then those that follow differ.
            if place + 1 < numbers.len() || turns < 0 {
                prop_assert!(!found.is_empty());
            }
            prop_assert!(found.iter().all(|found| found.0 != place || found.1 == meant));
        }
    }

    /// Rows of 4 words, 10 of which are fetched for each line of 32 words; lines follow each other without a pause.
    #[test]
    fn lines_that_merge_in_the_buffer_are_found_apart() {
        let numbers = numbers(&[(32, 1), (6, 40)]);
        assert_eq!(stale(&mut order(&[(32 * 6, 1)]), &numbers, true), []);
        let repeated = super::tests::numbers(&[(8, 1), (6, 0)]);
        assert_eq!(stale(&mut order(&[(48, 1)]), &repeated, false), []);
    }

    /// Rows replaced a line too early at the ends of lines of 64 words: those after the last are right by accident.
    #[test]
    fn rows_that_came_too_early_are_found() {
        let line = |line: i64| (8..64).chain(56..64).map(move |word| word + 64 * line);
        let numbers: Vec<i64> = (0..3).flat_map(line).collect();
        let found = stale(&mut order(&[(64, 1), (3, 64)]), &numbers, true);
        let ends = (0..3_i64)
            .flat_map(|line| (56..64).map(move |word| (word as usize + 64 * line as usize, word + 8 + 64 * line)));
        assert_eq!(found, ends.collect::<Vec<_>>());
    }

    /// Unknown words are not checked; the known words behind them are.
    #[test]
    fn unknown_words_are_passed_over() {
        let mut order = order(&[(6, 1), (4, 8)]);
        let numbers = [None, None, Some(2), Some(3), None, Some(5), Some(8), Some(9), Some(2)];
        let meant = numbers.map(|number| order.read(number, true));
        assert_eq!(meant, [None, None, None, None, None, None, None, None, Some(10)]);
    }
}
