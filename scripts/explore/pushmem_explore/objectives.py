"""The figures of a point that can be objectives, and where each is in the reports of `pushmem`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Objective:
    """A figure, and which way it is better."""

    name: str
    text: str
    unit: str = ""
    maximize: bool = False
    # What must be run or given for it: nothing but a build, `synth`, `fpga`, or for a `rate` a clock.
    needs: str | None = None

    def cost(self, figures: dict) -> float | None:
        """The figure, such that less is better; none where the point does not have it."""
        value = figures.get(self.name)
        return None if value is None else -value if self.maximize else value


OBJECTIVES = {objective.name: objective for objective in [
    Objective("cycles", "cycles of a run"),
    Objective("processing_elements", "processing elements"),
    Objective("multipliers", "multipliers"),
    Objective("memory_tiles", "memory tiles, all kinds"),
    Objective("sram_words", "words that are kept"),
    Objective("made_words", "room of memories made for the program", "words"),
    Objective("shift_register_words", "words of shift registers"),
    Objective("pipeline_register_bits", "bits of pipeline registers"),
    Objective("bitstream_words", "words of the bitstream"),
    Objective("track_registers", "registers on tracks of the array"),
    Objective("area", "area of cells and macros", "µm²", needs="synth"),
    Objective("minimum_period_ps", "shortest clock period", "ps", needs="synth"),
    Objective("power_mw", "power", "mW", needs="synth"),
    Objective("energy_nj", "energy of a run", "nJ", needs="synth"),
    Objective("luts", "LUTs of the FPGA", needs="fpga"),
    Objective("flip_flops", "flip-flops of the FPGA", needs="fpga"),
    Objective("block_rams", "block RAMs of the FPGA", needs="fpga"),
    Objective("fpga_multipliers", "multipliers of the FPGA", needs="fpga"),
    Objective("maximum_mhz", "clock of the FPGA", "MHz", maximize=True, needs="fpga"),
    Objective("images_per_second", "images a second", maximize=True, needs="rate"),
]}

# What a build reports of its numbers that is not of the design: wall-clock times, and the effort of the proof.
_NO_FIGURES = ("seconds", "model_seconds", "proven_cycles", "simulated_cycles", "repeated_cycles", "proven_operations",
               "compared_operations", "proven_words", "seed")
_MEMORIES = ("memory_tiles", "global_buffer_banks", "register_files", "rom_tiles")


def of_build(report: dict) -> dict:
    """The figures in the report of `pushmem build`, of hardware of its own and of an array."""
    figures = {}
    for name, value in report.items():
        if isinstance(value, dict) and "used" in value:
            figures[name], figures[f"{name}_available"] = value["used"], value["available"]
        elif isinstance(value, int | float) and not isinstance(value, bool) and name not in _NO_FIGURES:
            figures[name] = value
    if "memories" in figures:
        figures["memory_tiles"] = figures.pop("memories")
    else:
        figures["memory_tiles"] = sum(figures.get(name) or 0 for name in _MEMORIES)
    if report.get("initiation_interval"):
        figures["initiation_interval"] = report["initiation_interval"]["cycles"]
    if report.get("clock"):
        figures["least_period_ps"] = report["clock"]["least_ps"]
    return figures


def of_synth(report: dict) -> dict:
    """The figures in the report of `pushmem synth` in cells."""
    figures = {"area": sum(block["area"] for block in report["blocks"]) + report["macro_area"],
               "minimum_period_ps": report["minimum_period_ps"]}
    if report["power"]:
        figures["power_mw"] = sum(report["power"].values())
        figures["power_clock_ps"] = report["clock_ps"]
    return figures


def of_fpga(report: dict) -> dict:
    """The figures in the report of `pushmem synth --fpga`."""
    figures = {name: report[name]["used"] for name in ("luts", "flip_flops", "block_rams")}
    return figures | {"fpga_multipliers": report["multipliers"]["used"], "maximum_mhz": report["maximum_mhz"]}


READERS = {"build": of_build, "synth": of_synth, "fpga": of_fpga}


def joined(parts: list[dict], clock: float | None) -> dict:
    """The figures of all runs of a point, with those that follow from several runs. A clock that is given counts before one that an
    array, a synthesis or an FPGA has."""
    figures = {name: value for part in parts for name, value in part.items()}
    periods = [clock, figures.get("least_period_ps"), figures.get("minimum_period_ps")]
    if "maximum_mhz" in figures:
        periods.append(1e6 / figures["maximum_mhz"])
    period = next((period for period in periods if period), None)
    if period and figures.get("cycles"):
        figures["images_per_second"] = 1e12 / (figures["cycles"] * period)
    if "power_mw" in figures and figures.get("cycles"):
        # Milliwatts times picoseconds are 10⁻¹⁵ joules.
        figures["energy_nj"] = figures["power_mw"] * figures["cycles"] * figures["power_clock_ps"] * 1e-6
    return figures
