//! The addresses that a kernel gives to random-access memories, cycle by cycle.

use pushmem_datapaths::{Datapath, Evaluator, MemoryRead};
use pushmem_nest::Table;

use crate::arrivals::Arrivals;

/// The pipeline of the address of a read, as far as it is in the kernel.
pub(crate) struct AddressPipeline<'a> {
    datapath: &'a Datapath,
    evaluator: Evaluator,
    arrivals: Arrivals,
    mask: usize,
    operands: Vec<u16>,
    loads: Vec<i64>,
    variables: Vec<i64>,
}

impl<'a> AddressPipeline<'a> {
    /// The pipelines of all reads of a datapath.
    pub fn all(datapath: &'a Datapath, tables: &[Table]) -> Vec<Self> {
        let reads = datapath.memory_reads();
        reads.iter().map(|read| Self::new(datapath, tables, read)).collect()
    }

    fn new(datapath: &'a Datapath, tables: &[Table], read: &MemoryRead) -> Self {
        AddressPipeline {
            datapath,
            evaluator: Evaluator::of_address(datapath, tables, read),
            arrivals: Arrivals::up_to(datapath, read.stage),
            mask: (1 << read.address_bits) - 1,
            operands: Vec::new(),
            loads: vec![0; datapath.loads().len()],
            variables: Vec::new(),
        }
    }

    /// The address in a cycle in which the kernel has these operands and variables.
    pub fn step(&mut self, operands: &[u16], variables: &[i64]) -> usize {
        let (taken, values) = (&mut self.operands, &mut self.variables);
        taken.clear();
        taken.extend_from_slice(operands);
        values.clear();
        values.extend_from_slice(variables);
        self.arrivals.join(taken, values);
        self.datapath.joined(taken, &mut self.loads);
        self.evaluator.evaluate(&self.loads, values) as usize & self.mask
    }
}
