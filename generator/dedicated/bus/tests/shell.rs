//! Shells of modules that have the ports of accelerators.

use pushmem_bus::{Accelerator, Elements, Memory, Traffic, axi, axis, window};
use pushmem_images::Element;
use pushmem_systemverilog::ports_of;
use pushmem_tile::Reset;

/// The header of an accelerator with so many bits of configuration address, an input of three words and an output of one.
fn module(config_bits: u32, more: &str) -> String {
    let config = match config_bits {
        0 => String::new(),
        bits => format!(
            "    input  logic config_write_i,\n    input  logic config_read_i,\n    input  logic [{}:0] config_address_i,\n    input  \
             logic [31:0] config_write_data_i,\n    output logic [31:0] config_read_data_o,\n    output logic config_error_o,\n",
            bits - 1
        ),
    };
    format!(
        "module blur (\n    input  logic clk_i,\n    input  logic rst_ni,\n    input  logic start_i,\n    output logic busy_o,\n    output \
         logic done_o,\n{config}{more}    input  logic in_valid_i,\n    output logic in_ready_o,\n    input  logic [47:0] in_data_i,\n    output \
         logic out_valid_o,\n    input  logic out_ready_i,\n    output logic [15:0] out_data_o\n);\nendmodule\n"
    )
}

fn files(text: String) -> Vec<(String, String)> {
    vec![("rtl/blur.sv".to_owned(), text)]
}

fn traffic(beats: u64) -> Traffic {
    Traffic { beats, element: Element::U16, whole: Element::U16 }
}

fn accelerator(rtl: &[(String, String)]) -> Accelerator<'_> {
    Accelerator {
        module: "blur",
        rtl,
        inputs: vec![traffic(100)],
        outputs: vec![traffic(64)],
        config_latency: 1,
        reset: Reset::Asynchronous,
        identity: 0x1234_5678,
        version: "1.0.0",
    }
}

/// The text of a file.
fn text<'a>(files: &'a [(String, String)], path: &str) -> &'a str {
    &files.iter().find(|(name, _)| name == path).unwrap_or_else(|| panic!("no {path}")).1
}

#[test]
fn a_shell_has_a_stream_for_each_of_the_accelerators() {
    let rtl = files(module(9, ""));
    let shell = axis(&accelerator(&rtl)).unwrap();
    assert_eq!(shell.module, "blur_axis");
    let ports = ports_of("blur_axis", text(&shell.files, "rtl/blur_axis.sv")).unwrap();
    let bits = |name: &str| ports.iter().find(|port| port.name == name).map(|port| (port.output, port.bits));
    assert_eq!(bits("s_axis_in_tdata"), Some((false, 48)));
    assert_eq!(bits("s_axis_in_tkeep"), Some((false, 6)));
    assert_eq!(bits("m_axis_out_tdata"), Some((true, 16)));
    assert_eq!(bits("m_axis_out_tlast"), Some((true, 1)));
    assert_eq!(bits("s_axi_control_awaddr"), Some((false, 13)));
    // The list has the accelerator before the shell, and each file once.
    let list: Vec<&str> = text(&shell.files, "filelist.f").lines().collect();
    let place = |path: &str| list.iter().position(|line| *line == path).unwrap();
    assert!(place("rtl/blur.sv") < place("rtl/pushmem_bus_control.sv"));
    assert_eq!(list.last(), Some(&"rtl/blur_axis.sv"));
    let header = text(&shell.files, "blur_axis_registers.h");
    let names: Vec<&str> = shell.registers.iter().map(|register| register.name.as_str()).collect();
    assert_eq!((names.first(), names.last()), (Some(&"control"), Some(&"incomplete_beats")));
    for register in &shell.registers {
        let offset = format!("#define BLUR_AXIS_{}_OFFSET 0x{:03x}u", register.name.to_uppercase(), register.offset);
        assert!(header.contains(&offset), "{offset}");
    }
    assert!(header.contains("_IDENTITY_EXPECTED 0x12345678u") && header.contains("_WINDOW_OFFSET 0x1000u"), "{header}");
}

