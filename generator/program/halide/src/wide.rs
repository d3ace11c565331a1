//! Funcs of 32 bits, whose memories have two words for each element, as parts of the expressions that use them.
//!
//! A Func that exists for one iteration of the loops around, such as a reduction that is wholly unrolled, has elements at
//! constant addresses. A load of one of them after a store in the same iteration has a known value.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::fit::constant_of;
use crate::program::{Store, Stores, is_too_large, loaded};
use crate::value::{Flat, Value, Variable};

/// The program without Funcs of 32 bits, as far as their elements are known where they are read. Memories hold the others.
pub(crate) fn inlined<'a>(mut program: Stores<'a>) -> Stores<'a> {
    for array in 0..program.arrays.len() {
        let of = &program.arrays[array];
        if !of.is_argument && of.element.is_some_and(|element| element.words().len() > 1) {
            let inliner = Inliner {
                program: &program,
                array,
                known: Vec::new(),
                latest: vec![0; program.arrays.len()],
                made: HashMap::new(),
            };
            if let Some(stores) = inliner.stores() {
                program.stores = stores;
            }
        }
    }
    program
}

/// The value of an element, in an iteration of the loops around.
struct Known {
    address: i64,
    value: Rc<Value<Flat>>,
    loops: Vec<Variable>,
    ranges: Vec<(i64, i64)>,
    /// The arrays that it loads, each with its allocation.
    loads: Vec<(usize, usize)>,
    /// Whether something that it loads was written since.
    is_stale: bool,
    /// The loops within, in which it is read.
    readers: BTreeSet<Variable>,
}

struct Inliner<'a, 'b> {
    program: &'b Stores<'a>,
    array: usize,
    /// The elements of the allocation that was written last.
    known: Vec<Known>,
    /// The last allocation of each array so far.
    latest: Vec<usize>,
    /// The new parts of the value of this store by the old ones: a shared part is made once.
    made: HashMap<*const Value<Flat>, Option<Rc<Value<Flat>>>>,
}

impl Inliner<'_, '_> {
    /// The stores without those of the array; nothing if what some of them read is not known.
    fn stores(mut self) -> Option<Vec<Store>> {
        let mut stores = Vec::new();
        for store in &self.program.stores {
            let mut arrays = BTreeSet::new();
            loaded(&store.value, &mut arrays);
            self.made.clear();
            // A value that does not read the array shares its parts as before.
            let value = match arrays.contains(&self.array) {
                true => self.value(&store.value, store).filter(|value| !is_too_large(value))?,
                false => store.value.clone(),
            };
            let is_own = store.array == self.array;
            if is_own && self.latest[store.array] != store.site {
                self.known.clear();
            }
            self.latest[store.array] = store.site;
            self.write(store)?;
            match is_own {
                true => self.know(store, value)?,
                false => stores.push(Store { value, ..store.clone() }),
            }
        }
        Some(stores)
    }

    /// Marks what is not the same any more after a store; nothing if a loop would carry it to a reader that is above.
    fn write(&mut self, store: &Store) -> Option<()> {
        for known in self.known.iter_mut().filter(|known| store.loops.starts_with(&known.loops)) {
            if known.loads.contains(&(store.array, store.site)) {
                known.is_stale = true;
                if store.loops[known.loops.len()..].iter().any(|variable| known.readers.contains(variable)) {
                    return None;
                }
            }
        }
        Some(())
    }

    /// Keeps the value of an element; nothing if the loops around are not those of the others.
    fn know(&mut self, store: &Store, value: Rc<Value<Flat>>) -> Option<()> {
        if self.known.iter().any(|known| known.loops != store.loops) {
            return None;
        }
        let mut arrays = BTreeSet::new();
        loaded(&value, &mut arrays);
        self.known.push(Known {
            address: constant_of(&store.address, &store.ranges)?,
            value,
            loops: store.loops.clone(),
            ranges: store.ranges.clone(),
            loads: arrays.into_iter().map(|array| (array, self.latest[array])).collect(),
            is_stale: false,
            readers: BTreeSet::new(),
        });
        Some(())
    }

    /// A value of a store with the values of elements in their places.
    fn value(&mut self, value: &Rc<Value<Flat>>, store: &Store) -> Option<Rc<Value<Flat>>> {
        if let Some(made) = self.made.get(&Rc::as_ptr(value)) {
            return made.clone();
        }
        let made = self.replaced(value, store);
        self.made.insert(Rc::as_ptr(value), made.clone());
        made
    }

    fn replaced(&mut self, value: &Rc<Value<Flat>>, store: &Store) -> Option<Rc<Value<Flat>>> {
        if let Value::Load(Flat { array, address, place }) = &**value {
            let address = self.value(address, store)?;
            return match *array == self.array {
                true => self.element(&address, store),
                false => Some(Rc::new(Value::Load(Flat { array: *array, address, place: *place }))),
            };
        }
        let mut all_known = true;
        let replaced = value.with(|operand| {
            let replaced = self.value(operand, store);
            all_known &= replaced.is_some();
            replaced.unwrap_or_else(|| operand.clone())
        });
        all_known.then(|| Rc::new(replaced))
    }

    /// The value that was written last where a store reads it.
    fn element(&mut self, address: &Value<Flat>, store: &Store) -> Option<Rc<Value<Flat>>> {
        let address = constant_of(address, &store.ranges)?;
        for known in self.known.iter_mut().rev().filter(|known| known.address == address) {
            let around = store.loops.strip_prefix(known.loops.as_slice());
            let both = |each: &Variable| (store.ranges[*each], known.ranges[*each]);
            // Parts of the iterations, by conditions.
            if known.loops.iter().map(both).any(|(here, there)| here.1 < there.0 || there.1 < here.0) {
                continue;
            }
            let is_within = known.loops.iter().map(both).all(|(here, there)| there.0 <= here.0 && here.1 <= there.1);
            let within = around.filter(|_| is_within && !known.is_stale)?;
            known.readers.extend(within);
            return Some(known.value.clone());
        }
        None
    }
}
