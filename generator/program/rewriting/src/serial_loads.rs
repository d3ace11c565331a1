//! Words that lanes keep while loops run, as the weights of a layer: loaded one after the other, through one port of a memory.

use itertools::Itertools;
use pushmem_nest::{
    Access, AffineIndex, Array, ArrayOrigin, Index, LARGEST_ARRAY, Load, Loop, MOST_DIMENSIONS, Node, Operation,
    Program, Witness,
};

/// Lets lanes share a port of a memory where each of them reads one word again and again. Unrolled copies of a statement that each
/// take a word of their own, the same one in all iterations of the loops within, need a bank each, although a bank is read once
/// in all these iterations. Just before these loops, a nest copies the words of all lanes to an array of its own, one in each
/// cycle, and the statement reads that array. Each of its elements is written once, so that it can wait in a hold register of its lane.
///
/// The loops within have at least as many iterations as there are lanes, so that the words of the next round are loaded while those of
/// this one are used.
#[must_use]
pub fn with_serial_loads(mut program: Program) -> (Program, Witness) {
    let nest = std::mem::take(&mut program.nest);
    let declared = program.arrays.len();
    let mut pass = SerialLoads { program, declared, copies: Vec::new(), around: Vec::new() };
    let nest = pass.body(nest);
    let program = Program { nest, ..pass.program };
    let witness = Witness::with_copies(&program, pass.copies);
    (program, witness)
}

/// The pass, within some loops.
struct SerialLoads {
    program: Program,
    /// How many arrays the program declares; those after them are copies.
    declared: usize,
    /// The origins of those after them.
    copies: Vec<ArrayOrigin>,
    /// The loops around, outermost first, without their bodies.
    around: Vec<Loop>,
}

/// The words of the lanes of a load.
struct LaneWords {
    access: Access,
    /// The loops whose iterations are the lanes, outermost first, each with the number of its variable.
    lanes: Vec<(usize, Loop)>,
}

impl LaneWords {
    /// Whether they are the words of other lanes as well, lane by lane.
    fn are(&self, other: &LaneWords) -> bool {
        let bounds = |(variable, level): &(usize, Loop)| (*variable, level.min, level.extent);
        self.access.is_same_element(&other.access) && self.lanes.iter().map(bounds).eq(other.lanes.iter().map(bounds))
    }
}

impl SerialLoads {
    /// The nodes of a loop, or of the program.
    fn body(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        let mut done = Vec::new();
        for mut node in nodes {
            for words in self.loads_within(&node) {
                if let Some((copy, array)) = self.copy(&words) {
                    self.redirect(&mut node, &words, array);
                    done.push(copy);
                }
            }
            if let Node::Loop(inner) = &mut node {
                let body = std::mem::take(&mut inner.body);
                self.around.push(inner.clone());
                inner.body = self.body(body);
                self.around.pop();
            }
            done.push(node);
        }
        done
    }

    /// The loads in a node whose lanes each keep a word in all its iterations, and take others in the next iteration of the loop around.
    fn loads_within(&self, node: &Node) -> Vec<LaneWords> {
        let mut found: Vec<LaneWords> = Vec::new();
        if self.around.iter().all(|level| level.unroll == 1) {
            let mut loads = Vec::new();
            node.loads(&mut Vec::new(), &mut loads);
            for (inside, load) in loads {
                let words = self.lane_words(node, &inside, load);
                found.extend(words.filter(|words| !found.iter().any(|other| other.are(words))));
            }
        }
        found
    }

