//! The elements of an image in memory.

use crate::element::Element;

/// Values of one type, in order of memory, each in the bytes of its type, low byte first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    element: Element,
    bytes: Vec<u8>,
}

impl Values {
    /// So many zeros.
    pub fn zeros(element: Element, count: usize) -> Self {
        Values { element, bytes: vec![0; count * element.size()] }
    }

    /// Those of these bytes.
    pub(crate) fn of_bytes(element: Element, bytes: &[u8]) -> Self {
        Values { element, bytes: bytes.to_vec() }
    }

    /// The type of the values.
    pub fn element(&self) -> Element {
        self.element
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.element.size()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The value at this position; nothing behind the last.
    #[inline]
    pub fn get(&self, position: usize) -> Option<i64> {
        let size = self.element.size();
        Some(self.element.value(self.bytes.get(position.checked_mul(size)?..)?.get(..size)?))
    }

    /// The value at this position.
    ///
    /// # Panics
    /// If there are not as many values.
    #[inline]
    pub fn at(&self, position: usize) -> i64 {
        self.get(position).expect("the position is one of the values")
    }

    /// Changes the value at this position to the low bits of another.
    ///
    /// # Panics
    /// If there are not as many values.
    #[inline]
    pub fn set(&mut self, position: usize, value: i64) {
        let (size, bytes) = (self.element.size(), value.to_le_bytes());
        let place = &mut self.bytes[position * size..][..size];
        // Copies of a number of bytes that is known are moves.
        match size {
            1 => place[0] = bytes[0],
            2 => place.copy_from_slice(&bytes[..2]),
            4 => place.copy_from_slice(&bytes[..4]),
            _ => place.copy_from_slice(&bytes),
        }
    }

    /// All values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = i64> + Clone {
        self.bytes.chunks_exact(self.element.size()).map(|bytes| self.element.value(bytes))
    }

    /// All values, as numbers.
    pub fn to_vec(&self) -> Vec<i64> {
        self.iter().collect()
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::Values;
    use crate::element::Element;

    #[test]
    fn values_take_the_bytes_of_their_type() {
        for element in Element::ALL {
            let ends = [element.min(), element.max(), 1];
            let mut values = Values::zeros(element, ends.len());
            ends.iter().enumerate().for_each(|(position, value)| values.set(position, *value));
            assert_eq!(values.to_vec(), ends, "{}", element.name());
            assert_eq!(values.bytes().len() as u32, 3 * element.bits() / 8, "{}", element.name());
            assert_eq!(values.get(3), None, "{}", element.name());
            // Neighbours keep their values.
            values.set(1, -1);
            assert_eq!(values.at(0), ends[0], "{}", element.name());
            assert_eq!(values.at(1), if element.is_signed() { -1 } else { element.max() }, "{}", element.name());
        }
    }
}
