"""Results of an accelerator: a build, and the distance of images from those that are expected."""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .words import to_numbers

#: Figures of a report by their keys, with the names that people read. One of an array says how many are used, and how many there are.
FIGURES = {
    "cycles": "cycles", "sequential_cycles": "cycles, one stage after the other", "memory_tiles": "memory tiles",
    "memories": "memory tiles", "rom_tiles": "tiles with tables", "sram_words": "SRAM words",
    "shift_register_words": "shift-register words", "processing_elements": "processing elements", "multipliers": "multipliers",
    "input_words": "words in, a cycle",
    "output_words": "words out, a cycle", "inputs": "IO tiles in", "outputs": "IO tiles out",
}


def table(title: str, rows: list[tuple[str, str]]) -> str:
    """A table of names and values in HTML. Values are HTML already."""
    lines = "".join(f"<tr><th style=\"text-align:left\">{html.escape(name)}</th><td style=\"text-align:left\">{value}</td></tr>"
                    for name, value in rows)
    return f"<table><caption>{html.escape(title)}</caption>{lines}</table>"


@dataclass(frozen=True)
class Build:
    """An accelerator that was built: its figures, and the folder with its RTL. In a notebook, a table with links."""

    #: The folder with RTL, configuration, C header, testbench and report.
    folder: Path
    #: What `pushmem build --json` reports, by its keys.
    report: dict

    @property
    def cycles(self) -> int:
        """The cycles of a run, to the last output."""
        return self.report["cycles"]

    @property
    def page(self) -> Path:
        """The report for a browser."""
        return self.folder / "report.html"

    def figures(self) -> dict[str, str]:
        """Resources of the hardware, by the names that people read."""
        figures = {}
        for key, name in FIGURES.items():
            value = self.report.get(key)
            if isinstance(value, dict):
                figures[name] = f"{value['used']:,} of {value['available']:,}"
            elif value:
                figures[name] = f"{value:,}"
        return figures

    def __str__(self) -> str:
        rows = {**self.figures(), "written to": str(self.folder), "report": str(self.page)}
        return "\n".join([self.report["name"], *(f"  {name:<34} {value}" for name, value in rows.items())])

    def _repr_html_(self) -> str:
        link = lambda path: f"<a href=\"{html.escape(path.as_posix())}\">{html.escape(str(path))}</a>"
        rows = [(name, html.escape(value)) for name, value in self.figures().items()]
        return table(self.report["name"], [*rows, ("written to", link(self.folder)), ("report", link(self.page))])


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
        if self.share == 0:
            return "nothing differs"
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
