//! Digests of texts.

use sha2::{Digest, Sha256};

/// SHA-256 of a text, in lower-case hexadecimal.
pub fn digest(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The first 32 bits of [`digest`].
pub fn digest_word(text: &str) -> u32 {
    let [first, second, third, fourth, ..] = <[u8; 32]>::from(Sha256::digest(text));
    u32::from_be_bytes([first, second, third, fourth])
}
