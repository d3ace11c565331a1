//! Which fetch a word is meant to come from.

/// Orders that are held to be possible at once.
const MOST_GUESSES: usize = 16;

/// How the word that is meant compares with the one that an output shows, the better first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Match {
    /// They are the same.
    Same,
    /// They are the same unless its row is written before it is fetched.
    SameSoFar,
    /// No fetch brings it.
    Unfetched,
    /// It is another one.
    Other,
}

/// The word that an output shows, among the words of all fetches.
///
/// The words of a run have numbers, counted through all rows in the order of their fetches.
pub(crate) trait Shown {
    /// Its number.
    fn number(&self) -> i64;

    /// The numbers of the words that are known to be the same, its own first.
    fn copies(&self) -> Vec<i64>;

    /// How the word of another number compares with it.
    fn compare(&self, meant: i64) -> Match;
}

/// The order in which an output reads the words of its fetches.
///
/// Where every row is there when it is read, and until it was read, the number of the word is an affine function of the loops
/// that read, as the address is. The address
/// tells it modulo the words of the transpose buffer; its steps, one for each loop, are learned when a loop steps for the
/// first time. Loops whose addresses continue each other are one loop here: a configuration may have merged or split them,
/// because their addresses are the same modulo the buffer, while their words are not. So the first turn of a loop also shows
/// where it consists of two.
///
/// A row that is fetched several times has words of several numbers, and each may be the one that is meant. So there are
/// several guesses, and those that turn out wrong are dropped as long as another is right.
#[derive(Clone, Debug)]
pub(crate) struct ReadOrder {
    /// At least one.
    guesses: Vec<Guess>,
}

#[derive(Clone, Debug)]
struct Guess {
    /// Innermost first.
    loops: Vec<Loop>,
    begun: bool,
    /// The loop that steps to this word; none for the first.
    level: Option<usize>,
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
        ReadOrder { guesses: vec![Guess { loops, begun: false, level: None, last: None }] }
    }

    /// Takes the next word, if it is known, and gives the number of the word that was meant, unless that is the same.
    ///
    /// A loop that goes back to words read before is not told from a row that came too early where fetches are `wasteful`,
    /// which is when a row was replaced of which no word was read: then it is taken for the latter.
    pub fn read(&mut self, shown: Option<&impl Shown>, wasteful: bool) -> Option<(Match, i64)> {
        self.guesses.iter_mut().for_each(Guess::advance);
        if let ([guess], Some(shown)) = (&mut self.guesses[..], shown)
            && guess.meant() == Some(shown.number())
        {
            guess.last = Some(shown.number());
            return None;
        }
        let guesses = std::mem::take(&mut self.guesses).into_iter();
        let mut next: Vec<(Match, Guess)> = guesses.flat_map(|guess| guess.read(shown, wasteful)).collect();
        let best = next.iter().map(|(found, _)| *found).min().expect("a guess goes on");
        next.retain(|(found, _)| *found == best);
        self.guesses = next.into_iter().map(|(_, guess)| guess).take(MOST_GUESSES).collect();
        let meant = self.guesses[0].last?;
        (best != Match::Same).then_some((best, meant))
    }
}

impl Guess {
    /// Goes to the next iteration.
    fn advance(&mut self) {
        self.level = None;
        if !std::mem::replace(&mut self.begun, true) {
            return;
        }
        for (level, place) in self.loops.iter_mut().enumerate() {
            place.index += 1;
            if place.index < place.extent {
                self.level = Some(level);
                return;
            }
            place.index = 0;
        }
    }

    /// The number of the word that is meant in this iteration, where the steps tell it.
    fn meant(&self) -> Option<i64> {
        Some(self.last? + self.loops[self.level?].step?)
    }

