"""Numbers as words: those of bfloat16, which NumPy does not have; and images in files for pushmem."""

from __future__ import annotations

from pathlib import Path

import halide as hl
import numpy as np

#: The numbers with a fraction that hardware has.
BF16 = hl.BFloat(16)
F16 = hl.Float(16)

#: The types that numbers are narrowed to.
NARROW_FLOATS = ("bf16", "f16")

#: An input of an accelerator: an image, or a number.
Input = hl.ImageParam | hl.Param

#: The type of numbers of bfloat16 in files `.npy`: two bytes, of which NumPy does not know the meaning.
WORD = np.dtype("V2")

#: The word of bfloat16 of what is no number.
NOT_A_NUMBER = 0x7FC0


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
