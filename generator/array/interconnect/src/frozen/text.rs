//! SystemVerilog of tiles with other ports: a signal for each track in place of vectors of tracks.

use itertools::Itertools;
use pushmem_files::replace_identifiers;

use crate::tile::slice;

/// A vector of tracks, the first lowest.
pub struct Vector {
    pub name: String,
    /// Bits of a track.
    pub width: u32,
    /// The tracks that are kept, of so many.
    pub kept: Vec<u32>,
    pub count: u32,
}

impl Vector {
    fn signal(&self, track: u32) -> String {
        signal(&self.name, track)
    }

    /// A track where it is read: the signal, or 0 if it is not kept.
    fn value(&self, track: u32) -> String {
        if self.kept.contains(&track) { self.signal(track) } else { format!("{}'d0", self.width) }
    }

    /// All tracks where they are read.
    fn all(&self) -> String {
        format!("{{{}}}", (0..self.count).rev().map(|track| self.value(track)).join(", "))
    }

    /// The declarations of the ports of the tracks, in place of that of the vector.
    fn ports(&self, declaration: &str) -> Vec<String> {
        let direction = if declaration.trim_start().starts_with("output") { "output" } else { "input " };
        let range = if self.width == 1 { String::new() } else { format!("[{}:0] ", self.width - 1) };
        self.kept.iter().map(|track| format!("    {direction} logic {range}{},", self.signal(*track))).collect()
    }
}

/// The name of the signal of a track.
pub fn signal(vector: &str, track: u32) -> String {
    format!("{vector}_{track}")
}

/// The text of a module in which the tracks of vectors that are kept are signals of their own, and the others 0. Vectors are ports,
/// connected to ports as a whole or by tracks of constant numbers.
pub fn with_signals(text: &str, vectors: &[Vector]) -> String {
    let named = |name: &str| vectors.iter().find(|vector| vector.name == name);
    let mut lines = Vec::new();
    for line in text.lines() {
        let end = if line.ends_with(',') { "," } else { "" };
        let bare = line.trim_end_matches(',');
        let indent = &line[..line.len() - line.trim_start().len()];
        if let Some(vector) = declared(bare).and_then(named) {
            lines.extend(vector.ports(bare));
        } else if let Some((port, vector)) = connected(bare).and_then(|(port, name)| Some((port, named(name)?))) {
            let connection = |track: &u32| format!("{indent}.{} ({}),", signal(port, *track), vector.signal(*track));
            lines.extend(vector.kept.iter().map(connection));
        } else {
            lines.push(format!("{bare}{end}"));
        }
    }
    let mut text = lines.join("\n") + "\n";
    for vector in vectors {
        for track in 0..vector.count {
            text = text.replace(&slice(&vector.name, track..track + 1, vector.width), &vector.value(track));
        }
    }
    without_last_commas(&replace_identifiers(&text, |name| named(name).map(Vector::all)))
}

/// The name of the port that a line declares.
fn declared(line: &str) -> Option<&str> {
    let code = line.trim_start();
    let is_port = code.starts_with("input ") || code.starts_with("output ");
    is_port.then(|| code.rsplit(' ').next()).flatten()
}

/// The port and the signal of a connection.
fn connected(line: &str) -> Option<(&str, &str)> {
    line.trim_start().strip_prefix('.')?.strip_suffix(')')?.split_once('(').map(|(port, name)| (port.trim_end(), name))
}

/// The text without commas at the end of lists.
fn without_last_commas(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with(')')
            && let Some(last) = lines.iter_mut().rfind(|line| !line.trim_start().starts_with("//"))
        {
            *last = last.trim_end_matches(',');
        }
        lines.push(line);
    }
    lines.join("\n") + "\n"
}

/// The text with another value of a parameter of the only instance of a module.
pub fn with_parameter(text: &str, module: &str, parameter: &str, value: u32) -> String {
    let place = only(text, &format!("    {module} #(\n"));
    let line = place + text[place..].find(&format!("        .{parameter} ")).expect("an instance has the parameter");
    let begin = line + text[line..].find('(').expect("a parameter has a value") + 1;
    let end = begin + text[begin..].find(')').expect("a value ends");
    format!("{}{value}{}", &text[..begin], &text[end..])
}

/// The text with the loop of this label unrolled, for some of its indices, which select bits or items of this width. Its only instance
/// is `u_hop`.
pub fn unrolled(text: &str, label: &str, indices: &[u32], width: u32) -> String {
    let head = only(text, &format!(" : {label}\n"));
    let begin = text[..head].rfind("    for (genvar k = 0;").expect("a loop has a head");
    let body = head + text[head..].find('\n').expect("a loop has a body") + 1;
    let end = body + text[body..].find("\n    end\n").expect("a loop ends") + 1;
    let copy = |index: &u32| {
        let items = text[body..end].replace(&format!("[k * {width}+:{width}]"), &slice("", *index..index + 1, width));
        items.replace("[k]", &format!("[{index}]")).replace(" u_hop (", &format!(" u_{label}_{index} ("))
    };
    let copies = indices.iter().map(copy).join("");
    format!("{}{copies}{}", &text[..begin], &text[end + "    end\n".len()..])
}

/// The text of a module under another name. Its header may have several lines.
pub fn with_name(text: &str, module: &str, name: &str) -> String {
    renamed(text, &format!("\nmodule {module}"), &format!("\nmodule {name}"))
}

/// The text with the one place of `from` replaced.
pub fn renamed(text: &str, from: &str, to: &str) -> String {
    only(text, from);
    text.replace(from, to)
}

/// The one place of a text in another.
pub fn only(text: &str, part: &str) -> usize {
    let places = text.match_indices(part).map(|(place, _)| place).collect_vec();
    assert_eq!(places.len(), 1, "a module has one `{part}`");
    places[0]
}
