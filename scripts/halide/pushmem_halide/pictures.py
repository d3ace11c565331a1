"""Pictures of results in a notebook: images as PNG, schedules as SVG, and the report of a build."""

from __future__ import annotations

import base64
import html
import json
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .results import Build, table

#: Images that are smaller are shown with larger pixels, up to this width.
SHOWN_WIDTH = 320
#: The width of the bars of a schedule, and the height of a row, in pixels.
BARS, ROW, NAMES = 560, 18, 150
#: Bars of more than one operation have the colours of this list in turn.
COLOURS = ("#3b6ea5", "#c2703d", "#5b8c5a", "#8a5a83", "#a8893b", "#4f8a8b")


class Picture(np.ndarray):
    """An array of pixels that a notebook shows as an image: of two dimensions in grey, of three with three colours.

    In everything else it is the array. Black is the least element, or 0 where none is less, and white the greatest.
    """

    def _repr_html_(self) -> str | None:
        pixels = colours_last(np.asarray(self))
        if pixels is None or pixels.size == 0:
            return None
        height, width = pixels.shape[:2]
        least, most = pixels.min(), pixels.max()
        data = base64.b64encode(png(grey_levels(pixels))).decode()
        shown = max(width, min(SHOWN_WIDTH, width * (SHOWN_WIDTH // width or 1)))
        caption = f"{width} × {height} pixels of {self.dtype}, from {least} to {most}"
        return (f"<figure style=\"margin:0\"><img src=\"data:image/png;base64,{data}\" width=\"{shown}\" alt=\"{caption}\" "
                f"style=\"image-rendering:pixelated\"><figcaption>{caption}</figcaption></figure>")


def colours_last(array: np.ndarray) -> np.ndarray | None:
    """Pixels by row, column and, of three dimensions, colour; None for what is no image. Colours may be the outermost or the innermost
    dimension of the array."""
    if array.ndim == 2:
        return array
    if array.ndim == 3 and array.shape[2] == 3:
        return array
    return np.moveaxis(array, 0, 2) if array.ndim == 3 and array.shape[0] == 3 else None


def grey_levels(pixels: np.ndarray) -> np.ndarray:
    """The same pixels in 8 bits, from the least element, or 0, to the greatest."""
    numbers = np.nan_to_num(pixels.astype(np.float64), posinf=0, neginf=0)
    least, most = min(numbers.min(), 0), numbers.max()
    return np.zeros(pixels.shape, np.uint8) if most == least else np.rint((numbers - least) * (255 / (most - least))).astype(np.uint8)


def png(pixels: np.ndarray) -> bytes:
    """A PNG file of pixels of 8 bits, in grey or with three colours."""
    height, width = pixels.shape[:2]
    kind = 2 if pixels.ndim == 3 else 0
    # Each row begins with its filter: none.
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows.tobytes())) + chunk(b"IEND", b"")


@dataclass(frozen=True)
class Operation:
    """An operation of a schedule."""

    name: str
    #: The cycle of its first iteration, and the one behind its last.
    begin: int
    end: int
    iterations: int
    #: Parts of the time between in which it is busy, each with its first cycle and the one behind its last.
    parts: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Schedule:
    """The cycles in which the operations of an accelerator run. In a notebook, a chart with a row for each."""

    program: str
    #: The cycles of a run, to the last output.
    cycles: int
    operations: tuple[Operation, ...]

    @staticmethod
    def of(folder: Path) -> Schedule:
        """The schedule in the folder of a build."""
        trace = json.loads((folder / "trace.json").read_text())
        events = trace["traceEvents"]
        process = next(event["pid"] for event in events if event["name"] == "process_name" and event["args"]["name"] == "operations")
        own = [event for event in events if event["pid"] == process and event["tid"] > 0]
        names = {event["tid"]: event["args"]["name"] for event in own if event["name"] == "thread_name"}
        spans = [event for event in own if event["ph"] == "X"]
        operations = []
        for thread, name in names.items():
            # The first span of an operation is the whole of it, and the others are iterations of its outer loop.
            whole, *rows = [event for event in spans if event["tid"] == thread]
            parts = joined([(event["ts"], event["ts"] + event["dur"]) for event in rows or [whole]])
            operations.append(Operation(name, whole["ts"], whole["ts"] + whole["dur"], whole["args"]["iterations"], parts))
        return Schedule(trace["otherData"]["program"], trace["otherData"]["cycles"], tuple(operations))

    def __str__(self) -> str:
        rows = (f"  {each.name:<24} cycles {each.begin:>8,} to {each.end - 1:>8,}  {each.iterations:>10,} iterations"
                for each in self.operations)
        return "\n".join([f"{self.program}: {self.cycles:,} cycles", *rows])

    def _repr_html_(self) -> str:
        height = ROW * len(self.operations)
        scale = BARS / max(1, self.cycles)
        shapes = []
        for number, each in enumerate(self.operations):
            top, colour = number * ROW, COLOURS[number % len(COLOURS)]
            shapes.append(f"<text x=\"{NAMES - 6}\" y=\"{top + 13}\" text-anchor=\"end\">{html.escape(each.name[:22])}</text>")
            told = f"{each.name}: cycles {each.begin:,} to {each.end - 1:,}, {each.iterations:,} iterations"
            bars = "".join(f"<rect x=\"{NAMES + begin * scale:.2f}\" y=\"{top + 3}\" width=\"{max(0.5, (end - begin) * scale):.2f}\" "
                           f"height=\"{ROW - 6}\"/>" for begin, end in visible(each.parts, scale))
            shapes.append(f"<g fill=\"{colour}\"><title>{html.escape(told)}</title>{bars}</g>")
        axis = (f"<text x=\"{NAMES}\" y=\"{height + 14}\">0</text>"
                f"<text x=\"{NAMES + BARS}\" y=\"{height + 14}\" text-anchor=\"end\">{self.cycles:,} cycles</text>")
        return (f"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{NAMES + BARS + 4}\" height=\"{height + 20}\" "
                f"style=\"font:12px sans-serif;fill:currentColor\" role=\"img\" aria-label=\"Schedule of {html.escape(self.program)}\">"
                f"{''.join(shapes)}{axis}</svg>")


def joined(parts: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Parts of time in order, those that touch as one."""
    found: list[tuple[int, int]] = []
    for begin, end in sorted(parts):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return tuple(found)


def visible(parts: tuple[tuple[int, int], ...], scale: float) -> tuple[tuple[int, int], ...]:
    """Parts of time, those as one between which there is less than half a pixel."""
    gap = 0.5 / scale
    return tuple((begin, end - gap) for begin, end in joined([(begin, end + gap) for begin, end in parts]))


@dataclass(frozen=True)
class Report:
    """The report of an accelerator. In a notebook, its figures, its schedule and, below a line that opens it, its page."""

    build: Build
    schedule: Schedule
    #: The page for a browser, which needs no other file.
    page: str

    @staticmethod
    def of(build: Build) -> Report:
        """The report in the folder of a build, which need not stay."""
        return Report(build, Schedule.of(build.folder), build.page.read_text())

    def __str__(self) -> str:
        figures = (f"  {name:<34} {value}" for name, value in self.build.figures().items())
        return "\n".join([self.build.report["name"], *figures, str(self.schedule)])

    def _repr_html_(self) -> str:
        figures = table(self.build.report["name"], [(name, html.escape(value)) for name, value in self.build.figures().items()])
        frame = f"<iframe srcdoc=\"{html.escape(self.page)}\" style=\"width:100%;height:720px;border:1px solid #ccc\"></iframe>"
        return f"{figures}{self.schedule._repr_html_()}<details><summary>the whole report</summary>{frame}</details>"