#[test]
fn an_accelerator_without_inputs_has_a_shell() {
    let input = "input  logic in_valid_i,\n    output logic in_ready_o,\n    input  logic [47:0] in_data_i,\n    ";
    let rtl = files(module(9, "").replace(input, ""));
    let shell = axis(&Accelerator { inputs: Vec::new(), ..accelerator(&rtl) }).unwrap();
    let ports = ports_of("blur_axis", text(&shell.files, "rtl/blur_axis.sv")).unwrap();
    assert!(!ports.iter().any(|port| port.name.starts_with("s_axis")));
}

#[test]
fn the_same_accelerator_has_the_same_shell() {
    let rtl = files(module(9, ""));
    assert_eq!(axis(&accelerator(&rtl)).unwrap().files, axis(&accelerator(&rtl)).unwrap().files);
}

#[test]
fn the_window_is_above_the_registers_and_as_large_as_the_configuration() {
    assert_eq!([0, 9, 12, 13, 31].map(window), [0x1000, 0x1000, 0x1000, 0x2000, 0x8000_0000]);
    let rtl = files(module(20, ""));
    let shell = axis(&accelerator(&rtl)).unwrap();
    assert!(text(&shell.files, "blur_axis_registers.h").contains("_WINDOW_OFFSET 0x100000u"));
}

#[test]
fn an_accelerator_without_configuration_has_no_window() {
    let rtl = files(module(0, ""));
    let shell = axis(&accelerator(&rtl)).unwrap();
    assert!(!text(&shell.files, "blur_axis_registers.h").contains("WINDOW"));
    assert!(!text(&shell.files, "rtl/blur_axis.sv").contains(".config_write_i"));
}

#[test]
fn other_ports_pass_as_they_are() {
    let rtl = files(module(9, "    input  logic test_enable_i,\n    output logic [3:0] bist_fail_bits_o,\n"));
    let shell = axis(&accelerator(&rtl)).unwrap();
    let ports = ports_of("blur_axis", text(&shell.files, "rtl/blur_axis.sv")).unwrap();
    let passed: Vec<_> =
        ports.iter().filter(|port| !port.name.contains("axi") && !port.name.starts_with("ap_")).collect();
    let names: Vec<_> = passed.iter().map(|port| (port.name.as_str(), port.output, port.bits)).collect();
    assert_eq!(names, [("interrupt_o", true, 1), ("test_enable_i", false, 1), ("bist_fail_bits_o", true, 4)]);
}

#[test]
fn resets_are_those_of_the_accelerator() {
    let rtl = files(module(9, ""));
    let shell = axis(&Accelerator { reset: Reset::Synchronous, ..accelerator(&rtl) }).unwrap();
    let control = text(&shell.files, "rtl/pushmem_bus_control_synchronous.sv");
    assert!(!control.contains("negedge") && control.contains("PUSHMEM_ASSERT_OUT_OF_RESET("), "{control}");
    assert!(text(&shell.files, "rtl/blur_axis.sv").contains("pushmem_bus_control_synchronous"));
}

#[test]
fn a_shell_takes_no_name_of_another_module() {
    let mut rtl = files(module(9, ""));
    rtl.insert(0, ("rtl/blur_axis.sv".to_owned(), "module blur_axis;\nendmodule\n".to_owned()));
    assert_eq!(axis(&accelerator(&rtl)).unwrap().module, "blur_axis_shell");
}

#[test]
fn what_is_no_accelerator_has_no_shell() {
    let rtl = files(module(9, ""));
    for wrong in [
        Accelerator { module: "sharpen", ..accelerator(&rtl) },
        Accelerator { inputs: vec![traffic(1); 2], ..accelerator(&rtl) },
        Accelerator { outputs: Vec::new(), ..accelerator(&rtl) },
    ] {
        let error = axis(&wrong).unwrap_err();
        assert!(error.message().contains("has not the ports of an accelerator"), "{error} {wrong:?}");
    }
    let rtl = files(module(32, ""));
    let error = axis(&accelerator(&rtl)).unwrap_err();
    assert!(error.message().contains("takes all 32 bits of an address"), "{error}");
}

