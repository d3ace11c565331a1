//! The values of all fields.

use std::collections::BTreeMap;
use std::fmt;

use pushmem_configuration::{Configuration as MemoryConfiguration, ControllerConfiguration, ScheduleRegisters};
use pushmem_fabric::{ArraySpec, Direction, Layer, Place, TileKind};
use pushmem_files::Fault;
use pushmem_pe::Mode;
use pushmem_resources::{Graph, Meaning, NodeId, TileLayout};
use thiserror::Error;

use crate::bank::BankConfiguration;

/// The configuration of an array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// The tiles that have one. All others are idle.
    pub tiles: BTreeMap<Place, TileConfiguration>,
    /// The banks of the global buffer that have one. All others are idle.
    pub banks: BTreeMap<u32, BankConfiguration>,
}

/// The configuration of a tile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TileConfiguration {
    /// The values of the fields, in the order of [`TileLayout::fields`].
    pub fields: Vec<u32>,
    /// The configuration of the memory, if it has one.
    pub memory: Option<MemoryConfiguration>,
}

impl TileConfiguration {
    /// A tile that does nothing.
    pub fn idle(layout: &TileLayout) -> Self {
        TileConfiguration { fields: vec![0; layout.fields.len()], memory: None }
    }

    /// Whether the tile does nothing.
    pub fn is_idle(&self) -> bool {
        self.memory.is_none() && self.fields.iter().all(|value| *value == 0)
    }

    /// The value of a field; 0 if the tile has none of this meaning.
    pub fn value(&self, layout: &TileLayout, meaning: Meaning) -> u32 {
        layout.field(meaning).map_or(0, |field| self.fields[field])
    }

    /// The mode of an operand of a PE tile.
    pub fn mode(&self, layout: &TileLayout, layer: Layer, operand: u32) -> Mode {
        layout.mode(layer, operand, self.value(layout, Meaning::Mode { layer, operand }))
    }

    /// The registers of a stream of an IO tile, if it has beats.
    pub fn stream_registers(
        &self,
        spec: &ArraySpec,
        layout: &TileLayout,
        direction: Direction,
    ) -> Option<ScheduleRegisters> {
        let value = |meaning: Meaning| u64::from(self.value(layout, meaning));
        let levels = 0..spec.io.controller.levels;
        (value(Meaning::StreamEnable { direction }) != 0).then(|| ScheduleRegisters {
            extents: levels.clone().map(|level| value(Meaning::StreamExtent { direction, level })).collect(),
            start: value(Meaning::StreamStart { direction }),
            gaps: levels.map(|level| value(Meaning::StreamGap { direction, level })).collect(),
        })
    }

    /// The beats of a stream of an IO tile: none if it has no beats, or a schedule that no program would ask for.
    pub fn stream(
        &self,
        spec: &ArraySpec,
        layout: &TileLayout,
        direction: Direction,
    ) -> Option<ControllerConfiguration> {
        self.stream_registers(spec, layout, direction)?.configuration(&spec.io.controller(direction)).ok()
    }

    /// Sets the beats of a stream of an IO tile: its iteration domain, and the cycles since the flush in which they are due. The
    /// controller addresses nothing.
    ///
    /// # Errors
    /// When a value does not fit the controller of the stream.
    pub fn set_stream(
        &mut self,
        spec: &ArraySpec,
        layout: &TileLayout,
        direction: Direction,
        beats: &ControllerConfiguration,
    ) -> Result<(), Fault> {
        let registers = ScheduleRegisters::of(beats, &spec.io.controller(direction))?;
        let mut set = |meaning: Meaning, value: u64| {
            let field = layout.field(meaning).expect("IO tiles have the fields of streams");
            self.fields[field] = value as u32;
        };
        set(Meaning::StreamEnable { direction }, 1);
        set(Meaning::StreamStart { direction }, registers.start);
        for (level, (extent, gap)) in (0..).zip(registers.extents.into_iter().zip(registers.gaps)) {
            set(Meaning::StreamExtent { direction, level }, extent);
            set(Meaning::StreamGap { direction, level }, gap);
        }
        Ok(())
    }
}

impl Configuration {
    /// The configuration of the array alone, without that of its global buffer.
    #[must_use]
    pub fn of_array(&self) -> Self {
        Configuration { tiles: self.tiles.clone(), banks: BTreeMap::new() }
    }

    /// The tile at a place, which is idle if nothing was said about it.
    ///
    /// # Panics
    /// If the array has no such place.
    pub fn tile_mut(&mut self, graph: &Graph, place: Place) -> &mut TileConfiguration {
        let kind = graph.kind(place).expect("a place of the array");
        self.tiles.entry(place).or_insert_with(|| TileConfiguration::idle(graph.layout(kind)))
    }

    /// The value of the field that chooses the source of a node; 0 if there is no field.
    pub fn choice(&self, graph: &Graph, node: NodeId) -> u32 {
        let field = graph.local(node).field;
        let tile = self.tiles.get(&graph.place(node));
        field.zip(tile).map_or(0, |(field, tile)| tile.fields[field])
    }

    /// Makes a connection: `to` takes what `from` has. Segments take their registers without being told.
    ///
    /// # Errors
    /// When there is no such edge in the graph.
    pub fn connect(&mut self, graph: &Graph, from: NodeId, to: NodeId) -> Result<(), NoEdge> {
        let edge = graph.sources(to).iter().find(|edge| edge.node == from);
        let edge = edge.ok_or_else(|| NoEdge { from: graph.name(from), to: graph.name(to) })?;
        if let Some(field) = graph.local(to).field {
            self.tile_mut(graph, graph.place(to)).fields[field] = edge.value;
        }
        Ok(())
    }
}

/// A connection that the array cannot make.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{to} cannot take {from}")]
pub struct NoEdge {
    from: String,
    to: String,
}

/// The name of a tile: kind, column and row, as `pe_1_2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileName {
    /// The kind of the tile.
    pub kind: TileKind,
    /// Its place.
    pub place: Place,
}

impl fmt::Display for TileName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}_{}_{}", self.kind.name(), self.place.column, self.place.row)
    }
}

impl TileName {
    /// The tile of a name, if it can be one.
    pub fn parse(name: &str) -> Option<Self> {
        let mut parts = name.split('_');
        let (kind, column, row) = (parts.next()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let kind = TileKind::ALL.into_iter().find(|other| other.name() == kind)?;
        let parsed = TileName { kind, place: Place { row, column } };
        // Numbers have one spelling.
        (parsed.to_string() == name).then_some(parsed)
    }
}
