"""The common part of scripts/area and scripts/comparison: the controllers of the styles, measured as the published peer's were, and the
goals that areas and periods are held against.

One iteration domain (ID), address generator (AG) and schedule generator (SG), each alone and all together, with
everything 16 bits wide, for 2, 4 and 6 levels. Recipe: synth -flatten; dfflibmap; abc. Configuration registers are
inputs here, so they are in none of the figures.
"""

import re
from pathlib import Path
from typing import NamedTuple

import tools

# The cell library of the figures.
LIBRARY = "osu018"
LEVELS = [2, 4, 6]
# The peer's areas for 2, 4 and 6 levels, from its own generator, by the same recipe and library.
PEER = {
    "ID": [12516, 23359, 34642],
    "AG": [8048, 9516, 11160],
    "SG": [9552, 11068, 12636],
    "ID+AG+SG": [30152, 44218, 59140],
}

# The peer's tiles without memory and configuration registers, by the same recipe and library, beside the specifications of ours. The
# words of its register file are not in its figure: it is that of the control.
PEER_TILES = {
    "wide fetch": ("rtl-tests/specs/unified_buffer.yaml", 496287),
    "wide fetch, Amber": ("amber", 812829),
    "wide fetch, Onyx": ("onyx", 590336),
    "dual port": ("dual_port", 288626),
    "register file": ("pond", 85016),
}

# The peer's array, likewise: a switch box of five tracks of words with three connection boxes, their configuration registers
# inside; and its processing element without floating point, its configuration outside.
PEER_INTERCONNECT = 206901 + 3 * 13250
PEER_PROCESSING_ELEMENT = 171374
# The most that the interconnect may take, of the peer's area.
GOAL_INTERCONNECT = 0.60

# The most that the default style, the tile of the first kind and the register file may take, of the peer's area.
GOAL = 0.80
# The longest period of `amber` in gscl45nm, in ps.
LONGEST_PERIOD = 1200

# For the estimate of the delay: what `abc` does by default, then buffers and gate sizes for the loads.
TIMED = "strash;&get,-n;&fraig,-x;&put;scorr;dc2;dretime;strash;&get,-n;&dch,-f;&nf;&put;buffer;upsize;dnsize;stime,-p"

# Widths are 16, the modules' defaults.
SCHEDULE = """
module schedule #(parameter int unsigned Levels = 6) (
    input  logic                 {inputs},
    input  logic [15:0]          cycle_i, start_i,
    input  logic [Levels*16-1:0] strides_i,
    output logic                 due_o
);
    logic [15:0] address_o;
    {address_generator} #(.Levels(Levels)) u_address (.*);
    always_comb due_o = address_o == cycle_i;
endmodule
"""
TOGETHER = """
module together #(parameter int unsigned Levels = 6) (
    input  logic                 clk_i, rst_ni, flush_i, stall_i, enable_i,
    input  logic [15:0]          cycle_i, cycle_start_i, address_start_i,
    input  logic [Levels*16-1:0] extents_i, cycle_steps_i, address_steps_i,
    output logic                 fire_o,
    output logic [15:0]          address_o
);
    logic [{point_bits}-1:0] {point}_o;
    {controller} #(.Levels(Levels)) u_controller (.*);
    {address_generator} #(.Levels(Levels)) u_address_generator (
        {clocked} .{point}_i({point}_o), .start_i(address_start_i), .{steps}_i(address_steps_i), .address_o);
endmodule
"""

# The switch box of words of `amber`, three connection boxes, and the registers of their fields: 20 of 3 bits, 3 of 5 bits.
INTERCONNECT = """
module word_interconnect (
    input  logic         clk_i, rst_ni, step_i, write_i,
    input  logic [74:0]  configuration_i,
    input  logic [15:0]  core_i,
    input  logic [79:0]  north_i, east_i, south_i, west_i,
    output logic [79:0]  north_o, east_o, south_o, west_o,
    output logic [47:0]  inputs_o
);
    logic [74:0] fields;
    always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) fields <= '0;
        else if (write_i) fields <= configuration_i;
    end
    amber_word_switch_box u_switch_box (.select_i(fields[59:0]), .*);
    wire [319:0] tracks = {west_i, south_i, east_i, north_i};
    for (genvar port = 0; port < 3; port++) begin : gen_ports
        pushmem_connection_box #(.Width(16), .Choices(20)) u_connection_box (
            .select_i(fields[60+5*port+:5]), .tracks_i(tracks), .input_o(inputs_o[16*port+:16]));
    end
endmodule
"""


def tops(style: str) -> tuple[str, dict[str, str]]:
    """SystemVerilog around the modules of a style, and the top module for each figure."""
    suffix = "" if style == "recurrence" else f"_{style}"
    indexed = style == "multiplier"
    point, point_bits = ("indices", "Levels*16") if indexed else ("increments", "Levels")
    names = {"address_generator": f"pushmem_address_generator{suffix}", "controller": f"pushmem_controller{suffix}"}
    text = TOGETHER.format(
        point=point, point_bits=point_bits, steps="strides" if suffix else "deltas",
        clocked="" if indexed else ".clk_i, .flush_i, .advance_i(fire_o & ~stall_i),", **names)
    if suffix:
        inputs = "[Levels*16-1:0] indices_i" if indexed else "clk_i, flush_i, advance_i, input logic [Levels-1:0] increments_i"
        text += SCHEDULE.format(inputs=inputs, **names)
    return text, {
        "ID": "pushmem_iteration_domain" + ("_indexed" if indexed else ""),
        "AG": names["address_generator"],
        "SG": "schedule" if suffix else "pushmem_schedule_generator",
        "ID+AG+SG": "together",
    }


