//! The bytes of FlatBuffers: tables, vectors and texts, each read with a check that it lies in the file.
//!
//! A table begins with the distance back to its virtual table, which has the place of each of its fields, or 0 for one that is
//! absent. References are distances forward. A reader therefore ends on every file, but many references may lead to one
//! place: the number of tables that are read is limited by the size of the file.

use std::cell::Cell;

use pushmem_float::Format;

/// The fault in the bytes of a file, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub at: usize,
    pub what: String,
}

pub(crate) type Result<T, E = Malformed> = std::result::Result<T, E>;

/// The bytes of a file, and how many tables may still be read of it.
pub(crate) struct Bytes<'a> {
    bytes: &'a [u8],
    /// The format of numbers with a fraction in hardware, and those that were noted.
    format: Format,
    noted: [Cell<bool>; Format::ALL.len()],
    tables_left: Cell<usize>,
}

/// A table of a file.
#[derive(Clone, Copy)]
pub(crate) struct Table<'a> {
    file: &'a Bytes<'a>,
    /// The place of the table.
    pub at: usize,
    /// The place and the length of its virtual table.
    fields: (usize, usize),
}

/// The bytes of a table's reference to its virtual table, and of that table's own header.
const HEADER: usize = 4;

impl<'a> Bytes<'a> {
    pub fn new(bytes: &'a [u8], format: Format) -> Self {
        // No table is shorter than its reference to its virtual table.
        Self { bytes, format, noted: Default::default(), tables_left: Cell::new(bytes.len() / HEADER) }
    }

    /// The formats that were noted.
    pub fn formats(&self) -> Vec<Format> {
        Format::ALL.into_iter().filter(|format| self.noted[*format as usize].get()).collect()
    }

    /// The table that the file begins with.
    pub fn root(&'a self) -> Result<Table<'a>> {
        self.table(self.reference(0)?)
    }

    fn malformed(&self, at: usize, what: impl Into<String>) -> Malformed {
        Malformed { at, what: what.into() }
    }

    fn bytes<const COUNT: usize>(&self, at: usize) -> Result<[u8; COUNT]> {
        let found = self.bytes.get(at..).and_then(|rest| rest.first_chunk::<COUNT>());
        found.copied().ok_or_else(|| self.malformed(at, format!("{COUNT} bytes lie beyond the end of the file")))
    }

    /// The place that a reference at this place leads to.
    fn reference(&self, at: usize) -> Result<usize> {
        let distance = u32::from_le_bytes(self.bytes(at)?) as usize;
        at.checked_add(distance)
            .filter(|to| distance > 0 && *to < self.bytes.len())
            .ok_or_else(|| self.malformed(at, "a reference leads out of the file"))
    }

    fn table(&'a self, at: usize) -> Result<Table<'a>> {
        let left = self.tables_left.get().checked_sub(1);
        self.tables_left
            .set(left.ok_or_else(|| self.malformed(at, "there are more tables than the file has room for"))?);
        let back = i64::from(i32::from_le_bytes(self.bytes(at)?));
        let start = (at as i64).checked_sub(back).and_then(|start| usize::try_from(start).ok());
        let start = start.ok_or_else(|| self.malformed(at, "a virtual table lies before the file"))?;
        let length = usize::from(u16::from_le_bytes(self.bytes(start)?));
        match length >= HEADER && start + length <= self.bytes.len() {
            true => Ok(Table { file: self, at, fields: (start, length) }),
            false => Err(self.malformed(start, "a virtual table lies beyond the end of the file")),
        }
    }

    /// The first element of a vector, and how many elements there are of this size.
    fn vector(&self, at: usize, size: usize) -> Result<(usize, usize)> {
        let count = u32::from_le_bytes(self.bytes(at)?) as usize;
        let first = at + 4;
        match count.checked_mul(size).and_then(|length| first.checked_add(length)) {
            Some(end) if end <= self.bytes.len() => Ok((first, count)),
            _ => Err(self.malformed(at, format!("a list of {count} lies beyond the end of the file"))),
        }
    }

    fn text(&self, at: usize) -> Result<String> {
        let (first, count) = self.vector(at, 1)?;
        let text = str::from_utf8(&self.bytes[first..first + count]);
        text.map(str::to_owned).map_err(|_| self.malformed(at, "a name is not UTF-8 text"))
    }
}

impl<'a> Table<'a> {
    /// The format of numbers with a fraction in hardware.
    pub fn format(&self) -> Format {
        self.file.format
    }

    /// Notes that the file has numbers of this format.
    pub fn note(&self, format: Format) {
        self.file.noted[format as usize].set(true);
    }

    pub fn malformed(&self, what: impl Into<String>) -> Malformed {
        self.file.malformed(self.at, what)
    }

    /// The place of a field, if the table has it.
    fn place(&self, field: usize) -> Result<Option<usize>> {
        let entry = HEADER + 2 * field;
        if entry + 2 > self.fields.1 {
            return Ok(None);
        }
        let offset = usize::from(u16::from_le_bytes(self.file.bytes(self.fields.0 + entry)?));
        Ok((offset != 0).then_some(self.at + offset))
    }

    fn scalar<const COUNT: usize>(&self, field: usize) -> Result<Option<[u8; COUNT]>> {
        self.place(field)?.map(|at| self.file.bytes(at)).transpose()
    }

    pub fn byte(&self, field: usize) -> Result<u8> {
        Ok(self.scalar::<1>(field)?.map_or(0, |[byte]| byte))
    }

    pub fn flag(&self, field: usize) -> Result<bool> {
        Ok(self.byte(field)? != 0)
    }

    pub fn i32(&self, field: usize) -> Result<i32> {
        Ok(self.scalar(field)?.map_or(0, i32::from_le_bytes))
    }

    pub fn i64(&self, field: usize) -> Result<i64> {
        Ok(self.scalar(field)?.map_or(0, i64::from_le_bytes))
    }

    pub fn f64(&self, field: usize) -> Result<f64> {
        Ok(self.scalar(field)?.map_or(0.0, f64::from_le_bytes))
    }

    /// The text of a field; nothing, if the table does not have it.
    pub fn text(&self, field: usize) -> Result<String> {
        match self.place(field)? {
            Some(at) => self.file.text(self.file.reference(at)?),
            None => Ok(String::new()),
        }
    }

    pub fn table(&self, field: usize) -> Result<Option<Table<'a>>> {
        self.place(field)?.map(|at| self.file.table(self.file.reference(at)?)).transpose()
    }

    /// A table that must be there.
    pub fn needed(&self, field: usize, name: &str) -> Result<Table<'a>> {
        self.table(field)?.ok_or_else(|| self.malformed(format!("{name} is missing")))
    }

