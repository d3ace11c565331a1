//! Wave files: what is in them is what the configuration and the program say, and layouts name what is in them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use pushmem_testing::{tool, verilator};
use tempfile::{TempDir, tempdir};
use wellen::simple::{Waveform, read};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");

fn pushmem(arguments: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_pushmem")).args(arguments).current_dir(ROOT).output().unwrap()
}

/// A folder with the waves that a command has written.
fn waves(arguments: &[&str]) -> (TempDir, Waves) {
    let folder = tempdir().unwrap();
    let wave = folder.path().join("waves.fst");
    let output = pushmem(&[arguments, &["--wave", wave.to_str().unwrap()]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let waves = Waves::read(folder.path(), "waves");
    (folder, waves)
}

/// The signals that the layouts name, in the cycles of the clock: the values before each rising edge.
struct Waves {
    cycles: Vec<BTreeMap<String, u64>>,
    /// The width of each.
    bits: BTreeMap<String, u32>,
}

impl Waves {
    /// Reads a wave file. Its layouts must name the same signals, all of which must be there with as many bits.
    fn read(folder: &Path, name: &str) -> Self {
        let mut file = read(folder.join(format!("{name}.fst"))).unwrap();
        let mut signals = BTreeMap::new();
        let hierarchy = file.hierarchy();
        for var in hierarchy.all_vars() {
            let var = &hierarchy[var];
            signals.insert(var.full_name(hierarchy), (var.signal_ref(), var.length(hierarchy).unwrap_or(0)));
        }
        let gtkwave = fs::read_to_string(folder.join(format!("{name}.gtkw"))).unwrap();
        let of_gtkwave: Vec<(&str, u32)> =
            gtkwave.lines().filter(|line| line.starts_with("top.")).map(bits_of).collect();
        let of_surfer = items_of_surfer(&fs::read_to_string(folder.join(format!("{name}.sucl"))).unwrap());
        let of_surfer: Vec<&(String, Option<String>)> =
            of_surfer.iter().filter(|(name, _)| name.starts_with("top.")).collect();
        assert!(
            of_surfer.iter().map(|(name, _)| name.as_str()).eq(of_gtkwave.iter().map(|(name, _)| *name)),
            "the layouts show different signals"
        );
        for ((name, format), (_, bits)) in of_surfer.iter().zip(&of_gtkwave) {
            assert!(format.as_deref().is_some_and(|format| format != "Bit" || *bits == 1), "{name}");
        }
        assert!(of_surfer.len() > 10);
        let (mut shown, mut widths) = (Vec::new(), BTreeMap::new());
        for (name, bits) in of_gtkwave {
            let Some(&(signal, found)) = signals.get(name) else { panic!("{name} is not in the waves") };
            assert_eq!(found, bits, "{name}");
            let name = name.strip_prefix("top.").unwrap().split_once(".waves.").unwrap().1.to_owned();
            widths.insert(name.clone(), bits);
            shown.push((name, signal));
        }
        let references: Vec<_> = shown.iter().map(|(_, signal)| *signal).collect();
        file.load_signals(&references);
        Waves { cycles: cycles(&file, &shown), bits: widths }
    }

    /// In each cycle of the run in which something fires, the cycle and the values of some signals beside.
    fn firings(&self, group: &str, names: &[&str]) -> Vec<(u64, Vec<u64>)> {
        let running = self.cycles.iter().skip_while(|cycle| cycle["timeline.flushes"] == 0).skip(1);
        let fires = running.filter(|cycle| cycle["timeline.steps"] == 1 && cycle[&format!("{group}.fires")] == 1);
        let values =
            |cycle: &BTreeMap<String, u64>| names.iter().map(|name| cycle[&format!("{group}.{name}")]).collect();
        fires.map(|cycle| (cycle["timeline.cycle"], values(cycle))).collect()
    }
}

/// The name and width of a signal of GTKWave.
fn bits_of(name: &str) -> (&str, u32) {
    match name.split_once('[') {
        Some((name, range)) => (name, range.split(':').next().unwrap().parse::<u32>().unwrap() + 1),
        None => (name, 1),
    }
}

/// The items of Surfer after the commands of a layout: dividers, and signals with their formats. It takes a command as it is
/// here or drops it: dividers are named by one word, signals by their paths, and items by their places in hexadecimal digits
/// from `a` to `p`, whatever comes after these.
fn items_of_surfer(commands: &str) -> Vec<(String, Option<String>)> {
    let mut items: Vec<(String, Option<String>)> = Vec::new();
    let mut focused = None;
    for line in commands.lines().filter(|line| !line.starts_with('#')) {
        let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
        match command {
            "divider_add" => {
                assert!(
                    !rest.is_empty() && rest.chars().all(|letter| letter.is_alphanumeric() || letter == '_'),
                    "{line}"
                );
                items.push((rest.to_owned(), None));
            }
            "variable_add" => items.push((rest.to_owned(), None)),
            "item_focus" => {
                let (place, name) = rest.split_once('_').unwrap();
                let digit = |letter: char| "abcdefghijklmnop".find(letter).unwrap();
                let place = place.chars().fold(0, |place, letter| 16 * place + digit(letter));
                assert!(items[place].0.ends_with(&format!(".{name}")), "{line}: {}", items[place].0);
                focused = Some(place);
            }
            "item_set_format" => {
                assert!(["Bit", "Unsigned", "Signed", "Hexadecimal"].contains(&rest), "{line}");
                items[focused.unwrap()].1 = Some(rest.to_owned());
            }
            "item_unfocus" | "zoom_fit" => assert_eq!(rest, "", "{line}"),
            _ => panic!("`{line}` is no command"),
        }
    }
    items
}

/// A script of GTKWave that prints the name and the flags of each line of a layout.
const TRACES: &str = "for {set i 0} {$i < [gtkwave::getTotalNumTraces]} {incr i} {
    puts \"TRACE [gtkwave::getTraceFlagsFromIndex $i] [gtkwave::getTraceNameFromIndex $i]\"
}
gtkwave::/File/Quit
";

/// Has GTKWave read a layout, on a virtual screen: it must show every line of it, as the line says.
fn shown_by_gtkwave(folder: &Path, name: &str) {
    let script = folder.join("traces.tcl");
    fs::write(&script, TRACES).unwrap();
    let mut command = Command::new("xvfb-run");
    command.args(["--auto-servernum", "gtkwave", "--script"]).arg(&script).current_dir(folder);
    let output = command.args(["fst", "gtkw"].map(|ending| format!("{name}.{ending}"))).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let traces: Vec<(u32, &str)> = text
        .lines()
        .filter_map(|line| line.strip_prefix("TRACE ")?.split_once(' '))
        .map(|(flags, name)| (flags.parse().unwrap(), name))
        .collect();
    let layout = fs::read_to_string(folder.join(format!("{name}.gtkw"))).unwrap();
    let (mut flags, mut lines) = (0, Vec::new());
    for line in layout.lines().filter(|line| !line.starts_with("[*]")) {
        match line.strip_prefix('@') {
            Some(digits) => flags = u32::from_str_radix(digits, 16).unwrap(),
            None => lines.push((flags, line.strip_prefix('-').unwrap_or(line.rsplit('.').next().unwrap()))),
        }
    }
    assert_eq!(traces, lines, "{text}{}", String::from_utf8_lossy(&output.stderr));
}

fn has_gtkwave() -> bool {
    ["xvfb-run", "gtkwave"].iter().all(|program| tool(program).is_some())
}

fn cycles(file: &Waveform, shown: &[(String, wellen::SignalRef)]) -> Vec<BTreeMap<String, u64>> {
    let clock = shown.iter().find(|(name, _)| name == "timeline.clock").unwrap().1;
    let value = |signal: wellen::SignalRef, time: u32| {
        let signal = file.get_signal(signal).unwrap();
        let offset = signal.get_offset(time)?;
        let bits = signal.get_value_at(&offset, 0).to_bit_string()?;
        u64::from_str_radix(&bits[bits.len().saturating_sub(64)..], 2).ok()
    };
    let times = file.time_table().len() as u32;
    let rises = (1..times).filter(|&time| value(clock, time) == Some(1) && value(clock, time - 1) == Some(0));
    let known = |time: u32| shown.iter().map(move |(name, signal)| (name.clone(), value(*signal, time).unwrap_or(0)));
    rises.map(|time| known(time - 1).collect()).collect()
}

/// A number in a flow list of a configuration.
fn numbers(text: &str) -> Vec<i64> {
    let inner = text.split_once('[').unwrap().1.split_once(']').unwrap().0;
    inner.split(',').filter(|number| !number.trim().is_empty()).map(|number| number.trim().parse().unwrap()).collect()
}

/// The configuration of a controller: its extents, and start and strides of each function.
type Functions = (Vec<i64>, BTreeMap<String, (i64, Vec<i64>)>);

/// The controllers of a configuration in the form that pushmem writes.
fn controllers(text: &str) -> BTreeMap<String, Functions> {
    let mut found: BTreeMap<String, Functions> = BTreeMap::new();
    let mut name = String::new();
    for line in text.lines().skip_while(|line| !line.starts_with("controllers:")).skip(1) {
        match line.trim_end().strip_suffix(':') {
            Some(controller) => name = controller.trim().to_owned(),
            None if !line.starts_with("    ") => break,
            None => {
                let (key, value) = line.trim().split_once(':').unwrap();
                let entry = found.entry(name.clone()).or_default();
                if key == "extent" {
                    entry.0 = numbers(value);
                } else {
                    let start =
                        value.split_once("start:").unwrap().1.split_once(',').unwrap().0.trim().parse().unwrap();
                    entry.1.insert(key.to_owned(), (start, numbers(value)));
                }
            }
        }
    }
    found
}

/// All indices of loops, in order.
fn points(extents: &[i64]) -> Vec<Vec<i64>> {
    let count: i64 = extents.iter().product();
    let point = |number: i64| {
        let mut rest = number;
        extents.iter().map(|extent| (rest % extent, rest /= extent).0).collect()
    };
    (0..count).map(point).collect()
}

const DELAY: &str = "tile: pond
controllers:
  in2rf_0:  {extent: [5, 7], cycle: {start: 3, stride: [2, 11]}, register_file: {start: 0, stride: [1, 5]}}
  rf2out_0: {extent: [5, 7], cycle: {start: 20, stride: [2, 11]}, register_file: {start: 0, stride: [1, 5]}}
";

/// Every controller of a tile fires at the cycles, indices and addresses of its affine functions, whatever stalls.
#[test]
fn waves_of_a_tile_show_its_configuration() {
    if verilator().is_none() {
        return;
    }
    let own = tempdir().unwrap();
    let delay = own.path().join("delay.yaml").display().to_string();
    fs::write(&delay, DELAY).unwrap();
    for (tile, configuration, stalls) in
        [("amber", "rtl-tests/configurations/gaussian.yaml", "7"), ("pond", &delay, "3")]
    {
        let spec = format!("constraints/tiles/{tile}.yaml");
        let folder = tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        // In one form, whoever has written it.
        let (hex, yaml) = (path("writes.hex"), path("configuration.yaml"));
        assert!(pushmem(&["encode", &spec, configuration, "-o", &hex]).status.success());
        assert!(pushmem(&["decode", &spec, &hex, "-o", &yaml]).status.success());
        let (_folder, waves) = waves(&["simulate", &spec, configuration, "--stall-seed", stalls]);
        let controllers = controllers(&fs::read_to_string(yaml).unwrap());
        assert!(controllers.len() >= 2);
        for (name, (extents, functions)) in controllers {
            let levels: Vec<String> = (0..extents.len()).map(|level| format!("level_{level}")).collect();
            let memories: Vec<&String> = functions.keys().filter(|key| *key != "cycle").collect();
            let names: Vec<&str> = levels.iter().chain(memories.iter().copied()).map(String::as_str).collect();
            let found = waves.firings(&format!("tile.{name}"), &names);
            let points = points(&extents);
            assert_eq!(found.len(), points.len(), "{name}");
            for ((cycle, values), point) in found.iter().zip(points) {
                let at = |key: &str| {
                    let (start, strides) = &functions[key];
                    start + strides.iter().zip(&point).map(|(stride, index)| stride * index).sum::<i64>()
                };
                assert_eq!(*cycle as i64, at("cycle"), "{name} at {point:?}");
                let (indices, addresses) = values.split_at(levels.len());
                assert!(
                    indices.iter().zip(&point).all(|(found, index)| *found as i64 == *index),
                    "{name} at {point:?}"
                );
                for (memory, address) in memories.iter().zip(addresses) {
                    // Addresses wrap, in these tiles with their bits.
                    let places = 1 << waves.bits[&format!("tile.{name}.{memory}")];
                    assert_eq!(at(memory).rem_euclid(places), *address as i64, "{name}: {memory} at {point:?}");
                }
            }
        }
    }
}

/// The words of an image, as the testbench is given them.
fn image(folder: &Path, name: &str) -> Vec<u64> {
    let text = fs::read_to_string(folder.join("testbench").join(name)).unwrap();
    text.split_whitespace().map(|word| u64::from_str_radix(word, 16).unwrap()).collect()
}

/// The loop indices beside a word say which element it is: in streams, in operations, and in the memory between.
#[test]
fn waves_of_an_accelerator_show_loop_indices() {
    if verilator().is_none() {
        return;
    }
    const WIDTH: u64 = 64;
    let folder = tempdir().unwrap();
    let accelerator = folder.path().join("gaussian").display().to_string();
    let (_waves, waves) = waves(&["build", "apps/gaussian.yaml", "-o", &accelerator]);
    let accelerator = Path::new(&accelerator);
    let (input, output) = (image(accelerator, "input.hex"), image(accelerator, "output.expected.hex"));
    let at = |x: u64, y: u64| input[(x + WIDTH * y) as usize];
    let inner = points(&[WIDTH as i64 - 2, WIDTH as i64 - 2]);

    let sums = waves
        .firings("operations.sums", &["x", "y", "loaded_x_y", "loaded_x_plus_2_y_plus_1", "loaded_x_plus_2_y_plus_2"]);
    assert_eq!(sums.len(), inner.len());
    for ((_, values), point) in sums.iter().zip(&inner) {
        let [x, y, ref operands @ ..] = values[..] else { unreachable!() };
        assert_eq!([x as i64, y as i64], point[..]);
        assert_eq!(operands, [at(x, y), at(x + 2, y + 1), at(x + 2, y + 2)]);
    }
    let outputs = waves.firings("operations.output_operation", &["x", "y", "result"]);
    assert!(outputs.iter().all(|(_, values)| values[2] == output[(values[0] + (WIDTH - 2) * values[1]) as usize]));
    assert_eq!(outputs.len(), inner.len());

    // The memory takes and gives words of whole lines, the unused ones, too.
    let memory = "memories.input_2_ago_memory";
    for (controller, word) in [("in2agg_0", "in_0"), ("tb2out_0", "out_0"), ("tb2out_1", "out_1")] {
        let found = waves.firings(&format!("{memory}.{controller}"), &["i0", "i1"]);
        let words: BTreeMap<u64, u64> = waves
            .cycles
            .iter()
            .filter(|cycle| cycle["timeline.steps"] == 1)
            .map(|cycle| (cycle["timeline.cycle"], cycle[&format!("{memory}.ports.{word}")]))
            .collect();
        assert!(found.len() > 3900, "{controller}");
        for (cycle, indices) in found.iter().filter(|(_, indices)| indices[1] < WIDTH) {
            assert_eq!(words[cycle], at(indices[0], indices[1]), "{controller} in cycle {cycle}");
        }
    }
    for controller in ["agg2sram_0", "sram2tb_0", "sram2tb_1"] {
        let found = waves.firings(&format!("{memory}.{controller}"), &["i0", "i1"]);
        let rows = found.iter().map(|(_, indices)| indices[0] + WIDTH * indices[1]);
        assert!(rows.clone().zip(rows.skip(1)).all(|(one, next)| next == one + 4), "{controller}");
    }
}

/// A layer of a network in a memory for each of two products.
const LAYER: &str = "name: layer
inputs:
  input: {type: i16, shape: [16]}
  weights: {type: i16, shape: [16, 4]}
outputs:
  output: {type: i16, shape: [4]}
buffers:
  in_loaded: {type: i16, shape: [16]}
  k_loaded: {type: i16, shape: [16, 4]}
  sums: {type: i16, shape: [4]}
nest:
  - for z in 0..16 unroll 2:
    - in_loaded[z] = input[z]
  - for w in 0..4:
    - for z in 0..16 unroll 2:
      - k_loaded[z, w] = weights[z, w]
  - for w in 0..4:
    - sums[w] = 0
  - for zo in 0..8:
    - for w in 0..4:
      - for zi in 0..2 unroll 2:
        - sums[w] += k_loaded[2*zo+zi, w] * in_loaded[2*zo+zi]
  - for w in 0..4:
    - output[w] = max(sums[w], 0)
";

/// Arrays that stay in memory, and loops that are named after those of the program.
#[test]
fn waves_of_a_network_show_its_loops() {
    if verilator().is_none() {
        return;
    }
    let folder = tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (program, accelerator) = (path("layer.yaml"), path("layer"));
    fs::write(&program, LAYER).unwrap();
    assert!(pushmem(&["build", &program, "-o", &accelerator]).status.success());
    let (files, waves) = waves(&["compare", &accelerator]);
    let names: Vec<&String> = waves.cycles[0].keys().collect();
    let controllers: Vec<&str> = names.iter().filter_map(|name| name.strip_suffix(".fires")).collect();
    let in_memories = controllers.iter().filter(|name| name.starts_with("memories."));
    assert!(in_memories.clone().count() > 3, "{controllers:?}");
    for controller in &controllers {
        assert!(!waves.firings(controller, &[]).is_empty(), "{controller} never fires");
    }
    // Arrays are written and read by loops of the program.
    let has_loop = |controller: &&&str| names.iter().any(|name| name.starts_with(**controller) && name.ends_with(".w"));
    assert!(in_memories.filter(has_loop).count() > 0, "{names:?}");
    if has_gtkwave() {
        shown_by_gtkwave(files.path(), "waves");
    }
}

/// A ROM is read by the loops of the kernel that looks up.
#[test]
fn waves_of_a_rom_show_the_loops_of_its_kernel() {
    if verilator().is_none() {
        return;
    }
    const WIDTH: u64 = 64;
    let folder = tempdir().unwrap();
    let accelerator = folder.path().join("rom").display().to_string();
    let (_waves, waves) = waves(&["build", "apps/rom.yaml", "-o", &accelerator]);
    let input = image(Path::new(&accelerator), "input.hex");
    let rom = "memories.output_curve_rom";
    let steps = waves.cycles.iter().filter(|cycle| cycle["timeline.steps"] == 1);
    let addresses: BTreeMap<u64, u64> =
        steps.map(|cycle| (cycle["timeline.cycle"], cycle[&format!("{rom}.ports.address_0")])).collect();
    let found = waves.firings(&format!("{rom}.rom2out_0"), &["x", "y"]);
    assert_eq!(found.len() as u64, WIDTH * WIDTH);
    for (cycle, indices) in found {
        assert_eq!(addresses[&cycle], input[(indices[0] + WIDTH * indices[1]) as usize].min(255), "{indices:?}");
    }
}

/// Differences have a sign, pixels have none.
const EDGES: &str = "name: edges
inputs:
  input: {type: u8, shape: [64, 8]}
outputs:
  output: {type: i16, shape: [62, 7]}
buffers:
  across: {type: i16, shape: [62, 8]}
nest:
  - for y in 0..8:
    - for x in 0..62:
      - across[x, y] = input[x + 2, y] as i16 - input[x, y] as i16
  - for y in 0..7:
    - for x in 0..62:
      - output[x, y] = across[x, y + 1] - across[x, y]
";

/// Words are shown with a sign where those of their array have one: at kernels, in streams, and at the ports of memories.
#[test]
fn words_with_a_sign_are_shown_with_it() {
    let folder = tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (program, accelerator) = (path("edges.yaml"), path("edges"));
    fs::write(&program, EDGES).unwrap();
    assert!(pushmem(&["build", &program, "-o", &accelerator]).status.success());
    let layout =
        |ending: &str| fs::read_to_string(Path::new(&accelerator).join("testbench/waves").with_extension(ending));
    let (mut gtkwave, mut flags) = (BTreeMap::new(), String::new());
    for line in layout("gtkw").unwrap().lines() {
        match line.strip_prefix('@') {
            Some(digits) => flags = digits.to_owned(),
            None => drop(gtkwave.insert(line.split('[').next().unwrap().to_owned(), flags.clone())),
        }
    }
    let surfer: BTreeMap<_, _> = items_of_surfer(&layout("sucl").unwrap()).into_iter().collect();
    let (number, signed, curve, signed_curve) =
        (("24", "Unsigned"), ("420", "Signed"), ("8024", "Unsigned"), ("8420", "Signed"));
    for (name, (flags, format)) in [
        ("operations.across.x", number),
        ("operations.across.input_x_plus_2_y", number),
        ("operations.across.result", signed),
        ("operations.output_operation.across_x_y", signed),
        ("streams.input_stream.word", curve),
        ("streams.output_stream.word", signed_curve),
        ("memories.across_memory.ports.in_0", signed_curve),
        ("memories.across_memory.ports.out_0", signed_curve),
        ("memories.across_memory.ports.out_1", curve),
    ] {
        let name = format!("top.edges.waves.{name}");
        assert_eq!(gtkwave.get(&name).map(String::as_str), Some(flags), "{name}: {gtkwave:#?}");
        assert_eq!(surfer[&name].as_deref(), Some(format), "{name}");
    }
}

/// The name of a wave file has its format: neither a layout nor waves of another format.
#[test]
fn waves_are_named_as_fst() {
    for (name, help) in
        [("waves.gtkw", "name the waves *.fst"), ("waves.vcd", "name them *.fst"), ("waves", "name them *.fst")]
    {
        let output = pushmem(&["simulate", "constraints/tiles/pond.yaml", "early.yaml", "--wave", name]);
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(help), "{said}");
    }
}
