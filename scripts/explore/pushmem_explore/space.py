"""Spaces of design points: parameters with their values, conditions, objectives."""

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from pushmem_explore.objectives import OBJECTIVES, Objective
from pushmem_explore.problems import Document, Problem, nearest, plain

# Options of `pushmem build` that say nothing about the design, or that the exploration gives itself.
NO_PARAMETERS = {"folder", "json", "emit", "rtl", "configured", "wave", "input", "output", "graph", "netlist", "placement", "routing",
                 "configuration", "quiet", "verbose", "color", "message-format", "help", "version", "prefix", "package", "timing"}
# Kinds of specifications: the folder of each in a project, and the option of `pushmem build` that takes it. Processing elements,
# memory tiles and register files of an array are named in the array.
SPECIFICATIONS = {"tile": ("tiles", "tile"), "rom_tile": ("tiles", "rom-tile"), "global_buffer": ("tiles", "global-buffer"),
                  "register_file": ("tiles", "register-file"), "array": ("arrays", "array"), "pe": ("pes", None),
                  "array_tile": ("tiles", None), "array_register_file": ("tiles", None)}
# A range with more values than these is a slip, such as a bound in the wrong unit.
MOST_VALUES = 100_000
KEYS = ["objectives", "options", "specifications", "program", "where", "clock", "synth", "fpga"]


@dataclass
class Parameter:
    """A parameter: what it sets, and its values in their order."""

    name: str
    # One of `option`, `key`, `constant`, `unroll`, `schedule` and `text`.
    kind: str
    target: str
    values: list
    # Its place in the file.
    node: object = field(default=None, repr=False)


@dataclass
class Space:
    """A space, as its file says it."""

    document: Document
    parameters: list[Parameter] = field(default_factory=list)
    conditions: list = field(default_factory=list)
    objectives: list[Objective] = field(default_factory=list)
    # The specification that each kind begins with.
    bases: dict[str, str] = field(default_factory=dict)
    # The options of `pushmem synth` for areas and power, and the FPGA.
    synth: dict | None = None
    fpga: str | None = None
    # The clock period in picoseconds, where images a second are asked for without a synthesis.
    clock: float | None = None

    @property
    def size(self) -> int:
        """The number of points for each program, before conditions."""
        return math.prod(len(parameter.values) for parameter in self.parameters)

    def values(self, number: int) -> dict:
        """The values of the parameters at a point."""
        chosen = {}
        for parameter in reversed(self.parameters):
            number, place = divmod(number, len(parameter.values))
            chosen[parameter.name] = parameter.values[place]
        return {parameter.name: chosen[parameter.name] for parameter in self.parameters}

    def admits(self, values: dict) -> bool:
        """Whether a point fulfils the conditions."""
        return all(condition(values) for condition in self.conditions)

    def numbers(self) -> Iterator[int]:
        """The points that fulfil the conditions."""
        return (number for number in range(self.size) if self.admits(self.values(number)))


def read(path: str, known_options: list[str]) -> Space:
    """Reads a space."""
    document = Document(path)
    if document.root is None:
        raise Problem(f"the space `{path}` is empty", f"give it one of {', '.join(f'`{key}`' for key in KEYS)}")
    parts = document.known(document.root, "a space", KEYS)
    space = Space(document)
    if "options" in parts:
        _read_options(space, parts["options"], known_options)
    if "specifications" in parts:
        _read_specifications(space, parts["specifications"])
    if "program" in parts:
        _read_program(space, parts["program"])
    if not space.parameters:
        raise document.problem(document.root, "the space has no parameter",
                               "vary an option, a key of a specification or a line of the program")
    if "where" in parts:
        space.conditions = [_condition(space, node) for node in _items(document, parts["where"], "`where`")]
    _read_measures(space, parts)
    return space


def _items(document: Document, node, what: str) -> list:
    if not isinstance(node, yaml.SequenceNode):
        raise document.problem(node, f"{what} is a list", "write it as `[one, other]`, or a line with a dash for each")
    return node.value


def _read_options(space: Space, node, known_options: list[str]) -> None:
    possible = set(known_options) - NO_PARAMETERS
    for name, (key, value) in space.document.mapping(node, "`options`").items():
        if name in NO_PARAMETERS & set(known_options):
            raise space.document.problem(key, f"the option `--{name}` is no parameter of the design", nearest(name, possible))
        if name not in possible:
            raise space.document.problem(key, f"`pushmem build` has no option `--{name}`", nearest(name, possible))
        space.parameters.append(Parameter(name.replace("-", "_"), "option", name, _values(space.document, value, name), key))


