//! Shells of arrays, and programs for them.

use pushmem_bus::{
    ArrayModule, ArrayPorts, Elements, IoTiles, Lane, Memory, Place, Program, ProgramError, ProgramImage, array_shell,
};
use pushmem_images::Element;
use pushmem_systemverilog::ports_of;
use pushmem_tile::Reset;

/// The header of an array of so many columns.
fn module(columns: u32, more: &str) -> String {
    let high = columns - 1;
    let data = 16 * columns - 1;
    format!(
        "module quartet_array (\n    input  logic clk_i,\n    input  logic rst_ni,\n{more}    input  logic flush_i,\n    input  logic stall_i,\n    \
         input  logic config_write_i,\n    input  logic config_read_i,\n    input  logic [31:0] config_address_i,\n    input  logic [31:0] \
         config_write_data_i,\n    output logic [31:0] config_read_data_o,\n    output logic config_error_o,\n    input  logic [{data}:0] \
         data_i,\n    input  logic [{high}:0] bit_i,\n    input  logic [{high}:0] valid_i,\n    output logic [{high}:0] ready_o,\n    output \
         logic [{data}:0] data_o,\n    output logic [{high}:0] bit_o,\n    output logic [{high}:0] valid_o,\n    input  logic [{high}:0] \
         ready_i\n);\nendmodule\n"
    )
}

fn files(text: String) -> Vec<(String, String)> {
    vec![("rtl/quartet_array.sv".to_owned(), text)]
}

/// Its IO tiles, whose streams walk through images in memory.
const TILES: IoTiles = IoTiles {
    columns: 4,
    levels: 6,
    readers: 2,
    writers: 1,
    memory: Some(Memory { bits: 64, burst_beats: 16, bursts: 4 }),
};

/// The same behind AXI4-Stream.
const STREAMS: IoTiles = IoTiles { memory: None, ..TILES };

fn array(rtl: &[(String, String)], tiles: IoTiles) -> ArrayModule<'_> {
    ArrayModule {
        name: "quartet",
        module: "quartet_array".to_owned(),
        rtl,
        ports: ArrayPorts::Tiles(tiles),
        digest: 0xbaed_3450,
        digest_address: 0xffff_0000,
        latency: 5,
        reset: Reset::Asynchronous,
        identity: 0x1234_5678,
        version: "1.0.0",
    }
}

/// The text of a file.
fn text<'a>(files: &'a [(String, String)], path: &str) -> &'a str {
    &files.iter().find(|(name, _)| name == path).unwrap_or_else(|| panic!("no {path}")).1
}

/// Adds two images of 8 x 6 words, of which the second is read in columns.
fn program() -> Program<'static> {
    let image = |name: &str, output: bool| ProgramImage {
        name: name.to_owned(),
        output,
        element: Element::I16,
        whole: Element::I16,
        shape: vec![8, 6],
    };
    let lines = Elements { shape: vec![8, 6], lanes: vec![0], loops: vec![(8, vec![1]), (6, vec![8])] };
    let columns = Elements { loops: vec![(6, vec![8]), (8, vec![1])], ..lines.clone() };
    Program {
        name: "sum",
        bitstream: vec![(0xffff_0000, 0xbaed_3450), (0x0101_0000, 7)],
        tail: 3,
        cycles: 60,
        images: vec![image("one", false), image("other", false), image("output", true)],
        lanes: vec![
            Lane { image: 0, place: Place::Column(1), elements: lines.clone() },
            Lane { image: 1, place: Place::Column(0), elements: columns },
            Lane { image: 2, place: Place::Column(3), elements: lines },
        ],
        has_rows: false,
    }
}

#[test]
fn a_shell_has_the_managers_that_were_asked_for() {
    let rtl = files(module(4, "    input  logic test_enable_i,\n"));
    let shell = array_shell(&array(&rtl, TILES)).unwrap();
    assert_eq!(shell.module, "quartet_axi");
    let ports = ports_of("quartet_axi", text(&shell.files, "rtl/quartet_axi.sv")).unwrap();
    let bits = |name: &str| ports.iter().find(|port| port.name == name).map(|port| (port.output, port.bits));
    assert_eq!(bits("m_axi_in_1_araddr"), Some((true, 64)));
    assert_eq!(bits("m_axi_out_0_awaddr"), Some((true, 64)));
    assert_eq!((bits("m_axi_in_2_araddr"), bits("m_axi_out_1_awaddr")), (None, None));
    assert_eq!(bits("test_enable_i"), Some((false, 1)));
    let header = text(&shell.files, "quartet_axi_registers.h");
    for register in ["ARRAY_ADDRESS_OFFSET 0x1000u", "IN_1_STREAM_OFFSET 0x1100u", "OUT_0_SIZE_6_OFFSET 0x11b8u"] {
        assert!(header.contains(register), "{register}");
    }
    let list: Vec<&str> = text(&shell.files, "filelist.f").lines().collect();
    let place = |path: &str| list.iter().position(|line| *line == path).unwrap_or_else(|| panic!("no {path}"));
    assert!(place("rtl/quartet_array.sv") < place("rtl/quartet_host.sv"));
    assert_eq!(list.last(), Some(&"rtl/quartet_axi.sv"));
}

#[test]
fn streams_take_the_place_of_managers() {
    let rtl = files(module(4, ""));
    let shell = array_shell(&ArrayModule { reset: Reset::Synchronous, ..array(&rtl, STREAMS) }).unwrap();
    let top = text(&shell.files, "rtl/quartet_axis.sv");
    let ports = ports_of("quartet_axis", top).unwrap();
    let bits = |name: &str| ports.iter().find(|port| port.name == name).map(|port| (port.output, port.bits));
    assert_eq!((bits("s_axis_in_1_tdata"), bits("m_axis_out_0_tlast")), (Some((false, 16)), Some((true, 1))));
    let host = text(&shell.files, "rtl/quartet_host.sv");
    assert!(!host.contains("lasts") && !host.contains("negedge"), "{host}");
}

