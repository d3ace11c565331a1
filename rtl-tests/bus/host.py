"""Runs the host in Python of a shell on its Verilated simulation: the images of the testbench, and a large image in tiles.

Usage: python rtl-tests/bus/host.py FOLDER

FOLDER is what `pushmem build PROGRAM -o FOLDER --bus axi` wrote, perhaps with `--image-size`; `make -C FOLDER/driver simulation` was run.
The words of the testbench must be in the order of memory. Exit code: 0 when all is right.
"""

import ctypes
import importlib.util
import math
import random
import sys
from pathlib import Path


def load(folder: Path):
    """The module of the host."""
    [path] = (folder / "driver").glob("*_host.py")
    spec = importlib.util.spec_from_file_location("host", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Bytes of the table of a program in C, on machines of 64 bits, and the place in it of a number that makes it a wrong one: the digest of its
# array; and where images are written to a global buffer, the words of its bitstream, which begins with the digest.
TABLE_BYTES, DIGEST_PLACE = 64, 8
BUFFERED_TABLE_BYTES, WORDS_PLACE = 88, 24
# The least and the largest number of each type.
BOUNDS = {"u8": (0, 0xff), "i8": (-0x80, 0x7f), "u16": (0, 0xffff), "i16": (-0x8000, 0x7fff),
          "u32": (0, 0xffffffff), "i32": (-0x80000000, 0x7fffffff)}


def numbers(path: Path, kind: str) -> list[int]:
    """The words of a file as numbers of this type: two of 16 bits are one of 32, the low one first."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith(("//", "#"))]
    found, bits = [int(word, 16) for line in lines for word in line.split()], 16
    if kind.endswith("32"):
        found, bits = [low | high << 16 for low, high in zip(found[::2], found[1::2])], 32
    return [word - (1 << bits) if kind.startswith("i") and word >> bits - 1 else word for word in found]


def flat(values) -> list[int]:
    return [int(value) for value in (values.reshape(-1) if hasattr(values, "reshape") else values)]


def places(part: list[int], whole: list[int], offsets: list[int]) -> list[int]:
    """The numbers in a whole image of the elements of a part of it."""
    found = [0]
    for dimension, (size, offset) in enumerate(zip(part, offsets)):
        stride = math.prod(whole[:dimension])
        found = [place + (index + offset) * stride for index in range(size) for place in found]
    return found


def main() -> None:
    folder = Path(sys.argv[1])
    module = load(folder)
    with module.Host.simulated() as host:
        kinds = {name: kind for name, (_, kind, _) in module.IMAGES.items()}
        inputs = {name: numbers(folder / "testbench" / f"{name}.hex", kinds[name])
                  for name, (output, _, _) in module.IMAGES.items() if not output}
        for name, values in host.run(inputs).items():
            assert flat(values) == numbers(folder / "testbench" / f"{name}.expected.hex", kinds[name]), f"{name} of the testbench"
        print(f"the testbench: {host.cycles()} cycles")
        for name, values in inputs.items():
            says(ValueError, f"`{name}` has {len(values) - 1} elements", host.run, {**inputs, name: values[1:]})
            wrong = BOUNDS[kinds[name]][1] + 1
            says(ValueError, f"`{name}` has {wrong} at place {len(values) - 1}", host.run, {**inputs, name: [*values[:-1], wrong]})
        check_errors(module, host, inputs)
        if module.TILES:
            run_tiles(module, host)
    check_other_hardware(module)


def says(error: type[Exception], text: str, act, *arguments) -> None:
    """Whether an act ends with an error of this text."""
    try:
        act(*arguments)
    except error as found:
        assert text in str(found), f"`{found}` instead of `{text}`"
        print(found)
        return
    raise AssertionError(f"no error: {text}")


def check_errors(module, host, inputs) -> None:
    """The errors of the driver as Python has them; after each, a job is right."""
    right = {name: flat(values) for name, values in host.run(inputs).items()}

    def works() -> None:
        assert {name: flat(values) for name, values in host.run(inputs).items()} == right

    # A job that is not over in time goes on, and is waited for again.
    says(module.HostError, "did not end in time", host.run, inputs, 1)
    host.call("wait", 1 << 30)
    works()
    has_banks = hasattr(module, "Map")
    for number, (name, (output, kind, _)) in enumerate(module.IMAGES.items()):
        def moved(address: int = 0, size: int = 0, number: int = number) -> None:
            """Runs a job with one image elsewhere, or with fewer bytes."""
            def run(job) -> None:
                job.image[number].address += address
                job.image[number].bytes -= size
                host.call("submit", ctypes.byref(job))
                host.call("wait", 1 << 30)
            host.run_job(inputs, False, run)

        if not has_banks:
            says(module.HostError, f"memory answered a {'write' if output else 'read'} with an error", moved, 1 << 32)
            assert host.failed() == [name], host.failed()
            works()
            assert host.failed() == []
        says(module.HostError, "an image does not fit its memory", moved, 0, 1)
        if not kind.endswith("8"):
            says(module.HostError, "is odd", moved, 1)
        works()
    if module.PROGRAM:
        size, place = (BUFFERED_TABLE_BYTES, WORDS_PLACE) if has_banks else (TABLE_BYTES, DIGEST_PLACE)
        table = ctypes.c_char.in_dll(host.library, f"{module.PROGRAM}_program")
        other = ctypes.create_string_buffer(ctypes.string_at(ctypes.byref(table), size))
        if has_banks:
            other[place:place + 4] = bytes(4)
        else:
            other[place] = bytes([other[place][0] ^ 1])
        says(module.HostError, "the program is of another array", host.call, "configure", other)
        says(module.HostError, "no program was configured", host.run, inputs)
        host.configure()
        works()


def check_other_hardware(module) -> None:
    """Hardware whose identity is not that of the driver is refused."""
    read = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32)(lambda context, offset: 0)
    library = ctypes.CDLL(str(module.BUILD / "libsimulation.so"))
    port = module.Port(ctypes.cast(read, ctypes.c_void_p), *[None] * (len(module.Port._fields_) - 1))
    says(module.HostError, "the hardware is of another", module.Host, library, port, module.Memory(0, memoryview(b"")))


def run_tiles(module, host) -> None:
    """The large image by the plan of the driver, and tile by tile as Python cuts it."""
    generator = random.Random(1)
    shapes = host.shapes(large=True)
    large = {name: [generator.randint(*BOUNDS[kind]) for _ in range(math.prod(shapes[name]))]
             for name, (output, kind, _) in module.IMAGES.items() if not output}
    found = {name: flat(values) for name, values in host.run_tiles(large).items()}
    images = module.TILES["images"]
    for tile in module.TILES["tiles"]:
        where = {image["name"]: places(image["tile"], image["size"], offsets) for image, offsets in zip(images, tile["offsets"])}
        outputs = host.run({name: [values[place] for place in where[name]] for name, values in large.items()})
        for name, values in outputs.items():
            assert flat(values) == [found[name][place] for place in where[name]], f"{name} at {tile['offsets']}"
    print(f"{len(module.TILES['tiles'])} tiles")


if __name__ == "__main__":
    main()
