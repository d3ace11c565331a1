//! Shells of arrays with a global buffer.

use pushmem_bus::{ArrayModule, ArrayPorts, Elements, GlobalBuffer, Lane, Place, Program, ProgramImage, array_shell};
use pushmem_images::Element;
use pushmem_systemverilog::{File, ports_of};
use pushmem_tile::Reset;

/// The header of an array of two banks with rows of so many words.
fn rtl(words: u32) -> Vec<File> {
    let inputs = |ports: &[(&str, u32)]| -> String {
        ports.iter().map(|(name, bits)| format!("    input  logic [{}:0] {name},\n", bits - 1)).collect()
    };
    let outputs = |ports: &[(&str, u32)]| -> String {
        ports.iter().map(|(name, bits)| format!("    output logic [{}:0] {name},\n", bits - 1)).collect()
    };
    let text = format!(
        "module quartet_with_global_buffer (\n    input  logic clk_i,\n    input  logic rst_ni,\n    input  logic test_enable_i,\n    input  logic \
         flush_i,\n    input  logic stall_i,\n    output logic configuring_o,\n    input  logic config_write_i,\n    input  logic \
         config_read_i,\n    output logic config_error_o,\n    input  logic host_read_i,\n{}{}    output logic host_error_o\n);\nendmodule\n",
        inputs(&[
            ("config_address_i", 32),
            ("config_write_data_i", 32),
            ("host_write_i", words),
            ("host_address_i", 32),
            ("host_write_data_i", 64)
        ]),
        outputs(&[("busy_o", 2), ("config_read_data_o", 32), ("host_read_data_o", 64)]),
    );
    vec![("rtl/quartet_with_global_buffer.sv".to_owned(), text)]
}

fn buffer() -> GlobalBuffer {
    GlobalBuffer {
        bytes: 0x6000,
        bank_bytes: 0x2000,
        functions: "quartet_buffer".to_owned(),
        word_bits: 16,
        row_latency: 3,
        hand_over_address: 0xffff_1001,
    }
}

fn array(rtl: &[File], buffer: GlobalBuffer) -> ArrayModule<'_> {
    ArrayModule {
        name: "quartet",
        module: "quartet_with_global_buffer".to_owned(),
        rtl,
        ports: ArrayPorts::Rows(buffer),
        digest: 0xbaed_3450,
        digest_address: 0xffff_0000,
        latency: 5,
        reset: Reset::Asynchronous,
        identity: 0x1234_5678,
        version: "1.0.0",
    }
}

/// The text of a file.
fn text<'a>(files: &'a [File], path: &str) -> &'a str {
    &files.iter().find(|(name, _)| name == path).unwrap_or_else(|| panic!("no {path}")).1
}

#[test]
fn a_shell_has_a_subordinate_for_the_rows() {
    let rtl = rtl(4);
    let shell = array_shell(&array(&rtl, buffer())).unwrap();
    assert_eq!(shell.module, "quartet_axi");
    let top = text(&shell.files, "rtl/quartet_axi.sv");
    let ports = ports_of("quartet_axi", top).unwrap();
    let bits = |name: &str| ports.iter().find(|port| port.name == name).map(|port| (port.output, port.bits));
    // Three banks of 8 kB: addresses of as many bits as the next power of two has.
    assert_eq!(bits("s_axi_buffer_awaddr"), Some((false, 15)));
    assert_eq!(bits("s_axi_buffer_rdata"), Some((true, 64)));
    assert_eq!((bits("s_axi_buffer_bid"), bits("test_enable_i")), (Some((true, 8)), Some((false, 1))));
    // Nothing of the host reaches the outside.
    assert!(ports.iter().all(|port| !port.name.starts_with("rows_") && !port.name.starts_with("config_")));
    let header = text(&shell.files, "quartet_axi_registers.h");
    let expected = [
        "RUNS_OFFSET 0x08cu",
        "NEXT_HALF_OFFSET 0x090u",
        "ARRAY_DATA_OFFSET 0x1004u",
        "TAIL_OFFSET 0x1014u",
        "STATUS_LOADING",
        "BUFFER_BYTES 0x6000u",
    ];
    for part in expected {
        assert!(header.contains(part), "{part}");
    }
    assert!(!header.contains("AUTO_RESTART"));
    let kernel = text(&shell.files, "kernel.xml");
    assert!(kernel.contains(r#"name="s_axi_buffer" mode="slave" range="0x8000" dataWidth="64""#), "{kernel}");
    assert!(shell.memory_map.contains("<ipxact:range>'h6000</ipxact:range>"));
    let host = text(&shell.files, "rtl/quartet_host.sv");
    assert!(host.contains("32'hffff1001"), "{host}");
    let list: Vec<&str> = text(&shell.files, "filelist.f").lines().collect();
    assert_eq!(list.last(), Some(&"rtl/quartet_axi.sv"));
}

/// A word of 32 bits is one of two of a row, and a reset that is synchronous stays so.
#[test]
fn shells_follow_the_array() {
    let rtl = rtl(2);
    let words = GlobalBuffer { word_bits: 32, ..buffer() };
    let shell = array_shell(&ArrayModule { reset: Reset::Synchronous, ..array(&rtl, words) }).unwrap();
    assert!(
        text(&shell.files, "rtl/quartet_axi.sv").contains(".Words       (2)"),
        "{}",
        text(&shell.files, "rtl/quartet_axi.sv")
    );
    assert!(!text(&shell.files, "rtl/quartet_host.sv").contains("negedge"));
}

#[test]
fn shells_that_a_buffer_cannot_have_are_refused() {
    let rtl = rtl(4);
    let error = array_shell(&array(&rtl, GlobalBuffer { bytes: 1 << 32, ..buffer() })).unwrap_err();
    assert!(error.message().starts_with("the 4294967296 bytes of its banks are more than the 2147483648"), "{error}");
    let error = array_shell(&ArrayModule { module: "other".to_owned(), ..array(&rtl, buffer()) }).unwrap_err();
    assert!(error.message().contains("`other` has not the ports of an accelerator"), "{error}");
}

#[test]
fn programs_are_writes_and_places() {
    let image = |name: &str, output: bool| ProgramImage {
        name: name.to_owned(),
        output,
        element: Element::I16,
        whole: Element::I16,
        shape: vec![8, 6],
    };
    let elements = Elements { shape: vec![8, 6], lanes: vec![0], loops: vec![(48, vec![1])] };
    let program = Program {
        name: "sum",
        bitstream: vec![(0xffff_0000, 0xbaed_3450), (0x0101_0000, 7)],
        tail: 3,
        cycles: 60,
        images: vec![image("one", false), image("output", true)],
        lanes: vec![
            Lane { image: 0, place: Place::Bank { bank: 0, first_word: 0 }, elements: elements.clone() },
            Lane { image: 1, place: Place::Bank { bank: 1, first_word: 48 }, elements },
        ],
        has_rows: true,
    };
    let rtl = rtl(4);
    let files = program.files(&array(&rtl, buffer()), "quartet_axi").unwrap();
    let writes: Vec<&str> = text(&files, "configuration/writes.hex").lines().skip(1).collect();
    assert_eq!(
        writes,
        ["00000000 ffff0000", "00000004 baed3450", "00000000 01010000", "00000004 00000007", "00000014 00000003"]
    );
    let description = text(&files, "program.json");
    assert!(description.contains("\"first_word\": 48") && description.contains("\"cycles\": 60"), "{description}");
}
