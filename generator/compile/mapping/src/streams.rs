//! From the ports of a buffer to streams: which reads take words of which writes.

use foldhash::HashMap;
use std::rc::Rc;

use itertools::Itertools;
use num_integer::gcd;
use pushmem_buffers::UnifiedBuffer;

use crate::dependence::dependence;
use crate::group::{Feed, Read, Space, Stream, Write};
use crate::known::{Alike, Known};
use crate::nest::Nest;
use crate::past::{Followed, NeverWritten, Past, ranges};

/// Most elements of a buffer whose writes are followed one by one, untouched elements included.
const ELEMENT_LIMIT: i128 = 1 << 40;

/// Ports that take words from each other, and from no others.
pub(crate) struct Component {
    /// The write ports, by number.
    pub writes: Vec<usize>,
    /// The read ports, by number.
    pub reads: Vec<usize>,
    /// The words that the reads take, where they were followed to tell the writes apart.
    past: Option<Rc<Past>>,
}

/// All ports of a buffer that take part: each write port with the reads of its words; and together with other write ports
/// if a read takes words of several.
pub(crate) fn components(buffer: &UnifiedBuffer, known: &mut Known) -> Result<Vec<Component>, Vec<String>> {
    let writes = buffer.writes().map(|(number, port)| (number, Nest::of(port))).collect_vec();
    let reads = buffer.reads().map(|(number, port)| (number, Nest::of(port))).collect_vec();
    if writes.is_empty() {
        return Err(vec!["the buffer has no write port".to_owned()]);
    }
    // Positions among the writes.
    let mut sources = Vec::new();
    for (number, read) in &reads {
        let touched = writes.iter().positions(|(_, write)| !apart(read, write)).collect_vec();
        if touched.is_empty() {
            let name = |number: usize| &buffer.ports[number].name;
            let reason = |(write, nest): &(usize, Nest)| {
                let reason = dependence(read, nest).err()?;
                Some(format!("{} from {}: {reason}", name(*number), name(*write)))
            };
            return Err(writes.iter().filter_map(reason).collect());
        }
        sources.push(touched);
    }
    let mut followed = HashMap::default();
    for (writers, readers) in united(&sources, writes.len()) {
        if writers.len() == 1 {
            continue;
        }
        // Where several write the same elements, only time tells whose words are read. Reads of words that are not there
        // are for the attempts to name.
        let ports = |places: &[usize], of: &[(usize, Nest)]| places.iter().map(|&place| of[place].0).collect_vec();
        let alike = Alike::of(buffer, &ports(&writers, &writes), &ports(&readers, &reads));
        let nests = |places: &[usize], of: &[(usize, Nest)]| places.iter().map(|&n| of[n].1.clone()).collect_vec();
        let follow = || past(&nests(&writers, &writes), &nests(&readers, &reads)).ok().map(Rc::new);
        let Some(past) = known.pasts.entry(alike).or_insert_with(follow) else { continue };
        for (place, &reader) in readers.iter().enumerate() {
            // Reads that were not followed to the end may take words of any writer.
            if past.reads[place].is_whole() {
                sources[reader] = past.reads[place].sources.iter().map(|&write| writers[write]).collect();
            }
        }
        followed.insert((writers, readers), Rc::clone(past));
    }
    let component = |(writers, readers): (Vec<usize>, Vec<usize>)| Component {
        past: followed.remove(&(writers.clone(), readers.clone())),
        writes: writers.into_iter().map(|writer| writes[writer].0).collect(),
        reads: readers.into_iter().map(|reader| reads[reader].0).collect(),
    };
    Ok(united(&sources, writes.len()).into_iter().map(component).collect())
}

/// Writers and readers in sets, such that all writers of a reader are in its set. Writers without readers are left out.
fn united(sources: &[Vec<usize>], writers: usize) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut set: Vec<usize> = (0..writers).collect();
    for sources in sources {
        for &writer in sources {
            let (to, from) = (set[sources[0]].min(set[writer]), set[sources[0]].max(set[writer]));
            set.iter_mut().filter(|set| **set == from).for_each(|set| *set = to);
        }
    }
    (0..writers)
        .map(|number| {
            let readers = sources.iter().positions(|sources| set[sources[0]] == number).collect_vec();
            (set.iter().positions(|&set| set == number).collect_vec(), readers)
        })
        .filter(|(_, readers)| !readers.is_empty())
        .collect()
}

