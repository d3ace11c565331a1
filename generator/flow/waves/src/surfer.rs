//! Command files of Surfer.

use itertools::Itertools;

use crate::{Format, Group, View};

/// Between the name of a group and that of one within it.
const WITHIN: &str = "__";

impl View {
    /// The layout for Surfer: a command file, which it is given by `--command-file`. Groups have a divider above them.
    /// Commands run in order, and one that Surfer refuses is left out: the names of dividers are single words, as it wants
    /// them, or all items behind one would have other numbers.
    pub fn surfer(&self) -> String {
        let mut adds = vec!["# Waves of pushmem: surfer WAVES.fst --command-file LAYOUT.sucl".to_owned()];
        let mut items = Vec::new();
        for group in &self.all_groups() {
            print(group, &self.path(), "", &mut adds, &mut items);
        }
        let formats = items.iter().enumerate().filter_map(|(number, item)| {
            let (name, format) = item.as_ref()?;
            Some(format!("item_focus {}_{name}\nitem_set_format {}", letters(number), self::format(*format)))
        });
        let formats = formats.collect_vec();
        adds.into_iter().chain(formats).chain(["item_unfocus".to_owned(), "zoom_fit".to_owned()]).join("\n") + "\n"
    }
}

/// Adds what is shown. An item is a signal with its format, or a divider.
fn print(group: &Group, path: &str, outer: &str, adds: &mut Vec<String>, items: &mut Vec<Option<(String, Format)>>) {
    if !group.is_shown() {
        return;
    }
    let (path, title) = (format!("{path}.{}", group.name), format!("{outer}{}", group.name));
    adds.push(format!("divider_add {title}"));
    items.push(None);
    for signal in &group.signals {
        let Some(format) = signal.format else { continue };
        adds.push(format!("variable_add {path}.{}", signal.name));
        items.push(Some((signal.name.clone(), format)));
    }
    for inner in &group.groups {
        print(inner, &path, &format!("{title}{WITHIN}"), adds, items);
    }
}

/// The number of an item as Surfer writes it: hexadecimal digits from `a` to `p`.
fn letters(number: usize) -> String {
    let digit = |digit: char| char::from(b'a' + digit.to_digit(16).expect("digits are hexadecimal") as u8);
    format!("{number:x}").chars().map(digit).collect()
}

/// The name of Surfer's translator.
fn format(format: Format) -> &'static str {
    match format {
        Format::Bit => "Bit",
        Format::Decimal | Format::Curve => "Unsigned",
        Format::Signed | Format::SignedCurve => "Signed",
        Format::Hexadecimal => "Hexadecimal",
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn items_are_numbered_in_letters() {
        assert_eq!([0, 15, 16, 255, 256].map(super::letters), ["a", "p", "ba", "pp", "baa"]);
    }
}
