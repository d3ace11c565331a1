"""Accelerator scopes for Halide: the scheduling calls of the papers, over those that stock Halide has.

    import halide as hl
    from pushmem_halide import compute_at, hw_accelerate, stream_to_accelerator, tile, unroll

    x, y = hl.Var("x"), hl.Var("y")
    image = stream_to_accelerator("input", hl.UInt(16), 2)
    blur = hl.Func("blur")
    blur[x, y] = (image[x, y] + image[x + 1, y]) / 2
    unroll(blur, x, 2)
    hw_accelerate(blur, [64, 64], [image]).write("blur.hlpipe")    # pushmem build blur.hlpipe

An accelerator computes one tile. `hw_accelerate` writes the tile as a pipeline, with bounds that are constants; whatever calls the
tile, and whatever makes its inputs, stays with the CPU.

An `hl.Param` is an input as well, of one element: `run` and `realize` take a number for it, under its name.

Numbers of bfloat16 are words of 16 bits in files and arrays of NumPy, which has no such type: `to_words` and `to_numbers` convert.
Those of float16 are NumPy's. Where an image of numbers is given as an array of `uint16`, it has words: of float16 for an image of
float16, or one of single precision that is narrowed to it, and else of bfloat16.
`Accelerator.compare` builds the accelerator, runs it on images, and tells how far it is from what Halide computes of them.
"""

from __future__ import annotations

import itertools
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

try:
    import halide as hl
except ImportError as error:
    raise ImportError("pushmem_halide needs Halide: pip install 'pushmem[halide]'", name="halide") from error

__all__ = ["BF16", "F16", "Accelerator", "Difference", "Input", "compute_at", "difference", "file_name", "hw_accelerate", "load", "save",
           "store_at", "stream_to_accelerator", "tile", "to_numbers", "to_words", "unroll"]

#: The numbers with a fraction that hardware has.
BF16 = hl.BFloat(16)
F16 = hl.Float(16)

#: The types that numbers are narrowed to.
NARROW_FLOATS = ("bf16", "f16")

#: The least index and the extent of every dimension, innermost first.
Box = Sequence[tuple[int, int]]

#: An input of an accelerator: an image, or a number.
Input = hl.ImageParam | hl.Param

#: The box of a number in files.
BOX_OF_NUMBER: Box = ((0, 1),)

#: No image has so many elements along a dimension. Halide computes bounds in 32 bits.
FARTHEST = 1 << 28

#: With it, Halide computes numbers as they are written. Without it, sums are put into another order, and constants together.
STRICT = hl.TargetFeature.StrictFloat

#: The type of numbers of bfloat16 in files `.npy`: two bytes, of which NumPy does not know the meaning.
WORD = np.dtype("V2")

#: The word of bfloat16 of what is no number.
NOT_A_NUMBER = 0x7FC0


