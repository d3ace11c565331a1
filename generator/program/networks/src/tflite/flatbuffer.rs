//! Tables of FlatBuffers, of which no byte is trusted: an offset beyond the file is an error wherever it is followed.

use std::cell::Cell;

use crate::chunks;

/// A file that is no such file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Damaged;

pub(crate) type Result<T> = std::result::Result<T, Damaged>;

/// How often the bytes of a file may be read: tables may share what they point at, and the files of tools do so a few times.
const MOST_READINGS: usize = 32;

/// A file.
#[derive(Debug)]
pub(crate) struct Buffer<'a> {
    bytes: &'a [u8],
    /// Bytes of vectors that may still be read.
    left: Cell<usize>,
}

impl<'a> Buffer<'a> {
    /// A file with this identifier.
    ///
    /// # Errors
    /// Where it has another one.
    pub fn new(bytes: &'a [u8], identifier: &[u8; 4]) -> Result<Buffer<'a>> {
        let buffer = Buffer { bytes, left: Cell::new(bytes.len().saturating_mul(MOST_READINGS)) };
        if buffer.number(4)? == *identifier { Ok(buffer) } else { Err(Damaged) }
    }

    /// The table that the file is.
    pub fn root(&self) -> Result<Table<'_>> {
        Ok(Table { buffer: self, at: self.followed(0)? })
    }

    fn number<const N: usize>(&self, at: usize) -> Result<[u8; N]> {
        let bytes = at.checked_add(N).and_then(|end| self.bytes.get(at..end)).ok_or(Damaged)?;
        bytes.try_into().map_err(|_| Damaged)
    }

    /// The place that an offset points at.
    fn followed(&self, at: usize) -> Result<usize> {
        at.checked_add(u32::from_le_bytes(self.number(at)?) as usize).ok_or(Damaged)
    }
}

/// A table: fields by their numbers, each of which may be absent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table<'a> {
    buffer: &'a Buffer<'a>,
    at: usize,
}

impl<'a> Table<'a> {
    /// Where a field is.
    fn field(&self, number: usize) -> Result<Option<usize>> {
        let distance = i32::from_le_bytes(self.buffer.number(self.at)?);
        let list = usize::try_from(self.at as i64 - i64::from(distance)).map_err(|_| Damaged)?;
        let place = 4 + 2 * number;
        if place + 2 > u16::from_le_bytes(self.buffer.number(list)?).into() {
            return Ok(None);
        }
        let offset = u16::from_le_bytes(self.buffer.number(list + place)?);
        Ok((offset > 0).then_some(self.at + usize::from(offset)))
    }

    fn scalar<const N: usize>(&self, number: usize) -> Result<Option<[u8; N]>> {
        self.field(number)?.map(|at| self.buffer.number(at)).transpose()
    }

    /// An integer of 8 bits, 0 where it is absent.
    pub fn byte(&self, number: usize) -> Result<i64> {
        Ok(self.scalar(number)?.map_or(0, i8::from_le_bytes).into())
    }

    /// An integer of 32 bits, or this one where it is absent.
    pub fn integer(&self, number: usize, default: i32) -> Result<i64> {
        Ok(self.scalar(number)?.map_or(default, i32::from_le_bytes).into())
    }

    /// A real number, 0 where it is absent.
    pub fn real(&self, number: usize) -> Result<f32> {
        Ok(self.scalar(number)?.map_or(0.0, f32::from_le_bytes))
    }

    /// A table, if it is there.
    pub fn table(&self, number: usize) -> Result<Option<Table<'a>>> {
        let Some(at) = self.field(number)? else { return Ok(None) };
        Ok(Some(Table { buffer: self.buffer, at: self.buffer.followed(at)? }))
    }

    /// The start of a vector and its elements, none where it is absent.
    fn elements<const N: usize>(&self, number: usize) -> Result<(usize, &'a [u8])> {
        let Some(at) = self.field(number)? else { return Ok((0, &[])) };
        let at = self.buffer.followed(at)?;
        let size = (u32::from_le_bytes(self.buffer.number(at)?) as usize).checked_mul(N).ok_or(Damaged)?;
        let start = at + 4;
        let bytes = start.checked_add(size).and_then(|end| self.buffer.bytes.get(start..end)).ok_or(Damaged)?;
        self.buffer.left.set(self.buffer.left.get().checked_sub(size).ok_or(Damaged)?);
        Ok((start, bytes))
    }

    /// A vector of bytes.
    pub fn bytes(&self, number: usize) -> Result<&'a [u8]> {
        Ok(self.elements::<1>(number)?.1)
    }

    /// A text, without what is no UTF-8.
    pub fn text(&self, number: usize) -> Result<String> {
        Ok(String::from_utf8_lossy(self.bytes(number)?).into_owned())
    }

    /// A vector of numbers.
    pub fn numbers<const N: usize, T>(&self, number: usize, of: fn([u8; N]) -> T) -> Result<Vec<T>> {
        Ok(chunks(self.elements::<N>(number)?.1).map(of).collect())
    }

    /// A vector of integers of 32 bits.
    pub fn integers(&self, number: usize) -> Result<Vec<i64>> {
        self.numbers(number, |bytes| i32::from_le_bytes(bytes).into())
    }

    /// A vector of tables.
    pub fn tables(&self, number: usize) -> Result<Vec<Table<'a>>> {
        let (start, bytes) = self.elements::<4>(number)?;
        let table = |at| Ok(Table { buffer: self.buffer, at: self.buffer.followed(at)? });
        (start..start + bytes.len()).step_by(4).map(table).collect()
    }
}