/// Streams may have the names of channels, and of signals of the shell.
#[test]
fn streams_may_be_called_as_channels_are() {
    for (input, output) in [("b", "r"), ("aw", "ar"), ("request", "whole"), ("control", "axi_lite")] {
        let named = |text: String| {
            ["valid_i", "ready_o", "data_i"]
                .iter()
                .fold(text, |text, end| text.replace(&format!("in_{end}"), &format!("{input}_{end}")))
        };
        let text = named(module(9, "")).replace("out_", &format!("{output}_"));
        let shell = axis(&accelerator(&files(text)))
            .map(|shell| shell.module)
            .unwrap_or_else(|error| panic!("{input}: {error}"));
        assert_eq!(shell, "blur_axis");
    }
}

/// A stream of pixels of three words, of an image with 10 x 10 of them, and one of words of 8 x 8.
fn images() -> Vec<Elements> {
    let pixels = vec![(10, vec![3; 3]), (10, vec![30; 3])];
    let words = vec![(8, vec![1]), (8, vec![8])];
    vec![
        Elements { shape: vec![3, 10, 10], lanes: vec![0, 1, 2], loops: pixels },
        Elements { shape: vec![8, 8], lanes: vec![0], loops: words },
    ]
}

#[test]
fn a_shell_with_images_has_a_manager_for_each_stream() {
    let rtl = files(module(9, ""));
    let memory = Memory { bits: 128, ..Memory::default() };
    let shell = axi(&accelerator(&rtl), &images(), memory).unwrap();
    assert_eq!(shell.module, "blur_axi");
    let ports = ports_of("blur_axi", text(&shell.files, "rtl/blur_axi.sv")).unwrap();
    let bits = |name: &str| ports.iter().find(|port| port.name == name).map(|port| (port.output, port.bits));
    assert_eq!(bits("m_axi_in_araddr"), Some((true, 64)));
    assert_eq!(bits("m_axi_in_rdata"), Some((false, 128)));
    assert_eq!(bits("m_axi_in_awaddr"), None);
    assert_eq!(bits("m_axi_out_wstrb"), Some((true, 16)));
    assert_eq!(bits("m_axi_out_bresp"), Some((false, 2)));
    let top = text(&shell.files, "rtl/blur_axi.sv");
    assert!(top.contains("pushmem_axi_reader #") && top.contains("pushmem_axi_writer #"), "{top}");
    let list = text(&shell.files, "filelist.f");
    assert!(list.contains("pushmem_axi_bursts.sv") && !list.contains("stream_in_frame"), "{list}");
}

#[test]
fn a_module_of_litex_connects_all_ports() {
    let rtl = files(module(9, "    input  logic test_enable_i,\n"));
    let shell = axi(&accelerator(&rtl), &images(), Memory::default()).unwrap();
    let litex = text(&shell.files, "blur_axi_litex.py");
    for port in ports_of("blur_axi", text(&shell.files, "rtl/blur_axi.sv")).unwrap() {
        let named = format!("            {}_{}=", if port.output { "o" } else { "i" }, port.name);
        assert_eq!(litex.matches(&named).count(), 1, "{named}");
    }
    for line in
        ["class BlurAxi(LiteXModule):", "i_s_axi_control_awaddr=control.aw.addr[:13]", "self.test_enable_i = Signal(1)"]
    {
        assert!(litex.contains(line), "{line} in {litex}");
    }
}