/// A program is the same whatever shell it runs behind, but for the places of registers.
#[test]
fn programs_are_tables_for_the_driver() {
    let rtl = files(module(4, ""));
    let files = program().files(&array(&rtl, TILES), "quartet_axi").unwrap();
    let writes = text(&files, "configuration/writes.hex");
    let expected = [
        "00000000 ffff0000",
        "00000004 baed3450",
        "00000000 01010000",
        "00000004 00000007",
        "00000014 00000003",
        // The first stream: its column and beats, lines of 16 bytes, of which there are six.
        "00000080 00000101",
        "00000084 00000030",
        "00000088 00000005",
        "000000a0 00000010",
        "000000a4 00000060",
        // The second one reads words one by one, in six lines of eight.
        "00000100 00000100",
        "00000108 00000005",
        "0000010c 00000007",
        "00000120 00000002",
        "00000128 00000060",
        "00000180 00000103",
    ];
    for line in expected {
        assert!(writes.lines().any(|other| other == line), "{line} in {writes}");
    }
    let source = text(&files, "driver/sum_program.c");
    assert!(source.contains(".steps = {{0, 1}, {1, 0}, {0, 0}"), "{source}");
    assert!(source.contains(".digest = 0xbaed3450u"), "{source}");
    assert!(text(&files, "program.json").contains("\"name\": \"out_0\""));
}

/// Managers take bytes where an image has elements of 8 bits, and know their signs.
#[test]
fn streams_of_bytes_are_told_by_a_register() {
    let rtl = files(module(4, ""));
    let mut bytes = program();
    bytes.images[0].element = Element::I8;
    bytes.images[2].element = Element::U8;
    let found = bytes.files(&array(&rtl, TILES), "quartet_axi").unwrap();
    let writes = text(&found, "configuration/writes.hex");
    // Lines of 8 bytes; the second image has words.
    for line in
        ["00000080 00000701", "000000a0 00000008", "00000100 00000100", "00000120 00000002", "00000180 00000303"]
    {
        assert!(writes.lines().any(|other| other == line), "{line} in {writes}");
    }
    assert!(text(&found, "driver/sum_program.c").contains(".stream = 0x701u"));
    assert!(text(&found, "program.json").contains("\"type\": \"i8\""));
    // Behind AXI4-Stream, all have words.
    let found = bytes.files(&array(&rtl, STREAMS), "quartet_axis").unwrap();
    assert!(text(&found, "configuration/writes.hex").contains("00000080 00000101"));
}

fn is_about(error: &ProgramError, image: &str, end: &str) {
    assert!(error.image == image && error.message.ends_with(end), "{error:?}");
}

#[test]
fn programs_that_do_not_fit_are_refused() {
    let rtl = files(module(4, ""));
    let (whole, one) = (array(&rtl, TILES), array(&rtl, IoTiles { readers: 1, ..TILES }));
    let error = program().files(&one, "quartet_axi").unwrap_err();
    is_about(&error, "other", "it has 2 streams into the array, each a word wide, and the shell has 1");
    assert_eq!(error.help, "ask for `--bus-readers 2`");
    assert_eq!(program().check(&one), Err(error));
    assert_eq!(program().check(&whole), Ok(()));
    let mut diagonal = program();
    diagonal.lanes[0].elements.loops = vec![(48, vec![9])];
    let error = diagonal.files(&whole, "quartet_axi").unwrap_err();
    is_about(&error, "one", "of `one`: it walks over the end of a dimension into the next one");
    assert!(diagonal.files(&array(&rtl, STREAMS), "quartet_axis").is_ok());
    let shallow = array(&rtl, IoTiles { levels: 1, ..TILES });
    let error = program().files(&shallow, "quartet_axi").unwrap_err();
    is_about(&error, "other", "walks in 2 loops outside of a line, and the shell has registers for 1");
    let mut long = program();
    let elements = Elements { shape: vec![2, 70_000], lanes: vec![0], loops: vec![(70_000, vec![2])] };
    long.images[0].shape = elements.shape.clone();
    long.lanes[0].elements = elements;
    let error = long.files(&whole, "quartet_axi").unwrap_err();
    is_about(&error, "one", "less one of 69999, and the shell has registers for numbers up to 65535");
}

#[test]
fn shells_that_an_array_cannot_have_are_refused() {
    let rtl = files(module(4, ""));
    let error = array_shell(&array(&rtl, IoTiles { readers: 5, ..TILES })).unwrap_err();
    assert!(error.to_string().contains("4 of either"), "{error}");
    // So they are without the RTL.
    let error = array(&[], IoTiles { readers: 5, ..TILES }).check().unwrap_err();
    assert!(error.to_string().contains("4 of either"), "{error}");
    let deep = IoTiles { readers: 16, writers: 16, columns: 16, levels: 500, ..TILES };
    let error = array(&[], deep).check().unwrap_err();
    assert!(error.message().starts_with("32 images with 16064 words of arguments are more than the 32"), "{error}");
    assert!(array(&[], IoTiles { memory: None, ..deep }).check().is_ok());
    let wide = files(module(64, ""));
    let many = IoTiles { readers: 20, writers: 20, columns: 64, ..STREAMS };
    let error = array_shell(&array(&wide, many)).unwrap_err();
    assert!(error.to_string().contains("32 of both"), "{error}");
    let error = array_shell(&ArrayModule { module: "other".to_owned(), ..array(&rtl, STREAMS) }).unwrap_err();
    assert!(error.message().contains("`other` has not the ports of an accelerator"), "{error}");
}
