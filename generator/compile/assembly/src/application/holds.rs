//! Hold registers: words that wait for the reads of them.

use pushmem_files::free_name;
use pushmem_nest::{Policy, Word};
use pushmem_schedule::{Stage, Subscript};

use super::plan::{HeldRead, HeldWord, Outcome, Place, at, least_gap};
use super::{Builder, Timed};
use crate::taps::{Tap, TapCase};
use pushmem_graph::{BitDriver, Condition, Counter, CounterId, Edge, Hold, WordDriver};

/// The most hold registers that a word passes before the one that it is read in. Where they would be more, it waits in a memory.
const MOST_BEFORE: i64 = 16;

/// The only stage whose words a hold register is loaded with.
struct OnlySource<'a> {
    /// The stage that writes them, and when.
    producer: Timed<'a>,
    /// Conditions on its loops: in these iterations it writes the words that are read.
    conditions: Vec<(usize, Condition)>,
    /// The place of the word at the latest load.
    place: Place,
    /// Cycles from its write to the latest load.
    delay: i64,
}

impl<'a> Builder<'a> {
    /// The register that holds the words of a read. Reads that would load theirs alike share one.
    pub(super) fn held(&mut self, of: (usize, usize, Word), outside: i64, held: &HeldRead) -> Edge {
        let (stage, read, word) = of;
        let name = format!("{}{}", self.name_of_word(stage, read, held), word.suffix());
        // Lanes of a coarse pipeline that load words of different iterations do so in the same cycle, by one counter.
        let is_loaded_with_others = self.scheduled.program.policy() == Policy::Dnn && held.has_rounds();
        let source = self.only_source(stage, read, held).filter(|_| !is_loaded_with_others);
        if let Some(source) = source {
            return self.held_from(&name, held, &source, word);
        }
        // Words of several stages, or in several places: the loops of the loads choose among them. The first may be a constant,
        // which is there at all times, but not before the run.
        let first = held.loads.first_cycle(&held.latest);
        let early = if is_loaded_with_others { 0 } else { slack(held).min(least_delay(held)).min(first) };
        let cycle = held.latest.shifted(-early);
        let loads = Timed { content: &held.loads, cycle: &cycle };
        let mut edges = Vec::new();
        for case in &held.cases {
            edges.push(match case.tap {
                Tap::Stage { producer, delay } => match at(&self.outcomes, producer, delay - early) {
                    Outcome::At(place) if is_loaded_with_others => self.edge(place, word),
                    Outcome::At(place) => self.waiting(place, word),
                    Outcome::Constant(number) => Edge::Constant(word.of(number)),
                },
                tap @ (Tap::Outside | Tap::Port { .. }) => self.edge_of_tap(tap, outside, word),
            });
        }
        let chosen = self.free_name(&format!("{}_load_{read}{}", self.stage_name(stage), word.suffix()));
        match self.chosen(loads, &chosen, &held.cases, &edges) {
            constant @ Edge::Constant(_) => constant,
            edge @ Edge::Net { .. } => {
                let counter = self.counter_at(loads, 0);
                self.hold(&name, Hold { edge, counter, when: None })
            }
        }
    }

    /// The words of a read that each have a register of their own: the loops of the read choose among them.
    pub(super) fn held_each(&mut self, of: (usize, usize, Word), outside: i64, words: &[HeldWord]) -> Edge {
        let (stage, read, part) = of;
        let edges: Vec<Edge> = words.iter().map(|word| self.held(of, outside, &word.held)).collect();
        let condition = |&(level, index): &(usize, i64)| (level, Condition { first: index, last: index, step: 1 });
        let case =
            |word: &HeldWord| TapCase { conditions: word.indices.iter().map(condition).collect(), tap: Tap::Outside };
        let mut cases: Vec<TapCase> = words.iter().map(case).collect();
        // One of them always applies.
        cases.last_mut().expect("a read has words").conditions.clear();
        let name = self.free_name(&format!("{}_load_{read}{}", self.stage_name(stage), part.suffix()));
        self.chosen(self.timed(stage), &name, &cases, &edges)
    }

    /// The register for the words of one stage. It is loaded as soon as the word before has been read, with each word as it comes
    /// if that is soon enough.
    fn held_from(&mut self, name: &str, held: &HeldRead, source: &OnlySource, word: Word) -> Edge {
        let OnlySource { producer, conditions, place, delay } = source;
        let early = slack(held).min(*delay);
        let edge = self.waiting(Place { delay: place.delay - early as u64, ..*place }, word);
        let late = producer.content.latency + (delay - early) as u64;
        let all = Counter::of(producer.content, producer.cycle, late);
        // Loads before the first word that is read, or after the last, do no harm if they are as far apart as the others.
        let apart = least_gap(&all) > held.span.saturating_add(early);
        let is_needed = |(level, condition): &&(usize, Condition)| {
            let extent = producer.content.loops[*level].extent;
            let is_range = condition.first < condition.last && condition.step == 1;
            let is_whole = condition.first == 0 && condition.last == extent as i64 - 1;
            extent > 1 && !(is_range && (is_whole || apart))
        };
        let conditions = conditions.iter().filter(is_needed);
        let conditions: Vec<_> = conditions.map(|&(level, condition)| (producer.level(level), condition)).collect();
        let counter = self.loads_at(all);
        let when = (!conditions.is_empty()).then(|| self.bit(BitDriver::Indices { counter, conditions }));
        self.hold(name, Hold { edge, counter, when })
    }

