//! The attributes of a node.

use crate::fault::{Fault, Result};
use crate::network::{LARGEST_EXTENT, Operand, Window};
use crate::onnx::model::{Attribute, Node};

/// A node whose attributes are read.
#[derive(Clone, Copy)]
pub(crate) struct Attributes<'a> {
    node: &'a Node,
}

impl<'a> Attributes<'a> {
    /// The attributes of a node, all of which are among those that are known.
    ///
    /// # Errors
    /// Names one that is not.
    pub fn of(node: &'a Node, known: &[&str]) -> Result<Self> {
        match node.attributes.iter().find(|attribute| !known.contains(&attribute.name.as_str())) {
            Some(Attribute { name, .. }) => {
                Err(Fault::new(format!("the attribute `{name}` of {} is not known", node.operator)))
            }
            None => Ok(Attributes { node }),
        }
    }

    fn find(&self, name: &str) -> Option<&'a Attribute> {
        self.node.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// An integer, or this one where there is none.
    pub fn integer(&self, name: &str, default: i64) -> i64 {
        self.find(name).map_or(default, |attribute| attribute.integer)
    }

    /// A real number, or this one where there is none.
    pub fn real(&self, name: &str, default: f32) -> f32 {
        self.find(name).map_or(default, |attribute| attribute.real)
    }

    /// A text, or this one where there is none.
    pub fn text(&self, name: &str, default: &str) -> String {
        self.find(name).map_or_else(|| default.to_owned(), |each| String::from_utf8_lossy(&each.text).into_owned())
    }

    /// Refuses another text than this, which is the one where there is none.
    ///
    /// # Errors
    /// Names the attribute and its value.
    pub fn expect_text(&self, name: &str, only: &str) -> Result<()> {
        match self.text(name, only) {
            text if text == only => Ok(()),
            text => Err(self.refuse(name, text).with_help(format!("{name} is {only}"))),
        }
    }

    /// Integers, if there are some.
    pub fn integers(&self, name: &str) -> Option<&'a [i64]> {
        self.find(name).map(|attribute| attribute.integers.as_slice())
    }

    /// Refuses another integer than this, which hardware has.
    ///
    /// # Errors
    /// Names the attribute and its value.
    pub fn expect(&self, name: &str, only: i64) -> Result<()> {
        match self.integer(name, only) {
            value if value == only => Ok(()),
            value => Err(self.refuse(name, value)),
        }
    }

    /// A value of an attribute that is not read.
    pub fn refuse(&self, name: &str, value: impl std::fmt::Debug) -> Fault {
        Fault::new(format!("{} with {name} = {value:?} is not read", self.node.operator))
    }

    /// Two positive numbers, outermost dimension first in the file and innermost first here.
    fn pair(&self, name: &str) -> Result<[i64; 2]> {
        match self.integers(name) {
            None => Ok([1, 1]),
            Some(&[rows, columns]) if [rows, columns].iter().all(|value| (1..=LARGEST_EXTENT).contains(value)) => {
                Ok([columns, rows])
            }
            Some(values) => Err(self.refuse(name, values)),
        }
    }

    /// The window of a node over a tensor.
    ///
    /// # Errors
    /// Names an attribute of windows in other dimensions than two, or beyond all limits.
    pub fn window(&self, input: usize, shape: [i64; 3], extent: Option<[i64; 2]>, outside: i64) -> Result<Window> {
        let own = self.integers("kernel_shape").map(|_| self.pair("kernel_shape")).transpose()?;
        let extent = match (own, extent) {
            (Some(own), Some(extent)) if own != extent => return Err(self.refuse("kernel_shape", own)),
            (Some(extent), _) | (None, Some(extent)) => extent,
            (None, None) => return Err(Fault::new(format!("{} has no kernel_shape", self.node.operator))),
        };
        let (stride, dilation) = (self.pair("strides")?, self.pair("dilations")?);
        let (zeros, input) = ([0, 0], Operand::of(input, shape));
        let window = Window { input, extent, stride, dilation, before: zeros, after: zeros, outside };
        let (before, after) = match self.find("auto_pad").map(|attribute| attribute.text.as_slice()) {
            None | Some(b"" | b"NOTSET") => match self.integers("pads") {
                None => (zeros, zeros),
                Some(&[top, left, bottom, right])
                    if [top, left, bottom, right].iter().all(|pad| (0..=LARGEST_EXTENT).contains(pad)) =>
                {
                    ([left, top], [right, bottom])
                }
                Some(values) => return Err(self.refuse("pads", values)),
            },
            Some(b"VALID") => (zeros, zeros),
            Some(b"SAME_UPPER" | b"SAME_LOWER") if dilation != [1, 1] => return Err(self.refuse("dilations", dilation)),
            Some(text @ (b"SAME_UPPER" | b"SAME_LOWER")) => {
                let all = window.pads_of_same();
                let half = all.map(|pads| if text == b"SAME_UPPER" { pads / 2 } else { pads - pads / 2 });
                (half, [all[0] - half[0], all[1] - half[1]])
            }
            Some(text) => return Err(self.refuse("auto_pad", String::from_utf8_lossy(text))),
        };
        Ok(Window { before, after, ..window })
    }
}
