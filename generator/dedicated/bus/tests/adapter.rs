//! Configuration ports behind buses.

use pushmem_bus::{Adapter, Block, RegisterBus, adapter};
use pushmem_systemverilog::{ModulePort, ports_of};
use pushmem_tile::Reset;

const BUSES: [RegisterBus; 3] = [RegisterBus::Apb, RegisterBus::AxiLite, RegisterBus::TileLink];

/// The header of a tile with addresses of so many bits, and more ports.
fn files(address_bits: u32, more: &str) -> Vec<(String, String)> {
    let high = address_bits - 1;
    let text = format!(
        "module pond_tile (\n    input  logic clk_i,\n    input  logic rst_ni,\n    input  logic config_write_i,\n    input  logic \
         config_read_i,\n    input  logic [{high}:0] config_address_i,\n    input  logic [31:0] config_write_data_i,\n    output logic [31:0] \
         config_read_data_o,\n    output logic config_error_o,\n{more}    input  logic [15:0] data_in_0_i\n);\nendmodule\n"
    );
    vec![("rtl/pond_tile.sv".to_owned(), text)]
}

fn block(rtl: &[(String, String)]) -> Block<'_> {
    let (module, about) = ("pond_tile", "memory tile `pond`");
    Block { module, about, rtl, bytes: 40, read_latency: 1, reset: Reset::Asynchronous }
}

fn text<'a>(adapter: &'a Adapter, module: &str) -> &'a str {
    let path = format!("rtl/{module}.sv");
    &adapter.rtl.iter().find(|(name, _)| *name == path).unwrap_or_else(|| panic!("no {path}")).1
}

fn ports(adapter: &Adapter) -> Vec<ModulePort> {
    ports_of(&adapter.module, text(adapter, &adapter.module)).unwrap()
}

#[test]
fn the_configuration_port_is_behind_the_bus_and_other_ports_are_as_they_were() {
    let rtl = files(32, "    input  logic flush_i,\n    output logic [3:0] bist_fail_bits_o,\n");
    let begins = ["s_apb_config_", "s_axi_config_", "s_tl_config_"];
    for ((bus, begin), outputs) in BUSES.into_iter().zip(begins).zip([3, 8, 10]) {
        let adapter = adapter(&block(&rtl), bus).unwrap();
        assert_eq!(adapter.module, format!("pond_tile_{}", bus.name()));
        let ports = ports(&adapter);
        let (of_bus, passed): (Vec<&ModulePort>, Vec<&ModulePort>) =
            ports.iter().partition(|port| port.name.starts_with(begin));
        assert_eq!(of_bus.iter().filter(|port| port.output).count(), outputs, "{begin}");
        let passed: Vec<_> = passed.iter().map(|port| (port.name.as_str(), port.output, port.bits)).collect();
        let expected = [
            ("clk_i", false, 1),
            ("rst_ni", false, 1),
            ("flush_i", false, 1),
            ("bist_fail_bits_o", true, 4),
            ("data_in_0_i", false, 16),
        ];
        assert_eq!(passed, expected, "{begin}");
        let list: Vec<&str> = adapter.rtl.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(list.last(), Some(&format!("rtl/{}.sv", adapter.module).as_str()));
        assert!(!list.contains(&"rtl/pond_tile.sv"), "{list:?}");
    }
}

/// 40 bytes of registers are 64 of addresses; a single register is not less than a bus has addresses for.
#[test]
fn addresses_are_as_wide_as_the_registers_need() {
    let rtl = files(32, "");
    for (bytes, bits) in [(4, 3), (8, 3), (12, 4), (40, 6), (64, 6), (68, 7)] {
        for (bus, name) in BUSES.into_iter().zip(["s_apb_config_paddr", "s_axi_config_araddr", "s_tl_config_a_address"])
        {
            let adapter = adapter(&Block { bytes, ..block(&rtl) }, bus).unwrap();
            let ports = ports(&adapter);
            assert_eq!(ports.iter().find(|port| port.name == name).map(|port| port.bits), Some(bits), "{name}");
        }
    }
}

#[test]
fn buses_of_arm_have_an_interface_in_ip_xact() {
    let rtl = files(32, "");
    let interface = |bus| adapter(&block(&rtl), bus).unwrap().interfaces;
    let apb = interface(RegisterBus::Apb);
    assert!(apb.contains("name=\"APB4_rtl\"") && apb.contains("<ipxact:name>PSELx</ipxact:name>"), "{apb}");
    assert!(interface(RegisterBus::AxiLite).contains("<ipxact:name>AWVALID</ipxact:name>"));
    assert_eq!(interface(RegisterBus::TileLink), "");
}

#[test]
fn resets_are_those_of_the_tile() {
    let rtl = files(32, "");
    for bus in BUSES {
        let adapter = adapter(&Block { reset: Reset::Synchronous, ..block(&rtl) }, bus).unwrap();
        let access = text(&adapter, "pushmem_configuration_access_synchronous");
        assert!(!access.contains("negedge") && access.contains("PUSHMEM_ASSERT_OUT_OF_RESET("), "{access}");
        assert!(text(&adapter, &adapter.module).contains("pushmem_configuration_access_synchronous #("));
    }
}

#[test]
fn the_access_waits_for_the_data_of_a_read() {
    let rtl = files(32, "");
    let adapter = adapter(&Block { read_latency: 2, ..block(&rtl) }, RegisterBus::Apb).unwrap();
    let text = text(&adapter, &adapter.module);
    assert!(text.contains(".Latency      (2)") && text.contains("each in 4 cycles"), "{text}");
}

#[test]
fn names_of_the_tile_are_kept() {
    let mut rtl = files(32, "");
    rtl.insert(0, ("rtl/pond_tile_apb.sv".to_owned(), "module pond_tile_apb;\nendmodule\n".to_owned()));
    assert_eq!(adapter(&block(&rtl), RegisterBus::Apb).unwrap().module, "pond_tile_apb_shell");
}

#[test]
fn a_module_without_such_a_port_is_refused() {
    let narrow = files(9, "");
    let other = vec![("rtl/pond_tile.sv".to_owned(), "module pond_tile (\n    input  logic clk_i\n);\n".to_owned())];
    for rtl in [narrow, other, Vec::new()] {
        let refused = adapter(&block(&rtl), RegisterBus::AxiLite).unwrap_err();
        assert_eq!(refused.message(), "the module `pond_tile` has no configuration port of a memory tile");
    }
}
