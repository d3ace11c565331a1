"""Accelerator scopes for Halide: the scheduling calls of the papers, over those that stock Halide has.

    import halide as hl
    from pushmem_halide import compute_at, hw_accelerate, stream_to_accelerator, tile, unroll

    x, y = hl.Var("x"), hl.Var("y")
    image = stream_to_accelerator("input", hl.UInt(16), 2)
    blur = hl.Func("blur")
    blur[x, y] = (image[x, y] + image[x + 1, y]) / 2
    unroll(blur, x, 2)
    accelerator = hw_accelerate(blur, [64, 64], [image])
    accelerator.build("out/blur").cycles       # RTL, report and figures
    accelerator.run({"input": picture})        # the pixels, of its model
    accelerator.schedule()                     # when each operation runs
    accelerator.report()                       # both, and the page of the report
    accelerator.write("blur.hlpipe")           # for pushmem build blur.hlpipe

An accelerator computes one tile, with bounds that are constants; whatever calls the tile, and whatever makes its inputs, stays with
the CPU. A notebook shows what `run`, `schedule` and `report` return as pictures. These, `build` and `compare` call the program `pushmem`:
the one on the path, else that of the Python environment, or of the clone of the project that this module is in.

An `hl.Param` is an input as well, of one element: `run` and `realize` take a number for it, under its name.

Numbers of bfloat16 are words of 16 bits in files and arrays of NumPy, which has no such type: `to_words` and `to_numbers` convert.
Those of float16 are NumPy's. Where an image of numbers is given as an array of `uint16`, it has words: of float16 for an image of
float16, or one of single precision that is narrowed to it, and else of bfloat16.
`Accelerator.compare` builds the accelerator, runs it on images, and tells how far it is from what Halide computes of them.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

try:
    import halide as hl
except ImportError as error:
    raise ImportError("pushmem_halide needs Halide: pip install 'pushmem[halide]'", name="halide") from error

from .bounds import Box, check_box, inferred_boxes
from .checks import (NARROW_FLOATS, SCHEDULES, check_boxes, check_extents, check_images, check_inputs, check_options, check_output,
                     check_word)
from .pictures import Picture, Report, Schedule
from .program import call, find_program
from .results import Build, Difference, difference, table
from .words import (BF16, F16, Input, buffer_of_words, file_name, image_of_number, load, numbers_of, save, set_number, to_numbers, to_words,
                    words_of_buffer)

__all__ = ["BF16", "F16", "Accelerator", "Build", "Difference", "Input", "Picture", "Report", "Schedule", "compute_at", "difference",
           "file_name", "hw_accelerate", "image_of_number", "load", "save", "store_at", "stream_to_accelerator", "tile", "to_numbers",
           "to_words", "unroll"]

#: The box of a number in files.
BOX_OF_NUMBER: Box = ((0, 1),)

#: With it, Halide computes numbers as they are written. Without it, sums are put into another order, and constants together.
STRICT = hl.TargetFeature.StrictFloat


def stream_to_accelerator(source: str | hl.Func, element: hl.Type | None = None,
                          dimensions: int | None = None) -> hl.ImageParam:
    """An input of an accelerator: one of its own, by name and type, or a Func of the CPU whose values it takes.

    The pipeline has its name. Compute a Func on the CPU with `realize`, over the box that `Accelerator.inputs` says, and give
    the result to the accelerator under this name.
    """
    if isinstance(source, str):
        if not isinstance(element, hl.Type) or not isinstance(dimensions, int):
            raise TypeError(f"an input of its own has a type of Halide and a number of dimensions, as in "
                            f"stream_to_accelerator(\"{source}\", hl.UInt(16), 2), not {element!r} and {dimensions!r}")
        return hl.ImageParam(element, dimensions, source)
    if not isinstance(source, hl.Func):
        raise TypeError(f"an input has a name, or is a Func of the CPU, not of the type {type(source).__name__}")
    check_output(source, "bf16")
    return hl.ImageParam(source.type(), source.dimensions(), source.name())


def tile(func: hl.Func, x: hl.Var, y: hl.Var, xo: hl.Var, yo: hl.Var, xi: hl.Var, yi: hl.Var, width: int,
         height: int) -> hl.Func:
    """Splits two loops into tiles: `Func.tile`."""
    return func.tile(x, y, xo, yo, xi, yi, width, height)


def unroll(func: hl.Func | hl.Stage, variable: hl.Var | hl.RVar, factor: int | None = None) -> hl.Func | hl.Stage:
    """Computes neighbours at once: `Func.unroll`.

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
    """Computes a Func in a buffer of its own: `Func.compute_at`."""
    return func.compute_at(consumer, variable)


def store_at(func: hl.Func, consumer: hl.Func, variable: hl.Var | hl.RVar) -> hl.Func:
    """Keeps a buffer over the iterations of a loop: `Func.store_at`."""
    return func.store_at(consumer, variable)


