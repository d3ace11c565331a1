"""Harnesses that prove the tiles of an array: what each register of the array's map, registers.json, says that it does.

The map is printed from the routing resources, and the harness from the map: it does not know how the RTL is made. The cores of tiles
(processing elements, memories, streams) show anything.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

SIDES = ["north", "east", "south", "west"]
OPPOSITE = dict(zip(SIDES, ["south", "west", "north", "east"]))

# Signals of a tile that the outputs of its core have, by layer and name in the map.
CORES = {
    "pe": {("word", "result"): "result", ("bit", "result"): "result_bit"},
    "mem": {},
    "io": {("word", "data"): "data", ("bit", "bit"): "bit_in"},
}

# The members of the structure of the configuration that take fields, by the names of the fields without numbers.
MEMBERS = {"word_mode": "data_mode", "word_constant": "data_constant", "stream_in_extent": "stream_in_extents",
           "stream_out_extent": "stream_out_extents", "stream_in_gap": "stream_in_gaps", "stream_out_gap": "stream_out_gaps"}


@dataclass(frozen=True)
class Shape:
    """The interconnect of a specification."""
    topology: str
    hop_limit: int
    tracks: dict[str, int]


def turned(shape: Shape, layer: str, side: str, track: int, onto: str) -> int:
    """The track on another side that a turn joins with a track on a side, as docs/src/array.md says."""
    count = shape.tracks[layer]
    if OPPOSITE[side] == onto or shape.topology == "disjoint":
        return track
    there = {("west", "north"): -track, ("north", "east"): track + 1, ("east", "south"): -2 - track, ("south", "west"): track + 1,
             ("north", "west"): -track, ("east", "north"): track - 1, ("south", "east"): -2 - track, ("west", "south"): track - 1}
    return there[side, onto] % count


def harness(folder: Path, kind: str, shape: Shape) -> tuple[str, str]:
    """The text of the harness of the tiles of a kind of a generated array, and the name of the core's module."""
    array_map = json.loads((folder / "registers.json").read_text())
    [tile] = (tile for tile in array_map["tiles"] if tile["kind"] == kind)
    module = f"{array_map['array']}_{kind}_tile"
    text = (folder / "rtl" / f"{module}.sv").read_text()
    header = text[text.index(f"module {module}\n"):text.index("\n);")]
    ports = re.findall(r"^ *(input|output) +logic *(\[\d+:0\])? *(\w+),?$", header, re.M)
    fields = {field["name"]: (register["name"], field) for register in tile["registers"] for field in register["fields"]}
    lines = ["logic first_q = 1'b1;", "always_ff @(posedge clk_i) first_q <= 1'b0;"]

    def value(name: str) -> str:
        register, field = fields[name]
        return f"{register}_q[{field['low'] + field['bits'] - 1}:{field['low']}]"

    def part(layer: str, number: int) -> str:
        """The part of a vector of words or bits that has this number."""
        return f"[{16 * number}+:16]" if layer == "word" else f"[{number}]"

    def member(name: str, register: str) -> str:
        """The member of the structure of the configuration that has a field."""
        layer = name.partition("_")[0]
        if register.startswith("core_"):
            stem = re.sub(r"_\d+$", "", name)
            return MEMBERS.get(stem, stem)
        if register.startswith("connection_boxes"):
            return f"{layer}_connection"
        return f"{layer}_{'pass' if name.endswith('_pass') else 'select'}"

    def source(layer: str, name: str) -> str:
        """A track that comes in, or an output of the core."""
        side, _, track = name.rpartition("_")
        if side in SIDES:
            return f"{layer}_{side}_i{part(layer, int(track))}"
        return f"u_tile.{CORES[kind].get((layer, name), name)}"

    # Inputs of the tile are those of the harness, but for its place, which is any and always the same.
    inputs = ["input logic clk_i"]
    for direction, bits, name in ports:
        # One track of bits is a vector, too, as parts of it are taken.
        bits = bits or ("[0:0]" if name.startswith("bit_") else "")
        if direction == "output":
            lines.append(f"logic {bits} {name};")
        elif name in ("column_i", "row_i"):
            inputs.append(f"input logic [7:0] {name}")
            lines += [f"logic [7:0] {name}_before;", f"always_ff @(posedge clk_i) {name}_before <= {name};",
                      f"always_comb assume ({name} != 8'hff && (first_q || {name} == {name}_before));"]
        elif name != "clk_i":
            inputs.append(f"input logic {bits} {name}")
    connections = ", ".join(f".{name}({name})" for _, _, name in ports)
    lines += [f"{module} u_tile ({connections});",
              # Everything is unknown until a reset; there is one access in a cycle.
              "always_comb assume (!(first_q && rst_ni));", "always_comb assume (!(config_write_i && config_read_i));"]

    # Registers: what is written to them, alone or in all tiles of the kind of a column or of all columns; nothing else changes them.
    lines += ["logic here, common;", "assign here = config_address_i[31:16] == {row_i, column_i};",
              "assign common = config_write_i && config_address_i[31:24] == 8'hff"
              " && (config_address_i[23:16] == 8'hff || config_address_i[23:16] == column_i)"
              f" && config_address_i[15:14] == 2'd{tile['number']};"]
    hits = []
    for register in tile["registers"]:
        name, bits = register["name"], max(field["low"] + field["bits"] for field in register["fields"])
        lines += [
            f"logic [{bits - 1}:0] {name}_q;", f"logic {name}_hit;",
            f"assign {name}_hit = config_address_i[11:0] == 12'd{register['number']} && "
            f"(here && config_address_i[15:12] == 4'd{register['feature']}"
            f" || common && config_address_i[13:12] == 2'd{register['feature']});",
            f"always_ff @(posedge clk_i, negedge rst_ni) if (!rst_ni) {name}_q <= '0; else if (config_clear_i) {name}_q <= '0; "
            f"else if (config_write_i && {name}_hit) {name}_q <= config_write_data_i[{bits - 1}:0];",
        ]
        hits.append(name)
    # Answers: in the next cycle, for registers that there are, and what they held.
    lines += [
        "logic done_q; logic [31:0] read_q;",
        "always_ff @(posedge clk_i, negedge rst_ni) if (!rst_ni) {done_q, read_q} <= '0; else begin",
        f"  done_q <= (config_write_i || config_read_i) && ({' || '.join(f'{name}_hit' for name in hits)});",
        f"  read_q <= config_read_i ? {' | '.join(f'({name}_hit ? 32{chr(39)}({name}_q) : 32{chr(39)}d0)' for name in hits)} : '0;",
        "end",
    ]
    memory_folder, in_memory = "memory", ("here && config_address_i[15:12] == 4'd0"
                                          " || common && config_address_i[13:12] == 2'd0")
    has_file = "u_register_file (" in text
    if has_file:
        # All the register files of a column have no address.
        memory_folder, in_memory = "register_file", "here && config_address_i[15:12] == 4'd4"
    if kind == "mem" or has_file:
        memory = json.loads((folder / memory_folder / "registers.json").read_text())
        [control] = (register for register in memory["registers"] if register["name"] == "control")
        lines += [
            "logic in_memory, accessed_q, memory_read_q;",
            f"assign in_memory = {in_memory};",
            "always_ff @(posedge clk_i, negedge rst_ni) if (!rst_ni) {accessed_q, memory_read_q} <= '0; else begin",
            "  accessed_q <= (config_write_i || config_read_i) && in_memory; memory_read_q <= config_read_i && in_memory; end",
            "always_comb if (rst_ni && !first_q) begin",
            "  assert (u_tile.memory_write == (config_clear_i || config_write_i && in_memory));",
            "  assert (u_tile.memory_read == (config_read_i && in_memory));",
            "  if (config_clear_i) assert (u_tile.memory_write_data == '0 && "
            f"u_tile.memory_address == 32'd{control['offset']});",
            "  else begin assert (u_tile.memory_write_data == config_write_data_i);",
            "    assert (u_tile.memory_address == {18'd0, config_address_i[11:0], 2'd0}); end",
            "  assert (config_done_o == (done_q || accessed_q && !u_tile.memory_error));",
            "  assert (config_read_data_o == (read_q | (memory_read_q ? u_tile.memory_read_data : '0)));",
            "end",
        ]
    else:
        lines += ["always_comb if (rst_ni && !first_q) assert (config_done_o == done_q && config_read_data_o == read_q);"]

    # Fields reach the tile, the first lowest.
    groups: dict[str, list[str]] = {}
    for name, (register, _) in fields.items():
        groups.setdefault(member(name, register), []).append(name)
    for of, names in groups.items():
        lines.append(f"always_comb if (rst_ni && !first_q) assert (u_tile.cfg.{of} == "
                     f"{{{', '.join(value(name) for name in reversed(names))}}});")

    # Tracks and inputs of the core.
    for name, (register, field) in fields.items():
        layer, _, rest = name.partition("_")
        chosen = {value: choice for value, choice in enumerate(field.get("choices", [])) if value > 0}
        if register.startswith("connection_boxes"):
            items = "".join(f"{value(name)} == {number} ? {source(layer, item)} : " for number, item in chosen.items())
            shown = f"u_tile.{layer}_inputs{part(layer, int(rest.rpartition('_')[2]))}"
            lines.append(f"always_comb assert ({shown} == ({items}'0));")
        elif "_switch_box_" in register and not name.endswith("_pass"):
            side, track = rest.split("_")
            for item in chosen.values():
                onto, _, number = item.rpartition("_")
                if onto in SIDES and int(number) != turned(shape, layer, side, int(track), onto):
                    raise ValueError(f"{name} takes {item}: the topology joins it with another track")
            box = f"gen_{layer}" if kind == "io" else f"u_{layer}_switch_box.gen_{side}"
            held = f"u_tile.{box}[{track}].u_hop.track_q"
            cases = "".join(f"{number}: {name}_want_q <= {source(layer, item)}; " for number, item in chosen.items())
            lines += [
                f"logic [{'15' if layer == 'word' else '0'}:0] {name}_want_q;",
                f"always_ff @(posedge clk_i) begin {name}_want_q <= {held}; "
                f"if (!stall_i) case ({value(name)}) {cases} default: ; endcase end",
                f"always_comb if (!first_q) assert ({held} == {name}_want_q);",
            ]
            shown = held
            if f"{name}_pass" in fields:
                position = "row_i" if side in ("north", "south") else "column_i"
                passes = f"{value(f'{name}_pass')} && (9'({position}) + 9'd{track}) % {shape.hop_limit} != 0"
                shown = f"({passes} ? {source(layer, f'{OPPOSITE[side]}_{track}')} : {held})"
            lines.append(f"always_comb assert ({layer}_{side}_o{part(layer, int(track))} == {shown});")
    cores = re.findall(r"(\w+) (?:u_pe|u_memory|u_register_file) \(", text) or ["pushmem_stream_in", "pushmem_stream_out"]
    body = "\n".join(f"    {line}" for line in lines)
    return f"module {kind}_tile_proof (\n    " + ",\n    ".join(inputs) + f"\n);\n{body}\nendmodule\n", cores


def stub(text: str) -> str:
    """A module that shows anything: its header, without what drives its outputs."""
    begin = re.search(r"^module ", text, re.M).start()
    return text[begin:text.index("\n);", begin)] + "\n);\nendmodule\n"
