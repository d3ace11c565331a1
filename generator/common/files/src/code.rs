//! Classes of problems.

use std::fmt;

macro_rules! codes {
    ($($(#[$explained:meta])* $name:ident = $code:literal),* $(,)?) => {
        /// The class of a problem: what a program that reads messages tells them by. Codes stay the same from version to
        /// version; `docs/src/errors.md` explains each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code {
            $($(#[$explained])* $name),*
        }

        impl Code {
            /// All codes, in the order of their numbers.
            pub const ALL: &[Code] = &[$(Code::$name),*];

            /// `E` and four digits.
            pub fn name(self) -> &'static str {
                match self {
                    $(Code::$name => $code),*
                }
            }
        }
    };
}

codes! {
    /// A file that is not YAML, or uses of YAML what is not supported.
    Yaml = "E0101",
    /// A key that nothing reads.
    UnknownKey = "E0102",
    /// A key that must be there.
    MissingKey = "E0103",
    /// A key or an element without a value.
    NoValue = "E0104",
    /// A value of the wrong type.
    WrongType = "E0105",
    /// A value that is none of the known names.
    UnknownName = "E0106",
    /// A file for another command.
    OtherFile = "E0107",
    /// A file of which it is not clear what it is.
    UnclearFile = "E0108",
    /// Something else than a word in a file of words.
    Words = "E0109",
    /// A file that cannot be read.
    Unreadable = "E0110",
    /// A specification that is no tile.
    Specification = "E0200",
    /// A binding of a macro or of a cell, or timing constraints, that mean nothing, or do not suit the tile.
    Binding = "E0210",
    /// A configuration that does not suit its tile.
    Configuration = "E0300",
    /// A program that means nothing.
    Program = "E0400",
    /// A buffer that means nothing.
    Buffer = "E0410",
    /// An application graph that means nothing.
    Graph = "E0411",
    /// A program that cannot be compiled for these tiles.
    Refused = "E0420",
    /// An image that does not suit its array, or is none.
    Image = "E0430",
    /// Register writes that are not those of the tile, or not all.
    Writes = "E0500",
    /// A configuration that breaks a promise.
    Promise = "E0601",
    /// RTL that does something else than its model.
    Difference = "E0602",
    /// A stream that does not suit the configuration, or a run that is too long.
    Stream = "E0603",
    /// A list of tests or of mutants that means nothing, or selects nothing.
    List = "E0610",
    /// A synthesis that the library or the program does not allow.
    Synthesis = "E0620",
    /// An output that cannot be written.
    Output = "E0700",
    /// An external tool that is missing or fails.
    Tool = "E0800",
    /// Wrong usage of the command line.
    Usage = "E0900",
    /// A fault of pushmem.
    Fault = "E0901",
    /// A name, an option or a folder that does not suit the other inputs of the command.
    Request = "E0902",
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