    /// The words of the lanes of a load in a node, if each lane keeps its word there.
    fn lane_words(&self, node: &Node, inside: &[&Loop], load: &Load) -> Option<LaneWords> {
        let (depth, access) = (self.around.len(), &load.access);
        let runs = |level: &Loop| level.extent > level.unroll;
        let follows_around = depth.checked_sub(1).is_some_and(|innermost| access.follows(innermost));
        let still = || (depth..).zip(inside).all(|(variable, level)| !runs(level) || !access.follows(variable));
        if access.array >= self.declared
            || load.outside.is_some()
            || !follows_around
            || !access.is_affine()
            || !still()
            || node.writes(access.array)
        {
            return None;
        }
        let lanes = (depth..).zip(inside).filter(|(variable, _)| access.follows(*variable));
        let lanes = lanes.map(|(variable, level)| (variable, Loop { body: Vec::new(), ..(*level).clone() }));
        // The words of the innermost dimension come one after the other.
        let dimension = |(variable, _): &(usize, Loop)| {
            access.indices.iter().position(|index| index.affine.coefficient(*variable) != 0)
        };
        let lanes = lanes.sorted_by_key(|lane| std::cmp::Reverse(dimension(lane))).collect_vec();
        let words: i64 = lanes.iter().map(|(_, level)| level.extent).product();
        let iterations: i64 = inside.iter().map(|level| level.extent / level.unroll).product();
        (words > 1 && iterations >= words).then(|| LaneWords { access: access.clone(), lanes })
    }

    /// The nest that copies the words of all lanes to an array of their own, and this array; nothing if there is no room for it.
    fn copy(&mut self, words: &LaneWords) -> Option<(Node, usize)> {
        let LaneWords { access, lanes } = words;
        let (depth, span) = (self.around.len(), access.span);
        let levels = lanes.iter().map(|(_, level)| level).rev().chain(self.around.iter().rev());
        let (shape, min): (Vec<i64>, Vec<i64>) = levels.map(|level| (level.extent, level.min)).unzip();
        let elements = shape.iter().try_fold(1_i64, |size, extent| size.checked_mul(*extent))?;
        if shape.len() > MOST_DIMENSIONS || elements > LARGEST_ARRAY {
            return None;
        }
        let from = &self.program.arrays[access.array];
        let element = from.element;
        let name = self.program.unused_name(&format!("{}_lanes", from.name), &[]);
        let array = self.program.arrays.len();
        // The dimensions of the lanes are the innermost ones.
        let number = |variable: usize| {
            let lane = lanes.iter().rev().position(|(of, _)| *of == variable);
            lane.map_or(variable, |lane| depth + lane)
        };
        let moved = |Index { affine: AffineIndex { constant, terms }, .. }: &Index| {
            let terms = terms.iter().map(|&(variable, step)| (number(variable), step)).sorted().collect();
            AffineIndex { constant: *constant, terms }
        };
        let origin = ArrayOrigin::held(access.array, depth, access.indices.iter().map(moved).collect());
        let target = Access::new(array, (0..depth + lanes.len()).rev().map(Index::variable).collect(), span);
        let operation = Operation::copy(name.clone(), target.clone(), origin.load(&target)?, element);
        self.copies.push(origin);
        self.program.arrays.push(Array::buffer(name, element, min, shape, span));
        let innermost = Node::Operation(Box::new(operation));
        let nest = lanes
            .iter()
            .rev()
            .fold(innermost, |body, (_, level)| Node::Loop(Loop { unroll: 1, body: vec![body], ..level.clone() }));
        Some((nest, array))
    }

    /// Lets all lanes in a node take these words from the array that they were copied to.
    fn redirect(&self, node: &mut Node, words: &LaneWords, array: usize) {
        let depth = self.around.len();
        let own = words.lanes.iter().map(|(variable, _)| *variable).rev();
        let indices = own.chain((0..depth).rev()).map(Index::variable).collect_vec();
        let whole = node.clone();
        for_each_load_mut(node, &mut Vec::new(), &mut |inside, load| {
            let inside = inside.iter().collect_vec();
            if self.lane_words(&whole, &inside, load).is_some_and(|of| of.are(words)) {
                load.access = Access::new(array, indices.clone(), load.access.span);
            }
        });
    }
}

/// Calls with each load in a node, to change it, and the loops around it within the node, outermost first, without their bodies.
fn for_each_load_mut(node: &mut Node, inside: &mut Vec<Loop>, visit: &mut dyn FnMut(&[Loop], &mut Load)) {
    match node {
        Node::Operation(operation) => operation.loads.iter_mut().for_each(|load| visit(inside, load)),
        Node::Loop(inner) => {
            let body = std::mem::take(&mut inner.body);
            inside.push(inner.clone());
            inner.body = body;
            inner.body.iter_mut().for_each(|node| for_each_load_mut(node, inside, visit));
            inside.pop();
        }
    }
}
