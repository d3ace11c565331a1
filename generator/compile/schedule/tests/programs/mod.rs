//! Pipelines for tests, from a few words each.

use pushmem_schedule::{Access, Array, Boundary, CoarseOptions, Pipeline, Stage, StageLoop, Subscript, Transport};

/// Makes pipelines.
#[derive(Default)]
pub struct Builder {
    pub pipeline: Pipeline,
}

impl Builder {
    /// Adds an operation as a group of its own: its loops, `y:63 x:64`, the outermost first; how many of these it shares
    /// with the operation before; its reads, as `a[2*x+1,y]`, and its write.
    pub fn operation(&mut self, name: &str, loops: &str, shared: usize, reads: &[&str], write: &str) {
        let loops: Vec<StageLoop> = loops
            .split_whitespace()
            .rev()
            .map(|text| {
                let (name, extent) = text.split_once(':').unwrap();
                StageLoop { name: name.to_owned(), min: 0, extent: extent.parse().unwrap() }
            })
            .collect();
        let reads = reads.iter().map(|text| self.access(text, &loops)).collect();
        let write = self.access(write, &loops);
        let group = self.pipeline.stages.last().map_or(0, |stage| stage.group + 1);
        self.pipeline.stages.push(Stage { name: name.to_owned(), group, shared, loops, reads, write, latency: 0 });
    }

    /// Puts the last operation into the group of the one before.
    pub fn join(&mut self) {
        let [.., before, last] = &mut self.pipeline.stages[..] else { panic!("there are two") };
        (last.group, last.shared) = (before.group, before.shared);
    }

    fn access(&mut self, text: &str, loops: &[StageLoop]) -> Access {
        let (name, subscripts) = text.strip_suffix(']').unwrap().split_once('[').unwrap();
        let known = self.pipeline.arrays.iter().position(|array| array.name == name);
        let array = known.unwrap_or_else(|| {
            self.pipeline.arrays.push(Array { name: name.to_owned(), weight: 1 });
            self.pipeline.arrays.len() - 1
        });
        let subscripts = subscripts.split(',').map(|text| {
            let mut subscript = Subscript::affine(vec![0; loops.len()], 0);
            for term in text.split('+') {
                let (factor, variable) = term.split_once('*').unwrap_or(("1", term));
                match variable.parse::<i64>() {
                    Ok(constant) => subscript.constant += constant,
                    Err(_) => {
                        let level = loops.iter().position(|level| level.name == variable).unwrap();
                        let moves = loops[level].extent > 1;
                        subscript.coefficients[level] += if moves { factor.parse().unwrap() } else { 0_i64 };
                    }
                }
            }
            subscript
        });
        Access { array, subscripts: subscripts.collect() }
    }
}

/// Every iteration of a stage.
pub fn points(stage: &Stage) -> Vec<Vec<i64>> {
    stage.loops.iter().rev().fold(vec![Vec::new()], |outer, level| {
        outer
            .iter()
            .flat_map(|point| (level.min..=level.max()).map(move |i| [&[i], point.as_slice()].concat()))
            .collect()
    })
}

/// A small generator of random numbers.
struct Random(u64);

impl Random {
    /// A number below a limit.
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }
}

