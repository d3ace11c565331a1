//! The report of a mapping, for people and for programs.

use std::fmt::Write as _;
use std::path::Path;

use itertools::Itertools;
use pushmem_affine::{Affine, Domain};
use pushmem_buffers::{Direction, UnifiedBuffer};
use pushmem_configuration::ControllerConfiguration;
use pushmem_mapping::{MappedBuffer, MappedTile, Source};
use pushmem_replay::ReplayReport;
use pushmem_tile::{Memory, TileSpec};
use serde::Serialize;

use super::tile_name;

/// A mapped buffer and its proof.
#[derive(Serialize)]
pub struct MapReport {
    name: String,
    tile: String,
    ports: Vec<PortReport>,
    tiles: Vec<TileReport>,
    /// The cyclic partition factor of each dimension, innermost first, if the buffer is in banks.
    factors: Option<Vec<u64>>,
    /// Whether some words are in several memories, for as many sets of their reads.
    copied: bool,
    /// Words kept at most.
    live_words: u64,
    /// Words of read ports, all of which are right.
    words: u64,
    proven_cycles: u64,
    simulated_cycles: u64,
    /// Mappings that were tried before, and the reason why each failed.
    tried: Vec<String>,
}

/// A port in the notation of the papers.
#[derive(Serialize)]
struct PortReport {
    name: String,
    direction: &'static str,
    domain: String,
    access: String,
    schedule: String,
    /// How many memories take the words of a write: a tile or a chain each. Several if they are banks or copies.
    #[serde(skip_serializing_if = "Option::is_none")]
    memories: Option<usize>,
}

#[derive(Serialize)]
struct TileReport {
    name: String,
    chain: Option<ChainReport>,
    inputs: Vec<InputReport>,
    outputs: Vec<OutputReport>,
    controllers: Vec<ControllerReport>,
}

#[derive(Serialize)]
struct ChainReport {
    tile_id: u32,
    /// The tile whose outputs feed the chain inputs.
    from: Option<String>,
}

#[derive(Serialize)]
struct InputReport {
    input: usize,
    #[serde(flatten)]
    source: SourceReport,
}

#[derive(Serialize)]
#[serde(untagged)]
enum SourceReport {
    Port { port: String },
    Output { tile: String, output: usize },
}

#[derive(Serialize)]
struct OutputReport {
    output: usize,
    port: String,
}

#[derive(PartialEq, Serialize)]
struct ControllerReport {
    name: String,
    extent: Domain,
    cycle: Affine,
    addresses: Vec<AddressReport>,
}

#[derive(PartialEq, Serialize)]
struct AddressReport {
    memory: Memory,
    #[serde(flatten)]
    function: Affine,
}

impl MapReport {
    /// The report of a mapping that was proven.
    pub fn of(buffer: &UnifiedBuffer, mapped: &MappedBuffer, spec: &TileSpec, proof: ReplayReport) -> Self {
        // The tiles of a chain, all of which see the wire, are one memory.
        let memories = |port: usize| {
            let firsts = mapped.tiles.iter().filter(|tile| tile.chain_from.is_none());
            firsts.flat_map(|tile| &tile.inputs).filter(|input| **input == Some(Source::Port(port))).count()
        };
        let ports = buffer.ports.iter().enumerate().map(|(number, port)| PortReport {
            name: port.name.clone(),
            direction: port.direction.name(),
            domain: port.domain_text(),
            access: port.access_text(),
            schedule: port.schedule_text(),
            memories: (port.direction == Direction::Write).then(|| memories(number)),
        });
        let tiles = mapped.tiles.iter().enumerate().map(|(number, tile)| TileReport::of(number, tile, buffer, spec));
        MapReport {
            name: buffer.name.clone(),
            tile: spec.name.clone(),
            ports: ports.collect(),
            tiles: tiles.collect(),
            factors: mapped.factors.clone(),
            copied: mapped.copied,
            live_words: mapped.live_words,
            words: proof.words,
            proven_cycles: proof.cycles_total,
            simulated_cycles: proof.cycles_simulated,
            tried: mapped.tried.clone(),
        }
    }