/// Whether two nests provably touch no common element: in some dimension, ranges or residues are apart.
fn apart(one: &Nest, other: &Nest) -> bool {
    one.functions.iter().zip(&other.functions).any(|(a, b)| {
        let (range_a, range_b) = (one.range(a), other.range(b));
        let step = a.stride.iter().chain(&b.stride).fold(0, |step, &stride| gcd(step, stride));
        range_a.1 < range_b.0 || range_b.1 < range_a.0 || (step != 0 && (a.start - b.start) % step != 0)
    })
}

/// Follows writes and reads through their run.
fn past(writes: &[Nest], reads: &[Nest]) -> Result<Past, Unfollowed> {
    let nests = writes.iter().chain(reads).collect_vec();
    let elements = ranges(&nests).into_iter().map(|(low, high)| i128::from(high - low + 1));
    let elements = elements.fold(1_i128, i128::saturating_mul);
    if elements > ELEMENT_LIMIT {
        return Err(Unfollowed::TooMany(elements));
    }
    let (writes, reads) = (writes.iter().collect_vec(), reads.iter().collect_vec());
    Past::of(&writes, &reads).map_err(Unfollowed::NeverWritten)
}

/// Why the run was not followed.
enum Unfollowed {
    TooMany(i128),
    NeverWritten(NeverWritten),
}

impl Component {
    /// The stream whose words lie in the order in which the only write makes them, or why there is none. Ports are numbered
    /// in the buffer.
    pub fn in_order(&self, buffer: &UnifiedBuffer) -> Result<Stream, Vec<String>> {
        let [writer] = self.writes[..] else {
            let writers = self.writes.iter().map(|&write| &buffer.ports[write].name).join(", ");
            return Err(vec![format!("words in the order of writing: several ports write them: {writers}")]);
        };
        let write = Nest::of(&buffer.ports[writer]).merged(&[]);
        let mut reads = Vec::new();
        for &number in &self.reads {
            let (read, from) = (&buffer.ports[number], &buffer.ports[writer].name);
            let dependence = dependence(&Nest::of(read), &write)
                .map_err(|reason| vec![format!("{} from {from}: {reason}", read.name)])?;
            reads.push((Some(number), dependence));
        }
        Ok(Stream::of_iterations(Feed::Port(writer), &write, reads))
    }

    /// Whether each element is written once, so that words in the order of writing are words in place.
    pub fn writes_once(&self, buffer: &UnifiedBuffer) -> bool {
        let once = |&write: &usize| {
            let nest = Nest::of(&buffer.ports[write]);
            (0..nest.depth()).all(|level| nest.functions.iter().any(|function| function.stride[level] != 0))
        };
        self.writes.len() == 1 && self.writes.iter().all(once)
    }

    /// The stream where each element has a place of its own, or why there is none.
    pub fn in_place(self, buffer: &UnifiedBuffer) -> Result<Stream, String> {
        let nests = |ports: &[usize]| ports.iter().map(|&port| Nest::of(&buffer.ports[port])).collect_vec();
        let (mut writes, mut reads) = (nests(&self.writes), nests(&self.reads));
        let past = self.past.map_or_else(|| past(&writes, &reads).map(Rc::new), Ok);
        let past = past.map_err(|reason| match reason {
            Unfollowed::TooMany(elements) => format!("words in place: a space of {elements} elements is too large"),
            Unfollowed::NeverWritten(NeverWritten { read, cycle, element }) => {
                let (name, element) = (&buffer.ports[self.reads[read]].name, element.iter().join(", "));
                format!("{name}: it reads element ({element}) in cycle {cycle}, and it is not written by then")
            }
        })?;
        let ranges = ranges(&writes.iter().chain(&reads).collect_vec());
        for nest in writes.iter_mut().chain(&mut reads) {
            for (function, (low, _)) in nest.functions.iter_mut().zip(&ranges) {
                function.start -= low;
            }
        }
        let size = ranges.into_iter().map(|(low, high)| (high - low + 1) as u64).collect();
        let write = |(nest, &port)| Write { feed: Feed::Port(port), nest };
        let read = |((nest, &port), past): ((Nest, &usize), &Rc<Followed>)| Read {
            port: Some(port),
            nest,
            past: Some(Rc::clone(past)),
        };
        Ok(Stream {
            class: 0,
            space: Space::Elements { size, past: Rc::clone(&past) },
            writes: writes.into_iter().zip(&self.writes).map(write).collect(),
            reads: reads.into_iter().zip(&self.reads).zip(&past.reads).map(read).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_of_a_reader_are_together() {
        assert_eq!(united(&[vec![0], vec![1, 2], vec![2]], 4), [(vec![0], vec![0]), (vec![1, 2], vec![1, 2])]);
        assert_eq!(united(&[vec![2, 3], vec![0, 3], vec![1]], 4), [(vec![0, 2, 3], vec![0, 1]), (vec![1], vec![2])]);
    }
}
