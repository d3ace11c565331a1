{%- let name = plan.driver -%}
"""Host of {% if let Some(program) = plan.program %}`{{ program }}` on {% endif %}{{ plan.of }} in Python: the driver in C through ctypes.

    with Host.simulated() as host:
        results = host.run({"{{ plan.first_input() }}": numbers})

`make library` in this folder builds the driver, `make simulation` the Verilated shell with a memory. Images are sequences of numbers in
the order of memory, or arrays of numpy, outermost dimension first; results are arrays of numpy, of the image's type, where it is there.
"""

import array
import ctypes
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

try:
    import numpy
except ImportError:
    numpy = None

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "driver"
# Images by their names: whether the hardware writes them, the type of their elements, and the elements in each dimension, innermost first.
IMAGES: dict[str, tuple[bool, str, list[int]]] = {
{%- for image in plan.images %}
    "{{ image.name }}": ({% if image.output %}True{% else %}False{% endif %}, "{{ image.whole.name() }}", [{% for size in image.whole_shape() %}{% if !loop.first %}, {% endif %}{{ size }}{% endfor %}]),
{%- endfor %}
}
# Types by their names: those of `array`, which has the words of numbers with a fraction, and of numpy, which has no bf16.
TYPES = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "bf16": "H", "f16": "H"}
NUMPY_TYPES = {**TYPES, "f16": "e"}
# The images of the large image, if the driver has tiles of one.
TILES = json.loads((HERE.parent / "tiles.json").read_text()) if (HERE.parent / "tiles.json").exists() else None
STRIDES = {{ plan.strides }}
# The program that the driver loads, of an array.
PROGRAM: str | None = {% if let Some(program) = plan.program %}"{{ program }}"{% else %}None{% endif %}
ALIGNMENT = 4096
OK = 0


class Image(ctypes.Structure):
    """An image: the address of its first element, the bytes of memory from there on, and the strides of its dimensions but the first."""

    _fields_ = [("address", ctypes.c_uint64), ("bytes", ctypes.c_uint64), ("stride", ctypes.c_int32 * STRIDES)]


class Job(ctypes.Structure):
    """An image for each of `IMAGES`, in their order."""

    _fields_ = [("image", Image * {{ plan.most_images }})]