def stream_to_accelerator(source: str | hl.Func, element: hl.Type | None = None,
                          dimensions: int | None = None) -> hl.ImageParam:
    """An input of an accelerator: one of its own, by name and type, or a Func of the CPU whose values it takes.

    The pipeline has its name. Compute a Func on the CPU with `realize`, over the box that `Accelerator.inputs` says, and give
    the result to the accelerator under this name.
    """
    if isinstance(source, str):
        return hl.ImageParam(element, dimensions, source)
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
    schedule: str | None = None
    #: `bf16` or `f16`, if all numbers with a fraction become the nearest of bfloat16 or float16.
    narrow_floats: str | None = None

    def write(self, file: str | Path) -> None:
        """Writes the tile to a file `.hlpipe`: Funcs and schedules, and lines behind them with what Halide does not write. Raises
        ValueError for a file of another name."""
        file = Path(file)
        if file.suffix != ".hlpipe":
            raise ValueError(f"a pipeline is written to a file `.hlpipe`, not to `{file}`")
        for dimension, extent in enumerate(self.extents):
            self.output.output_buffer().dim(dimension).set_bounds(0, extent)
        hl.serialize_pipeline(hl.Pipeline(self.output), str(file))
        lines = ["// pushmem", *([f"// schedule: {self.schedule}"] if self.schedule else [])]
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
        arrays = []
        for parameter, box in self.inputs:
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

    def run(self, images: Mapping[str, np.ndarray | float], pushmem: str = "pushmem", options: Sequence[str] = ()) -> np.ndarray:
        """Builds the accelerator, and runs it in its model on these images and numbers by name. Where the output has numbers with
        a fraction, the result has words of bfloat16, or numbers of float16. Raises RuntimeError with the message of pushmem
        where it refuses the program, and ValueError for a number that the type of its parameter does not have."""
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            name = self.output.name().split("$")[0]
            file = folder / f"{name}.hlpipe"
            self.write(file)
            command = [pushmem, "build", str(file), *options, "--output", f"{name}={folder / 'output.npy'}"]
            read = {argument.name for argument in self.output.infer_arguments()}
            for parameter, _ in self.inputs:
                if parameter.name() not in read:
                    continue
                image, own = images[file_name(parameter)], folder / f"{file_name(parameter)}.npy"
                if isinstance(parameter, hl.Param):
                    image = image_of_number(parameter, image)
                save(own, image, parameter.type(), self.narrow_floats)
                command += ["--input", f"{file_name(parameter)}={own}"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise RuntimeError(done.stderr.strip() or done.stdout.strip())
            return load(folder / "output.npy")

    def compare(self, images: Mapping[str, np.ndarray | float], pushmem: str = "pushmem", options: Sequence[str] = ()) -> Difference:
        """How far the accelerator is from Halide on the CPU, on these images by name. Of numbers of bfloat16 or float16 and of
        integers without narrowed numbers before them, nothing differs."""
        return difference(self.run(images, pushmem, options), self.realize(images))


@dataclass(frozen=True)
class Difference:
    """The distance of a result from the one that is expected. Numbers are compared where both are finite."""

    #: The greatest distance, in units of the output.
    most: float
    #: The mean distance.
    mean: float
    #: The greatest distance, divided by the magnitude of what is expected, where that is not 0.
    most_relative: float
    #: The part of the elements that differ, of 1.
    share: float
    #: The elements of which one of the two is infinite or no number, and the other is another one.
    wild: int

    def __str__(self) -> str:
        text = (f"{self.share:.1%} differ, by {self.most:.4g} at most, {self.mean:.2g} in the mean, and "
                f"{self.most_relative:.2%} of what is expected at most")
        return text + (f"; {self.wild} are infinite or no number" if self.wild else "")


def difference(found: np.ndarray, expected: np.ndarray) -> Difference:
    """The distance of a result from the one that is expected. Words are numbers of bfloat16 where what is expected is a number with a
    fraction; two arrays of words are integers. Raises ValueError for other shapes."""
    if found.shape != expected.shape:
        raise ValueError(f"the shape is {found.shape}, not {expected.shape}")
    if expected.dtype.kind == "f" and found.dtype == np.uint16:
        found = to_numbers(found)
    one, other = found.astype(np.float64), expected.astype(np.float64)
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    finite = np.isfinite(one) & np.isfinite(other)
    distance = np.abs(one[finite] - other[finite])
    magnitude = np.abs(other[finite])
    relative = distance[magnitude > 0] / magnitude[magnitude > 0]
    return Difference(most=float(distance.max(initial=0)), mean=float(distance.mean()) if distance.size else 0.0,
                      most_relative=float(relative.max(initial=0)), share=float(1 - same.mean()) if same.size else 0.0,
                      wild=int((~finite & ~same).sum()))


def to_words(numbers: np.ndarray) -> np.ndarray:
    """The words of the numbers of bfloat16 nearest to these of single precision, of two the even one."""
    single = np.asarray(numbers, dtype=np.float32)
    bits = single.view(np.uint32)
    rounded = (bits.astype(np.uint64) + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(single), NOT_A_NUMBER, rounded).astype(np.uint16)


def to_numbers(words: np.ndarray) -> np.ndarray:
    """The numbers of bfloat16 that words stand for, in single precision, which holds them."""
    return (np.asarray(words, dtype=np.uint16).astype(np.uint32) << 16).view(np.float32)


def buffer_of_words(words: np.ndarray) -> hl.Buffer:
    """A buffer of the numbers of bfloat16 that words stand for. Halide has no other way from Python to fill one."""
    source, func = hl.Buffer(words), hl.Func()
    variables = [hl.Var() for _ in words.shape]
    func[variables] = hl.reinterpret(BF16, source[variables])
    buffer = hl.Buffer(BF16, list(reversed(words.shape)))
    func.realize(buffer)
    return buffer


def words_of_buffer(buffer: hl.Buffer) -> np.ndarray:
    """The words of a buffer of numbers of bfloat16."""
    func = hl.Func()
    variables = [hl.Var() for _ in range(buffer.dimensions())]
    func[variables] = hl.reinterpret(hl.UInt(16), buffer[variables])
    return np.array(func.realize([buffer.dim(each).extent() for each in range(buffer.dimensions())]))


def save(file: Path, image: np.ndarray, element: hl.Type, narrow_floats: str | None = None) -> None:
    """Writes an image of a type to a file `.npy` for pushmem, its numbers as the type they are narrowed to. An array of `uint16` in the
    place of numbers with a fraction has words: of float16 for float16, and for single precision that is narrowed to it, and else of
    bfloat16."""
    if element.is_float():
        is_words = image.dtype == np.uint16 and not has_half_words(element, narrow_floats)
        if narrow_floats == "f16" or (narrow_floats is None and is_half(element)):
            # Beyond its range, numbers are infinite.
            with np.errstate(over="ignore"):
                image = numbers_of(image, element, narrow_floats).astype("<f2")
        else:
            image = (image if is_words else to_words(numbers_of(image, element, narrow_floats))).view(WORD)
    np.save(file, image)


def numbers_of(image: np.ndarray, element: hl.Type, narrow_floats: str | None = None) -> np.ndarray:
    """The numbers that an image of numbers with a fraction has, which may be words."""
    if image.dtype != np.uint16:
        return image
    return image.view(np.float16) if has_half_words(element, narrow_floats) else to_numbers(image)


def has_half_words(element: hl.Type, narrow_floats: str | None) -> bool:
    """Whether words for an image of this type are of float16, and not of bfloat16."""
    return is_half(element) or (narrow_floats == "f16" and not element.is_bfloat())


def is_half(element: hl.Type) -> bool:
    """Whether this is float16."""
    return element.is_float() and not element.is_bfloat() and element.bits() == 16


def load(file: Path) -> np.ndarray:
    """Reads an image that pushmem wrote; numbers of bfloat16 as words."""
    image = np.load(file)
    return image.view(np.uint16) if image.dtype == WORD else image


def file_name(parameter: Input) -> str:
    """The name of an input in commands."""
    return parameter.name().split("$")[0]


def image_of_number(parameter: hl.Param, number: np.ndarray | float) -> np.ndarray:
    """The image of one element that a number for a parameter is in files. Raises ValueError where its type does not have the number."""
    element, number = parameter.type(), np.asarray(number)
    if number.size != 1:
        raise ValueError(f"`{file_name(parameter)}` is one number, not {number.size}")
    if element.is_float():
        return number.reshape(1)
    least, greatest = limits(element)
    if number.dtype.kind not in "biu" or not least <= number.item() <= greatest:
        raise ValueError(f"`{file_name(parameter)}` of type {element} is an integer from {least} to {greatest}, not {number.item()}")
    return np.array([number.item()], dtype=f"{'int' if element.is_int() else 'uint'}{max(element.bits(), 8)}")


def limits(element: hl.Type) -> tuple[int, int]:
    """The least and the greatest integer of a type."""
    least = -(1 << element.bits() - 1) if element.is_int() else 0
    return least, least + (1 << element.bits()) - 1


def set_number(parameter: hl.Param, number: np.ndarray | float, narrow_floats: str | None = None) -> None:
    """Gives a parameter a number, which may be a word if the type has a fraction."""
    image, element = image_of_number(parameter, number), parameter.type()
    # Of a scalar of NumPy, Halide may take the truth value.
    number = (numbers_of(image, element, narrow_floats) if element.is_float() else image).item()
    parameter.set(bool(number) if parameter.type().is_bool() else number)


def hw_accelerate(output: hl.Func, extents: Iterable[int], inputs: Sequence[Input] = (),
                  boxes: Mapping[str, Box] | None = None, schedule: str | None = None,
                  narrow_floats: str | None = None) -> Accelerator:
    """Makes a tile of a Func an accelerator: as many elements of each dimension as `extents` says, innermost first, from 0.

    `inputs` are what `stream_to_accelerator` gave, and each `hl.Param`, which is a number when the accelerator runs. The boxes that
    the tile reads follow from its bounds; `boxes` says them where they are larger, for each name the least index and the extent of
    every dimension. Constant buffers are part of the pipeline; one over an array of NumPy must be there until it is written.
    `schedule` is what a nest says, `dnn` or `stencil`. With `narrow_floats="bf16"` numbers of single precision and of other types
    become those of bfloat16, with 8 significant bits, and with `narrow_floats="f16"` those of float16, with 11 and numbers to 65504:
    results are near to Halide's, and `Accelerator.compare` tells how near.

    Raises TypeError for values that no memory holds, and what has more than one output; ValueError for extents and inputs that
    do not fit the Func; and Halide's own `HalideError` for schedules that it refuses.
    """
    if narrow_floats not in (None, *NARROW_FLOATS):
        raise ValueError(f"numbers are narrowed to `bf16` or `f16`, not to `{narrow_floats}`")
    check_output(output, narrow_floats)
    extents = [int(extent) for extent in extents]
    boxes = dict(boxes or {})
    if len(extents) != output.dimensions():
        raise ValueError(f"`{output.name()}` has {output.dimensions()} dimensions, but extents are {extents}")
    check_inputs(output, inputs, narrow_floats)
    images = [parameter for parameter in inputs if isinstance(parameter, hl.ImageParam)]
    numbers = [parameter for parameter in inputs if isinstance(parameter, hl.Param)]
    if any(image.name() not in boxes for image in images):
        inferred = inferred_boxes(output, extents, images, numbers)
        boxes |= {name: check_box(name, box) for name, box in inferred.items() if name not in boxes}
    boxes |= {number.name(): BOX_OF_NUMBER for number in numbers}
    streams = [(parameter, [tuple(each) for each in boxes[parameter.name()]]) for parameter in inputs]
    return Accelerator(output, extents, streams, schedule, narrow_floats)


def check_output(func: hl.Func, narrow_floats: str | None = None) -> None:
    """Refuses what is no Func of one value that memories hold."""
    if not isinstance(func, hl.Func):
        raise TypeError(f"an accelerator computes one Func, not a {type(func).__name__}: build one for each output")
    if not func.defined():
        raise ValueError(f"`{func.name()}` is not defined")
    if func.outputs() != 1:
        raise TypeError(f"`{func.name()}` has {func.outputs()} values for each element, and an accelerator one output: "
                        "make each value a Func of its own")
    check_type(func.name(), func.type(), narrow_floats)


def check_inputs(output: hl.Func, inputs: Sequence[Input], narrow_floats: str | None) -> None:
    """Refuses what a Func reads, but is not streamed to it."""
    given = {parameter.name() for parameter in inputs}
    for argument in output.infer_arguments():
        if argument.name not in given:
            raise ValueError(f"`{output.name()}` reads `{argument.name}`, which is not in the list of inputs")
    for parameter in inputs:
        check_type(parameter.name(), parameter.type(), narrow_floats)
        if isinstance(parameter, hl.Param) and (parameter.type().is_bfloat() or is_half(parameter.type())):
            raise TypeError(f"`{parameter.name()}` is a parameter of {parameter.type()}, which Halide cannot set from Python: make it an "
                            "image of one dimension and one element")


def inferred_boxes(output: hl.Func, extents: list[int], images: Sequence[hl.ImageParam],
                   numbers: Sequence[hl.Param]) -> dict[str, Box]:
    """The boxes of images that a Func reads with the least and the greatest numbers."""
    before = [number_of(number) for number in numbers]
    found: dict[str, list[Box]] = {image.name(): [] for image in images}
    for values in itertools.product(*(ends(number.type()) for number in numbers)):
        for number, value in zip(numbers, values, strict=True):
            set_number(number, value)
        for image in images:
            image.reset()
        try:
            output.infer_input_bounds(extents)
        except ValueError:
            # It does not say what Halide finds wrong, such as a schedule. The compiler does.
            output.compile_jit()
            raise
        for image in images:
            buffer = image.get()
            found[image.name()].append([(buffer.dim(each).min(), buffer.dim(each).extent()) for each in range(buffer.dimensions())])
            image.reset()
    for number, value in zip(numbers, before, strict=True):
        set_number(number, 0 if value is None else value)
    return {name: [hull(along) for along in zip(*boxes, strict=True)] for name, boxes in found.items()}


def check_box(name: str, box: Box) -> Box:
    """Refuses a box that was inferred, if an index may be any number of a large type."""
    if extents := [extent for _, extent in box if extent >= FARTHEST]:
        raise ValueError(f"`{name}` would have {extents[0]} elements along a dimension, and the most are {FARTHEST - 1}: an index "
                         f"follows a number that may be any of its type. Say which elements it has by `boxes={{\"{name}\": …}}`")
    return box


def hull(ranges: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """The range that has all of these ranges, each a least index and an extent."""
    ranges = list(ranges)
    least = min(first for first, _ in ranges)
    return least, max(first + extent for first, extent in ranges) - least


def ends(element: hl.Type) -> set[float]:
    """The numbers of a type with which the bounds of images are found."""
    if element.is_float():
        return {0.0}
    least, greatest = limits(element)
    return {max(least, -FARTHEST), min(greatest, FARTHEST)}


def number_of(parameter: hl.Param) -> float | None:
    """The number that a parameter has, if it has one."""
    try:
        parameter.parameter().scalar_expr()
    except hl.HalideError:
        return None
    func, x = hl.Func(), hl.Var()
    func[x] = parameter
    return np.array(func.realize([1])).item()


def check_type(name: str, element: hl.Type, narrow_floats: str | None = None) -> None:
    """Refuses a type that no memory holds."""
    if not (element.is_int() or element.is_uint()):
        if narrow_floats is None and not element.is_bfloat() and not is_half(element):
            raise TypeError(f"`{name}` is of type {element}: hardware has bfloat16 and float16. Use `hl.BFloat(16)` or `hl.Float(16)`, "
                            "or let numbers be rounded by `hw_accelerate(…, narrow_floats=\"bf16\")`, or `\"f16\"`")
    elif element.bits() not in (1, 8, 16, 32):
        raise TypeError(f"`{name}` is of type {element}: memories hold 8, 16 or 32 bits")
