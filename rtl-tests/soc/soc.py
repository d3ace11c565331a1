"""Builds a LiteX SoC with a VexRiscv core and what pushmem made, compiles the drivers and the firmware beside this file for the core, and
runs it in Verilator.

Usage: build/venv/bin/python rtl-tests/soc/soc.py [--bus wishbone|axi] OUT FOLDER...

FOLDER is what `pushmem build PROGRAM -o FOLDER --bus axi` wrote. Those of one array are programs that it loads one after another; others
are accelerators side by side, which the firmware uses in their order.
OUT is a folder for the SoC. Exit code: 0 when all words are those of the testbenches.
"""

import argparse
import importlib.util
import logging
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from litex.build.generic_platform import Pins, Subsignal
from litex.build.sim import SimPlatform
from litex.gen import LiteXModule
from litex.soc.integration import export
from litex.soc.integration.soc_core import SoCCore
from migen import ClockDomain

HERE = Path(__file__).resolve().parent
COMPILER = "riscv64-unknown-elf-"
ORIGIN, BUFFER_ORIGIN = 0x9000_0000, 0xa000_0000
# Between the addresses of one hardware and the next.
APART = 0x100_0000
ROM_BYTES, RAM_BYTES = 0x4_0000, 0x8_0000
# Bytes of an element in memory, by its type.
ELEMENT_BYTES = {"u8": 1, "i8": 1, "u16": 2, "i16": 2}
# By far more than any of the tests takes.
MOST_CYCLES = 20_000_000

PADS = [
    ("sys_clk", 0, Pins(1)),
    ("sys_rst", 0, Pins(1)),
    ("serial", 0, Subsignal("source_valid", Pins(1)), Subsignal("source_ready", Pins(1)), Subsignal("source_data", Pins(8)),
     Subsignal("sink_valid", Pins(1)), Subsignal("sink_ready", Pins(1)), Subsignal("sink_data", Pins(8))),
]


class Clock(LiteXModule):
    """The clock and the reset of the test."""

    def __init__(self, platform):
        self.cd_sys = ClockDomain()
        self.comb += [self.cd_sys.clk.eq(platform.request("sys_clk")), self.cd_sys.rst.eq(platform.request("sys_rst"))]


class Soc(SoCCore):
    """A processor with memory, a serial port, a timer, and the hardware under test."""

    def __init__(self, modules, bus: str):
        platform = SimPlatform("SIM", PADS)
        self.crg = Clock(platform)
        super().__init__(platform, clk_freq=1_000_000, cpu_type="vexriscv", cpu_variant="standard", bus_standard=bus, uart_name="sim",
                         integrated_rom_size=ROM_BYTES, integrated_sram_size=0x2000, integrated_main_ram_size=RAM_BYTES, ident="")
        self.hardware = []
        for number, module in enumerate(modules):
            [name] = [name for name in vars(module) if name.endswith("Axi")]
            hardware = getattr(module, name)(platform)
            self.add_module(f"hardware_{number}", hardware)
            # An array with a global buffer has its banks beside its registers.
            banks = {"buffer_origin": BUFFER_ORIGIN + number * APART} if hasattr(hardware, "buffer") else {}
            hardware.add_to(self, f"hardware_{number}", origin=ORIGIN + number * APART, **banks)
            self.hardware.append(hardware)


def load(path: Path):
    """A module of Python."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def words(path: Path) -> list[str]:
    """The words of a stream of a testbench, as numbers of C."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith(("//", "#"))]
    return [f"0x{word}" for line in lines for word in line.split()]


def array(kind: str, name: str, values) -> str:
    return f"static const {kind} {name}[] = {{{', '.join(map(str, values))}}};\n"