class Port(ctypes.Structure):
    """The functions by which the driver reaches the registers{% if plan.banks.is_some() %} and the banks{% endif %}."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("read", "write", "wait", "ticks", {% if plan.banks.is_some() %}"write_rows", "read_rows", {% endif %}"context")]
{%- if plan.banks.is_some() %}


class Map(ctypes.Structure):
    """Where this process has mapped the registers and the banks."""

    _fields_ = [("registers", ctypes.c_void_p), ("buffer", ctypes.c_void_p)]
{%- endif %}


class Memory:
    """{% if plan.banks.is_some() %}Memory for images: its address{% else %}Memory that the hardware and the host share: its address for the hardware{% endif %}, and its bytes{% if plan.banks.is_none() %} for the host{% endif %}."""

    def __init__(self, address: int, view: memoryview):
        self.address, self.view, self.used = address, view, 0

    def take(self, size: int) -> int:
        """The offset of so many free bytes."""
        begin = -(-self.used // ALIGNMENT) * ALIGNMENT
        if begin + size > len(self.view):
            raise MemoryError(f"{size} bytes do not fit the {len(self.view) - begin} of {len(self.view)} that are left")
        self.used = begin + size
        return begin


class HostError(RuntimeError):
    """A result of the driver that is not all well."""


class Host:
    """The hardware with its driver, and a memory for images."""

    def __init__(self, library: ctypes.CDLL, port: Port, memory: Memory):
        self.library, self.memory, self.port = library, memory, port
        self.device = ctypes.create_string_buffer(DEVICE_BYTES)
        library.{{ name }}_text.restype = ctypes.c_char_p
        self.call("open", self.port)
        self.configure()

    @classmethod
    def simulated(cls) -> "Host":
        """The Verilated shell, with a memory of its own."""
        library = ctypes.CDLL(str(BUILD / "libsimulation.so"))
        library.simulation_memory.restype = ctypes.POINTER(ctypes.c_uint8)
        size, address = library.simulation_bytes, library.simulation_address
        size.restype = address.restype = ctypes.c_uint64
        bytes_of = ctypes.cast(library.simulation_memory(), ctypes.POINTER(ctypes.c_uint8 * size())).contents
        pointers = [ctypes.cast(getattr(library, f"simulation_{name}"), ctypes.c_void_p)
                    for name in ("read", "write", "wait", "cycles"{% if plan.banks.is_some() %}, "write_rows", "read_rows"{% endif %})]
        return cls(library, Port(*pointers, None), Memory(address(), memoryview(bytes_of).cast("B")))

    @classmethod
{%- if plan.banks.is_some() %}
    def mapped(cls, registers: int, buffer: int, memory: Memory) -> "Host":
        """Hardware whose registers and banks this process has mapped at addresses, as from /dev/uio0, and a memory for images."""
        library = ctypes.CDLL(str(BUILD / "lib{{ name }}.so"))
        library.{{ name }}_mapped.restype, library.{{ name }}_mapped.argtypes = Port, [ctypes.POINTER(Map)]
        places = Map(registers, buffer)
        host = cls(library, library.{{ name }}_mapped(ctypes.byref(places)), memory)
        host.places = places
        return host
{%- else %}
    def mapped(cls, registers: int, memory: Memory) -> "Host":
        """Hardware whose registers this process has mapped at an address, as from /dev/uio0, and a memory that both reach."""
        library = ctypes.CDLL(str(BUILD / "lib{{ name }}.so"))
        library.{{ name }}_mapped.restype, library.{{ name }}_mapped.argtypes = Port, [ctypes.c_void_p]
        return cls(library, library.{{ name }}_mapped(registers), memory)
{%- endif %}

    def __enter__(self) -> "Host":
        return self

    def __exit__(self, *_) -> None:
        self.memory.view.release()

    def call(self, function: str, *arguments) -> None:
        """Calls a function of the driver for the device."""
        self.check(getattr(self.library, f"{{ name }}_{function}")(self.device, *arguments))

    def check(self, result: int) -> None:
        if result != OK:
            raise HostError(self.library.{{ name }}_text(result).decode())

    def configure(self) -> None:
        """Writes the configuration: after each reset."""
{%- if let Some(program) = plan.program %}
        self.call("configure", ctypes.byref(ctypes.c_char.in_dll(self.library, "{{ program }}_program")))
{%- else %}
        self.call("configure")
{%- endif %}

    def shapes(self, large: bool = False) -> dict[str, list[int]]:
        """Elements of the images, or of the large ones that tiles are of."""
        if not large:
            return {name: shape for name, (_, _, shape) in IMAGES.items()}
        if TILES is None:
            raise HostError("the driver has no tiles: `pushmem build` makes them with `--image-size`")
        return {image["name"]: image["size"] for image in TILES["images"]}

    def place(self, kind: str, shape: Sequence[int]) -> Image:
        """An image of this type without gaps in memory that is free."""
        element = array.array(TYPES[kind]).itemsize
        size = element * math.prod(shape)
        strides = [element * math.prod(shape[:dimension]) for dimension in range(1, len(shape))]
        address = self.memory.address + self.memory.take(size)
        return Image(address, size, (ctypes.c_int32 * STRIDES)(*strides))

    def bytes_of(self, image: Image) -> memoryview:
        """The bytes of an image without gaps."""
        begin = image.address - self.memory.address
        return self.memory.view[begin:begin + image.bytes]

    def run(self, inputs: Mapping[str, Sequence[int]], timeout: int = 1 << 30) -> dict[str, Sequence[int]]:
        """Runs a job on these inputs: the outputs."""
        return self.run_job(inputs, False, lambda job: (self.call("submit", ctypes.byref(job)), self.call("wait", timeout)))

    def run_tiles(self, inputs: Mapping[str, Sequence[int]], timeout: int = 1 << 30) -> dict[str, Sequence[int]]:
        """Runs the tiles of a large image, two jobs at a time: the outputs. The time is that of a job."""
        run = getattr(self.library, "{{ plan.stem }}_run_tiles", None)
        return self.run_job(inputs, True, lambda job: self.check(run(self.device, ctypes.byref(job), timeout)))

    def run_job(self, inputs: Mapping[str, Sequence[int]], large: bool, run: Callable[[Job], object]) -> dict[str, Sequence[int]]:
        """Places images, lets a function run jobs of them, and takes the outputs."""
        shapes, job = self.shapes(large), Job()
        self.memory.used = 0
        for number, (name, (output, kind, _)) in enumerate(IMAGES.items()):
            job.image[number] = self.place(kind, shapes[name])
            if not output:
                self.bytes_of(job.image[number])[:] = elements(name, inputs[name], kind, shapes[name]).tobytes()
        run(job)
        found = {}
        for number, (name, (output, kind, _)) in enumerate(IMAGES.items()):
            if output:
                values = array.array(TYPES[kind], bytes(self.bytes_of(job.image[number])))
                found[name] = values if numpy is None else numpy.frombuffer(values, NUMPY_TYPES[kind]).reshape(shapes[name][::-1])
        return found

    def cycles(self) -> int:
        """Cycles of the last job."""
        return self.library.{{ name }}_cycles(self.device)
{%- if plan.banks.is_none() %}

    def failed(self) -> list[str]:
        """The images of the last job that memory answered with an error, or whose addresses the hardware refused."""
        failed = self.library.{{ name }}_failed(self.device)
        return [name for number, name in enumerate(IMAGES) if failed >> number & 1]
{%- endif %}


# More than the driver's own data on any machine.
DEVICE_BYTES = 256{% if plan.banks.is_some() %} + 2 * ctypes.sizeof(Job){% endif %}


def elements(name: str, values: Sequence[int], kind: str, shape: Sequence[int]) -> array.array:
    """The elements of an image of this type."""
    if hasattr(values, "reshape"):
        has_fraction = kind in ("bf16", "f16") and values.dtype.kind not in "iu" and values.dtype.itemsize == 2
        flat = (values.reshape(-1).view("H") if has_fraction else values.reshape(-1)).tolist()
    else:
        flat = values
    if len(flat) != math.prod(shape):
        raise ValueError(f"`{name}` has {len(flat)} elements; {' x '.join(map(str, shape))} are expected")
    try:
        return array.array(TYPES[kind], flat)
    except OverflowError as error:
        bits = 8 * array.array(TYPES[kind]).itemsize
        least, most = (-1 << bits - 1, (1 << bits - 1) - 1) if kind.startswith("i") else (0, (1 << bits) - 1)
        place, value = next((place, value) for place, value in enumerate(flat) if not least <= value <= most)
        raise ValueError(f"`{name}` has {value} at place {place}, which {kind} does not hold: {least} to {most}") from error
