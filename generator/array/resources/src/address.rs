//! Addresses of configuration registers.

use pushmem_fabric::Place;

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
    }
}