/// A random tree of operations, and random options. Arrays have two dimensions.
pub fn random(seed: u64) -> (Pipeline, CoarseOptions) {
    let mut random = Random(seed);
    let mut program = Builder::default();
    let mut before: Vec<StageLoop> = Vec::new();
    let (mut loops_made, mut written) = (0, 0_usize);
    let operations = 2 + random.below(5);
    for number in 0..operations {
        let shared = random.below(before.len().min(3) as u64 + 1) as usize;
        // Innermost first: those shared are the last.
        let mut loops: Vec<StageLoop> = before[before.len() - shared..].to_vec();
        // Some have the same loops as the one before, to follow it iteration by iteration.
        let alike = number > 0 && random.one_in(3);
        let own = match alike {
            true => (before.len() - shared) as u64,
            false => random.below(3) + u64::from(shared == 0),
        };
        for inner in 0..own.min(4 - shared as u64) as usize {
            let (min, extent) = match alike {
                true => (before[own as usize - 1 - inner].min, before[own as usize - 1 - inner].extent),
                false => (random.below(2) as i64, 1 + random.below(5)),
            };
            loops.insert(0, StageLoop { name: format!("v{loops_made}"), min, extent });
            loops_made += 1;
        }
        // The loops that run along the two dimensions where accesses are plain.
        let along = match random.below(4) {
            0 => [1, 0],
            1 => [1, 2],
            2 => [2, 1],
            _ => [0, 1],
        };
        let pick = |random: &mut Random, array: usize| Access {
            array,
            subscripts: (0..2)
                .map(|dimension| {
                    let mut subscript = Subscript::affine(vec![0; loops.len()], random.below(3) as i64);
                    for _ in 0..random.below(3).min(loops.len() as u64) {
                        let level = random.below(loops.len() as u64) as usize;
                        // Most loops keep to one dimension.
                        if loops[level].extent > 1 && (level % 2 == dimension || random.one_in(3)) {
                            subscript.coefficients[level] = [1, 1, 1, 2, 4, -1][random.below(6) as usize];
                        }
                    }
                    subscript
                })
                .collect(),
        };
        // A plain access: a loop along each dimension.
        let plain = |array: usize| Access {
            array,
            subscripts: along
                .iter()
                .map(|&along| {
                    let mut coefficients = vec![0; loops.len()];
                    if loops.get(along).is_some_and(|level| level.extent > 1) {
                        coefficients[along] = 1;
                    }
                    Subscript::affine(coefficients, 0)
                })
                .collect(),
        };
        let any = |random: &mut Random, array: usize| {
            if random.one_in(3) { pick(random, array) } else { plain(array) }
        };
        let again = written > 0 && random.one_in(2);
        let array = if again { random.below(written as u64) as usize } else { written };
        let write = any(&mut random, array);
        let mut reads = Vec::new();
        for _ in 0..random.below(3).min(written as u64) {
            let from = if alike { written - 1 } else { random.below(written as u64) as usize };
            let mut read = any(&mut random, from);
            for subscript in &mut read.subscripts {
                bend(&mut random, subscript);
            }
            reads.push(read);
        }
        if again && !random.one_in(3) {
            reads.push(write.clone());
        }
        if array == written {
            program.pipeline.arrays.push(Array { name: format!("a{array}"), weight: 1 });
            written += 1;
        }
        let latency = random.below(4);
        let name = format!("s{number}");
        let stage = Stage { name, group: number as usize, shared, loops: loops.clone(), reads, write, latency };
        let lanes = random.one_in(4);
        program.pipeline.stages.push(stage.clone());
        if lanes {
            // The same in every second element of the first dimension, of every access.
            let [.., first] = &mut program.pipeline.stages[..] else { unreachable!("one was added") };
            let mut second = stage;
            for access in first.reads.iter_mut().chain([&mut first.write]) {
                spread(access, 0);
            }
            for access in second.reads.iter_mut().chain([&mut second.write]) {
                spread(access, 1);
            }
            second.name = format!("s{number}_1");
            if let Some(level) = second.loops.first_mut().filter(|level| shared == 0 && level.extent > 2) {
                level.extent -= u64::from(second.latency == 1);
            }
            program.pipeline.stages.push(second);
        }
        before = loops;
    }
    let mut options = CoarseOptions {
        write_ports: 1 + random.below(2) as usize,
        read_ports: 1 + random.below(2) as usize,
        round_trip: if random.one_in(2) { 0 } else { random.below(4) },
        interchange: !random.one_in(3),
        distribute: !random.one_in(3),
        double_buffer: !random.one_in(3),
        balance_paths: !random.one_in(4),
        overlap: random.one_in(2),
        flatten: !random.one_in(3),
        row_multiple: if random.one_in(3) { 4 } else { 1 },
        ..CoarseOptions::default()
    };
    for array in 0..written {
        if random.one_in(5) {
            options.serialized.insert(array);
        }
    }
    let stages = program.pipeline.stages.len();
    if random.one_in(3) {
        options.transport = Transport::uniform(random.below(3));
        for _ in 0..random.below(4) {
            let [producer, consumer] = [(); 2].map(|()| random.below(stages as u64) as usize);
            options.transport.set(producer, consumer, random.below(6));
        }
        for _ in 0..random.below(4) {
            let consumer = random.below(stages as u64) as usize;
            let reads = program.pipeline.stages[consumer].reads.len();
            if reads > 0 {
                options.transport.set_operand(consumer, random.below(reads as u64) as usize, random.below(6));
            }
        }
    }
    if random.one_in(3) {
        let names = [None, None, Some("a".to_owned()), Some("b".to_owned())];
        options.share = program.pipeline.stages.iter().map(|_| names[random.below(4) as usize].clone()).collect();
    }
    (program.pipeline, options)
}