    /// The report for programs.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report is plain data") + "\n"
    }

    /// The report for people.
    pub fn text(&self, buffer: &UnifiedBuffer, folder: Option<&Path>) -> String {
        let mut text = format!("{}\n", self.name);
        let mut line = |name: &str, value: String| text += &format!("  {name:<22} {value}\n");
        line("memory tiles", format!("{} of `{}`", self.tiles.len(), self.tile));
        if let Some(factors) = &self.factors {
            line("cyclic banks", format!("factors {factors:?}"));
        }
        if self.factors.is_some() || self.copied {
            let several = self.ports.iter().filter_map(|port| Some((port, port.memories.filter(|&count| count > 1)?)));
            let counts = several.map(|(port, count)| format!("{count} of {}", port.name)).join(", ");
            let copies = if self.copied { "; some words are in several, for different reads" } else { "" };
            line("memories", format!("{counts}{copies}"));
        }
        line("live words", self.live_words.to_string());
        line(
            "proof",
            format!(
                "{} words in {} cycles, {} of them simulated",
                self.words, self.proven_cycles, self.simulated_cycles
            ),
        );
        if let Some(folder) = folder {
            line("written to", folder.display().to_string());
        }
        if !self.tried.is_empty() {
            text += "\ntried before\n";
            self.tried.iter().for_each(|reason| text += &format!("  {reason}\n"));
        }
        text += "\n";
        buffer.ports.iter().for_each(|port| text += &format!("{port}\n"));
        for (number, tile) in self.tiles.iter().enumerate() {
            text += "\n";
            // The tiles of a chain all have the same.
            let same = self.tiles[..number].iter().find(|other| other.controllers == tile.controllers);
            tile.print(same, &mut text);
        }
        text
    }
}

impl TileReport {
    fn of(number: usize, tile: &MappedTile, buffer: &UnifiedBuffer, spec: &TileSpec) -> Self {
        let port = |number: usize| buffer.ports[number].name.clone();
        let source = |source: Source| match source {
            Source::Port(number) => SourceReport::Port { port: port(number) },
            Source::Output { tile, output } => SourceReport::Output { tile: tile_name(tile), output },
        };
        let inputs = tile.inputs.iter().enumerate();
        let outputs = tile.outputs.iter().enumerate();
        let chain = &tile.configuration.chain;
        // In the order in which data passes them.
        let controllers = spec.controllers().into_iter().filter_map(|controller| {
            let configuration = tile.configuration.controllers.get(&controller.name)?;
            Some(ControllerReport::of(controller.name, configuration))
        });
        TileReport {
            name: tile_name(number),
            chain: chain.enable.then(|| ChainReport { tile_id: chain.tile_id, from: tile.chain_from.map(tile_name) }),
            inputs: inputs.filter_map(|(input, from)| Some(InputReport { input, source: source((*from)?) })).collect(),
            outputs: outputs.filter_map(|(output, read)| Some(OutputReport { output, port: port((*read)?) })).collect(),
            controllers: controllers.collect(),
        }
    }

    /// Prints the tile; its controllers may be those of a tile that was printed.
    fn print(&self, same: Option<&TileReport>, text: &mut String) {
        *text += &format!("{}\n", self.name);
        if let Some(chain) = &self.chain {
            let from = chain.from.as_ref().map_or_else(String::new, |from| format!(", behind {from}"));
            *text += &format!("  chain        tile ID {}{from}\n", chain.tile_id);
        }
        for input in &self.inputs {
            let source = match &input.source {
                SourceReport::Port { port } => port.clone(),
                SourceReport::Output { tile, output } => format!("output {output} of {tile}"),
            };
            *text += &format!("  input {}      {source}\n", input.input);
        }
        for output in &self.outputs {
            *text += &format!("  output {}     {}\n", output.output, output.port);
        }
        if let Some(same) = same {
            *text += &format!("  controllers  as those of {}\n", same.name);
            return;
        }
        let heading = ["controller", "extent", "cycle", "addresses"].map(str::to_owned);
        let rows = [heading].into_iter().chain(self.controllers.iter().map(ControllerReport::cells)).collect_vec();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths = [0, 1, 2].map(width);
        for [name, extent, cycle, addresses] in &rows {
            let [first, second, third] = widths;
            writeln!(text, "  {name:<first$}  {extent:<second$}  {cycle:<third$}  {addresses}")
                .expect("strings can be written");
        }
    }
}

impl ControllerReport {
    fn of(name: String, configuration: &ControllerConfiguration) -> Self {
        let address = |(memory, function): (Memory, &Affine)| AddressReport { memory, function: function.clone() };
        ControllerReport {
            name,
            extent: configuration.extent.clone(),
            cycle: configuration.cycle.clone(),
            addresses: configuration.addresses().into_iter().map(address).collect(),
        }
    }

    /// The columns of the table. Loops have no names any more, as they may be merged or split ones of the buffer.
    fn cells(&self) -> [String; 4] {
        let names = (0..self.extent.len()).map(|level| format!("i{level}")).collect_vec();
        let extent = if self.extent.is_empty() { "1".to_owned() } else { self.extent.iter().join(" × ") };
        let address = |address: &AddressReport| format!("{} {}", address.memory.name(), address.function.text(&names));
        let addresses = self.addresses.iter().map(address).join(", ");
        [self.name.clone(), extent, self.cycle.text(&names), addresses]
    }
}
