"""Tests of spaces and of the programs and specifications of their points."""

import yaml
from pushmem_explore import space
from pushmem_explore.problems import Problem
from pushmem_explore.samplers import shuffled
from pushmem_explore.sources import Program, Specifications
from testing import SMALL, refusal, scratch, space_file

OPTIONS = ["memories", "tile", "fit", "shift-register-threshold", "unbalanced", "json", "folder"]
# Spaces that are refused: the text, a part of the message, a part of the help, and the line that is shown.
REFUSED = [
    ("", "is empty", "options", None),
    ("options: {memories: [tiles}", "no YAML", "correct", 1),
    ("optoins: {}", "unknown key `optoins`", "did you mean `options`", 1),
    ("options: [memories]", "`options` is a mapping", "key: value", 1),
    ("objectives: [cycles]", "no parameter", "vary", 1),
    ("options: {memory: [fixed]}", "no option `--memory`", "did you mean `memories`", 1),
    ("options: {json: [true]}", "no parameter of the design", "expected one of", 1),
    ("options:\n  memories: []", "the space is empty", "leave the parameter out", 2),
    ("options:\n  memories: [tiles, tiles]", "twice", "leave one out", 2),
    ("options:\n  memories: [[tiles]]", "no single value", "a number", 2),
    ("options: {memories: [tiles], memories: [fixed]}", "there twice", "leave one out", 1),
    ("options:\n  shift-register-threshold: {from: 3}", "it is infinite", "from: 1, to: 9", 2),
    ("options:\n  shift-register-threshold: {from: 3, to: 9, step: 0}", "it is infinite", "1 or more", 2),
    ("options:\n  shift-register-threshold: {from: 0, to: 9, times: 2}", "it is infinite", "2 or more", 2),
    ("options:\n  shift-register-threshold: {from: 9, to: 3}", "the space is empty", "exchange", 2),
    ("options:\n  shift-register-threshold: {from: 0, to: 1.5}", "is an integer", "as a list", 2),
    ("options:\n  shift-register-threshold: {from: 0, to: 10000000}", "more than 100,000 values", "larger step", 2),
    ("options: {memories: [fixed]}\nwhere: [memorys == 1]", "is no parameter of the space", "did you mean `memories`", 2),
    ("options: {memories: [fixed]}\nwhere: ['1 +']", "no condition", "comparison", 2),
    ("options: {memories: [fixed]}\nwhere: ['open(memories)']", "not possible in a condition", "comparisons", 2),
    ("options: {memories: [fixed]}\nwhere: ['1 == 1']", "names no parameter", "memories", 2),
    ("options: {memories: [fixed]}\nobjectives: [cycle]", "no objective `cycle`", "did you mean `cycles`", 2),
    ("options: {memories: [fixed]}\nobjectives: []", "no objective", "cycles", 2),
    ("options: {memories: [fixed]}\nobjectives: [area]", "needs a synthesis", "synth", 2),
    ("options: {memories: [fixed]}\nobjectives: [images_per_second]", "needs a clock", "clock: 2000", 2),
    ("options: {memories: [fixed]}\nclock: fast", "a period in picoseconds", "500 MHz", 2),
    ("options: {memories: [fixed]}\nsynth: {libary: osu018}", "no option of the synthesis", "did you mean `library`", 2),
    ("specifications:\n  tiles: {base: amber}", "unknown kind", "did you mean `tile`", 2),
    ("specifications:\n  tile: {keys: {rows: [1]}}", "no `base`", "base: amber", 2),
    ("options: {tile: [amber]}\nspecifications:\n  tile: {base: amber, keys: {rows: [16]}}", "among the options, too", "one of the two", 3),
    ("specifications: {pe: {base: lean_pe, keys: {lut: [true]}}}", "needs an `array`", "array: {base: amber}", 1),
    ("program: {unrol: {x: [1]}}", "unknown key `unrol`", "did you mean `unroll`", 1),
]
# The same of what the whole command finds out.
REFUSED_BY_COMMAND = [
    ("program:\n  unroll: {z: [1]}", "no loop `z`", "x", 2),
    ("program:\n  unroll: {output.z: [1]}", "no loop `output.z`", "did you mean `output.", 2),
    ("program:\n  constants: {W: [1]}", "no constant `W`", "there are none", 2),
    ("program:\n  text: {'for y': [none]}", "is 3 times in", "once", 2),
    ("specifications:\n  tile: {base: ambr, keys: {rows: [16]}}", "no specification `ambr`", "did you mean `amber`", None),
    ("specifications:\n  tile:\n    base: amber\n    keys: {fetch_widht: [4]}", "unknown key `fetch_widht`", "did you mean `fetch_width`",
     4),
    ("specifications:\n  tile:\n    base: amber\n    keys: {rows.deep: [4]}", "no mapping", "path of a key", 4),
    ("options: {memories: [tiles, fixed]}\nwhere:\n  - memories == 'other'", "no point fulfils", "take one of them out", 3),
    ("options: {memories: [tiles, 3]}\nwhere: [memories > 2]", "has no value at memories = tiles", "compare with `null`", 2),
]
PROGRAM = """name: two
constants: {W: 64, H: 32}
inputs: {input: {type: u16, shape: [W, H]}}
outputs: {output: {type: u16, shape: [W, H]}}
buffers: {twice: {type: u16, shape: [W, H]}}
nest:
  - for y in 0..H:
    - for x in 0..W unroll 4:
      - twice[x, y] = 2 * input[x, y]
  - for y in 0..H:
    - for x in 0..W: # the second
      - output[x, y] = twice[x, y] + 1
"""


