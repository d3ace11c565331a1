//! The target of a compile.

use std::sync::Arc;

use pushmem_datapaths::{DedicatedOperators, Operators};
use pushmem_nest::Level;
use pushmem_tile::TileSpec;

/// The hardware that programs are compiled for: kinds of tiles, and operators.
///
/// It has a kind of tile for [`TileUse::Store`] at [`Level::Memory`], and one for [`TileUse::Table`].
#[derive(Clone, Debug)]
pub struct Target {
    /// The kinds of tiles. Each mode is one of one kind at most.
    pub kinds: Vec<TileKind>,
    /// The operators that kernels are made of.
    pub operators: Arc<dyn Operators>,
    /// How memories are made.
    pub memories: Memories,
}

/// How memories are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memories {
    /// Of tiles, whose controllers are configured.
    #[default]
    Tiles,
    /// For one program: each as large as its words need, with controllers of constants. The kinds of tiles say how large they may be, and
    /// how they are timed.
    Fixed,
}

/// A kind of tile. How many there are is [`TileSpec::count`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileKind {
    /// Its specification.
    pub spec: TileSpec,
    /// Its uses, at least one.
    pub modes: Vec<TileUse>,
}

/// A use of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileUse {
    /// It stores words at a level of the memory hierarchy.
    Store(Level),
    /// It has the entries of a table, written before the first run.
    Table,
}

impl Target {
    /// A dedicated accelerator whose memories are of one kind of tile, and its large tables of another.
    pub fn new(memory: TileSpec, rom: TileSpec) -> Self {
        let store = TileKind { spec: memory, modes: vec![TileUse::Store(Level::Memory)] };
        let table = TileKind { spec: rom, modes: vec![TileUse::Table] };
        Target {
            kinds: vec![store, table],
            operators: Arc::new(DedicatedOperators::LONG_STAGES),
            memories: Memories::Tiles,
        }
    }

    /// A dedicated accelerator whose memories, of at most these sizes, are made for its program.
    pub fn fixed(memory: TileSpec, rom: TileSpec) -> Self {
        let operators = Arc::new(DedicatedOperators::SHORT_STAGES);
        Target { memories: Memories::Fixed, operators, ..Self::new(memory, rom) }
    }

    /// The same with tiles of this specification at a level of the memory hierarchy, or with none there.
    pub fn with_level(mut self, level: Level, spec: Option<TileSpec>) -> Self {
        let mode = TileUse::Store(level);
        self.kinds.iter_mut().for_each(|kind| kind.modes.retain(|other| *other != mode));
        self.kinds.retain(|kind| !kind.modes.is_empty());
        self.kinds.extend(spec.map(|spec| TileKind { spec, modes: vec![mode] }));
        self
    }

    /// The same with other memory tiles.
    pub fn with_memory(self, spec: TileSpec) -> Self {
        self.with_level(Level::Memory, Some(spec))
    }

    /// The specification of the tiles that have this use, if there are such.
    pub fn spec(&self, mode: TileUse) -> Option<&TileSpec> {
        self.kinds.iter().find(|kind| kind.modes.contains(&mode)).map(|kind| &kind.spec)
    }

    /// As [`Target::spec`], to change it.
    pub fn spec_mut(&mut self, mode: TileUse) -> Option<&mut TileSpec> {
        self.kinds.iter_mut().find(|kind| kind.modes.contains(&mode)).map(|kind| &mut kind.spec)
    }

    /// The specification of the tiles at a level of the memory hierarchy, if there are such.
    pub fn at(&self, level: Level) -> Option<&TileSpec> {
        self.spec(TileUse::Store(level))
    }

    /// The specification of the memory tiles.
    pub fn memory(&self) -> &TileSpec {
        self.at(Level::Memory).expect("a target has memory tiles")
    }

    /// The specification of the tiles for large tables.
    pub fn rom(&self) -> &TileSpec {
        self.spec(TileUse::Table).expect("a target has tiles for tables")
    }
}
