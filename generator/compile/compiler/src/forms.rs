//! The forms of a program: as it is written, and rewritten in ways that may cost less. The search tries the schedules of all of them.

use std::rc::Rc;

use pushmem_assembly::Unserved;
use pushmem_files::Diagnostic;
use pushmem_nest::{Level, Policy, Program, Witness};
use pushmem_proof::prove_rewritten;
use pushmem_rewriting::{
    with_accumulators, with_edges, with_first_values_as_sums, with_inner_reductions, with_joined_lanes,
    with_loops_of_first_values, with_loops_of_output, with_outer_reductions, with_outer_rows, with_outside_loads,
    with_padding, with_rolled_copies, with_serial_loads, without_edges,
};
use pushmem_search::Search;

use crate::accumulators;
use crate::compile::Compiled;
use crate::error::CompileError;
use crate::pipeline::{Pipeline, beside};
use crate::refusal::refusal;
use crate::schedules::{self, Schedules};
use crate::stages::{Form, Hardware, Stages};
use crate::trial::Trial;

/// Schedules of a form that are tried if the memories serve none. Programs that have an accelerator have one by then: of those shipped,
/// for the tiles shipped, after 8.
const MOST_REFUSED: usize = 12;

/// Compiles a program: the cheapest schedule of the cheapest of its forms. Its proof is still to come.
///
/// # Errors
/// The refusal of its first form, and every fault.
pub(crate) fn cheapest(
    pipeline: Pipeline,
    source: Program,
    hardware: Hardware,
    observe: &dyn Fn(&Trial),
) -> Result<Compiled, CompileError> {
    let space = Schedules::default();
    let search = Search::new(&space, MOST_REFUSED, observe);
    let mut forms = Forms { hardware, space: &space, search, refused: None };
    let is_scan = source.policy() == Policy::Stencil && pipeline != Pipeline::Nests;
    let spelled = [respelled(&source)?, Some(Form::of(source.clone()))];
    let spelled = spelled.into_iter().flatten();
    if is_scan {
        for form in spelled.clone() {
            let turned = form.rewritten(&form.program, with_loops_of_output, "loops are as those of the output")?;
            for form in std::iter::once(form).chain(turned) {
                forms.run(form)?;
            }
        }
    }
    // One of several spellings may be a scan.
    let no_scan = forms.refused.take().filter(|_| forms.search.best().is_none());
    let tries_nests = source.schedule.is_none() && !forms.search.best().is_some_and(|found| found.is_least());
    let is_nests = match pipeline {
        Pipeline::Nests => true,
        Pipeline::Cheapest => !is_scan || tries_nests,
        Pipeline::Chosen => !is_scan,
    };
    for Form { program, changes, .. } in spelled.filter(|_| is_nests) {
        let is_coarse = is_scan || pipeline == Pipeline::Nests;
        let program = if is_coarse { as_coarse(&program) } else { program };
        forms.run_nests(&program, &changes)?;
    }
    let Forms { search, refused, .. } = forms;
    match search.into_parts() {
        (Some(found), trials) => {
            let no_scan = no_scan.map(Diagnostic::from);
            Ok(Compiled { no_scan, ..Compiled::of(found, trials).of_source(&source) })
        }
        (None, _) => Err(match (no_scan, refused) {
            (Some(scan), Some(nests @ CompileError::Unordered { .. })) => nests.map(|nests| beside(scan.into(), nests)),
            (Some(scan), Some(nests)) => scan.map(|scan| beside(scan, nests.into())),
            (scan, nests) => scan.or(nests).expect("the first form was refused"),
        }),
    }
}

/// The program with loops in the place of copies, and reads beyond arrays in that of edges, that it spells out, proven; nothing if there are none.
fn respelled(source: &Program) -> Result<Option<Form>, CompileError> {
    let rewrites: [(Rewrite, _); 3] = [
        (with_rolled_copies, "copies are lanes"),
        (with_joined_lanes, "copies are lanes"),
        (with_outside_loads, "edges are outside"),
    ];
    let mut form = Form::of(source.clone());
    for (rewrite, change) in rewrites {
        loop {
            let (program, witness) = rewrite(form.program.clone());
            prove(&program, &form.program, &witness)?;
            if program == form.program {
                break;
            }
            form.program = program;
            if !form.changes.contains(&change) {
                form.changes.push(change);
            }
        }
    }
    Ok(Some(form).filter(|form| !form.changes.is_empty()))
}

/// The search through the forms of a program.
struct Forms<'s, 'a> {
    hardware: Hardware<'a>,
    space: &'s Schedules<'a>,
    search: Search<'s, Schedules<'a>>,
    /// The refusal of the first form.
    refused: Option<CompileError>,
}

