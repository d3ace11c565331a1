//! Which stages give the elements of the outputs.

use std::collections::BTreeMap;

use itertools::Itertools;
use pushmem_extraction::Extraction;
use pushmem_nest::{ArrayKind, Policy, Program};
use pushmem_schedule::{Stage, Writers};

use crate::pointwise::{apart, writes_once};
use crate::shortage::Unserved;

/// For each output array, the stages whose results go outside: those whose elements no later stage updates.
///
/// # Errors
/// When only some of a stage's elements are updated: the others would go outside in beats with values that are not final.
pub(crate) fn final_stages(
    program: &Program,
    extraction: &Extraction,
    writers: &Writers,
) -> Result<BTreeMap<usize, Vec<usize>>, Unserved> {
    let stages = &extraction.pipeline.stages;
    let is_dnn = program.policy() == Policy::Dnn;
    let mut found = BTreeMap::new();
    for (array, declared) in program.arrays.iter().enumerate() {
        if declared.kind != ArrayKind::Output {
            continue;
        }
        let of_array = writers.all(array).to_vec();
        if is_dnn {
            check_written_once(program, extraction, writers, array)?;
        }
        // Without updates, each element is written once.
        if !of_array.iter().any(|&stage| stages[stage].updates()) {
            found.insert(array, of_array);
            continue;
        }
        let mut is_final = vec![false; declared.size()];
        let mut last = Vec::new();
        for &stage in of_array.iter().rev() {
            let (mut elements, mut updated) = (0, 0);
            for_each_element(&stages[stage], |element| {
                let places = element.iter().zip(&declared.min).zip(&declared.shape).rev();
                let number = places.fold(0, |number, ((index, min), extent)| number * extent + index - min);
                elements += 1;
                updated += u64::from(std::mem::replace(&mut is_final[number as usize], true));
            });
            match updated {
                0 => last.push(stage),
                _ if updated == elements => {}
                _ => {
                    let message = format!(
                        "only some of the elements that this statement writes to the output `{}` are updated later",
                        declared.name
                    );
                    let error = program.diagnostic(extraction.span(program, stage), message);
                    let error = error.with_help("update a buffer, and copy it to the output");
                    return Err(Unserved::from(error));
                }
            }
        }
        last.reverse();
        found.insert(array, last);
    }
    Ok(found)
}

/// Checks that no element of an output is written twice, as each write goes outside.
fn check_written_once(
    program: &Program,
    extraction: &Extraction,
    writers: &Writers,
    array: usize,
) -> Result<(), Unserved> {
    let stages = &extraction.pipeline.stages;
    for &stage in writers.all(array) {
        let content = &stages[stage];
        let mut before = writers.of_access(content, &content.write).into_iter().take_while(|&other| other < stage);
        let again = before.any(|other| {
            let other = &stages[other];
            !apart((other, &other.write), (content, &content.write))
        });
        if again || content.updates() || !writes_once(content, 0..content.loops.len()) {
            let name = &program.arrays[array].name;
            let message = format!("this statement writes elements of the output `{name}` that were written before");
            let error = program.diagnostic(extraction.span(program, stage), message);
            let error = error.with_help("accumulate in a buffer, and copy it to the output when it is complete");
            return Err(Unserved::from(error));
        }
    }
    Ok(())
}

/// Calls with each element that a stage writes.
fn for_each_element(stage: &Stage, mut visit: impl FnMut(&[i64])) {
    let mut index = stage.loops.iter().map(|level| level.min).collect_vec();
    let mut element = vec![0; stage.write.subscripts.len()];
    loop {
        for (place, subscript) in element.iter_mut().zip(&stage.write.subscripts) {
            *place = subscript.at(&index).expect("what is written lies inside of its array");
        }
        visit(&element);
        let Some(level) = (0..index.len()).find(|&level| index[level] < stage.loops[level].max()) else {
            return;
        };
        index[level] += 1;
        for (index, inner) in index.iter_mut().zip(&stage.loops[..level]) {
            *index = inner.min;
        }
    }
}