/// Sometimes a division, sometimes a boundary.
fn bend(random: &mut Random, subscript: &mut Subscript) {
    if random.one_in(10) {
        subscript.divisor = 2;
    }
    if random.one_in(8) {
        let (low, high) = (random.below(3) as i64, 3 + random.below(3) as i64);
        subscript.boundary = match random.below(3) {
            0 => Boundary::Clamp { low, high },
            1 => Boundary::Mirror { low, high },
            _ => Boundary::Outside { low, high },
        };
    }
}

/// Layers of rows, one behind the other: each reads rows of the one before, or of one further back, through a window, a stride, or a sum
/// over its channels; and random options, with which rows follow the slowest.
pub fn rows(seed: u64) -> (Pipeline, CoarseOptions) {
    let mut random = Random(seed);
    let mut program = Builder::default();
    let size = |random: &mut Random| [9 + random.below(8), 9 + random.below(6)];
    let [width, height] = size(&mut random);
    program.operation("load", &format!("y:{height} x:{width}"), 0, &[], "l0[x,y]");
    // The sizes of layers.
    let mut layers = vec![[width, height]];
    for number in 1..2 + random.below(4) {
        let source = if random.one_in(4) { random.below(number) as usize } else { number as usize - 1 };
        let [width, height] = layers[source];
        let (target, source) = (format!("l{number}"), format!("l{source}"));
        let latency = random.below(4);
        let kind = random.below(5);
        let step = if kind == 1 && width > 6 && height > 6 { 2 } else { 1 };
        let window = [1, 2, 3][random.below(3) as usize].min(width).min(height);
        let size = [width, height].map(|size| (size - window) / step + 1);
        let loops = format!("y:{} x:{}", size[1], size[0]);
        let read = match window {
            1 => format!("{source}[{step}*x,{step}*y]"),
            _ => format!("{source}[{step}*x+i,{step}*y+j]"),
        };
        let first = program.pipeline.stages.len();
        let window = if window == 1 { String::new() } else { format!("j:{window} i:{window}") };
        if kind < 3 {
            // A sum, and what is made of it.
            let sums = format!("s{number}[x,y]");
            let order = match random.below(3) {
                0 => format!("{window} {loops}"),
                1 => format!("{loops} {window}"),
                _ => format!("y:{} {window} x:{}", size[1], size[0]),
            };
            let first = if random.one_in(3) { "x:{} y:{}" } else { "y:{1} x:{0}" };
            let first = first.replacen("{}", &size[0].to_string(), 1).replacen("{}", &size[1].to_string(), 1);
            let first = first.replace("{0}", &size[0].to_string()).replace("{1}", &size[1].to_string());
            program.operation(&format!("first{number}"), &first, 0, &[], &sums);
            program.operation(&format!("sum{number}"), &order, 0, &[&read, &sums], &sums);
            program.operation(&target, &loops, 0, &[&sums], &format!("{target}[x,y]"));
        } else if kind == 3 {
            // Rows of a loop that several stages share.
            let line = format!("s{number}[x]");
            program.operation(&format!("first{number}"), &loops, 0, &[], &line);
            let order = format!("y:{} {window} x:{}", size[1], size[0]);
            program.operation(&format!("sum{number}"), &order, 1, &[&read, &line], &line);
            program.operation(&target, &loops, 1, &[&line], &format!("{target}[x,y]"));
        } else {
            // A frame of zeros, and elements within it.
            let around = format!("y:{} x:{}", size[1] + 2, size[0] + 2);
            program.operation(&format!("frame{number}"), &around, 0, &[], &format!("{target}[x,y]"));
            let read = read.replace("+i", "").replace("+j", "");
            program.operation(&target, &loops, 0, &[&read], &format!("{target}[x+1,y+1]"));
        }
        program.pipeline.stages[first..].iter_mut().for_each(|stage| stage.latency = latency);
        layers.push(if kind == 4 { size.map(|size| size + 2) } else { size });
    }
    let options = CoarseOptions {
        write_ports: 1 + random.below(2) as usize,
        read_ports: 1 + random.below(2) as usize,
        round_trip: if random.one_in(2) { 0 } else { random.below(4) },
        overlap: !random.one_in(8),
        match_rates: true,
        distribute: !random.one_in(3),
        interchange: !random.one_in(6),
        row_multiple: if random.one_in(3) { 4 } else { 1 },
        transport: Transport::uniform(random.below(3)),
        ..CoarseOptions::default()
    };
    (program.pipeline, options)
}