def _read_specifications(space: Space, node) -> None:
    document = space.document
    for kind, (key, value) in document.mapping(node, "`specifications`").items():
        if kind not in SPECIFICATIONS:
            raise document.problem(key, f"unknown kind of specification `{kind}`", nearest(kind, SPECIFICATIONS))
        option = SPECIFICATIONS[kind][1]
        if any(parameter.target == option and parameter.kind == "option" for parameter in space.parameters):
            raise document.problem(key, f"`{kind}` is among the options, too", "name the specification in one of the two places")
        parts = document.known(value, f"`{kind}`", ["base", "keys"])
        if "base" not in parts:
            raise document.problem(key, f"`{kind}` has no `base`", "name the specification that the keys are changed in, as `base: amber`")
        space.bases[kind] = str(plain(parts["base"]))
        if "keys" in parts:
            for path, (where, node_of_values) in document.mapping(parts["keys"], "`keys`").items():
                values = _values(document, node_of_values, path)
                space.parameters.append(Parameter(f"{kind}.{path}", "key", f"{kind}/{path}", values, where))
    for kind in (kind for kind, (_, option) in SPECIFICATIONS.items() if option is None):
        if kind in space.bases and "array" not in space.bases:
            raise document.problem(document.root, f"`{kind}` needs an `array`", "name the array, as `array: {base: amber}`")


def _read_program(space: Space, node) -> None:
    document = space.document
    parts = document.known(node, "`program`", ["constants", "unroll", "text", "schedule"])
    for part, kind in [("constants", "constant"), ("unroll", "unroll"), ("text", "text")]:
        if part in parts:
            for name, (key, value) in document.mapping(parts[part], f"`{part}`").items():
                space.parameters.append(Parameter(f"{kind}.{name}", kind, name, _values(document, value, name), key))
    if "schedule" in parts:
        values = _values(document, parts["schedule"], "schedule")
        space.parameters.append(Parameter("schedule", "schedule", "schedule", values, parts["schedule"]))


def _values(document: Document, node, name: str) -> list:
    """The values of a parameter: one, a list, or a range."""
    if isinstance(node, yaml.ScalarNode):
        return [plain(node)]
    if isinstance(node, yaml.MappingNode):
        return _range(document, node, name)
    values = []
    for item in node.value:
        if not isinstance(item, yaml.ScalarNode):
            raise document.problem(item, f"a value of `{name}` is no single value", "write a number, a word, `true`, `false` or `null`")
        if plain(item) in values and type(plain(item)) in map(type, values):
            raise document.problem(item, f"`{name}` has the value `{item.value}` twice", "leave one out")
        values.append(plain(item))
    if not values:
        raise document.problem(node, f"`{name}` has no value: the space is empty", "give it one, or leave the parameter out")
    return values


def _range(document: Document, node, name: str) -> list:
    """The values of `{from: 1, to: 9, step: 2}`, or with `times: 2` in place of the step each so many times the one before."""
    entries = document.known(node, "a range", ["from", "to", "step", "times"])
    numbers = {}
    for key, value in entries.items():
        numbers[key] = plain(value)
        if isinstance(numbers[key], bool) or not isinstance(numbers[key], int):
            raise document.problem(value, f"`{key}` is an integer, not `{value.value}`", "ranges have integers; write others as a list")
    for key in ("from", "to"):
        if key not in numbers:
            raise document.problem(node, f"the range of `{name}` has no `{key}`: it is infinite", "write `{from: 1, to: 9}`")
    first, last, step, times = numbers["from"], numbers["to"], numbers.get("step", 1), numbers.get("times")
    if "step" in numbers and times is not None:
        raise document.problem(node, f"the range of `{name}` has both `step` and `times`", "leave one out")
    if first > last:
        raise document.problem(node, f"the range of `{name}` goes from {first} to {last}: the space is empty", "exchange the two")
    if (times is None and step < 1) or (times is not None and (times < 2 or first < 1)):
        raise document.problem(node, f"the range of `{name}` never reaches {last}: it is infinite",
                               "the step is 1 or more; `times` is 2 or more, from 1 or more")
    values = []
    while first <= last:
        if len(values) == MOST_VALUES:
            raise document.problem(node, f"the range of `{name}` has more than {MOST_VALUES:,} values", "take a larger step")
        values.append(first)
        first = first + step if times is None else first * times
    return values