    /// The first element of a field's vector, and how many there are.
    fn elements(&self, field: usize, size: usize) -> Result<(usize, usize)> {
        match self.place(field)? {
            Some(at) => self.file.vector(self.file.reference(at)?, size),
            None => Ok((0, 0)),
        }
    }

    pub fn byte_list(&self, field: usize) -> Result<&'a [u8]> {
        let (first, count) = self.elements(field, 1)?;
        Ok(&self.file.bytes[first..first + count])
    }

    pub fn tables(&self, field: usize) -> Result<Vec<Table<'a>>> {
        let (first, count) = self.elements(field, 4)?;
        (0..count).map(|number| self.file.table(self.file.reference(first + 4 * number)?)).collect()
    }

    pub fn texts(&self, field: usize) -> Result<Vec<String>> {
        let (first, count) = self.elements(field, 4)?;
        (0..count).map(|number| self.file.text(self.file.reference(first + 4 * number)?)).collect()
    }

    /// A table that is one of several kinds, with the number of its kind; the kind is the field before.
    pub fn union(&self, field: usize) -> Result<Option<(u8, Table<'a>)>> {
        let kind = self.byte(field - 1)?;
        Ok(self.table(field)?.filter(|_| kind != 0).map(|table| (kind, table)))
    }

    /// A list of tables that are each of one of several kinds; the kinds are the field before.
    pub fn unions(&self, field: usize) -> Result<Vec<(u8, Table<'a>)>> {
        let (kinds, tables) = (self.byte_list(field - 1)?, self.tables(field)?);
        match kinds.len() == tables.len() {
            true => Ok(kinds.iter().copied().zip(tables).collect()),
            false => Err(self.malformed(format!("{} kinds for {} tables", kinds.len(), tables.len()))),
        }
    }
}
