//! Layers: windows, pointwise operations, reductions and updates in place.

use itertools::Itertools;
use rand::Rng;
use rand::seq::SliceRandom;

use super::{Array, ENOUGH, Generator, ITERATIONS, Loop, iterations, output_loops};
use crate::expression::{Term, expression};

impl<'a> Generator<'a> {
    /// Adds a layer that reads some of the arrays so far.
    pub(super) fn layer(&mut self, level: usize) {
        if self.iterations > ENOUGH {
            return;
        }
        let Some(source) = self.source(level) else { return };
        match self.random.random_range(0..10) {
            0 => self.in_place(level, source),
            1 => self.parts(level, source),
            2..5 => self.pointwise(level, source),
            _ => self.reduction(level, source),
        }
    }

    /// How a window moves over an array: the indices, the loops of the result, and those of the window, whose variables
    /// begin with `r`. Nothing if the array is too small.
    fn window(&mut self, source: usize, reduces: bool) -> (Vec<String>, Vec<Loop>, Vec<Loop>) {
        let shape = self.arrays[source].shape.clone();
        let (mut indices, mut outer, mut inner) = (Vec::new(), Vec::new(), Vec::new());
        for (dimension, &extent) in shape.iter().enumerate() {
            let own = Loop { name: format!("v{dimension}"), extent };
            let kind = self.random.random_range(0..8);
            if kind == 0 && shape.len() > 1 && !reduces {
                indices.push(self.random.random_range(0..extent).to_string());
                continue;
            }
            // All of it is added up, as channels are.
            if reduces && (kind < 2 || (dimension == 0 && shape.len() > 1 && kind < 5)) {
                let name = format!("r{dimension}");
                indices.push(name.clone());
                inner.push(Loop { name, extent });
                continue;
            }
            let reach = self.choose(&[1, 1, 2, 3, 3]).min(extent);
            let stride = self.choose(&[1, 1, 1, 2, 3]);
            let moves = reduces && reach > 1 && kind < 7 && inner.len() < 3;
            let offset = if moves || self.one_in(2) { 0 } else { self.random.random_range(0..extent.min(3)) };
            let reach = if moves { reach } else { 1 };
            let extent = (extent - offset - reach) / stride + 1;
            let mut index = if stride == 1 { own.name.clone() } else { format!("{stride}*{}", own.name) };
            if moves {
                let name = format!("r{dimension}");
                index = format!("{index} + {name}");
                inner.push(Loop { name, extent: reach });
            }
            if offset > 0 {
                index = format!("{index} + {offset}");
            }
            indices.push(index);
            outer.push(Loop { extent, ..own });
        }
        (indices, outer, inner)
    }

    /// An activation, a pooling window at once, an addition.
    fn pointwise(&mut self, level: usize, source: usize) {
        let (indices, loops, _) = self.window(source, false);
        if loops.is_empty() || iterations(&loops) * self.times(level) > ITERATIONS {
            return;
        }
        let mut terms = vec![self.access(source, &indices)];
        // More of the window.
        for _ in 0..self.choose(&[0, 0, 1, 3]) {
            let shape = self.arrays[source].shape.clone();
            let dimension = self.random.random_range(0..shape.len());
            let used = loops.iter().find(|of| of.name == format!("v{dimension}"));
            if let Some(of) = used.filter(|of| of.extent < shape[dimension]) {
                let mut moved = indices.clone();
                let most = shape[dimension] - of.extent;
                moved[dimension] = format!("{} + {}", of.name, self.random.random_range(1..=most));
                terms.push(self.access(source, &moved));
            }
        }
        for _ in 0..self.choose(&[0, 0, 0, 1, 1, 2]) {
            terms.push(self.operand(level, &loops));
        }
        if self.one_in(10) {
            terms.push(Term { text: loops[0].name.clone(), type_name: "i32" });
        }
        let type_name = self.element();
        let value = match terms.as_slice() {
            [only] if only.type_name == type_name && self.one_in(2) => format!("max({}, 0)", only.text),
            _ => expression(self.random, &terms, type_name, None),
        };
        self.result(level, &loops, type_name, &[], &value);
    }

