//! Addresses of configuration registers.

use pushmem_csr::WORD_BYTES;
use pushmem_fabric::{Place, TileKind};

/// Bits of the number of a register within a feature.
pub const REGISTER_BITS: u32 = 12;

const FEATURE_BITS: u32 = 4;
const PLACE_BITS: u32 = 8;

/// The row, and the column, of the registers of the array itself.
pub const WHOLE_ARRAY: u32 = (1 << PLACE_BITS) - 1;

/// The register with the digest of the specification. A write of another digest locks the tiles: they take no write until the
/// right digest is written.
pub const DIGEST: Address = Address { row: WHOLE_ARRAY, column: WHOLE_ARRAY, feature: 0, register: 0 };

/// A write here clears the configuration of all tiles.
pub const CLEAR: Address = Address { row: WHOLE_ARRAY, column: WHOLE_ARRAY, feature: 0, register: 1 };

/// A write here starts the columns that hold still, as a flush does. The others do not notice it.
pub const START: Address = Address { row: WHOLE_ARRAY, column: WHOLE_ARRAY, feature: 0, register: 2 };

/// A write here stops all columns: they hold still until the next flush or start.
pub const STOP: Address = Address { row: WHOLE_ARRAY, column: WHOLE_ARRAY, feature: 0, register: 3 };

/// Bits of a feature within the address of all tiles of a kind; the kind has those above.
const COMMON_FEATURE_BITS: u32 = 2;

/// Features that the address of all tiles of a kind can name: those with lower numbers.
pub const COMMON_FEATURES: u32 = 1 << COMMON_FEATURE_BITS;

/// The number of a kind of tile in addresses of all its tiles. 0 is the array itself.
pub fn kind_number(kind: TileKind) -> u32 {
    kind as u32 + 1
}

/// The register of all tiles of a kind, in a column or in all: for writes alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Common {
    /// The kind of the tiles.
    pub kind: TileKind,
    /// Their column; all columns without.
    pub column: Option<u32>,
    /// Number of the feature.
    pub feature: u32,
    /// Number of the register within the feature.
    pub register: u32,
}

impl Common {
    /// The number of a feature of all tiles of a kind, in the place of that of a feature, if there is one.
    pub fn feature_number(kind: TileKind, feature: u32) -> Option<u32> {
        (feature < COMMON_FEATURES).then_some(kind_number(kind) << COMMON_FEATURE_BITS | feature)
    }

    /// The address to write to.
    ///
    /// # Panics
    /// If addresses of all tiles cannot name the feature.
    pub fn address(self) -> Address {
        let Common { kind, column, feature, register } = self;
        let feature = Common::feature_number(kind, feature).expect("a feature of the first few");
        Address { row: WHOLE_ARRAY, column: column.unwrap_or(WHOLE_ARRAY), feature, register }
    }

    /// Whether a tile takes the write.
    pub fn has(self, kind: TileKind, place: Place) -> bool {
        kind == self.kind && self.column.is_none_or(|column| column == place.column)
    }
}

/// The address of a register of 32 bits: row in bits 31:24, column in 23:16, feature in 15:12, register in 11:0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// Row of the tile.
    pub row: u32,
    /// Column of the tile.
    pub column: u32,
    /// Number of the feature.
    pub feature: u32,
    /// Number of the register within the feature.
    pub register: u32,
}

impl Address {
    /// Rows that addresses can tell apart, that of the array itself among them.
    pub(crate) const ROWS: u32 = 1 << PLACE_BITS;

    /// The address that 32 bits stand for.
    pub fn of(word: u32) -> Self {
        let bits = |low: u32, count: u32| word >> low & ((1 << count) - 1);
        let column_low = REGISTER_BITS + FEATURE_BITS;
        Address {
            row: bits(column_low + PLACE_BITS, PLACE_BITS),
            column: bits(column_low, PLACE_BITS),
            feature: bits(REGISTER_BITS, FEATURE_BITS),
            register: bits(0, REGISTER_BITS),
        }
    }

    /// The address as 32 bits.
    pub fn word(self) -> u32 {
        let Address { row, column, feature, register } = self;
        ((row << PLACE_BITS | column) << FEATURE_BITS | feature) << REGISTER_BITS | register
    }

    /// The byte offset: registers are four bytes apart where bytes are counted.
    pub(crate) fn offset(self) -> u64 {
        u64::from(self.word()) * u64::from(WORD_BYTES)
    }

    /// A write here clears the configuration of the tiles of a column. They hold still until the next flush or start.
    pub fn clear_of(column: u32) -> Self {
        Address { column, ..CLEAR }
    }

    /// The column that a write here clears, if it is one of [`Address::clear_of`].
    pub fn cleared_column(self) -> Option<u32> {
        (self.column != WHOLE_ARRAY && self == Address::clear_of(self.column)).then_some(self.column)
    }

    /// A write here stops a column, which keeps its configuration and its beats, and holds still until the next flush or start.
    pub fn stop_of(column: u32) -> Self {
        Address { column, ..STOP }
    }

    /// Whether it is a register of an array itself with so many columns, for all of them or for one.
    pub fn is_of_array(self, columns: u32) -> bool {
        let for_all = [DIGEST, CLEAR, START, STOP].contains(&self);
        for_all
            || self.column < columns && [Address::clear_of, Address::stop_of].iter().any(|of| of(self.column) == self)
    }

    /// The register of all tiles of a kind that it stands for.
    pub fn common(self) -> Option<Common> {
        let number = self.feature >> COMMON_FEATURE_BITS;
        let kind = TileKind::ALL.into_iter().find(|kind| kind_number(*kind) == number)?;
        let column = Some(self.column).filter(|column| *column != WHOLE_ARRAY);
        let feature = self.feature & ((1 << COMMON_FEATURE_BITS) - 1);
        (self.row == WHOLE_ARRAY).then_some(Common { kind, column, feature, register: self.register })
    }

    /// The place of its tile.
    pub fn place(self) -> Place {
        Place { row: self.row, column: self.column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_words() {
        let address = Address { row: 1, column: 2, feature: 3, register: 4 };
        assert_eq!(address.word(), 0x0102_3004);
        for word in [0, 0x0102_3004, u32::MAX] {
            assert_eq!(Address::of(word).word(), word);
        }
        assert_eq!(DIGEST.word(), 0xffff_0000);
        assert_eq!(Address::clear_of(3).word(), 0xff03_0001);
        assert_eq!(Address::clear_of(3).cleared_column(), Some(3));
        assert_eq!(
            [DIGEST, CLEAR, address].map(|address| (address.cleared_column(), address.common())),
            [(None, None); 3]
        );
        assert_eq!([START, STOP, Address::stop_of(3)].map(Address::word), [0xffff_0002, 0xffff_0003, 0xff03_0003]);
        assert_eq!([2, 3, 4].map(|columns| Address::stop_of(3).is_of_array(columns)), [false, false, true]);
        assert!(START.is_of_array(1) && !Address { column: 0, ..START }.is_of_array(1) && !address.is_of_array(4));
        for (column, word) in [(None, 0xffff_b004), (Some(2), 0xff02_b004)] {
            let common = Common { kind: TileKind::Memory, column, feature: 3, register: 4 };
            assert_eq!(common.address().word(), word);
            assert_eq!(Address::of(word).common(), Some(common));
        }
    }
}
