//! Why there is no accelerator.

use std::fmt::{Display, Formatter};

use pushmem_files::{Code, Diagnostic};
use pushmem_nest::{Program, Span};

/// Why there is no accelerator.
#[derive(Debug)]
pub enum CompileError {
    /// The program cannot be streamed, scheduled or mapped: the message lists the attempts.
    Refused(Diagnostic),
    /// The memory tiles cannot keep this buffer of the program: the message lists the attempts.
    Unmapped {
        /// The message.
        diagnostic: Diagnostic,
        /// The name of the buffer.
        buffer: String,
    },
    /// The elements of an array are accessed in an order that only a random-access memory serves.
    Unordered {
        /// The message.
        diagnostic: Diagnostic,
        /// The name of the array, which may be a copy.
        array: String,
        /// The place in the program of the array that it is, or is a copy of.
        declared: Span,
    },
    /// The proof has found that the hardware differs from the program: a fault of the compiler.
    Fault(Diagnostic),
}

impl CompileError {
    /// The error of a proof that fails: a fault of the compiler.
    pub fn wrong(error: &dyn Display) -> Self {
        CompileError::Fault(Diagnostic::new(format!("the compiled accelerator is wrong: {error}")).as_fault("program"))
    }

    /// The refusal of a program with an array of this name that only a random-access memory serves.
    pub(crate) fn unordered(diagnostic: Diagnostic, program: &Program, array: &str) -> Self {
        let declared = program.arrays.iter().find(|own| own.name == array).map_or(Span::default(), |own| own.span);
        CompileError::Unordered { diagnostic, array: array.to_owned(), declared }
    }

    /// The message.
    pub fn diagnostic(&self) -> &Diagnostic {
        match self {
            CompileError::Refused(diagnostic)
            | CompileError::Unmapped { diagnostic, .. }
            | CompileError::Unordered { diagnostic, .. }
            | CompileError::Fault(diagnostic) => diagnostic,
        }
    }

    /// The same with another message.
    pub(crate) fn map(self, change: impl FnOnce(Diagnostic) -> Diagnostic) -> Self {
        match self {
            CompileError::Refused(diagnostic) => CompileError::Refused(change(diagnostic)),
            CompileError::Unmapped { diagnostic, buffer } => {
                CompileError::Unmapped { diagnostic: change(diagnostic), buffer }
            }
            CompileError::Unordered { diagnostic, array, declared } => {
                CompileError::Unordered { diagnostic: change(diagnostic), array, declared }
            }
            CompileError::Fault(diagnostic) => CompileError::Fault(change(diagnostic)),
        }
    }
}

impl Display for CompileError {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        self.diagnostic().fmt(formatter)
    }
}

impl std::error::Error for CompileError {}

/// Errors of passes: most are of the program, some faults of the compiler.
impl From<Diagnostic> for CompileError {
    fn from(diagnostic: Diagnostic) -> Self {
        match diagnostic.is_fault() {
            true => CompileError::Fault(diagnostic),
            false => CompileError::Refused(diagnostic),
        }
    }
}

/// For callers that only print it.
impl From<CompileError> for Diagnostic {
    fn from(error: CompileError) -> Self {
        match error {
            CompileError::Refused(diagnostic)
            | CompileError::Unmapped { diagnostic, .. }
            | CompileError::Unordered { diagnostic, .. } => diagnostic.or_code(Code::Refused),
            CompileError::Fault(diagnostic) => diagnostic.or_code(Code::Fault),
        }
    }
}
