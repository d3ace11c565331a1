//! Packages in which features meet: shadow registers and constraints, macros of kits and of others, supplies.

use std::collections::BTreeMap;

use pushmem_files::Document;
use pushmem_packaging::{AddressBlock, Design, Timing, package};
use pushmem_registers::RegisterMap;
use pushmem_rtl::{generate, tile_module};
use pushmem_systemverilog::files_of;
use pushmem_technology::{Assembly, Binding, Technology, TileSram};
use pushmem_tile::TileSpec;
use serde_json::{Value, json};

const IHP: &str = "kit: {librelane: ihp-sg13g2, openroad: ihp-sg13g2}, ";
const SKY: &str = "kit: {librelane: sky130A, openroad: sky130hd}, ";

/// A tile with one port to its memory of so many rows of 16 bits.
fn tile(name: &str, rows: u32, more: &str) -> TileSpec {
    let text = format!("name: {name}\nkind: rom\nrows: {rows}\n{more}");
    TileSpec::from_document(&Document::parse("tile.yaml", text).unwrap()).unwrap()
}

/// The memory of a tile in a macro of its shape with these views.
fn assembly(spec: &TileSpec, name: &str, views: &str) -> Assembly {
    let memory = TileSram::of(spec).expect("the tile has an SRAM");
    let text = format!(
        "macro: {name}\nwidth: {}\ndepth: {}\nviews: {{{views}}}\nports:\n  - {{kind: read_write, clock: c, select: \
         {{port: s}}, write: {{port: w}}, address: a, data_in: d, data_out: q}}\n",
        memory.width, memory.depth
    );
    let (binding, document) = Binding::of_document(Document::parse("macro.yaml", text).unwrap(), &memory).unwrap();
    Assembly::new(memory, binding, Some(&document)).unwrap()
}

/// The files of the package of a tile.
fn packaged(spec: &TileSpec, technology: &Technology, timing: &str) -> BTreeMap<String, String> {
    let map = RegisterMap::of(spec);
    let rtl = files_of(generate(spec, &map).unwrap());
    let rtl = technology.bind(rtl).into_iter().map(|(name, text)| (format!("rtl/{name}"), text)).collect();
    let design = Design {
        name: spec.name.clone(),
        tiles: vec![spec],
        blocks: vec![AddressBlock::of_tile(&spec.name, 0, map)],
        ..Design::new(&tile_module(spec), "A tile".to_owned(), rtl, spec.reset, technology)
    };
    let timing = Timing::of_document(&Document::parse("timing.yaml", timing).unwrap()).unwrap();
    package(&design, &timing).into_iter().collect()
}

/// The active registers change at a flush and are used in the next cycle, so no register has more time, and none needs to be stable.
#[test]
fn active_registers_have_one_cycle() {
    for (shadow, cycles, early) in [(false, 2, true), (false, 1, false), (true, 2, false)] {
        let spec = tile("rom", 64, &format!("shadow_registers: {shadow}\n"));
        let technology = Technology::new(vec![assembly(&spec, "m", "")]).unwrap();
        let files = packaged(&spec, &technology, &format!("configuration_cycles: {cycles}\n"));
        let config: Value = serde_json::from_str(&files["config.json"]).unwrap();
        let found = [
            files["rom.sdc"].contains("set_multicycle_path"),
            files["rom.sdc"].contains("{u_registers}"),
            files["config.mk"].contains("export SYNTH_HIERARCHICAL = 1\n"),
            files["config.mk"].contains("export OPENROAD_HIERARCHICAL = 1\n"),
            config.get("SYNTH_HIERARCHY_MODE").is_some(),
            config.get("SLANG_ARGUMENTS").is_some(),
        ];
        assert_eq!(found, [early; 6], "shadow registers {shadow}, {cycles} cycles");
        // Hardware clears `commit`, and nothing else.
        let component = &files["rom.xml"];
        let registers = component.split("<ipxact:register>").skip(1);
        let volatile = registers.filter(|text| text.contains("<ipxact:volatile>true<"));
        let names: Vec<&str> = volatile.map(|text| text.split(['<', '>']).nth(2).unwrap()).collect();
        assert_eq!(names, if shadow { vec!["commit"] } else { vec![] });
        let commit = "\"commit\": Register(0x004, True, {\n        \"commit\": Field(0, 1, 0x0),\n    }),";
        assert_eq!(files["rom_registers.py"].contains(commit), shadow, "{}", files["rom_registers.py"]);
    }
}

