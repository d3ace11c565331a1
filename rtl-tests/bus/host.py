"""Runs the host in Python of a shell on its Verilated simulation: the images of the testbench, and a large image in tiles.

Usage: python rtl-tests/bus/host.py FOLDER

FOLDER is what `pushmem build PROGRAM -o FOLDER --bus axi` wrote, perhaps with `--image`; `make -C FOLDER/driver simulation` was run. The
words of the testbench must be in the order of memory. Exit code: 0 when all is right.
"""

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


def words(path: Path) -> list[int]:
    lines = [line for line in path.read_text().splitlines() if not line.startswith(("//", "#"))]
    return [int(word, 16) for line in lines for word in line.split()]


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
        inputs = {name: words(folder / "testbench" / f"{name}.hex") for name, (output, _) in module.IMAGES.items() if not output}
        for name, values in host.run(inputs).items():
            assert flat(values) == words(folder / "testbench" / f"{name}.expected.hex"), f"{name} of the testbench"
        print(f"the testbench: {host.cycles()} cycles")
        try:
            host.run({name: values[1:] for name, values in inputs.items()})
            raise AssertionError("an input that is too short is taken")
        except ValueError as error:
            print(error)
        if module.TILES:
            run_tiles(module, host)


def run_tiles(module, host) -> None:
    """The large image by the plan of the driver, and tile by tile as Python cuts it."""
    generator = random.Random(1)
    shapes = host.shapes(large=True)
    large = {name: [generator.randrange(256) for _ in range(math.prod(shapes[name]))]
             for name, (output, _) in module.IMAGES.items() if not output}
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