/// In each of three iterations, elements are written by a group of random shape, then all are read, then all written: so
/// those that the first leaves out come from the iteration before.
pub fn carrying(seed: u64) -> (Pipeline, CoarseOptions) {
    let mut random = Random(seed);
    let mut program = Builder::default();
    let names = ["x", "y", "z"];
    let extents: Vec<u64> = names.iter().map(|_| 1 + random.below(4)).collect();
    let loops: Vec<String> = names.iter().zip(&extents).map(|(name, extent)| format!("{name}:{extent}")).collect();
    let mut sides: Vec<Vec<String>> = Vec::new();
    for _ in 0..2 {
        let mut terms = Vec::new();
        for name in names {
            if random.one_in(2) {
                terms.push(format!("{}*{name}", [1, 1, 2, 2, 4][random.below(5) as usize]));
            }
        }
        sides.push(terms);
    }
    for lane in 0..1 + random.below(3) {
        let constants = [random.below(3), random.below(2)].map(|constant| if lane == 0 { 0 } else { constant });
        let sides = sides.iter().zip(constants).map(|(terms, constant)| format!("{}{constant}", join(terms)));
        let target = format!("a[{}]", sides.collect::<Vec<_>>().join(","));
        program.operation(&format!("some_{lane}"), &format!("t:3 {}", loops.join(" ")), 0, &[], &target);
        if lane > 0 {
            program.join();
        }
    }
    let size = [1 + random.below(4), 1 + random.below(4)];
    let step = 1 + random.below(2);
    let read = format!("a[{step}*x+{},y]", random.below(2));
    program.operation("use", &format!("t:3 y:{} x:{}", size[1], size[0]), 1, &[&read], "b[x,y,t]");
    program.operation("rest", "t:3 y:12 x:12", 1, &[], "a[x,y]");
    let options = CoarseOptions { write_ports: 2, ..CoarseOptions::default() };
    (program.pipeline, options)
}

fn join(terms: &[String]) -> String {
    terms.iter().map(|term| format!("{term}+")).collect()
}

/// Every second element, beginning with one.
fn spread(access: &mut Access, lane: i64) {
    let first = &mut access.subscripts[0];
    first.coefficients.iter_mut().for_each(|coefficient| *coefficient *= 2);
    first.constant = first.constant * 2 + lane;
}
