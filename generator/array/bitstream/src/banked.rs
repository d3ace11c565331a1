//! Bitstreams in the banks of a global buffer, as the configuration DMA of each bank reads them.

use std::fmt::Write as _;

use pushmem_configuration::RegisterWrite;
use pushmem_fabric::{ArraySpec, GlobalBufferSpec};
use pushmem_files::Diagnostic;
use pushmem_resources::{Address, BankMap, Common, WHOLE_ARRAY};

use crate::bits::Bitstream;

/// A bitstream, divided among the banks above the columns that it configures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankedBitstream {
    /// The writes that the host makes through the configuration port before banks begin: the digest, and those that clear columns.
    pub first: Vec<RegisterWrite>,
    /// The writes of each bank, in their order. All banks have a part, perhaps an empty one.
    pub banks: Vec<Vec<RegisterWrite>>,
    digest: u32,
}

/// A row of a bank that the host writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BankRow {
    /// Number of the bank.
    pub bank: u32,
    /// Number of the row, counted from the first of the bitstream.
    pub row: u32,
    /// The row.
    pub data: u64,
}

impl BankedBitstream {
    /// The half of a bank to which the host writes bitstreams where nothing else decides: that of the second run, so that the images of the first
    /// one can be written before the bitstream was read.
    pub const HALF: u32 = 1;

    /// Divides a bitstream; nothing for an array without a global buffer. Writes for all columns go to each bank that has such tiles.
    pub fn of(bitstream: &Bitstream, spec: &ArraySpec) -> Option<Self> {
        let (buffer, map) = (spec.global_buffer.as_ref()?, BankMap::of(spec)?);
        let mut banked = BankedBitstream {
            first: Vec::new(),
            banks: vec![Vec::new(); buffer.banks as usize],
            digest: spec.digest_word(),
        };
        for write in &bitstream.writes {
            let address = Address::of(write.address);
            let is_of_array = address.row == WHOLE_ARRAY && address.common().is_none() && map.named(address).is_none();
            let goes_to = |bank: u32| match address.common() {
                Some(common) => has_tile(spec, buffer, bank, common),
                None => buffer.has(bank, address.column),
            };
            match is_of_array {
                true => banked.first.push(*write),
                false => {
                    let parts = (0..).zip(&mut banked.banks).filter(|(bank, _)| goes_to(*bank));
                    parts.for_each(|(_, part)| part.push(*write));
                }
            }
        }
        Some(banked)
    }

    /// The same array's bitstream with other writes in the banks.
    #[must_use]
    pub fn with_banks(&self, banks: Vec<Vec<RegisterWrite>>) -> Self {
        BankedBitstream { banks, ..self.clone() }
    }

    /// The writes of the bank that has the most.
    pub fn longest(&self) -> usize {
        self.banks.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Refuses a bitstream of which a half of a bank does not hold its part.
    ///
    /// # Errors
    /// The bank that needs the most rows, how many, and those that it has.
    pub fn check_room(&self, spec: &ArraySpec) -> Result<(), Diagnostic> {
        let rows = spec.global_buffer.as_ref().map_or(0, GlobalBufferSpec::rows) as usize;
        let fullest = (0..self.banks.len()).max_by_key(|bank| self.banks[*bank].len());
        let needed = self.longest() + 1;
        let Some(bank) = fullest.filter(|_| needed > rows) else { return Ok(()) };
        let message = format!(
            "the bitstream of bank {bank} of `{}` has {needed} rows with its header; a half of the bank has {rows}",
            spec.name
        );
        let bytes = needed.next_power_of_two() * (GlobalBufferSpec::ROW_BYTES * GlobalBufferSpec::HALVES) as usize;
        let help = format!("load it through the configuration port, or take an array with `bank_bytes: {bytes}`");
        Err(Diagnostic::new(message).with_help(help))
    }

    /// The rows that the host writes, bank by bank: of each, a header with the digest and the number of writes, and a row for each write.
    pub fn rows(&self) -> impl Iterator<Item = BankRow> + '_ {
        let joined = |high: u32, low: u32| u64::from(high) << u32::BITS | u64::from(low);
        (0..).zip(&self.banks).flat_map(move |(bank, part)| {
            let header = std::iter::once(joined(self.digest, part.len() as u32));
            let writes = part.iter().map(move |write| joined(write.address, write.data));
            (0..).zip(header.chain(writes)).map(move |(row, data)| BankRow { bank, row, data })
        })
    }

    /// The rows with their byte addresses at the port of the host, in [`BankedBitstream::HALF`]; none without a global buffer.
    pub fn addressed<'a>(&'a self, spec: &'a ArraySpec) -> impl Iterator<Item = (u32, u64)> + 'a {
        let buffer = spec.global_buffer.iter();
        buffer.flat_map(|buffer| {
            let address =
                |row: BankRow| buffer.half_address(row.bank, Self::HALF) + row.row * GlobalBufferSpec::ROW_BYTES;
            self.rows().map(move |row| (address(row), row.data))
        })
    }

    /// The rows as text: after a comment, a line for each, its byte address at the port of the host and its 64 bits, in hexadecimal.
    pub fn to_text(&self, spec: &ArraySpec) -> String {
        let mut text = format!("// Bitstream in the banks of `{}`: address of the host, row\n", spec.name);
        for (address, row) in self.addressed(spec) {
            writeln!(text, "{address:08x} {row:016x}").expect("writing to a string cannot fail");
        }
        text
    }
}

/// Whether a bank has a tile in its columns that takes the writes to all tiles of a kind.
fn has_tile(spec: &ArraySpec, buffer: &GlobalBufferSpec, bank: u32, common: Common) -> bool {
    let kind = |place| spec.kind(place).is_some_and(|kind| common.has(kind, place));
    spec.places().any(|place| buffer.has(bank, place.column) && kind(place))
}