    /// The guesses that follow from this one when a word is shown in this iteration, at least one.
    fn read(mut self, shown: Option<&impl Shown>, wasteful: bool) -> Vec<(Match, Guess)> {
        let meant = self.meant();
        let (Some(shown), Some(meant)) = (shown, meant) else {
            let Some(shown) = shown else {
                self.last = meant;
                return vec![(Match::Same, self)];
            };
            return shown.copies().into_iter().map(|number| (Match::Same, self.learn(number))).collect();
        };
        let found = if meant == shown.number() { Match::Same } else { shown.compare(meant) };
        if found > Match::SameSoFar && !(wasteful && shown.number() < meant) {
            let split: Vec<_> = shown.copies().into_iter().filter_map(|number| self.split(number)).collect();
            if !split.is_empty() {
                return split.into_iter().map(|guess| (Match::Same, guess)).collect();
            }
        }
        self.last = Some(meant);
        vec![(found, self)]
    }

    /// Takes the step to the word of this number for that of its loop.
    fn learn(&self, number: i64) -> Self {
        let mut learned = self.clone();
        if let (Some(level), Some(last)) = (self.level, self.last) {
            learned.loops[level].step = Some(number - last);
        }
        learned.last = Some(number);
        learned
    }

    /// Makes two loops of one whose first turns all made the same step, and which now makes another, to the word of this
    /// number, if it can be two.
    fn split(&self, number: i64) -> Option<Self> {
        let (level, last) = (self.level?, self.last?);
        let Loop { extent, index, step: inner } = self.loops[level];
        let first_turn = self.loops[level + 1..].iter().all(|outside| outside.index == 0);
        if !first_turn || index < 2 || extent % index != 0 {
            return None;
        }
        let mut split = self.clone();
        split.loops[level] = Loop { extent: index, index: 0, step: inner };
        split.loops.insert(level + 1, Loop { extent: extent / index, index: 1, step: Some(number - last) });
        split.last = Some(number);
        Some(split)
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

    /// A word of rows that are fetched so often, one time after the other; of each row there are so many words.
    struct Word {
        number: i64,
        row: i64,
        times: i64,
    }

    impl Shown for Word {
        fn number(&self) -> i64 {
            self.number
        }

        fn copies(&self) -> Vec<i64> {
            let first = self.number - self.number.div_euclid(self.row) % self.times * self.row;
            let others = (0..self.times).map(|time| first + time * self.row).filter(|other| *other != self.number);
            [self.number].into_iter().chain(others).collect()
        }

        fn compare(&self, meant: i64) -> Match {
            if self.copies().contains(&meant) { Match::Same } else { Match::Other }
        }
    }

    fn read(order: &mut ReadOrder, number: Option<i64>, wasteful: bool) -> Option<i64> {
        let word = number.map(|number| Word { number, row: WORDS / 2, times: 1 });
        order.read(word.as_ref(), wasteful).map(|(_, meant)| meant)
    }

    fn stale(order: &mut ReadOrder, numbers: &[i64], wasteful: bool) -> Vec<(usize, i64)> {
        let meant = numbers.iter().map(|&number| read(order, Some(number), wasteful));
        meant.enumerate().filter_map(|(place, meant)| Some((place, meant?))).collect()
    }

    proptest! {
        /// Whatever the loops are, and however their addresses merge.
        #[test]
        fn affine_orders_are_right(loops in prop::collection::vec((1_u64..7, -30_i64..30), 0..5)) {
            prop_assert_eq!(stale(&mut order(&loops), &numbers(&loops), false), []);
        }

        /// Each row is fetched several times, and its words are read as often; which fetch a word comes from depends on when, in
        /// each group alike.
        #[test]
        fn any_fetch_of_a_row_will_do(
            times in 2_i64..4,
            groups in 1_u64..5,
            lag in prop::collection::vec(0_i64..3, 12),
        ) {
            let row = WORDS / 2;
            let loops = [(row as u64, 1), (times as u64, row), (groups, times * row)];
            let word = |number: i64| {
                let place = number % (times * row);
                let fetch = (place / row + lag[place as usize]) % times;
                Word { number: number - place + fetch * row + place % row, row, times }
            };
            let mut order = order(&loops);
            for number in numbers(&loops) {
                prop_assert_eq!(order.read(Some(&word(number)), false), None);
            }
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
        let meant = numbers.map(|number| read(&mut order, number, true));
        assert_eq!(meant, [None, None, None, None, None, None, None, None, Some(10)]);
    }
}
