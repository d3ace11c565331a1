//! Why a buffer has no mapping, for the person who wrote it.

use itertools::Itertools;
use pushmem_buffers::{Direction, Port, UnifiedBuffer};
use pushmem_files::{Diagnostic, Document, FieldPath};
use pushmem_mapping::{MappingError, map};
use pushmem_replay::{ErrorKind, ReadIteration, ReplayError, WordOrigin};
use pushmem_tile::{Kind, TileSpec};

/// The place of a port in the file.
fn place(number: usize) -> FieldPath {
    FieldPath::root().key("ports").index(number)
}

/// No mapping was found.
pub fn unmapped(document: &Document, buffer: &UnifiedBuffer, spec: &TileSpec, error: &MappingError) -> Diagnostic {
    // A port that has no mapping even by itself is reason enough, whatever else was tried.
    let culprit = buffer.reads().find_map(|(number, port)| {
        let kept = buffer.ports.iter().filter(|other| other.direction == Direction::Write || *other == port);
        let alone = UnifiedBuffer { name: buffer.name.clone(), ports: kept.cloned().collect() };
        Some((number, port, map(&alone, spec).err()?))
    });
    let Some((number, port, error)) = culprit else {
        let path = FieldPath::root().key("ports");
        return document
            .error_at_key(
                &path,
                format!("the buffer has no mapping to {} tiles:\n{}", spec.name, error.tried.join("\n")),
            )
            .with_help(help(buffer, spec));
    };
    let own = format!("{}: ", port.name);
    let reasons = error.tried.iter().map(|reason| reason.strip_prefix(&own).unwrap_or(reason)).join("\n");
    document
        .error(
            &place(number).key("name"),
            format!("port {} has no mapping to {} tiles:\n{reasons}", port.name, spec.name),
        )
        .with_label("this port")
        .with_help(help(buffer, spec))
}

fn help(buffer: &UnifiedBuffer, spec: &TileSpec) -> String {
    let mut help =
        "let the port read later where words are not there yet; choose another tile by --tile where too many \
                    rows must be kept"
            .to_owned();
    if let Kind::WideFetch { .. } = spec.kind {
        help += ", or where its loops leave no time for whole rows: `dual_port` tiles read single words";
    }
    if buffer.writes().count() > spec.inputs as usize {
        help += "; ports that write the same words need an input of the tile each";
    }
    help
}

/// A mapping was found, and is wrong.
pub fn unproven(document: &Document, buffer: &UnifiedBuffer, error: &ReplayError) -> Diagnostic {
    let reader = error.read.as_ref().and_then(|read| {
        let (number, port) = buffer.reads().find(|(_, port)| port.name == read.port)?;
        Some((place(number).key("schedule"), element(port, read)))
    });
    match (&error.fault, reader, &error.read) {
        (ErrorKind::NeverWritten, Some((path, element)), Some(read)) => {
            let message = format!(
                "port {} reads element {element} in cycle {}, and it has not been written by then",
                read.port, error.cycle
            );
            document.error(&path, message).with_help("let the port read later, or write the element before")
        }
        (
            ErrorKind::WrongWord {
                expected: WordOrigin::Written { port: last, .. },
                found: WordOrigin::Written { port: taken, .. },
            },
            Some((path, element)),
            Some(read),
        ) if last != taken => {
            let message = format!(
                "port {} takes its words from {taken}, but element {element}, which it reads in cycle {}, was last \
                 written by {last}",
                read.port, error.cycle
            );
            let help = "the run is too long to follow all who write an element: write each by one port, or read it before \
                        another writes it";
            document.error(&path, message).with_help(help)
        }
        _ => Diagnostic::new(format!("the mapping is wrong: {error}")).as_fault("buffer"),
    }
}

/// The element of an iteration that a replay names.
fn element(port: &Port, read: &ReadIteration) -> String {
    let ordered = port.in_time_order().expect("checked buffers have an order");
    format!("({})", ordered.element(&read.index).iter().join(", "))
}
