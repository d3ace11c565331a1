//! Parts of long lists.

use std::str::FromStr;

/// One of several parts of equal size that a list is dealt into, as cards are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 0.
    number: usize,
    of: usize,
}

impl Shard {
    /// The only part of a list that is not dealt.
    pub const ALL: Shard = Shard { number: 0, of: 1 };

    /// Whether the case at this place of a list, from 0, is in it.
    pub fn takes(self, place: usize) -> bool {
        place % self.of == self.number
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<usize>().ok();
        match text.split_once('/').map(|(one, of)| (number(one), number(of))) {
            Some((Some(number), Some(of))) if (1..=of).contains(&number) => Ok(Shard { number: number - 1, of }),
            _ => Err(format!("`{text}` is not one of several parts: expected 1/N to N/N, such as 1/3")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Shard;

    #[test]
    fn a_share_that_is_no_shard_is_refused() {
        for text in ["0/3", "4/3", "3", "1/0", "a/b", "1/3/3", ""] {
            let error = text.parse::<Shard>().unwrap_err();
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
    }
}