@dataclass
class Accelerator:
    """A tile that hardware computes."""

    output: hl.Func
    #: The extent of each dimension of the output, innermost first.
    extents: list[int]
    #: Images that are streamed in, each with the least index and the extent of every dimension, and numbers, of one element.
    inputs: list[tuple[Input, Box]]
    #: How pushmem schedules it, `dnn` or `stencil`; as it finds right, if nothing is said.
    policy: str | None = None
    #: `bf16` or `f16`, if all numbers with a fraction become the nearest of bfloat16 or float16.
    narrow_floats: str | None = None

    def write(self, file: str | Path) -> None:
        """Writes the tile to a file `.hlpipe`: Funcs and schedules, and lines behind them with what Halide does not write. Raises
        ValueError for a file of another name."""
        file = Path(file)
        if file.suffix != ".hlpipe":
            raise ValueError(f"a pipeline is written to a file `.hlpipe`, not to `{file}`")
        if not file.parent.is_dir():
            raise FileNotFoundError(f"there is no folder `{file.parent}` for `{file.name}`: make it first")
        for dimension, extent in enumerate(self.extents):
            self.output.output_buffer().dim(dimension).set_bounds(0, extent)
        hl.serialize_pipeline(hl.Pipeline(self.output), str(file))
        lines = ["// pushmem", *([f"// schedule: {self.policy}"] if self.policy else [])]
        if self.narrow_floats:
            lines.append(f"// narrow floats: {self.narrow_floats}")
        for parameter, box in self.inputs:
            if isinstance(parameter, hl.Param):
                continue
            dimensions = ", ".join(f"{least} {extent}" for least, extent in box)
            lines.append(f"// {file_name(parameter)}: {dimensions}")
        with file.open("ab") as pipeline:
            pipeline.write(("\n" + "\n".join(lines) + "\n").encode())

    def realize(self, images: Mapping[str, np.ndarray | float]) -> np.ndarray:
        """Computes the tile with Halide on the CPU, of these images and numbers by name, and keeps the order of sums of numbers.

        Images and result are words where the type is bfloat16. Images of other numbers may be words, too, as `save` takes them.
        """
        images, arrays = check_images(images, self.inputs, self.read()), []
        for parameter, box in self.inputs:
            if file_name(parameter) not in images:
                continue
            if isinstance(parameter, hl.Param):
                set_number(parameter, images[file_name(parameter)], self.narrow_floats)
                continue
            image, element = images[file_name(parameter)], parameter.type()
            if element.is_bfloat():
                buffer = buffer_of_words(image if image.dtype == np.uint16 else to_words(image))
            else:
                if element.is_float():
                    image = numbers_of(image, element, self.narrow_floats).astype(f"float{element.bits()}")
                elif element.is_bool():
                    image = image.astype(bool)
                # A buffer is there as long as its array.
                arrays.append(image)
                buffer = hl.Buffer(image)
            buffer.set_min([least for least, _ in box])
            parameter.set(buffer)
        target = hl.get_jit_target_from_environment().with_feature(STRICT)
        found = self.output.realize(self.extents, target)
        for parameter, _ in self.inputs:
            # A number stays: Halide needs one.
            if isinstance(parameter, hl.ImageParam):
                parameter.reset()
        if self.output.type().is_bfloat():
            return words_of_buffer(found)
        found = np.array(found)
        return found.astype(np.uint8) if found.dtype == bool else found

    def read(self) -> set[str]:
        """The inputs that the output depends on, by their names in Halide."""
        return {argument.name for argument in self.output.infer_arguments()}

    @property
    def name(self) -> str:
        """The name of the program, of its module and of its output."""
        return self.output.name().split("$")[0]

    def build(self, folder: str | Path | None = None, pushmem: str | None = None, options: Sequence[str] = ()) -> Build:
        """Builds the accelerator in a folder, `out/NAME` without one: RTL, configuration, C header, testbench and report. The result has
        the cycles, the figures and the places of these. A folder that a former build wrote is replaced.

        `options` are those of `pushmem build`, such as `["--array", "amber"]`. Raises RuntimeError with the message of pushmem where it
        refuses the program, and FileNotFoundError where there is no program `pushmem`.
        """
        folder = Path("out", self.name) if folder is None else Path(folder)
        report = self.called(["--folder", folder, "--json"], pushmem, options)
        return Build(folder, json.loads(report))

    def report(self, pushmem: str | None = None, options: Sequence[str] = ()) -> Report:
        """Builds the accelerator, and returns its report: figures, schedule, and the page for a browser. Raises as `build`."""
        with tempfile.TemporaryDirectory() as temporary:
            return Report.of(self.build(Path(temporary, self.name), pushmem, options))

    def schedule(self, pushmem: str | None = None, options: Sequence[str] = ()) -> Schedule:
        """Builds the accelerator, and returns the cycles in which its operations run. Raises as `build`."""
        return self.report(pushmem, options).schedule

    def run(self, images: Mapping[str, np.ndarray | float], pushmem: str | None = None, options: Sequence[str] = ()) -> Picture:
        """Builds the accelerator, and runs it in its model on these images and numbers by name. Where the output has numbers with
        a fraction, the result has words of bfloat16, or numbers of float16. It is an array of NumPy, which a notebook shows as an image.
        Raises as `build`, and ValueError for an image that is missing or does not fit, and for a number that the type of its parameter
        does not have."""
        read = self.read()
        images = check_images(images, self.inputs, read)
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            arguments = ["--output", f"{self.name}={folder / 'output.npy'}"]
            for parameter, _ in self.inputs:
                if parameter.name() not in read:
                    continue
                image, own = images[file_name(parameter)], folder / f"{file_name(parameter)}.npy"
                if isinstance(parameter, hl.Param):
                    image = image_of_number(parameter, image)
                save(own, image, parameter.type(), self.narrow_floats)
                arguments += ["--input", f"{file_name(parameter)}={own}"]
            self.called(arguments, pushmem, options)
            return load(folder / "output.npy").view(Picture)

    def called(self, arguments: Sequence[str | Path], pushmem: str | None, options: Sequence[str]) -> str:
        """The text that `pushmem build` prints of the accelerator with these arguments, and with options of the caller."""
        options, program = check_options(options), find_program(pushmem)
        with tempfile.TemporaryDirectory() as temporary:
            file = Path(temporary) / f"{self.name}.hlpipe"
            self.write(file)
            return call(program, ["build", file, *options, *arguments])

    def compare(self, images: Mapping[str, np.ndarray | float], pushmem: str | None = None, options: Sequence[str] = ()) -> Difference:
        """How far the accelerator is from Halide on the CPU, on these images by name. Of numbers of bfloat16 or float16 and of
        integers without narrowed numbers before them, nothing differs."""
        return difference(self.run(images, pushmem, options), self.realize(images))

    def _repr_html_(self) -> str:
        shown = lambda element, box: f"{element} of {' × '.join(str(extent) for _, extent in box) or 'one number'}"
        inputs = [(f"input {file_name(parameter)}", shown(parameter.type(), () if isinstance(parameter, hl.Param) else box))
                  for parameter, box in self.inputs]
        output = (f"output {self.name}", shown(self.output.type(), [(0, extent) for extent in self.extents]))
        return table(f"accelerator {self.name}", [*inputs, output, ("next", "<code>.build()</code>, <code>.run(images)</code>")])


