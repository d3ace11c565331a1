//! The numbers of the parts of graphs, a type for each kind: a kernel's number never selects a tile.

index_vec::define_index_type! {
    /// A wire, an index of [`Accelerator::wires`](crate::Accelerator::wires).
    pub struct WireId = u32;
    DISPLAY_FORMAT = "{}";
}

index_vec::define_index_type! {
    /// A loop counter, an index of [`Accelerator::counters`](crate::Accelerator::counters).
    pub struct CounterId = u32;
    DISPLAY_FORMAT = "{}";
}

index_vec::define_index_type! {
    /// An input stream, an index of [`Accelerator::inputs`](crate::Accelerator::inputs).
    pub struct InputId = u32;
    DISPLAY_FORMAT = "{}";
}

index_vec::define_index_type! {
    /// A datapath, an index of [`Accelerator::datapaths`](crate::Accelerator::datapaths).
    pub struct DatapathId = u32;
    DISPLAY_FORMAT = "{}";
}

index_vec::define_index_type! {
    /// A kernel, an index of [`Accelerator::kernels`](crate::Accelerator::kernels).
    pub struct KernelId = u32;
    DISPLAY_FORMAT = "{}";
}

index_vec::define_index_type! {
    /// A memory tile, an index of [`Accelerator::tiles`](crate::Accelerator::tiles).
    pub struct TileId = u32;
    DISPLAY_FORMAT = "{}";
}

index_vec::define_index_type! {
    /// A net of words, an index of [`ApplicationGraph::words`](crate::ApplicationGraph::words).
    pub struct WordId = u32;
    DISPLAY_FORMAT = "{}";
}

index_vec::define_index_type! {
    /// A net of one bit, an index of [`ApplicationGraph::bits`](crate::ApplicationGraph::bits).
    pub struct BitId = u32;
    DISPLAY_FORMAT = "{}";
}

index_vec::define_index_type! {
    /// A random-access memory, an index of [`Accelerator::rams`](crate::Accelerator::rams) or
    /// [`ApplicationGraph::rams`](crate::ApplicationGraph::rams).
    pub struct RamId = u32;
    DISPLAY_FORMAT = "{}";
}

index_vec::define_index_type! {
    /// An array in memory, an index of [`ApplicationGraph::arrays`](crate::ApplicationGraph::arrays).
    pub struct ArrayId = u32;
    DISPLAY_FORMAT = "{}";
}