    /// A word of the result of a stage some cycles ago. Where its words are far apart, hold registers that pass them on shift them: each
    /// shows a word from the cycle after its load to that of the next. Where words come in every cycle, it is a plain delay.
    fn waiting(&mut self, place: Place, word: Word) -> Edge {
        let stage = self.timed(place.stage);
        let latency = stage.content.latency;
        let gap = least_gap(&Counter::of(stage.content, stage.cycle, latency));
        let delay = place.delay as i64;
        let registers = delay / gap + i64::from(delay % gap > 0);
        if gap == 1 || registers > MOST_BEFORE {
            return self.edge(place, word);
        }
        let name = format!("{}_held{}", self.stage_name(place.stage), word.suffix());
        let mut edge = self.edge(Place { delay: 0, ..place }, word);
        for number in 0..registers {
            let late = latency + (number * gap) as u64;
            let counter = self.loads_at(Counter::of(stage.content, stage.cycle, late));
            edge = self.hold(&name, Hold { edge, counter, when: None });
        }
        edge
    }

    /// A counter for loads. Its loops may be those of a stream by other names.
    fn loads_at(&mut self, wanted: Counter) -> CounterId {
        let same = |other: &Counter| other.extent == wanted.extent && other.cycle == wanted.cycle;
        let counters = &mut self.graph.counters;
        counters.position(same).unwrap_or_else(|| counters.push(wanted))
    }

    /// A register, which may be there already.
    fn hold(&mut self, name: &str, hold: Hold) -> Edge {
        let driver = WordDriver::Hold(hold);
        let known = self.graph.words.position(|net| net.driver == driver);
        let net = known.unwrap_or_else(|| self.add_net(self.free_name(name), driver, None));
        Edge::Net { net, delay: 0 }
    }

    /// A name that no net has, nor a stage.
    fn free_name(&self, wanted: &str) -> String {
        let names = &self.graph.names;
        let is_net = |name: &String| self.graph.words.iter().any(|net| net.name == *name);
        free_name(wanted, 1, |name| !names.stages.contains(name) && !is_net(name))
    }

    /// The only stage that a register is loaded from, if conditions on its loops say which of its words are read.
    fn only_source(&self, stage: usize, read: usize, held: &HeldRead) -> Option<OnlySource<'a>> {
        let [TapCase { tap: Tap::Stage { producer, delay }, .. }] = held.cases[..] else { return None };
        let Outcome::At(place) = at(&self.outcomes, producer, delay) else { return None };
        let reads = &self.timed(stage).content.reads[read];
        let producer = self.timed(producer);
        let mut conditions = Vec::new();
        for (written, read) in producer.content.write.subscripts.iter().zip(&reads.subscripts) {
            if let Some(level) = written.single_loop().ok()? {
                conditions.push((level, iterations(producer.content, level, written, &held.loads, read)?));
            }
        }
        Some(OnlySource { producer, conditions, place, delay })
    }

    /// A name for the words that a read takes: the array with those of its indices that are always the same, innermost first.
    fn name_of_word(&self, stage: usize, read: usize, held: &HeldRead) -> String {
        let access = &self.timed(stage).content.reads[read];
        let first: Vec<i64> = held.loads.loops.iter().map(|level| level.min).collect();
        let is_constant = |subscript: &&Subscript| {
            let mut loops = held.loads.loops.iter().zip(&subscript.coefficients);
            loops.all(|(level, coefficient)| level.extent == 1 || *coefficient == 0)
        };
        let indices = access.subscripts.iter().filter(is_constant).filter_map(|subscript| subscript.at(&first));
        let indices: String = indices.filter(|index| *index >= 0).map(|index| format!("_{index}")).collect();
        format!("{}{indices}_held", self.graph.names.arrays[access.array])
    }
}

/// How many cycles earlier than at the latest a register can be loaded: the reads of the word before are over then.
pub(super) fn slack(held: &HeldRead) -> i64 {
    held.gap().saturating_sub(1 + held.span)
}

/// The least delay of the words that are loaded.
fn least_delay(held: &HeldRead) -> i64 {
    let delays = held.cases.iter().filter_map(|case| match case.tap {
        Tap::Stage { delay, .. } => Some(delay),
        Tap::Outside | Tap::Port { .. } => None,
    });
    delays.min().unwrap_or(0)
}

/// The iterations, counted from 0, of a loop of a stage that writes along a dimension: those of the elements that a read takes
/// there, if they are so many-th ones.
fn iterations(
    writer: &Stage,
    level: usize,
    written: &Subscript,
    reader: &Stage,
    read: &Subscript,
) -> Option<Condition> {
    let along = read.single_loop().ok()?.filter(|&along| reader.loops[along].extent > 1);
    let coefficient = written.coefficients[level];
    let step = along.map_or(0, |along| read.coefficients[along]);
    if (along.is_some() && !read.is_affine()) || step % coefficient != 0 {
        return None;
    }
    let iteration = |index: &[i64]| {
        let steps = read.at(index)? - written.constant - written.offset;
        (steps % coefficient == 0).then_some(steps / coefficient - writer.loops[level].min)
    };
    let first: Vec<i64> = reader.loops.iter().map(|level| level.min).collect();
    let last: Vec<i64> = reader.loops.iter().map(|level| level.max()).collect();
    let ends = [iteration(&first)?, iteration(&last)?];
    let (first, last) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
    Some(Condition { first, last, step: (step / coefficient).abs().max(1) })
}
