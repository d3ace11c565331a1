//! Enums whose values have names.

use std::fmt;

use serde::de::{Deserializer, EnumAccess, Error, VariantAccess, Visitor};

/// Declares an enum with the name of each value, by which files and messages tell it.
///
/// The enum gets `ALL`, its values in their order, `name`, and `of_name`. It is written as its name, and read as serde's derived code
/// reads names.
///
/// ```
/// pushmem_files::named! {
///     /// A direction.
///     pub enum Direction {
///         /// Towards the array.
///         In = "in",
///         /// Away from it.
///         Out = "out",
///     }
/// }
///
/// assert_eq!(Direction::ALL.map(Direction::name), ["in", "out"]);
/// assert_eq!(Direction::of_name("out"), Some(Direction::Out));
/// ```
#[macro_export]
macro_rules! named {
    ($(#[$of_type:meta])* $visibility:vis enum $Type:ident {
        $($(#[$of_value:meta])* $Value:ident = $name:expr),+ $(,)?
    }) => {
        $(#[$of_type])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $visibility enum $Type {
            $($(#[$of_value])* $Value),+
        }

        #[allow(dead_code)] // Few enums need all of it.
        impl $Type {
            /// All values, in their order.
            pub const ALL: [Self; Self::NAMES.len()] = [$(Self::$Value),+];

            const NAMES: &'static [&'static str] = &[$($name),+];

            /// The name in files and messages.
            pub const fn name(self) -> &'static str {
                Self::NAMES[self as usize]
            }

            /// The value of this name.
            pub fn of_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.name() == name)
            }
        }

        impl $crate::serde::Serialize for $Type {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $Type {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::place_of_name(deserializer, Self::NAMES).map(|place| Self::ALL[place])
            }
        }
    };
}

/// Reads one of these names: its place among them.
#[doc(hidden)]
pub fn place_of_name<'de, D: Deserializer<'de>>(
    deserializer: D,
    names: &'static [&'static str],
) -> Result<usize, D::Error> {
    deserializer.deserialize_enum("", names, Names(names))
}

struct Names(&'static [&'static str]);

impl<'de> Visitor<'de> for Names {
    type Value = usize;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "one of {}", self.0.join(", "))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<usize, A::Error> {
        let (name, contents): (String, _) = access.variant()?;
        let place = self.0.iter().position(|other| *other == name);
        let place = place.ok_or_else(|| A::Error::unknown_variant(&name, self.0))?;
        contents.unit_variant().map(|()| place)
    }
}