def measure(files: list[str], top: str, levels: int | None, liberty: Path) -> dict[str, float]:
    """Area, flip-flops, generic cells and delay of a module in a cell library; of a controller with so many levels."""
    parameters = {} if levels is None else {"Levels": levels}
    ok, log = tools.yosys([
        tools.read_slang(files, top, parameters, f"-I {tools.HEADERS}"),
        f"synth -flatten -top {top}", "check -assert",
        "log COUNT GENERIC", "select -count t:*", "log COUNT FLIPFLOPS", "select -count t:*DFF*",
        f"dfflibmap -liberty {liberty}", "design -save unmapped", f"abc -liberty {liberty}", "opt_clean",
        f"stat -liberty {liberty}",
        "design -load unmapped", f"abc -liberty {liberty} -script +{TIMED}",
    ])
    if not ok:
        tools.stop(f"synthesis of {top} failed:\n{log[-3000:]}")

    def last(pattern: str, default: str | None = None) -> float:
        found = re.findall(pattern, log)
        return float(found[-1] if found else default)

    return {
        "area": last(r"Chip area for .*: ([\d.]+)"),
        "flops": last(r"COUNT FLIPFLOPS(?s:.*?)(\d+) objects"),
        "cells": last(r"COUNT GENERIC(?s:.*?)(\d+) objects"),
        "delay": last(r"Delay = *([\d.]+) ps", "nan") / 1000,
    }


def sources(pushmem: str, style: str, scratch: Path) -> tuple[list[str], dict[str, str]]:
    """The SystemVerilog of a style, and the top module for each figure."""
    text, parts = tops(style)
    wrapper = scratch / f"area_{style}.sv"
    wrapper.write_text(text)
    spec = tools.spec_in_style(tools.ROOT / "constraints" / "tiles" / "small.yaml", style, scratch)
    ok, log = tools.generate(pushmem, spec, scratch / style)
    if not ok:
        tools.stop(f"cannot generate {style}:\n{log}")
    return [str(scratch / style / f) for f in tools.sources(scratch / style) if "pushmem_" in f] + [str(wrapper)], parts


def synthesize(pushmem: str, spec: str | Path, *options: object) -> dict:
    """The report of `pushmem synth`."""
    report, log = tools.report([pushmem, "synth", spec, "--json", *options])
    if report is None:
        tools.stop(f"synthesis of {spec} failed:\n{log}")
    return report


class Held(NamedTuple):
    """A figure that must not be above its goal, with its unit and the peer's, if there is one."""
    name: str
    found: float
    goal: float
    unit: str
    peer: int | None = None

    def __str__(self):
        return f"{self.name}: {self.found:.0f} {self.unit}, goal {self.goal:.0f}"


def held_controllers(areas: dict[int, float]) -> list[Held]:
    """The areas of the default style, all parts together, by levels."""
    return [Held(f"ID + AG + SG, {levels} levels", area, GOAL * PEER["ID+AG+SG"][LEVELS.index(levels)], "µm²",
                 PEER["ID+AG+SG"][LEVELS.index(levels)]) for levels, area in areas.items()]


def held_tiles(pushmem: str) -> list[Held]:
    """The areas of the tile that does what the peer's does and of the register file, and the period of `amber` for speed, its SRAM a
    macro outside."""
    tiles = [PEER_TILES[name] for name in ("wide fetch", "register file")]
    areas = [Held(f"`{Path(spec).stem}`, osu018", area(synthesize(pushmem, spec)), GOAL * peer, "µm²", peer) for spec, peer in tiles]
    report = synthesize(pushmem, "amber", "--library", "gscl45nm", "--optimize", "speed", "--sram", "openram_freepdk45_512x64")
    return [*areas,
            Held("`amber` for speed, gscl45nm: period", report["minimum_period_ps"], LONGEST_PERIOD, "ps")]


def held_array(pushmem: str, liberty: Path, scratch: Path) -> list[Held]:
    """The areas of the interconnect and of the processing element of the array `amber`."""
    folder, wrapper = scratch / "array", scratch / "interconnect.sv"
    wrapper.write_text(INTERCONNECT)
    ok, log = tools.generate(pushmem, tools.ROOT / "constraints" / "arrays" / "amber.yaml", folder)
    if not ok:
        tools.stop(f"cannot generate the array:\n{log}")
    parts = {"pushmem_hop", "pushmem_connection_box", "pushmem_operand", "pushmem_held_operand", "pushmem_accumulator",
             "amber_word_switch_box", "amber_pe"}
    files = [str(folder / file) for file in tools.sources(folder) if Path(file).stem in parts] + [str(wrapper)]
    figures = [("switch box and three connection boxes", "word_interconnect", GOAL_INTERCONNECT, PEER_INTERCONNECT),
               ("processing element", "amber_pe", GOAL, PEER_PROCESSING_ELEMENT)]
    return [Held(f"{name} of `amber`, osu018", measure(files, top, None, liberty)["area"], goal * peer, "µm²", peer)
            for name, top, goal, peer in figures]


def area(report: dict, *, without: tuple[str, ...] = ("registers", "register_file")) -> float:
    """The area of a report without some blocks: configuration registers, and a memory of registers as SRAM is left out."""
    return sum(block["area"] for block in report["blocks"] if block["block"] not in without)