    /// A new buffer with the result of a nest; the loops are renamed to those of its dimensions.
    fn result(&mut self, level: usize, loops: &[Loop], type_name: &'static str, inner: &[Loop], value: &str) {
        let dimensions = self.dimensions(loops.to_vec());
        let first = match self.random.random_range(0..6) {
            0 if !inner.is_empty() => {
                let bias = self.operand(level, loops);
                expression(self.random, &[bias], type_name, None)
            }
            1 => expression(self.random, &[], type_name, None),
            _ => "0".to_owned(),
        };
        let shape = dimensions.iter().map(|of| of.extent).collect_vec();
        let buffer = self.add("layer", type_name, shape, level);
        let indices = dimensions.iter().map(|of| of.name.clone()).join(", ");
        let target = format!("{}[{indices}]", self.arrays[buffer].name);
        if inner.is_empty() {
            let order = self.order(&dimensions);
            return self.nest(level, &order, &format!("{target} = {value}"));
        }
        let first = format!("{target} = {first}");
        let update = self.update(&target, value);
        // Some loops may be around both.
        let order = self.order(&dimensions);
        let common = if self.one_in(4) { self.random.random_range(1..=order.len()) } else { 0 };
        let (around, own) = order.split_at(common);
        let mut copies = 1;
        for (depth, of) in around.iter().enumerate() {
            let header = self.header(of, &mut copies);
            self.line(level, depth, &header);
        }
        self.inner_nest(level, common, own, &mut copies.clone(), &first);
        let mut loops = own.to_vec();
        match self.random.random_range(0..3) {
            0 => loops.splice(0..0, inner.iter().cloned()).for_each(drop),
            1 => loops.extend_from_slice(inner),
            _ => {
                loops.extend_from_slice(inner);
                loops.shuffle(self.random);
            }
        }
        self.inner_nest(level, common, &loops, &mut copies, &update);
        self.iterations += self.times(level) * iterations(around) * (iterations(own) + iterations(&loops));
    }

    /// The statement that adds a value to an element.
    pub(super) fn update(&mut self, target: &str, value: &str) -> String {
        match self.random.random_range(0..8) {
            0 => format!("{target} = max({target}, {value})"),
            // In no other order than that of the program.
            1 => format!("{target} = {target} * 3 + {value}"),
            2 => format!("{target} = min({target}, {value}) + 1"),
            _ => format!("{target} += {value}"),
        }
    }

    /// A sum of products: a convolution, a matrix product, a pooling window.
    fn reduction(&mut self, level: usize, source: usize) {
        let (indices, mut loops, inner) = self.window(source, true);
        if self.one_in(2) {
            // More channels.
            let extent = self.choose(&[2, 3, 4, 4, 8]);
            loops.insert(0, Loop { name: "w".to_owned(), extent });
        }
        let all = iterations(&loops) * iterations(&inner) * self.times(level);
        if loops.is_empty() || inner.is_empty() || all > ITERATIONS {
            return;
        }
        let mut terms = vec![self.access(source, &indices)];
        let every = inner.iter().chain(&loops).cloned().collect_vec();
        for _ in 0..self.choose(&[0, 1, 1, 1, 2]) {
            terms.push(self.operand(level, &every));
        }
        let type_name = self.element();
        let value = self.product(&terms, type_name);
        self.result(level, &loops, type_name, &inner, &value);
    }

    /// The product of all terms, mostly.
    pub(super) fn product(&mut self, terms: &[Term], type_name: &'static str) -> String {
        if self.one_in(4) {
            return expression(self.random, terms, type_name, None);
        }
        let factor = |term: &Term| match term.type_name == type_name {
            true => term.text.clone(),
            false => format!("({} as {type_name})", term.text),
        };
        terms.iter().map(factor).join(" * ")
    }

    /// A buffer is updated.
    fn in_place(&mut self, level: usize, source: usize) {
        let Array { shape, type_name, level: own, .. } = self.arrays[source].clone();
        // An array that stays over tiles is read in each of them.
        if own != level || iterations(&output_loops(&shape)) * self.times(level) > ITERATIONS {
            return;
        }
        let loops = output_loops(&shape);
        let target = self.target(source);
        let mut terms = vec![Term { text: target.clone(), type_name }];
        if self.one_in(2) {
            terms.push(self.operand(level, &loops));
        }
        let value = expression(self.random, &terms, type_name, None);
        let order = self.order(&loops);
        self.nest(level, &order, &format!("{target} = {value}"));
        // A reader from before does not count as its end.
        self.arrays[source].read = false;
    }

    /// Two nests write a buffer: one side by side with the other, along one dimension.
    fn parts(&mut self, level: usize, source: usize) {
        let shape = self.arrays[source].shape.clone();
        let loops = output_loops(&shape);
        if 2 * iterations(&loops) * self.times(level) > ITERATIONS {
            return;
        }
        let indices = loops.iter().map(|of| of.name.clone()).collect_vec();
        let dimension = self.random.random_range(0..shape.len());
        let mut doubled = shape;
        doubled[dimension] *= 2;
        let other = self.operand(level, &loops);
        let first = self.access(source, &indices);
        let type_name = self.element();
        let buffer = self.add("parts", type_name, doubled, level);
        let name = self.arrays[buffer].name.clone();
        let interleaved = self.one_in(3);
        for (number, term) in [first, other].into_iter().enumerate() {
            let mut target = indices.clone();
            let index = &loops[dimension];
            target[dimension] = match interleaved {
                true => format!("2*{} + {number}", index.name),
                false => format!("{} + {}", index.name, number as i64 * index.extent),
            };
            let value = expression(self.random, &[term], type_name, None);
            let order = self.order(&loops);
            self.nest(level, &order, &format!("{name}[{}] = {value}", target.iter().join(", ")));
        }
    }
}
