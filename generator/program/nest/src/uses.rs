//! The uses of arrays in nests, and names that are free.

use itertools::Itertools;

use pushmem_files::free_name;

use crate::program::{Access, Load, Loop, Node, Operation, Program};

impl Program {
    /// A name like this that no array, no table and none of these loops has.
    pub fn unused_name(&self, like: &str, around: &[&str]) -> String {
        let declared = self.arrays.iter().map(|array| &array.name).chain(self.tables.iter().map(|table| &table.name));
        let taken = declared.map(String::as_str).chain(around.iter().copied()).collect_vec();
        free_name(like, 1, |name| !taken.contains(&name.as_str()))
    }
}

impl Node {
    /// Shows all operations in the order of the text, each with the loops around it, outermost first.
    pub(crate) fn visit<'a>(&'a self, loops: &mut Vec<&'a Loop>, show: &mut impl FnMut(&[&'a Loop], &'a Operation)) {
        match self {
            Node::Operation(operation) => show(loops, operation),
            Node::Loop(inner) => {
                loops.push(inner);
                inner.body.iter().for_each(|node| node.visit(loops, show));
                loops.pop();
            }
        }
    }

    /// All loads, each with the loops around it, outermost first.
    pub fn loads<'a>(&'a self, loops: &mut Vec<&'a Loop>, found: &mut Vec<(Vec<&'a Loop>, &'a Load)>) {
        self.visit(loops, &mut |loops, operation| {
            found.extend(operation.loads.iter().map(|load| (loops.to_vec(), load)));
        });
    }

    /// All accesses of an array.
    pub fn accesses<'a>(&'a self, array: usize, found: &mut Vec<&'a Access>) {
        self.visit(&mut Vec::new(), &mut |_, operation| {
            found.extend(operation.accesses().filter(|access| access.array == array));
        });
    }

    /// How many operations there are in it.
    pub fn operations(&self) -> usize {
        let mut count = 0;
        self.visit(&mut Vec::new(), &mut |_, _| count += 1);
        count
    }

    /// Whether it reads or writes an array.
    pub fn uses(&self, array: usize) -> bool {
        let mut found = Vec::new();
        self.accesses(array, &mut found);
        !found.is_empty()
    }

    /// Whether it writes an array.
    pub fn writes(&self, array: usize) -> bool {
        match self {
            Node::Operation(operation) => operation.target.array == array,
            Node::Loop(inner) => inner.body.iter().any(|node| node.writes(array)),
        }
    }
}

impl Operation {
    /// The elements that it reads and the one that it writes.
    pub fn accesses(&self) -> impl Iterator<Item = &Access> {
        self.loads.iter().map(|load| &load.access).chain([&self.target])
    }
}
