"""Accelerator scopes for Halide: the scheduling calls of the papers, over those that stock Halide has.

    import halide as hl
    from pushmem_halide import compute_at, hw_accelerate, stream_to_accelerator, tile, unroll

    x, y = hl.Var("x"), hl.Var("y")
    image = stream_to_accelerator("input", hl.UInt(16), 2)
    blur = hl.Func("blur")
    blur[x, y] = (image[x, y] + image[x + 1, y]) / 2
    unroll(blur, x, 2)
    hw_accelerate(blur, [64, 64], [image]).write("blur.stmt")    # pushmem build blur.stmt

An accelerator computes one tile. `hw_accelerate` writes the tile as a lowered statement, or as the pipeline before
lowering, `blur.hlpipe`, with bounds that are constants; whatever calls the tile, and whatever makes its inputs, stays with the CPU.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

try:
    import halide as hl
except ImportError as error:
    raise ImportError("pushmem_halide needs Halide: pip install 'pushmem[halide]'", name="halide") from error

__all__ = ["Accelerator", "compute_at", "hw_accelerate", "store_at", "stream_to_accelerator", "tile", "unroll"]

#: The least index and the extent of every dimension, innermost first.
Box = Sequence[tuple[int, int]]

#: Neither checks nor calls of the runtime: what is left is the computation. The target is the same on every machine, and has no
#: vectors, as Halide lowers some operators in other ways for processors that have them.
TARGET = "x86-64-linux-no_asserts-no_bounds_query-no_runtime"


def stream_to_accelerator(source: str | hl.Func, element: hl.Type | None = None,
                          dimensions: int | None = None) -> hl.ImageParam:
    """An input of an accelerator: one of its own, by name and type, or a Func of the CPU whose values it takes.

    The text has its name. Compute a Func on the CPU with `realize`, over the box that `Accelerator.inputs` says, and give
    the result to the accelerator under this name.
    """
    if isinstance(source, str):
        return hl.ImageParam(element, dimensions, source)
    check_output(source)
    return hl.ImageParam(source.type(), source.dimensions(), source.name())


def tile(func: hl.Func, x: hl.Var, y: hl.Var, xo: hl.Var, yo: hl.Var, xi: hl.Var, yi: hl.Var, width: int,
         height: int) -> hl.Func:
    """Splits two loops into tiles: `Func.tile`. In the text the loops are `func.s0.x.xo`, `func.s0.x.xi` and so on."""
    return func.tile(x, y, xo, yo, xi, yi, width, height)


def unroll(func: hl.Func | hl.Stage, variable: hl.Var | hl.RVar, factor: int | None = None) -> hl.Func | hl.Stage:
    """Computes neighbours at once: `Func.unroll`. The text has a copy of the statement for each.

    A variable of a reduction is unrolled in the updates that have it, and a variable of a Func in its first definition. Give
    a stage, `func.update(1)`, to unroll in that one only.
    """
    amount = () if factor is None else (factor,)
    if isinstance(func, hl.Stage) or isinstance(variable, hl.Var):
        return func.unroll(variable, *amount)
    updates = [number for number in range(func.num_update_definitions())
               if variable.name() in (each.name() for each in func.rvars(number))]
    if not updates:
        raise ValueError(f"no update of `{func.name()}` has the variable `{variable.name()}`")
    for number in updates:
        func.update(number).unroll(variable, *amount)
    return func


def compute_at(func: hl.Func, consumer: hl.Func, variable: hl.Var | hl.RVar) -> hl.Func:
    """Computes a Func in a buffer of its own: `Func.compute_at`. The text has `produce func` in that loop."""
    return func.compute_at(consumer, variable)


def store_at(func: hl.Func, consumer: hl.Func, variable: hl.Var | hl.RVar) -> hl.Func:
    """Keeps a buffer over the iterations of a loop: `Func.store_at`. The text has `allocate func` in that loop."""
    return func.store_at(consumer, variable)


@dataclass
class Accelerator:
    """A tile that hardware computes."""

    output: hl.Func
    #: The extent of each dimension of the output, innermost first.
    extents: list[int]
    #: Images that are streamed in, each with the least index and the extent of every dimension.
    inputs: list[tuple[hl.ImageParam, Box]]
    #: Tables of constants, whose contents Halide does not print.
    tables: list[hl.Buffer]
    #: How pushmem schedules it, `dnn` or `stencil`; as it finds right, if nothing is said.
    schedule: str | None = None

    def write(self, file: str | Path) -> None:
        """Writes the tile: as the pipeline before lowering, to a file `.hlpipe`, or else as a lowered statement. Lines say
        what Halide does not write: the types and shapes of what is streamed, and of statements the entries of tables."""
        for parameter, box in self.inputs:
            fix(parameter, box)
        fix(self.output.output_buffer(), [(0, extent) for extent in self.extents])
        if Path(file).suffix == ".hlpipe":
            self.write_pipeline(Path(file))
            return
        parameters = [parameter for parameter, _ in self.inputs]
        self.output.compile_to_lowered_stmt(str(file), parameters, hl.StmtOutputFormat.Text, hl.Target(TARGET))
        streams = [(parameter.name(), parameter.type(), [extent for _, extent in box]) for parameter, box in self.inputs]
        streams.append((self.output.name(), self.output.type(), self.extents))
        lines = [f"// schedule: {self.schedule}\n"] if self.schedule else []
        lines += [f"// {name}: {type_name(name, element)}{list(extents)}\n" for name, element, extents in streams]
        for table in self.tables:
            extents = [table.dim(dimension).extent() for dimension in range(table.dimensions())]
            entries = ", ".join(str(value) for value in memoryview_of(table))
            lines.append(f"// {table.name()}: {type_name(table.name(), table.type())}{extents} = {entries}\n")
        Path(file).write_text("".join(lines) + Path(file).read_text())


    def write_pipeline(self, file: Path) -> None:
        """Writes the tile as Funcs and schedules, with the box of each input behind them."""
        hl.serialize_pipeline(hl.Pipeline(self.output), str(file))
        lines = ["// pushmem", *([f"// schedule: {self.schedule}"] if self.schedule else [])]
        for parameter, box in self.inputs:
            dimensions = ", ".join(f"{least} {extent}" for least, extent in box)
            lines.append(f"// {parameter.name().split('$')[0]}: {dimensions}")
        with file.open("ab") as pipeline:
            pipeline.write(("\n" + "\n".join(lines) + "\n").encode())


def hw_accelerate(output: hl.Func, extents: Iterable[int], inputs: Sequence[hl.ImageParam] = (),
                  boxes: Mapping[str, Box] | None = None, tables: Iterable[hl.Buffer] = (),
                  schedule: str | None = None) -> Accelerator:
    """Makes a tile of a Func an accelerator: as many elements of each dimension as `extents` says, innermost first, from 0.

    `inputs` are what `stream_to_accelerator` gave. The boxes that the tile reads follow from its bounds; `boxes` says them
    where they are larger, for each name the least index and the extent of every dimension. `tables` are the constant
    buffers that the program looks up. `schedule` is written into the text, as a nest says it: `dnn` or `stencil`.

    Raises TypeError for values that no memory holds, and what has more than one output; ValueError for extents and inputs that
    do not fit the Func; and Halide's own `HalideError` for schedules that it refuses.
    """
    check_output(output)
    extents = [int(extent) for extent in extents]
    boxes = dict(boxes or {})
    if len(extents) != output.dimensions():
        raise ValueError(f"`{output.name()}` has {output.dimensions()} dimensions, but extents are {extents}")
    check_inputs(output, inputs)
    if any(parameter.name() not in boxes for parameter in inputs):
        infer_boxes(output, extents)
    streams = []
    for parameter in inputs:
        box = boxes.get(parameter.name())
        if box is None:
            buffer = parameter.get()
            box = [(buffer.dim(each).min(), buffer.dim(each).extent()) for each in range(buffer.dimensions())]
        streams.append((parameter, [tuple(each) for each in box]))
    for parameter in inputs:
        parameter.reset()
    return Accelerator(output, extents, streams, list(tables), schedule)


def check_output(func: hl.Func) -> None:
    """Refuses what is no Func of one value that memories hold."""
    if not isinstance(func, hl.Func):
        raise TypeError(f"an accelerator computes one Func, not a {type(func).__name__}: build one for each output")
    if not func.defined():
        raise ValueError(f"`{func.name()}` is not defined")
    if func.outputs() != 1:
        raise TypeError(f"`{func.name()}` has {func.outputs()} values for each element, and an accelerator one output: "
                        "make each value a Func of its own")
    type_name(func.name(), func.type())


def check_inputs(output: hl.Func, inputs: Sequence[hl.ImageParam]) -> None:
    """Refuses what a Func reads, but is not streamed to it."""
    given = {parameter.name() for parameter in inputs}
    for argument in output.infer_arguments():
        if argument.kind == hl.ArgumentKind.InputScalar:
            raise ValueError(f"`{argument.name}` is a parameter, and hardware is made for one value: write a constant in its place")
        if argument.name not in given:
            raise ValueError(f"`{output.name()}` reads `{argument.name}`, which is not in the list of inputs")
    for parameter in inputs:
        type_name(parameter.name(), parameter.type())


def infer_boxes(output: hl.Func, extents: list[int]) -> None:
    """Gives the inputs of a Func buffers of the size that it reads."""
    try:
        output.infer_input_bounds(extents)
    except ValueError:
        # It does not say what Halide finds wrong, such as a schedule. The compiler does.
        output.compile_jit()
        raise


def fix(parameter: hl.ImageParam | hl.OutputImageParam, box: Box) -> None:
    """Fixes bounds and strides, so that addresses in the text are sums with constant coefficients."""
    stride = 1
    for dimension, (least, extent) in enumerate(box):
        parameter.dim(dimension).set_bounds(least, extent).set_stride(stride)
        stride *= extent


def type_name(name: str, element: hl.Type) -> str:
    """The name that pushmem gives the type of what has a name: `u16` of `uint16`. Halide keeps truth values in bytes."""
    if element.is_bool():
        return "u8"
    if not (element.is_int() or element.is_uint()):
        raise TypeError(f"`{name}` is of type {element}: there is no floating point, scale to integers")
    if element.bits() not in (8, 16, 32):
        raise TypeError(f"`{name}` is of type {element}: memories hold 8, 16 or 32 bits")
    return f"{'u' if element.is_uint() else 'i'}{element.bits()}"


def memoryview_of(table: hl.Buffer) -> list[int]:
    """The entries of a dense buffer, innermost dimension first."""
    view = memoryview(table)
    flat = view.tolist()
    while flat and isinstance(flat[0], list):
        flat = [value for row in flat for value in row]
    return flat
