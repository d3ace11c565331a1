//! The schedule as a trace: slices on tracks, in the format of Chrome, which Perfetto reads, too.
//!
//! A cycle is a microsecond. Each stage, stream and controller is a track: a slice for all its iterations, in it one for each
//! iteration of its outermost loop, and so on inward, as long as there is room.

use itertools::Itertools;
use serde::Serialize;

use crate::contents::Contents;
use crate::sequence::Sequence;
use crate::tiles::TileRow;

/// Slices of a trace, and of a track. Viewers show as many at once.
const SLICES: u64 = 16_384;
const SLICES_OF_TRACK: u64 = 1024;

/// Tracks that belong together.
struct Process {
    name: &'static str,
    tracks: Vec<Track>,
}

struct Track {
    name: String,
    sequence: Sequence,
}

#[derive(Serialize)]
struct Trace {
    #[serde(rename = "displayTimeUnit")]
    unit: &'static str,
    #[serde(rename = "otherData")]
    other: Other,
    #[serde(rename = "traceEvents")]
    events: Vec<Event>,
}

#[derive(Serialize)]
struct Other {
    program: String,
    cycles: u64,
    unit: &'static str,
}

/// An event of the format: a name of a process or a thread, or a slice.
#[derive(Serialize)]
struct Event {
    name: String,
    ph: &'static str,
    pid: usize,
    tid: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Args>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Args {
    Name(String),
    SortIndex(usize),
    Iterations(u64),
}

impl Contents {
    /// The schedule of a run, for `chrome://tracing` and Perfetto. Where tracks have too many iterations, inner loops are left out.
    pub fn to_trace(&self) -> String {
        let processes = self.processes();
        let tracks: usize = processes.iter().map(|process| process.tracks.len()).sum();
        let most = (SLICES / tracks.max(1) as u64).min(SLICES_OF_TRACK);
        let mut events = Vec::new();
        for (process, pid) in processes.iter().zip(1..) {
            let named = |name: &str, tid: usize, args: Args| Event {
                name: name.to_owned(),
                ph: "M",
                pid,
                tid,
                ts: None,
                dur: None,
                args: Some(args),
            };
            events.push(named("process_name", 0, Args::Name(process.name.to_owned())));
            events.push(named("process_sort_index", 0, Args::SortIndex(pid)));
            for (track, tid) in process.tracks.iter().zip(1..) {
                events.push(named("thread_name", tid, Args::Name(track.name.clone())));
                events.push(named("thread_sort_index", tid, Args::SortIndex(tid)));
                let slices = track.slices(self.figures.cycles as i64, most);
                events.extend(slices.into_iter().map(|event| Event { pid, tid, ..event }));
            }
        }
        let (program, cycles) = (self.figures.name.clone(), self.figures.cycles);
        let other = Other { program, cycles, unit: "1 microsecond is a cycle" };
        let trace = Trace { unit: "ns", other, events };
        serde_json::to_string(&trace).expect("events are numbers and names") + "\n"
    }

    fn processes(&self) -> Vec<Process> {
        let stages = self.stages.iter().map(|stage| {
            let name =
                if stage.copies > 1 { format!("{} × {}", stage.name, stage.copies) } else { stage.name.clone() };
            Track { name, sequence: stage.sequence.clone() }
        });
        let streams = self.streams.iter();
        let streams = streams.map(|stream| Track {
            name: format!("{} {}", stream.direction, stream.name),
            sequence: stream.sequence.clone(),
        });
        let tiles = self.tiles.iter().flat_map(|tile| self.controllers_of(tile));
        let all =
            [("operations", stages.collect_vec()), ("streams", streams.collect()), ("memory tiles", tiles.collect())];
        let all = all.into_iter().map(|(name, tracks)| Process { name, tracks });
        all.filter(|process| !process.tracks.is_empty()).collect()
    }

    fn controllers_of(&self, tile: &TileRow) -> Vec<Track> {
        let first = tile.instances.first().map_or("", |instance| instance.name.as_str());
        let alike = match tile.instances.len() {
            0 | 1 => String::new(),
            several => format!(" and {} alike", several - 1),
        };
        let track = |(name, number): (&String, &usize)| Track {
            name: format!("{first}{alike}: {name}"),
            sequence: Sequence::of_controller(&self.controllers[*number], tile.begin as i64),
        };
        tile.controllers.iter().map(track).collect()
    }
}

impl Track {
    /// Slices in a run of so many cycles: about as many as these.
    fn slices(&self, cycles: i64, most: u64) -> Vec<Event> {
        let Sequence { names, first, extent, cycle } = &self.sequence;
        let mut slices = Vec::new();
        let mut indices = vec![0; extent.depth()];
        let mut count = 1;
        for inner in (0..=extent.depth()).rev() {
            if inner < extent.depth() {
                count *= extent[inner];
                if count > most {
                    break;
                }
            }
            let iterations = extent[..inner].iter().product();
            let inside = extent[..inner].iter().zip(&cycle.stride);
            let span = inside.map(|(&extent, &stride)| (extent as i64 - 1) * stride).sum::<i64>() + 1;
            let outer = extent[inner..].to_vec();
            for number in 0..outer.iter().product::<u64>() {
                let mut rest = number;
                for (index, &extent) in indices[inner..].iter_mut().zip(&outer) {
                    *index = (rest % extent) as i64;
                    rest /= extent;
                }
                indices[..inner].fill(0);
                let begin = cycle.value(&indices);
                if begin >= cycles {
                    break;
                }
                slices.push(Event {
                    name: match names.get(inner) {
                        Some(name) => format!("{name}={}", first[inner] + indices[inner]),
                        None => self.name.clone(),
                    },
                    ph: "X",
                    pid: 0,
                    tid: 0,
                    ts: Some(begin),
                    dur: Some(span.min(cycles - begin)),
                    args: (iterations > 1).then_some(Args::Iterations(iterations)),
                });
            }
        }
        slices
    }
}