class Program:
    """A folder that pushmem wrote, and the tables of its test."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.host = load(next((folder / "driver").glob("*_host.py")))
        table = next((folder / "driver").glob("*_program.h"), None)
        # On an array, elements of an image come in the order of memory.
        self.loaded = table.stem.removesuffix("_program") if table else None
        self.name = self.loaded or next(folder.glob("*_registers.h")).stem.removesuffix("_axi_registers")

    def tables(self) -> str:
        name, text = self.name, f'#include "{self.loaded}_program.h"\n' if self.loaded else f'#include "../{self.name}.h"\n'
        entries = []
        for number, (image, (output, _, _)) in enumerate(self.host.IMAGES.items()):
            path = self.folder / "testbench" / f"{image}{'.expected' if output else ''}.hex"
            text += array("uint16_t", f"{name}_{image}_words", values := words(path))
            if self.loaded:
                beats, lanes, element = len(values), 1, "in_order"
            else:
                stream = f"{name}_{image}"
                beats, lanes, element = f"{stream.upper()}_BEATS", f"{stream.upper()}_LANES", f"{stream}_element"
            entries.append(f"{{{number}, {int(output)}, {name}_{image}_words, {beats}, {lanes}, {element}}}")
        shapes = [shape for _, _, shape in self.host.IMAGES.values()]
        sizes = [ELEMENT_BYTES[kind] for _, kind, _ in self.host.IMAGES.values()]
        text += array("struct words", f"{name}_words", entries)
        text += array("uint32_t", f"{name}_dimensions", map(len, shapes))
        text += array("uint32_t", f"{name}_sizes", sizes)
        rows = ["{" + ", ".join(map(str, shape)) + "}" for shape in shapes]
        return text + f"static const uint32_t {name}_shape[][MOST_DIMENSIONS] = {{{', '.join(rows)}}};\n"

    def entry(self) -> str:
        name = self.name
        program = f"&{self.loaded}_program" if self.loaded else "NULL"
        return (f'{{"{name}", {program}, {name.upper()}_RUN_CYCLES, {len(self.host.IMAGES)}, {name}_sizes, '
                f"{name}_dimensions, {name}_shape, {name}_words}}")


# The part of the firmware that is for one hardware.
OWN = ["tests", "test_count", "run_tests", "take_interrupt", "say"]


def hardware_header(number: int, module: str, programs: list[Program], has_banks: bool) -> str:
    """The names of the hardware of a number and of its driver, and the functions that differ between accelerators, arrays, and those with
    banks."""
    of_array = programs[0].loaded is not None
    table = f"(const struct {module}_program *)(test)->program"
    names = {"DEVICE": f"struct {module}", "DRIVER(name)": f"{module}_##name", "CODE(name)": f"{module.upper()}_##name",
             "MOST_DIMENSIONS": f"{module.upper()}_DIMENSIONS"}
    names |= {f"DRIVER_{part.upper()}": f"{module}_{part}" for part in ["image", "job", "port"]}
    names |= {name: f"{name}_{number}" for name in OWN}
    names |= {f"HARDWARE_{part}": f"HARDWARE_{number}_{part}" for part in ["BASE", "BUFFER_BASE", "INTERRUPT"]}
    names["HARDWARE_ENABLE_ADDR"] = f"CSR_HARDWARE_{number}_EV_ENABLE_ADDR"
    text = f'#include "{module}_driver.h"\n#include "soc.h"\n'
    text += "".join(f"#define {name} {value}\n" for name, value in names.items())
    text += f"#define configure(device, test) {module}_configure(device{', ' + table if of_array else ''})\n"
    text += f"#define dense(test, image, address) {module}_dense({table + ', ' if of_array else ''}image, address)\n"
    registers, banks = "(volatile void *)HARDWARE_BASE", "(volatile void *)HARDWARE_BUFFER_BASE"
    text += f"#define HARDWARE_MAP {f'struct {module}_map map = {{{registers}, {banks}}};' if has_banks else ''}\n"
    text += f"#define HARDWARE_MAPPED {'&map' if has_banks else registers}\n"
    return text


def soc_header(soc: Soc) -> str:
    """Addresses of the SoC."""
    text = export.get_csr_header(soc.csr_regions, soc.constants, soc.csr_regions["ctrl"].origin, with_access_functions=False)
    text = re.sub(r"(?m)^#include.*\n", "", text)
    text += export.get_mem_header(soc.mem_regions)
    return text + export.get_soc_header(soc.constants, with_access_functions=False)


def main_source(count: int) -> str:
    """Runs the tests of each hardware, of which one has interrupts at a time."""
    text = "".join(f"int run_tests_{number}(void);\nvoid take_interrupt_{number}(void);\n" for number in range(count))
    text += "void say_0(const char *text);\nstatic void (*taker)(void);\n"
    text += "void take_interrupt(void);\nvoid take_interrupt(void) { taker(); }\n"
    text += "int main(void)\n{\n    int failures = 0;\n"
    text += "".join(f"    taker = take_interrupt_{number};\n    failures += run_tests_{number}();\n" for number in range(count))
    return text + '    say_0(failures == 0 ? "PASS\\n" : "FAIL\\n");\n    return failures;\n}\n'


def words_source(programs: list[Program]) -> str:
    """The tables of the programs of one hardware."""
    text = '#include "firmware.h"\n'
    if programs[0].loaded:
        text += "static size_t in_order(size_t beat, size_t lane) { return beat + lane; }\n"
    text += "".join(program.tables() for program in {program.name: program for program in programs}.values())
    text += f"const struct test tests[] = {{{', '.join(program.entry() for program in programs)}}};\n"
    return text + f"const unsigned test_count = {len(programs)};\n"


def compile_firmware(soc: Soc, programs_of: dict[str, list[Program]], out: Path) -> bytes:
    """The contents of the ROM, for the programs of each module."""
    (out / "soc.h").write_text(soc_header(soc))
    (out / "main.c").write_text(main_source(len(programs_of)))
    regions = "".join(f"    {name} : ORIGIN = 0x{region.origin:x}, LENGTH = 0x{region.size:x}\n"
                      for name, region in soc.mem_regions.items() if name in ["rom", "sram"])
    (out / "regions.ld").write_text(f"MEMORY\n{{\n{regions}}}\n")
    # The names of 2018's instruction set, in which the control registers are a part of the base.
    flags = ["-march=rv32i2p0_m", "-mabi=ilp32", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-nostdlib"]
    objects = []
    for number, (module, programs) in enumerate(programs_of.items()):
        own = out / f"hardware_{number}"
        own.mkdir(exist_ok=True)
        (own / "hardware.h").write_text(hardware_header(number, module, programs, hasattr(soc.hardware[number], "buffer")))
        (own / "words.c").write_text(words_source(programs))
        distinct = list({program.name: program for program in programs}.values())
        sources = [HERE / "firmware.c", own / "words.c", programs[0].folder / "driver" / f"{module}_driver.c"]
        sources += [program.folder / "driver" / f"{program.loaded}_program.c" for program in distinct if program.loaded]
        sources += programs[0].folder.glob("global_buffer/*.c")
        folders = [out, own, HERE, *(program.folder / "driver" for program in distinct)]
        for source in sources:
            objects.append(own / f"{source.stem}.o")
            run([f"{COMPILER}gcc", *flags, *(f"-I{folder}" for folder in folders), "-c", source, "-o", objects[-1]])
    run([f"{COMPILER}gcc", *flags, f"-I{out}", f"-L{out}", "-T", HERE / "firmware.ld", HERE / "start.S", out / "main.c", *objects, "-lgcc",
         "-o", out / "firmware.elf"])
    run([f"{COMPILER}objcopy", "-O", "binary", out / "firmware.elf", out / "firmware.bin"])
    return (out / "firmware.bin").read_bytes()


def run(command, folder: Path | None = None) -> None:
    """Runs a command; ends the script when it fails."""
    done = subprocess.run([str(word) for word in command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\n{command[0]} failed")


def verilate(soc: Soc, out: Path) -> None:
    """The Verilated SoC. Warnings are about the modules of others: those of the shell are linted by themselves."""
    # The contents of memories go to the folder in which this is done, and are read from that of the run.
    os.chdir(out)
    soc.platform.get_verilog(soc, name="soc").write("soc.v")
    sources = [path for path, *_ in soc.platform.sources if path.endswith((".v", ".sv"))]
    includes = [f"+incdir+{path}" for path in soc.platform.verilog_include_paths]
    flags = ["--cc", "--exe", "--build", "-j", "2", "-Wno-fatal", "-Wno-lint", "-Wno-style", "--assert", "--x-assign", "fast",
             "--x-initial", "unique", "-O3", "-CFLAGS", "-std=c++17"]
    # Compilation takes longer than the run.
    for setting in ["OPT_FAST=-O1", "OPT_SLOW=-O0", "OPT_GLOBAL=-O1", *(["OBJCACHE=ccache"] if shutil.which("ccache") else [])]:
        flags += ["-MAKEFLAGS", setting]
    names = ["--prefix", "Vtop", "--top-module", "soc", "-o", "simulation", "--Mdir", out / "model"]
    run(["verilator", *flags, *names, *includes, out / "soc.v", *sources, HERE / "simulate.cpp"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bus", default="wishbone", choices=["wishbone", "axi"], help="the bus of the SoC")
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    options = parser.parse_args()
    out, folders = options.out.resolve(), [folder.resolve() for folder in options.folders]
    out.mkdir(parents=True, exist_ok=True)
    logging.disable(logging.INFO)
    modules, programs_of = {}, {}
    for folder in folders:
        [path] = folder.glob("*_litex.py")
        name = path.stem.removesuffix("_litex")
        modules.setdefault(name, load(path))
        programs_of.setdefault(name, []).append(Program(folder))
    soc = Soc(modules.values(), options.bus)
    soc.finalize()
    code = compile_firmware(soc, programs_of, out)
    soc.init_rom("rom", [int.from_bytes(code[at:at + 4], "little") for at in range(0, len(code), 4)])
    verilate(soc, out)
    sys.exit(subprocess.run([out / "model" / "simulation", str(MOST_CYCLES)], cwd=out).returncode)


if __name__ == "__main__":
    os.environ.setdefault("CCACHE_SLOPPINESS", "time_macros")
    main()