# What conditions may be made of.
_ALLOWED = (ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div,
            ast.FloorDiv, ast.Mod, ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn, ast.Is, ast.IsNot,
            ast.List, ast.Tuple, ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Load)


def _condition(space: Space, node):
    """The function of a condition such as `tile.agg_words >= tile.fetch_width`, from the values of a point."""
    text, document = str(plain(node)), space.document
    names = {parameter.name for parameter in space.parameters}
    places = {}

    class Lookup(ast.NodeTransformer):
        def visit_Attribute(self, inner):
            return self.parameter(inner)

        def visit_Name(self, inner):
            return inner if inner.id in ("null", "true", "false") else self.parameter(inner)

        def parameter(self, inner):
            name = ast.unparse(inner)
            if name not in names:
                raise document.problem(node, f"`{name}` in this condition is no parameter of the space", nearest(name, names))
            places[name] = inner
            return ast.Subscript(ast.Name("values", ast.Load()), ast.Constant(name), ast.Load())

    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        raise document.problem(node, "this is no condition", "write a comparison, as `tile.agg_words >= tile.fetch_width`") from None
    wrong = next((part for part in ast.walk(tree) if not isinstance(part, _ALLOWED)), None)
    if wrong is not None:
        raise document.problem(node, f"`{ast.unparse(wrong)}` is not possible in a condition",
                               "conditions have parameters, constants, arithmetic, comparisons, `and`, `or`, `not`, `in`")
    tree = ast.fix_missing_locations(Lookup().visit(tree))
    if not places:
        raise document.problem(node, "this condition names no parameter", nearest("", names))
    code = compile(tree, "where", "eval")

    def holds(values: dict) -> bool:
        try:
            return bool(eval(code, {"__builtins__": {}, "null": None, "true": True, "false": False}, {"values": values}))  # noqa: S307
        except (TypeError, ZeroDivisionError) as error:
            shown = ", ".join(f"{name} = {values[name]}" for name in places)
            raise document.problem(node, f"this condition has no value at {shown}: {error}",
                                   "compare with `null` first, as `fit == null or …`") from None

    return holds


def _read_measures(space: Space, parts: dict) -> None:
    """The objectives, and what is run for them."""
    document = space.document
    if "clock" in parts:
        space.clock = plain(parts["clock"])
        if isinstance(space.clock, bool) or not isinstance(space.clock, int | float) or space.clock <= 0:
            raise document.problem(parts["clock"], "`clock` is a period in picoseconds, more than 0", "write `clock: 2000` for 500 MHz")
    if "synth" in parts:
        options = document.mapping(parts["synth"], "`synth`")
        known = ["library", "sram", "clock-gate", "style", "clock", "optimize", "assumed-activity"]
        for name, (key, _) in options.items():
            if name not in known:
                raise document.problem(key, f"`{name}` is no option of the synthesis of a point", nearest(name, known))
        space.synth = {name: plain(value) for name, (_, value) in options.items()}
    if "fpga" in parts:
        space.fpga = str(plain(parts["fpga"]))
    default = yaml.compose("[cycles, processing_elements, memory_tiles]", yaml.SafeLoader)
    for node in _items(document, parts.get("objectives", default), "`objectives`"):
        name = str(plain(node))
        if name not in OBJECTIVES:
            raise document.problem(node, f"there is no objective `{name}`", nearest(name, OBJECTIVES))
        objective = OBJECTIVES[name]
        there = {"synth": space.synth is not None, "fpga": space.fpga is not None,
                 "rate": space.synth is not None or space.fpga is not None or space.clock is not None}
        if objective.needs and not there[objective.needs]:
            raise document.problem(node, f"`{name}` needs a {'clock' if objective.needs == 'rate' else 'synthesis'}",
                                   {"synth": "add `synth: {library: osu018}`", "fpga": "add `fpga: ecp5`",
                                    "rate": "add `clock: 2000`, `synth` or `fpga`"}[objective.needs])
        space.objectives.append(objective)
    if not space.objectives:
        raise document.problem(parts["objectives"], "there is no objective", nearest("", OBJECTIVES))