/// Views of a kit are in its folder, those of a macro without a kit beside the package, in whatever order.
#[test]
fn views_are_where_each_macro_has_them() {
    let (one, two) = (tile("one", 64, ""), tile("two", 128, ""));
    let of_kit = assembly(&one, "a", &format!("{IHP}lef: a.lef, liberty: a.lib, gds: a.gds"));
    let own = assembly(&two, "b", "lef: b.lef, liberty: b.lib, gds: b.gds");
    for assemblies in [vec![of_kit.clone(), own.clone()], vec![own.clone(), of_kit]] {
        let names: Vec<_> = assemblies.iter().map(|assembly| assembly.binding.name.clone()).collect();
        let files = packaged(&one, &Technology::new(assemblies).unwrap(), "{}");
        let makefile = &files["config.mk"];
        assert!(makefile.contains("MACRO_FOLDER ?= $(PDK_ROOT)/ihp-sg13g2\n"), "{makefile}");
        assert!(makefile.contains("export PLATFORM ?= ihp-sg13g2\n"), "{makefile}");
        for (variable, end) in [("ADDITIONAL_LEFS", "lef"), ("ADDITIONAL_LIBS", "lib"), ("ADDITIONAL_GDS", "gds")] {
            let folder = |name: &String| if name == "a" { "$(MACRO_FOLDER)/" } else { "$(HERE)" };
            let paths: String = names.iter().map(|name| format!(" {}{name}.{end}", folder(name))).collect();
            assert!(makefile.contains(&format!("export {variable} ={paths}\n")), "{makefile}");
        }
        let config: Value = serde_json::from_str(&files["config.json"]).unwrap();
        assert_eq!(config["PDK"], "ihp-sg13g2");
        assert_eq!(config["MACROS"]["a"]["lef"], json!(["pdk_dir::a.lef"]));
        assert_eq!(config["MACROS"]["b"]["lib"], json!({"*": ["dir::b.lib"]}));
    }
    let alone = packaged(&two, &Technology::new(vec![own]).unwrap(), "{}");
    assert!(!alone["config.mk"].contains("MACRO_FOLDER"), "{}", alone["config.mk"]);
    assert!(alone["config.mk"].contains("export PLATFORM ?= nangate45\n"), "{}", alone["config.mk"]);
}

#[test]
fn a_design_has_one_kit() {
    let (one, two) = (tile("one", 64, ""), tile("two", 128, ""));
    let both = |left: &str, right: &str| Technology::new(vec![assembly(&one, "a", left), assembly(&two, "b", right)]);
    assert_eq!(both(IHP, IHP).unwrap().kit().unwrap().librelane, "ihp-sg13g2");
    assert_eq!(
        both(IHP, SKY).unwrap_err().message(),
        "the macros of `one` and `two` are of different kits: `{librelane: ihp-sg13g2, openroad: ihp-sg13g2}` and \
         `{librelane: sky130A, openroad: sky130hd}`"
    );
}

/// LibreLane takes supplies in pairs: the shorter list repeats its last pin. OpenROAD-flow-scripts take each once.
#[test]
fn every_supply_pin_is_connected() {
    let spec = tile("rom", 64, "");
    let views = |supplies: &str| format!("lef: a.lef, gds: a.gds, {supplies}");
    let cases = [
        ("power: [P], ground: [G]", vec!["P G"]),
        ("power: [P, Q], ground: [G]", vec!["P G", "Q G"]),
        ("power: [P], ground: [G, H, I]", vec!["P G", "P H", "P I"]),
        ("power: [P, Q], ground: [G, H]", vec!["P G", "Q H"]),
    ];
    for (supplies, pairs) in cases {
        let technology = Technology::new(vec![assembly(&spec, "m", &views(supplies))]).unwrap();
        let files = packaged(&spec, &technology, "{}");
        let config: Value = serde_json::from_str(&files["config.json"]).unwrap();
        let expected: Vec<_> = pairs.iter().map(|pair| format!(".*u_macro VDD VSS {pair}")).collect();
        assert_eq!(config["PDN_MACRO_CONNECTIONS"], json!(expected));
        let script = &files["rom_supplies.tcl"];
        let binding = &technology.assemblies()[0].binding.views;
        for (net, kind, pins) in [("VDD", "power", &binding.power), ("VSS", "ground", &binding.ground)] {
            let line = |pin: &String| {
                format!("add_global_connection -net {net} -inst_pattern {{.*u_macro}} -pin_pattern {{^{pin}$}} -{kind}")
            };
            let made: Vec<_> = script.lines().filter(|text| text.ends_with(&format!("-{kind}"))).collect();
            assert_eq!(made, pins.iter().map(line).collect::<Vec<_>>());
        }
    }
}