/// Registers, header, kernel description and driver have one map.
#[test]
fn arguments_are_where_the_register_map_has_them() {
    let rtl = files(module(9, ""));
    let shell = axi(&accelerator(&rtl), &images(), Memory::default()).unwrap();
    let names = [
        "in_address_low",
        "in_address_high",
        "in_stride_1",
        "in_stride_2",
        "out_address_low",
        "out_address_high",
        "out_stride_1",
    ];
    let arguments: Vec<&str> = shell.registers[4..11].iter().map(|register| register.name.as_str()).collect();
    assert_eq!(arguments, names);
    let header = text(&shell.files, "blur_axi_registers.h");
    for register in &shell.registers {
        let offset = format!("#define BLUR_AXI_{}_OFFSET 0x{:03x}u", register.name.to_uppercase(), register.offset);
        assert!(header.contains(&offset), "{offset}");
    }
    assert!(header.contains("_IN_STRIDE_1_DENSE 0x6u") && header.contains("_IN_STRIDE_2_DENSE 0x3cu"), "{header}");
    let kernel = text(&shell.files, "kernel.xml");
    for (name, offset) in
        [("in", 0x10), ("in_stride_1", 0x18), ("in_stride_2", 0x1c), ("out", 0x20), ("out_stride_1", 0x28)]
    {
        let argument = kernel.lines().find(|line| line.contains(&format!("arg name=\"{name}\""))).unwrap();
        assert!(argument.contains(&format!("offset=\"0x{offset:x}\"")), "{argument}");
    }
    let driver = text(&shell.files, "driver/blur_axi_driver.c");
    assert!(driver.contains("{BLUR_AXI_IN_STRIDE_1_OFFSET, BLUR_AXI_IN_STRIDE_2_OFFSET}"), "{driver}");
}

#[test]
fn a_stream_that_walks_through_no_image_has_no_manager() {
    let rtl = files(module(9, ""));
    let mut diagonal = images();
    diagonal[1].loops = vec![(64, vec![9])];
    let error = axi(&accelerator(&rtl), &diagonal, Memory::default()).unwrap_err();
    let expected = "the stream `out`: it walks over the end of a dimension into the next one";
    assert!(error.message().ends_with(expected), "{error}");
}

/// Elements of 8 bits take a byte outside of the accelerator, whose words have 16 bits.
#[test]
fn elements_take_as_many_bytes_as_their_type_has() {
    let rtl = files(module(9, ""));
    let of = |element: Element| Traffic { beats: 100, element, whole: element };
    let narrow = Accelerator { inputs: vec![of(Element::I8)], outputs: vec![of(Element::U8)], ..accelerator(&rtl) };
    let shell = axis(&narrow).unwrap();
    let top = text(&shell.files, "rtl/blur_axis.sv");
    let ports = ports_of("blur_axis", top).unwrap();
    let bits = |name: &str| ports.iter().find(|port| port.name == name).map(|port| port.bits);
    assert_eq!(
        (bits("s_axis_in_tdata"), bits("s_axis_in_tkeep"), bits("m_axis_out_tdata")),
        (Some(24), Some(3), Some(8))
    );
    assert!(top.contains("{{8{s_axis_in_tdata[8 * k + 7]}}, s_axis_in_tdata[8 * k+:8]}"), "{top}");
    assert!(text(&shell.files, "kernel.xml").contains("dataWidth=\"24\""));

    let shell = axi(&narrow, &images(), Memory::default()).unwrap();
    let header = text(&shell.files, "blur_axi_registers.h");
    for line in ["IN_ELEMENT_BYTES 1u", "IN_STRIDE_1_DENSE 0x3u", "IN_STRIDE_2_DENSE 0x1eu", "OUT_BYTES 0x40u"] {
        assert!(header.contains(line), "{line} in {header}");
    }
    let top = text(&shell.files, "rtl/blur_axi.sv");
    let spaced = top.split_whitespace().collect::<Vec<_>>().join(" ");
    for image in 0..2 {
        assert!(spaced.contains(&format!("assign misaligned[{image}] = 1'b0;")), "{top}");
    }
    let kernel = text(&shell.files, "kernel.xml");
    assert!(kernel.contains("type=\"char*\"") && kernel.contains("type=\"unsigned char*\""), "{kernel}");
    let host = text(&shell.files, "driver/blur_axi_host.py");
    assert!(host.contains("\"in\": (False, \"i8\", [3, 10, 10])"), "{host}");
}

/// A stride of a single iteration is an argument that nothing depends on.
#[test]
fn strides_that_no_loop_has_are_named_so() {
    let rtl = files(module(9, ""));
    let mut single = images();
    single[1] = Elements { shape: vec![64, 1], lanes: vec![0], loops: vec![(64, vec![1])] };
    let shell = axi(&accelerator(&rtl), &single, Memory::default()).unwrap();
    let top = text(&shell.files, "rtl/blur_axi.sv");
    assert!(top.contains("image_out_stride_1_unused") && !top.contains("image_in_stride_1_unused"), "{top}");
}
