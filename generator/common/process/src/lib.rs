//! Child processes: the one place in which other programs are run.
//!
//! An [`Invocation`] starts a program, feeds it, captures all that it prints and waits for its end. [`Finished::success`] makes an
//! error of a failure: with the status or the signal, the last lines, and the file in which the whole log is kept. A
//! [`Conversation`] is a program that answers while it is being fed.
//!
//! Standard input is empty unless something is fed, so that no program waits for a terminal.

mod conversation;
mod run;

pub use conversation::Conversation;
pub use run::{Finished, Invocation};