impl<'a> Forms<'_, 'a> {
    /// Coarse pipelines: arrays in memories are copied with the edge that windows read beyond them, element by element or the edge
    /// first. The loops over which reductions add are where the program has them, inside of the others, outside of them, or inside of rows.
    fn run_nests(&mut self, source: &Program, changes: &[&'static str]) -> Result<(), CompileError> {
        let (whole, witness) = without_edges(source.clone());
        prove(&whole, source, &witness)?;
        let (padded, witness) = with_padding(whole.clone());
        prove(&whole, &padded, &witness)?;
        let padded = Form { changes: changes.to_vec(), ..Form::of(padded) };
        let cut = padded.rewritten(&padded.program, with_edges, "edges are written first")?;
        let orders: [(Rewrite, _); 6] = [
            (with_inner_reductions, "loops of sums are inside"),
            (with_outer_rows, "rows are outside"),
            (with_outer_reductions, "loops of sums are outside"),
            (with_loops_of_first_values, "loops of sums are outside of those of first values"),
            (with_first_values_as_sums, "loops of first values are as those of sums"),
            (with_loops_of_output, "loops are as those of the output"),
        ];
        for form in std::iter::once(padded).chain(cut) {
            self.run_with_sums(form.clone())?;
            let mut tried: Vec<Program> = Vec::new();
            for (rewrite, change) in orders {
                let ordered = form.rewritten(&form.program, rewrite, change)?;
                let Some(ordered) = ordered.filter(|ordered| !tried.contains(&ordered.program)) else { continue };
                tried.push(ordered.program.clone());
                self.run_with_sums(ordered)?;
            }
        }
        Ok(())
    }

    /// A form with its sums in memories, or in registers: those that wait for memories, or all.
    fn run_with_sums(&mut self, form: Form) -> Result<(), CompileError> {
        let stages = self.run_with_loads(form.clone())?;
        let coarse = as_coarse(&form.program);
        let slow = accumulators::slow(&form.program, stages.as_deref());
        let of_slow = with_accumulators(coarse.clone(), |operation| slow.contains(&accumulators::place(operation)));
        let of_all = with_accumulators(coarse.clone(), |_| true);
        let divided = if of_slow == of_all { vec![of_all] } else { vec![of_slow, of_all] };
        for divided in divided {
            if let Some(divided) = form.rewritten(&coarse, |_| divided, "sums are in registers")? {
                self.run_with_loads(divided)?;
            }
        }
        Ok(())
    }

    /// A form, and the one whose lanes that keep words load them one after the other. The stages are those of the first, if it has any.
    fn run_with_loads(&mut self, form: Form) -> Result<Option<Rc<Stages<'a>>>, CompileError> {
        let stages = self.run(form.clone())?;
        let Hardware { delivery, constraints, .. } = self.hardware;
        if !delivery.holds || !constraints.serial_loads {
            return Ok(stages);
        }
        let coarse = as_coarse(&form.program);
        if let Some(serial) = form.rewritten(&coarse, with_serial_loads, "lanes load words one after the other")? {
            self.run(Form { loads_serially: true, ..serial })?;
        }
        Ok(stages)
    }

    /// Tries the schedules of a form. Arrays for which memory is short move to the global buffer where none is feasible. The stages are
    /// those that were tried last, if it has any.
    fn run(&mut self, mut form: Form) -> Result<Option<Rc<Stages<'a>>>, CompileError> {
        // Those that are too large for memory tiles in another form hardly fit in this one.
        let large = self.hardware.tiles.target.memory().largest_memory();
        let best = self.search.best().map(|best| &best.stages.form.program.arrays[..]).unwrap_or_default();
        for known in best.iter().filter(|of| of.level == Some(Level::GlobalBuffer) && of.size() as u64 > large) {
            let own = form.program.arrays.iter_mut().filter(|array| array.name == known.name);
            own.for_each(|array| array.level = array.level.or(known.level));
        }
        let mut stages = Stages::of(form, self.hardware);
        loop {
            let of_form = match stages {
                Ok(stages) => Rc::new(stages),
                Err(refused) => return self.refuse(refused).map(|()| None),
            };
            schedules::run(&mut self.search, &of_form);
            if let Some(fault) = self.space.fault.take() {
                return Err(fault.into());
            }
            let Some(refused) = self.search.refusal().filter(|_| !self.search.any_feasible()) else {
                return Ok(Some(of_form));
            };
            let moved = match refused {
                Unserved::Short(short) => of_form.with_moved(short),
                Unserved::Program(_) | Unserved::Order { .. } => None,
            };
            let Some(moved) = moved else {
                let given_up = self.search.given_up();
                let target = of_form.hardware.tiles.target;
                self.refuse(refusal(&of_form.program, &of_form.extraction, target, refused, given_up))?;
                return Ok(Some(of_form));
            };
            stages = moved;
        }
    }

    /// Keeps the first refusal.
    ///
    /// # Errors
    /// Faults: they must be seen, whatever other forms there are.
    fn refuse(&mut self, refused: CompileError) -> Result<(), CompileError> {
        match refused {
            fault @ CompileError::Fault(_) => Err(fault),
            refused => {
                self.refused.get_or_insert(refused);
                Ok(())
            }
        }
    }
}

impl Form {
    /// A program as it is.
    fn of(program: Program) -> Self {
        Form { program, changes: Vec::new(), loads_serially: false }
    }

    /// The form that a rewrite makes of the program, proven; nothing if the program stays the same.
    fn rewritten(
        &self,
        program: &Program,
        rewrite: impl FnOnce(Program) -> (Program, Witness),
        change: &'static str,
    ) -> Result<Option<Form>, CompileError> {
        let (rewritten, witness) = rewrite(program.clone());
        prove(program, &rewritten, &witness)?;
        let changes = [&self.changes[..], &[change]].concat();
        Ok((rewritten != *program).then(|| Form { changes, ..Form::of(rewritten) }))
    }
}

/// A rewrite of nests.
type Rewrite = fn(Program) -> (Program, Witness);

/// The program as a coarse pipeline in any case: without its reductions, the rule for the schedule would choose another.
fn as_coarse(source: &Program) -> Program {
    Program { schedule: Some(Policy::Dnn), ..source.clone() }
}

/// Proves a rewrite, unless it changed nothing: one that is wrong is a fault of the compiler.
fn prove(source: &Program, rewritten: &Program, witness: &Witness) -> Result<(), CompileError> {
    if rewritten == source {
        return Ok(());
    }
    prove_rewritten(source, rewritten, witness).map_err(|error| CompileError::wrong(&error))
}