def read(folder, text: str) -> space.Space:
    return space.read(str(space_file(folder, text)), OPTIONS)


def test_spaces_that_are_wrong_are_refused(_) -> None:
    with scratch() as folder:
        for text, message, help_text, line in REFUSED:
            try:
                read(folder, text)
            except Problem as problem:
                assert message in problem.message and help_text in problem.help, f"{text!r}: {problem.message}; {problem.help}"
                shown = problem.place and problem.place[1].encode()[:problem.place[2]].count(b"\n") + 1
                assert shown == line, f"{text!r} is wrong in line {shown}"
            else:
                raise AssertionError(f"{text!r} is taken")


def test_what_is_not_there_is_refused_at_its_place(pushmem: str) -> None:
    with scratch() as folder:
        for text, message, help_text, line in REFUSED_BY_COMMAND:
            space_file(folder, text)
            said = refusal(pushmem, folder)
            assert message in said["message"] and help_text in said["help"], f"{text!r}: {said}"
            assert said.get("line") == line, f"{text!r} is wrong in line {said.get('line')}"
        space_file(folder, SMALL)
        assert "no_such.yaml" in refusal(pushmem, folder, programs=["apps/no_such.yaml"])["message"]


def test_points_are_all_combinations_that_fulfil_the_conditions(_) -> None:
    with scratch() as folder:
        one = read(folder, """
options:
  memories: [tiles, fixed]
  shift-register-threshold: {from: 1, to: 8, times: 2}
  unbalanced: false
specifications: {tile: {base: amber, keys: {controllers.all.levels: {from: 4, to: 8, step: 2}}}}
where:
  - tile.controllers.all.levels < 8 or memories == 'fixed'
""")
    assert one.size == 2 * 4 * 3
    points = [tuple(one.values(number).values()) for number in one.numbers()]
    expected = {(memories, threshold, False, levels) for memories in ("tiles", "fixed") for threshold in (1, 2, 4, 8)
                for levels in (4, 6, 8) if levels < 8 or memories == "fixed"}
    assert len(points) == len(expected) and set(points) == expected, points


def test_random_orders_have_each_point_once(_) -> None:
    for size in (1, 2, 3, 17, 1000, 4096):
        for seed in (1, 2):
            order = list(shuffled(size, seed))
            assert sorted(order) == list(range(size)), f"{size} with seed {seed}"
        assert size < 17 or list(shuffled(size, 1)) != list(shuffled(size, 2)) != list(range(size))


def test_lines_of_programs_are_set(pushmem: str) -> None:
    with scratch() as folder:
        file = folder / "two.yaml"
        file.write_text(PROGRAM)
        program = Program(str(file))
        set_to = lambda kind, target, value: program.variant(((kind, target, value),))[1].decode()
        lines = lambda text: [line.strip() for line in text.splitlines() if "for x" in line]
        assert lines(set_to("unroll", "x", 2)) == ["- for x in 0..W unroll 2:", "- for x in 0..W unroll 2: # the second"]
        assert lines(set_to("unroll", "twice.x", 1)) == ["- for x in 0..W:", "- for x in 0..W: # the second"]
        assert lines(set_to("unroll", "output.x", 8)) == ["- for x in 0..W unroll 4:", "- for x in 0..W unroll 8: # the second"]
        assert "constants: {W: 128, H: 32}" in set_to("constant", "W", 128)
        assert set_to("schedule", "schedule", "dnn").startswith("schedule: dnn\nname: two")
        assert "3 * input" in set_to("text", "2 * input", "3 * input")


def test_specifications_of_arrays_bring_their_parts(_) -> None:
    array = "columns: 4\nname: one\npe: own_pe\nmemory: {tile: amber, every: 4}\n"
    shipped = {"constraints/arrays/one.yaml": array, "constraints/pes/own_pe.yaml": "name: own_pe\nlut: true\n",
               "constraints/tiles/amber.yaml": "name: amber\nrows: 512\n"}
    name, files = Specifications(shipped).files(
        "array", "one", {"array": (("columns", 8),), "pe": (("lut", False),)}, {"array": "one", "pe": "own_pe"})
    told = {path: yaml.safe_load(text) for path, text in files.items()}
    changed = told[f"constraints/arrays/{name}.yaml"]
    assert changed["columns"] == 8 and told[f"constraints/pes/{changed['pe']}.yaml"]["lut"] is False, told
    # The tile is that of the project, whose tests run here.
    assert changed["memory"]["tile"] == "amber" and "constraints/tiles/amber.yaml" in told, told
    assert all(text["name"] in path for path, text in told.items()), told
