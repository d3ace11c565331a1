//! The pipeline of a kernel, in the models of application graphs and of accelerators alike.

use std::collections::VecDeque;

use index_vec::IndexVec;
use pushmem_datapaths::{Datapath, Evaluator};
use pushmem_nest::{Table, Word as WordOfResult};

use crate::accelerator::Variable;
use crate::addresses::AddressPipeline;
use crate::arrivals::Arrivals;
use crate::ids::RamId;
use crate::ram::RamState;

/// A word of a net: a number of the hardware, or a token that tells its origin.
pub trait NetWord: Copy + Default + PartialEq + From<u16> {
    /// The number that it is as an address.
    fn number(self) -> u16;
}

impl NetWord for u16 {
    fn number(self) -> u16 {
        self
    }
}

impl NetWord for u64 {
    fn number(self) -> u16 {
        self as u16
    }
}

/// The words of a kernel's result, low word first, as a function of its operands and the values of its variables, which are numbered as
/// the loops of the operation.
pub type KernelFunction<'a, Word> = Box<dyn FnMut(&[Word], &[i64]) -> [Word; 2] + Send + 'a>;

pub(crate) fn function_of<'a>(datapath: &'a Datapath, tables: &[Table]) -> KernelFunction<'a, u16> {
    let mut evaluator = Evaluator::new(datapath, tables);
    let mut loads = vec![0; datapath.loads().len()];
    Box::new(move |operands, variables| {
        datapath.joined(operands, &mut loads);
        let result = evaluator.evaluate(&loads, variables);
        [WordOfResult::Low, WordOfResult::High].map(|word| word.of(result))
    })
}

/// The pipeline of a datapath.
pub(crate) struct KernelState<'a, Word = u16> {
    function: KernelFunction<'a, Word>,
    pub arrivals: Arrivals<Word>,
    /// Results under way, the next to appear first; empty for a datapath without registers.
    pub results: VecDeque<[Word; 2]>,
    pub operands: Vec<Word>,
    /// The number of each variable that the operation uses.
    used: Vec<usize>,
    variables: Vec<i64>,
    /// The addresses that it gives, each with the memory and the read.
    addresses: Vec<(AddressPipeline<'a>, RamId, usize)>,
    /// The operands and variables of the last call of the function, and its result: many kernels wait for most cycles.
    last: Option<(Vec<Word>, Vec<i64>, [Word; 2])>,
}

impl<'a, Word: NetWord> KernelState<'a, Word> {
    /// A pipeline before the first cycle, whose results appear `latency` cycles after an iteration begins. There are so many operands, and
    /// loops around the operation; `reads` has the memory and the read of each address.
    pub fn new(
        datapath: &'a Datapath,
        tables: &[Table],
        function: KernelFunction<'a, Word>,
        latency: u64,
        (operands, depth): (usize, usize),
        reads: Vec<(RamId, usize)>,
    ) -> Self {
        let arrivals = Arrivals::of(datapath);
        let under_way = latency.saturating_sub(arrivals.latest()) as usize;
        let addresses = AddressPipeline::all(datapath, tables).into_iter().zip(reads);
        KernelState {
            function,
            results: vec![[Word::default(); 2]; under_way].into(),
            arrivals,
            operands: vec![Word::default(); operands],
            used: datapath.variables(),
            variables: vec![0; depth],
            addresses: addresses.map(|(pipeline, (ram, read))| (pipeline, ram, read)).collect(),
            last: None,
        }
    }

    /// The result for this cycle's operands and variables, of which `index` gives the loop index of a level. Memories are given the
    /// addresses.
    pub fn evaluate(
        &mut self,
        variables: &[Variable],
        index: impl Fn(usize) -> i64,
        rams: &mut IndexVec<RamId, RamState<Word>>,
    ) -> [Word; 2] {
        for (variable, &slot) in variables.iter().zip(&self.used) {
            self.variables[slot] = variable.offset + variable.scale * variable.level.map_or(0, &index);
        }
        if !self.addresses.is_empty() {
            let numbers: Vec<u16> = self.operands.iter().map(|word| word.number()).collect();
            for (pipeline, ram, read) in &mut self.addresses {
                rams[*ram].given[*read] = pipeline.step(&numbers, &self.variables);
            }
        }
        self.arrivals.join(&mut self.operands, &mut self.variables);
        self.call()
    }

    /// The function of the operands and variables.
    fn call(&mut self) -> [Word; 2] {
        if let Some((operands, variables, result)) = &mut self.last {
            if *operands != self.operands || *variables != self.variables {
                operands.copy_from_slice(&self.operands);
                variables.copy_from_slice(&self.variables);
                *result = (self.function)(operands, variables);
            }
            return *result;
        }
        let result = (self.function)(&self.operands, &self.variables);
        self.last = Some((self.operands.clone(), self.variables.clone(), result));
        result
    }
}
