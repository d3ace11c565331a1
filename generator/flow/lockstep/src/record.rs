//! The bytes of a cycle, as the harness reads and writes them.

use pushmem_emulator::{Beat, Inputs, StreamOutputs};

/// A write to the configuration port: address and data.
pub type Write = (u32, u32);

/// Bytes of the answer to a cycle before those of columns, and for each column.
const ANSWER_HEAD: usize = 5;
const OF_COLUMN: usize = 5;

/// The columns whose streams are in use.
#[derive(Debug)]
pub struct Layout {
    pub columns: Vec<u32>,
}

impl Layout {
    /// Bytes of an answer.
    pub fn answer_bytes(&self) -> usize {
        ANSWER_HEAD + OF_COLUMN * self.columns.len()
    }

    /// Appends a cycle.
    pub fn push_cycle(&self, inputs: &Inputs, write: Option<Write>, bytes: &mut Vec<u8>) {
        let commands = [inputs.flush, inputs.stall, write.is_some(), false];
        bytes.push(bits(&commands));
        let (address, data) = write.unwrap_or_default();
        bytes.extend(address.to_le_bytes());
        bytes.extend(data.to_le_bytes());
        for column in &self.columns {
            let stream = inputs.streams.get(*column as usize).copied().unwrap_or_default();
            push_stream(stream.beat, stream.ready, bytes);
        }
    }

    /// Appends the answer to a cycle without an access: it has no error, and other streams show nothing.
    pub fn push_answer(&self, outputs: &[StreamOutputs], bytes: &mut Vec<u8>) {
        bytes.extend([0; ANSWER_HEAD]);
        for column in &self.columns {
            let stream = outputs[*column as usize];
            push_stream(stream.beat, stream.ready, bytes);
        }
    }

    /// The column in which two answers differ, with the two in words; no column for what is before them.
    pub fn difference(&self, rtl: &[u8], model: &[u8]) -> (Option<u32>, [String; 2]) {
        let of_column = |answer: &[u8], place: usize| answer[ANSWER_HEAD + OF_COLUMN * place..][..OF_COLUMN].to_vec();
        for (place, column) in self.columns.iter().enumerate() {
            let pair = [rtl, model].map(|answer| of_column(answer, place));
            if pair[0] != pair[1] {
                return (Some(*column), pair.map(|stream| in_words(&stream)));
            }
        }
        (None, [rtl, model].map(|answer| head_in_words(answer[0])))
    }
}

fn bits(flags: &[bool]) -> u8 {
    flags.iter().rev().fold(0, |all, flag| 2 * all + u8::from(*flag))
}

fn push_stream(beat: Option<Beat>, ready: bool, bytes: &mut Vec<u8>) {
    let Beat { data, bit } = beat.unwrap_or_default();
    bytes.push(bits(&[bit, beat.is_some(), ready]));
    bytes.extend(data.to_le_bytes());
}

fn in_words(stream: &[u8]) -> String {
    let word = u32::from_le_bytes(stream[1..OF_COLUMN].try_into().expect("a word has four bytes"));
    let ready = if stream[0] & 4 == 0 { "not ready" } else { "ready" };
    match stream[0] & 2 {
        0 => format!("no beat, {ready}"),
        _ => format!("word {word:x} with bit {}, {ready}", stream[0] & 1),
    }
}

fn head_in_words(flags: u8) -> String {
    match flags {
        0 => "nothing".to_owned(),
        1 => "a configuration error".to_owned(),
        _ => "a stream that has no schedule".to_owned(),
    }
}
