//! The numbers of the parts of graphs, a type for each kind: a kernel's number never selects a tile.

macro_rules! ids {
    ($($(#[$of_id:meta])* $Id:ident;)+) => {$(
        index_vec::define_index_type! {
            $(#[$of_id])*
            pub struct $Id = u32;
            DISPLAY_FORMAT = "{}";
        }
    )+};
}

ids! {
    /// A wire, an index of [`Accelerator::wires`](crate::Accelerator::wires).
    WireId;
    /// A loop counter, an index of [`Accelerator::counters`](crate::Accelerator::counters).
    CounterId;
    /// An input stream, an index of [`Accelerator::inputs`](crate::Accelerator::inputs).
    InputId;
    /// A datapath, an index of [`Accelerator::datapaths`](crate::Accelerator::datapaths).
    DatapathId;
    /// A kernel, an index of [`Accelerator::kernels`](crate::Accelerator::kernels).
    KernelId;
    /// A memory tile, an index of [`Accelerator::tiles`](crate::Accelerator::tiles).
    TileId;
    /// A net of words, an index of [`ApplicationGraph::words`](crate::ApplicationGraph::words).
    WordId;
    /// A net of one bit, an index of [`ApplicationGraph::bits`](crate::ApplicationGraph::bits).
    BitId;
    /// A random-access memory, an index of [`Accelerator::rams`](crate::Accelerator::rams) or
    /// [`ApplicationGraph::rams`](crate::ApplicationGraph::rams).
    RamId;
    /// An array in memory, an index of [`ApplicationGraph::arrays`](crate::ApplicationGraph::arrays).
    ArrayId;
}
