//! The order of the values of a tuple: of an update, which computes all values before it stores any, and of a definition, where some read
//! others as they are stored.

use std::collections::BTreeSet;

use pushmem_nest::Index;

use crate::emit::Statement;
use crate::value::{Element, Load, all_loads};

/// The arrays that a statement reads, but for its own.
fn reads(statement: &Statement) -> BTreeSet<usize> {
    statement.array_loads().map(|(array, _)| array).filter(|array| *array != statement.array()).collect()
}

/// Whether a statement reads another element of the array that it stores one of.
fn follows_itself(statement: &Statement) -> bool {
    let own = |(array, indices): (usize, &[Index])| array == statement.array() && indices != statement.target.indices();
    statement.array_loads().any(own)
}

/// The statements in an order in which none reads what another has stored before. Where there is none, a value is kept aside before
/// any is stored: `kept` gives the statement that does so, and the one that stores it then. So is then a value that follows from
/// another element of its own, as recurrences of one statement have loops of their own.
pub(crate) fn in_turns(
    mut statements: Vec<Statement>,
    mut kept: impl FnMut(Statement) -> (Statement, Statement),
) -> Vec<Statement> {
    let (mut ordered, mut aside) = (Vec::new(), BTreeSet::new());
    while !statements.is_empty() {
        // One that no other reads the old value of.
        let next = statements.iter().position(|statement| {
            let is_read =
                |other: &Statement| other.array() != statement.array() && reads(other).contains(&statement.array());
            !statements.iter().any(is_read)
        });
        if let Some(next) = next {
            let next = statements.remove(next);
            match !aside.is_empty() && follows_itself(&next) {
                true => ordered.extend(<[Statement; 2]>::from(kept(next))),
                false => ordered.push(next),
            }
            continue;
        }
        let reading = statements.iter_mut().find(|statement| aside.insert(statement.array()));
        let reading = reading
            .expect("a store of what is kept aside reads for its place alone, and no place reads what is stored");
        let (keeps, stores) = kept(reading.clone());
        ordered.push(keeps);
        *reading = stores;
    }
    ordered
}

/// The statements of a definition, each after those of the values that it reads.
pub(crate) fn after_reads(mut statements: Vec<Statement>) -> Vec<Statement> {
    let mut ordered = Vec::new();
    // The last one, most often the only one, is free.
    while statements.len() > 1 {
        let is_free = |statement: &Statement| {
            let reads = reads(statement);
            !statements.iter().any(|other| reads.contains(&other.array()))
        };
        let next = statements.iter().position(is_free).expect("values of a definition do not read each other");
        ordered.push(statements.remove(next));
    }
    ordered.append(&mut statements);
    ordered
}

/// An array that an update of several values stores and reads for its place, if there is one.
pub(crate) fn changing_place(statements: &[Statement]) -> Option<usize> {
    let stored: BTreeSet<usize> = statements.iter().map(Statement::array).collect();
    let places = statements.iter().flat_map(|statement| all_loads(statement.target.values()));
    let mut read = places.filter(|load| !load.is_entry()).map(Element::array);
    read.find(|array| stored.len() > 1 && stored.contains(array))
}
