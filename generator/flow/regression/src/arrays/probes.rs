//! The RTL of an array with the registers of its tracks on ports.

use std::path::PathBuf;

use askama::Template;
use itertools::Itertools;
use pushmem_fabric::{ArraySpec, Layer, Place, TileKind};
use pushmem_files::{Diagnostic, template};
use pushmem_interconnect::{array_module, tile_instance, tile_module};
use pushmem_resources::{Graph, Node, NodeId};
use pushmem_simulation::{BlockPort, BlockPorts, Verilator};

/// Bits of a port that shows registers.
const PROBE_BITS: u32 = 64;

/// The module around the array.
const TOP: &str = "probed_array";

/// The registers of tracks that a port shows, the first in its lowest bits.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    /// Bits of each register.
    pub bits: u32,
    pub registers: Vec<NodeId>,
}

/// All registers of tracks, port by port.
pub(super) fn probes(spec: &ArraySpec, graph: &Graph) -> Vec<Probe> {
    let of_layer = |layer: Layer| {
        let is_register = |node: &NodeId| {
            let resource = graph.resource(*node);
            resource.layer == layer && matches!(resource.node, Node::Register { .. })
        };
        let (registers, bits) = (graph.nodes().filter(is_register).collect_vec(), spec.bits(layer));
        let ports = registers.chunks((PROBE_BITS / bits) as usize);
        ports.map(|registers| Probe { bits, registers: registers.to_vec() }).collect_vec()
    };
    Layer::ALL.into_iter().flat_map(of_layer).collect()
}

/// The tiles whose clock gates a port shows, the first in its lowest bit; none without gates.
pub(super) fn gated_tiles(spec: &ArraySpec) -> Vec<Vec<Place>> {
    let places = spec.places().filter(|_| spec.clock_gating).collect_vec();
    places.chunks(PROBE_BITS as usize).map(<[Place]>::to_vec).collect()
}

/// The ports of the module around an array: inputs and outputs of the array, column by column, then its registers and its clock gates.
pub(super) fn ports(spec: &ArraySpec, probes: &[Probe]) -> BlockPorts {
    let bit = |name: &str| BlockPort::new(name, 1);
    let mut inputs = ["rst_ni", "flush_i", "stall_i", "config_write_i", "config_read_i"].map(bit).to_vec();
    inputs.extend(["config_address_i", "config_write_data_i"].map(|name| BlockPort::new(name, 32)));
    let mut outputs = vec![bit("config_error_o"), BlockPort::new("config_read_data_o", 32)];
    for column in 0..spec.columns {
        for (ports, direction) in [(&mut inputs, "i"), (&mut outputs, "o")] {
            ports.push(BlockPort::new(format!("data_{column}_{direction}"), spec.word_bits()));
            ports.extend(["bit", "valid", "ready"].map(|name| bit(&format!("{name}_{column}_{direction}"))));
        }
    }
    outputs.extend((0..probes.len()).map(|probe| BlockPort::new(format!("probe_{probe}_o"), PROBE_BITS)));
    outputs.extend((0..gated_tiles(spec).len()).map(|gates| BlockPort::new(format!("gates_{gates}_o"), PROBE_BITS)));
    BlockPorts { inputs, outputs }
}

/// Builds the model of an array whose RTL is these files, with the registers of its tracks visible, or finds it in the cache.
///
/// # Errors
/// When Verilator or the compiler fails.
pub fn build_probed(
    verilator: &Verilator,
    spec: &ArraySpec,
    files: &[(String, String)],
) -> Result<PathBuf, Diagnostic> {
    let graph = Graph::of(spec);
    let probes = probes(spec, &graph);
    // The first of a concatenation is in its highest bits.
    let paths = |probe: &Probe| probe.registers.iter().rev().map(|node| path(spec, &graph, *node)).collect_vec();
    let gates = |places: &Vec<Place>| places.iter().rev().map(|place| gate(spec, *place)).collect_vec();
    let module = template!(
        "probed_array.sv",
        array: String = array_module(spec),
        word_bits: u32 = spec.word_bits(),
        columns: Vec<u32> = (0..spec.columns).collect(),
        /// The ports of the array, and the bits of a column of each.
        ports: [(&'static str, u32); 4] = [("data", spec.word_bits()), ("bit", 1), ("valid", 1), ("ready", 1)],
        /// The registers that each port shows, the first in its lowest bits last.
        probes: Vec<Vec<String>> = probes.iter().map(paths).collect(),
        has_clock_gates: bool = spec.clock_gating,
        /// Whether banks of a global buffer configure its columns: here they do not.
        has_banks: bool = spec.global_buffer.is_some(),
        /// The clock gates that each port shows, in the same order.
        gates: Vec<Vec<String>> = gated_tiles(spec).iter().map(gates).collect(),
    );
    let text = module.render().expect("templates write to memory");
    let files = [files, &[(format!("{TOP}.sv"), text)]].concat();
    let tiles = spec.kinds().map(|kind| tile_module(spec, kind)).collect_vec();
    verilator.build_block_sharing(TOP, &ports(spec, &probes), &files, &tiles, false)
}

/// The flip-flops of a register of a track in the RTL.
fn path(spec: &ArraySpec, graph: &Graph, register: NodeId) -> String {
    let resource = graph.resource(register);
    let Node::Register { side, track } = resource.node else { unreachable!("probes are registers") };
    let (layer, tile) = (resource.layer.name(), tile(spec, resource.place));
    match graph.kind(resource.place).expect("a register is in a tile") {
        TileKind::Io => format!("{tile}.gen_{layer}[{track}].u_hop.track_q"),
        _ => format!("{tile}.u_{layer}_switch_box.gen_{}[{track}].u_hop.track_q", side.name()),
    }
}

/// Whether the clock of a tile runs, in the RTL.
fn gate(spec: &ArraySpec, place: Place) -> String {
    format!("{}.u_configuration.u_tile_clock.enabled", tile(spec, place))
}

/// A tile in the RTL.
fn tile(spec: &ArraySpec, place: Place) -> String {
    format!("u_array.{}", tile_instance(spec, place))
}
