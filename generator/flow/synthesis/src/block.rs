//! The blocks of a design, of which its modules are part.

use pushmem_packaging::Design as Package;
use pushmem_rtl::{registers_module, tile_module};
use pushmem_tile::TileSpec;

pushmem_files::named! {
    /// The block of a module of a design, in the order of reports.
    #[derive(PartialOrd, Ord)]
    pub enum BlockKind {
        /// Iteration domains, schedules, address generators.
        Controllers = "controllers",
        /// Aggregators.
        Aggregators = "aggregators",
        /// Transpose buffers.
        TransposeBuffers = "transpose_buffers",
        /// SRAM: macros, and the logic around them.
        Sram = "sram",
        /// The self-test of the SRAM.
        SelfTest = "self_test",
        /// A memory of registers.
        RegisterFile = "register_file",
        /// Configuration registers.
        Registers = "registers",
        /// Datapaths of an accelerator.
        Kernels = "kernels",
        /// Shift registers of an accelerator.
        ShiftRegisters = "shift_registers",
        /// Memories that are made for the program of an accelerator.
        Memories = "memories",
        /// Loops, stream buffers and the control of runs of an accelerator.
        Streams = "streams",
        /// Processing elements of an array, with the registers of their operands.
        ProcessingElements = "processing_elements",
        /// Switch boxes of an array, with the registers of their tracks.
        SwitchBoxes = "switch_boxes",
        /// Connection boxes of an array.
        ConnectionBoxes = "connection_boxes",
        /// Everything else.
        Rest = "rest",
    }
}

impl BlockKind {
    /// Its name in reports.
    pub fn title(self) -> String {
        match self {
            BlockKind::Sram => "SRAM".to_owned(),
            BlockKind::SelfTest => "self-test".to_owned(),
            BlockKind::ProcessingElements => "processing element".to_owned(),
            _ => self.name().replace('_', " "),
        }
    }

    /// The kind of a module of a design, by its name.
    pub(crate) fn of(module: &str, design: &Package) -> Self {
        let of_a_tile = |named: fn(&TileSpec) -> String| design.tiles.iter().any(|spec| named(spec) == module);
        let is_memory = || design.technology.assemblies().iter().any(|assembly| assembly.memory.name == module);
        let is_array_tile = !design.processing_elements.is_empty();
        // Both kinds of reset.
        let module = module.strip_suffix("_synchronous").unwrap_or(module);
        match module {
            "pushmem_loop_counter"
            | "pushmem_run_control"
            | "pushmem_stream_buffer"
            | "pushmem_stall_pipeline"
            | "pushmem_skid_buffer"
            | "pushmem_array_buffer"
            | "pushmem_stream_in"
            | "pushmem_stream_out" => BlockKind::Streams,
            "pushmem_connection_box" => BlockKind::ConnectionBoxes,
            "pushmem_operand" | "pushmem_held_operand" | "pushmem_accumulator" => BlockKind::ProcessingElements,
            "pushmem_hop" => BlockKind::SwitchBoxes,
            "pushmem_shift_register" | "pushmem_hold_register" => BlockKind::ShiftRegisters,
            "pushmem_delay_line" | "pushmem_fixed_memory" => BlockKind::Memories,
            "pushmem_access_sequence" => BlockKind::Controllers,
            "pushmem_divider" => BlockKind::Kernels,
            // Around the memory of each tile.
            "pushmem_sram" => BlockKind::Sram,
            "pushmem_bist" => BlockKind::SelfTest,
            _ if module.starts_with("pushmem_aggregator") => BlockKind::Aggregators,
            _ if module.starts_with("pushmem_register_file") => BlockKind::RegisterFile,
            _ if module.starts_with("pushmem_transpose_buffer") => BlockKind::TransposeBuffers,
            _ if module.starts_with("pushmem_controller")
                || module.starts_with("pushmem_address_generator")
                || module == "pushmem_cycle_counter" =>
            {
                BlockKind::Controllers
            }
            _ if is_memory() => BlockKind::Sram,
            _ if of_a_tile(|spec| format!("{}_bist", spec.name)) => BlockKind::SelfTest,
            _ if of_a_tile(registers_module) => BlockKind::Registers,
            _ if of_a_tile(tile_module) => BlockKind::Rest,
            _ if design.processing_elements.iter().any(|name| name == module) => BlockKind::ProcessingElements,
            _ if is_array_tile && module.ends_with("_switch_box") => BlockKind::SwitchBoxes,
            _ if is_array_tile && module.ends_with("_configuration") => BlockKind::Registers,
            _ if module.strip_prefix(&design.top).is_some_and(|rest| rest.starts_with('_')) => BlockKind::Kernels,
            _ => BlockKind::Rest,
        }
    }
}