def hw_accelerate(output: hl.Func, extents: Iterable[int], inputs: Sequence[Input] = (),
                  boxes: Mapping[str, Box] | None = None, schedule: str | None = None,
                  narrow_floats: str | None = None) -> Accelerator:
    """Makes a tile of a Func an accelerator: as many elements of each dimension as `extents` says, innermost first, from 0.

    `inputs` are what `stream_to_accelerator` gave, and each `hl.Param`, which is a number when the accelerator runs. The boxes that
    the tile reads follow from its bounds; `boxes` says them where they are larger, for each name the least index and the extent of
    every dimension. Constant buffers are part of the pipeline; one over an array of NumPy must be there until it is written.
    `schedule` is the policy by which stages are scheduled, `dnn` or `stencil`. With `narrow_floats="bf16"` numbers of single precision
    and of other types become those of bfloat16, with 8 significant bits, and with `narrow_floats="f16"` those of float16, with 11 and
    numbers to 65504: results are near to Halide's, and `Accelerator.compare` tells how near.

    Raises TypeError for values that no memory holds, for what has more than one output, and for an argument of another kind; ValueError for
    words, extents, inputs and boxes that do not fit the Func; and Halide's own `HalideError` for schedules that it refuses.
    """
    check_word("numbers are narrowed to", narrow_floats, NARROW_FLOATS)
    check_word("the schedule is", schedule, SCHEDULES)
    check_output(output, narrow_floats)
    extents = check_extents(output, extents)
    inputs = check_inputs(output, inputs, narrow_floats)
    boxes = check_boxes(boxes, inputs)
    images = [parameter for parameter in inputs if isinstance(parameter, hl.ImageParam)]
    numbers = [parameter for parameter in inputs if isinstance(parameter, hl.Param)]
    if any(image.name() not in boxes for image in images):
        inferred = inferred_boxes(output, extents, images, numbers)
        boxes |= {name: check_box(name, box) for name, box in inferred.items() if name not in boxes}
    boxes |= {number.name(): BOX_OF_NUMBER for number in numbers}
    streams = [(parameter, [tuple(each) for each in boxes[parameter.name()]]) for parameter in inputs]
    return Accelerator(output, extents, streams, schedule, narrow_floats)
