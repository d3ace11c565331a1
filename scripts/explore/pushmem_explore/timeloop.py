"""Problem files of Timeloop as loop nests: dimensions are loops, data spaces arrays with affine projections."""

import re
from pathlib import Path

import yaml

from pushmem_explore.problems import Document, Problem, nearest, plain

# Words of the language of loop nests, which no variable may be.
_WORDS = {"for", "in", "unroll", "step", "as", "true", "false", "min", "max", "abs", "absd", "clamp", "sel", "mirror", "outside",
          "u8", "i8", "u16", "i16", "u32", "i32", "bf16", "f16", "bool"}


def is_problem(document: Document) -> bool:
    """Whether a file is a problem: it has the key that all of them have."""
    return isinstance(document.root, yaml.MappingNode) and any(key.value == "problem" for key, _ in document.root.value)


class Shape:
    """The shape of a problem: its dimensions with their sizes, its coefficients, and its data spaces."""

    def __init__(self, document: Document):
        self.document = document
        problem = document.mapping(document.mapping(document.root, "the file")["problem"][1], "`problem`")
        for key in ("shape", "instance"):
            if key not in problem:
                raise document.problem(document.root, f"the problem has no `{key}`", "a problem has a `shape` and an `instance`")
        node = problem["shape"][1]
        if not isinstance(node, yaml.MappingNode):
            raise document.problem(node, f"the shape `{node.value}` is in another file", "put the mapping of the shape here")
        # Both spellings are there, by version.
        shape = {name.replace("-", "_"): value for name, (_, value) in document.mapping(node, "`shape`").items()}
        for key in ("dimensions", "data_spaces"):
            if key not in shape:
                raise document.problem(node, f"the shape has no `{key}`", "a shape has `dimensions` and `data_spaces`")
        instance = {name: value for name, (_, value) in document.mapping(problem["instance"][1], "`instance`").items()}
        self.name = identifier(str(plain(shape["name"]))) if "name" in shape else "problem"
        self.sizes = {str(name): self._size(instance, str(name), None, shape["dimensions"]) for name in plain(shape["dimensions"])}
        self.coefficients = {}
        for node in shape["coefficients"].value if "coefficients" in shape else ():
            entry = {name: plain(value) for name, value in document.known(node, "a coefficient", ["name", "default"]).items()}
            if "name" not in entry:
                raise document.problem(node, "a coefficient has no `name`", "write `- {name: Wstride, default: 1}`")
            self.coefficients[str(entry["name"])] = self._size(instance, str(entry["name"]), entry.get("default"), node)
        self.spaces = [self._space(node) for node in shape["data_spaces"].value]
        written = [space for space in self.spaces if space[2]]
        if len(written) != 1 or len(self.spaces) < 2:
            raise document.problem(shape["data_spaces"], f"{len(written)} of {len(self.spaces)} data spaces are written",
                                   "one has `read_write: true`, and others are read")

    def _size(self, instance: dict, name: str, default, node) -> int:
        value = plain(instance[name]) if name in instance else default
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise self.document.problem(instance.get(name, node), f"`{name}` has no size of 1 or more", f"write `{name}: 16` in `instance`")
        return value

    def _space(self, node) -> tuple[str, list[list[tuple[int, str]]], bool]:
        """The name of a data space, for each of its ranks the terms with their coefficients, and whether it is written."""
        entries = {name.replace("-", "_"): value for name, (_, value) in self.document.mapping(node, "a data space").items()}
        if "name" not in entries or not isinstance(entries.get("projection"), yaml.SequenceNode):
            raise self.document.problem(node, "a data space has a `name` and a `projection`, a list",
                                        "write `projection: [[[C]], [[R], [P]]]`")
        ranks = [[self._term(term) for term in rank.value] for rank in entries["projection"].value]
        return identifier(str(plain(entries["name"]))), ranks, bool("read_write" in entries and plain(entries["read_write"]))

    def _term(self, node) -> tuple[int, str]:
        names = [str(name) for name in plain(node)] if isinstance(node, yaml.SequenceNode) else [str(plain(node))]
        factor, dimensions = 1, []
        for name in names:
            if name in self.coefficients:
                factor *= self.coefficients[name]
            elif name in self.sizes:
                dimensions.append(name)
            else:
                raise self.document.problem(node, f"`{name}` is no dimension and no coefficient",
                                            nearest(name, {**self.sizes, **self.coefficients}))
        if len(dimensions) != 1:
            raise self.document.problem(node, f"this term is a product of {len(dimensions)} dimensions",
                                        "a term is a dimension, perhaps times a coefficient")
        return factor, dimensions[0]


def identifier(name: str) -> str:
    """A name as loop nests have them."""
    name = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"_{name}" if name[:1].isdigit() else name


def loop_nest(document: Document) -> tuple[str, str]:
    """The name of a problem, and its loop nest. Sizes are constants, so that a space can vary them."""
    shape = Shape(document)
    arrays = {name for name, _, _ in shape.spaces}
    if len(arrays) < len(shape.spaces) or len({identifier(name) for name in shape.sizes}) < len(shape.sizes):
        raise Problem(f"`{document.path}`: two names are one as identifiers", "rename a data space or a dimension")
    variables, taken = {}, _WORDS | arrays | {identifier(name) for name in shape.sizes}
    for dimension in shape.sizes:
        variable = identifier(dimension).lower()
        while variable in taken:
            variable += "_"
        variables[dimension] = variable
        taken.add(variable)
    times = lambda factor, name: name if factor == 1 else f"{factor}*{name}"
    # The last rank is the innermost.
    index = lambda ranks: ", ".join(" + ".join(times(factor, variables[name]) for factor, name in rank) for rank in reversed(ranks))

    def extent(rank: list[tuple[int, str]]) -> str:
        """The elements along a rank."""
        less = sum(factor for factor, _ in rank) - 1
        return " + ".join(times(factor, identifier(name)) for factor, name in rank) + (f" - {less}" if less else "")

    declare = lambda name, ranks: f"  {name}: {{type: i16, shape: [{', '.join(extent(rank) for rank in reversed(ranks))}]}}"
    (output, ranks, _), = (space for space in shape.spaces if space[2])
    read = [space for space in shape.spaces if not space[2]]
    around = [name for name in shape.sizes if any(name == term for rank in ranks for _, term in rank)]
    if any(len(rank) > 1 or rank[0][0] > 1 for rank in ranks):
        raise Problem(f"`{document.path}`: an element of `{output}` is not one iteration of its loops",
                      "project each rank of the output to one dimension")
    inner = [name for name in shape.sizes if name not in around]
    lines = [f"# The problem of Timeloop in {Path(document.path).name}.", f"name: {shape.name}",
             f"constants: {{{', '.join(f'{identifier(name)}: {size}' for name, size in shape.sizes.items())}}}", "inputs:",
             *(declare(name, of) for name, of, _ in read), "outputs:", declare(output, ranks), "nest:"]

    def nest(loops: list[str], statement: str) -> None:
        for depth, name in enumerate(loops):
            lines.append(f"{'  ' * (depth + 1)}- for {variables[name]} in 0..{identifier(name)}:")
        lines.append(f"{'  ' * (len(loops) + 1)}- {statement}")

    nest(around, f"{output}[{index(ranks)}] = 0")
    # Loops of the sums are outside: an element is added to once in a round of the inner ones.
    nest(inner + around, f"{output}[{index(ranks)}] += {' * '.join(f'{name}[{index(of)}]' for name, of, _ in read)}")
    return shape.name, "\n".join(lines) + "\n"
