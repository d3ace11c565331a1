#!/usr/bin/env python3
"""Tests of what a notebook shows of accelerators: pushmem_halide.pictures."""

import json
import struct
import sys
import tempfile
import unittest
import zlib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import script

sys.path.append(str(script.SCRIPTS / "halide"))
from pushmem_halide import pictures  # noqa: E402
from pushmem_halide.results import Build  # noqa: E402

TRACE = {"otherData": {"program": "blur", "cycles": 100}, "traceEvents": [
    {"name": "process_name", "ph": "M", "pid": 1, "tid": 0, "args": {"name": "operations"}},
    {"name": "thread_name", "ph": "M", "pid": 1, "tid": 1, "args": {"name": "rows"}},
    {"name": "rows", "ph": "X", "pid": 1, "tid": 1, "ts": 4, "dur": 90, "args": {"iterations": 60}},
    {"name": "y=0", "ph": "X", "pid": 1, "tid": 1, "ts": 4, "dur": 20, "args": {"iterations": 20}},
    {"name": "y=1", "ph": "X", "pid": 1, "tid": 1, "ts": 24, "dur": 20, "args": {"iterations": 20}},
    {"name": "y=2", "ph": "X", "pid": 1, "tid": 1, "ts": 74, "dur": 20, "args": {"iterations": 20}},
    {"name": "process_name", "ph": "M", "pid": 2, "tid": 0, "args": {"name": "streams"}},
    {"name": "thread_name", "ph": "M", "pid": 2, "tid": 1, "args": {"name": "input"}},
    {"name": "input", "ph": "X", "pid": 2, "tid": 1, "ts": 0, "dur": 100, "args": {"iterations": 100}},
]}


def decoded(data: bytes) -> np.ndarray:
    """The pixels of a PNG file whose rows have no filter."""
    chunks, place = {}, 8
    while place < len(data):
        length, name = struct.unpack(">I4s", data[place:place + 8])
        body = data[place + 8:place + 8 + length]
        assert zlib.crc32(name + body) == struct.unpack(">I", data[place + 8 + length:place + 12 + length])[0]
        chunks[name], place = body, place + 12 + length
    width, height, bits, kind = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert bits == 8
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape((height, width, 3) if kind == 2 else (height, width))


class Images(unittest.TestCase):
    """Arrays as images."""

    def test_png_has_the_pixels(self) -> None:
        random = np.random.default_rng(0)
        for shape in [(5, 7), (5, 7, 3), (1, 1)]:
            pixels = random.integers(0, 256, shape, dtype=np.uint8)
            np.testing.assert_array_equal(decoded(pictures.png(pixels)), pixels)

    def test_grey_levels_reach_from_black_to_white(self) -> None:
        self.assertEqual(pictures.grey_levels(np.array([[0, 500, 1000]])).tolist(), [[0, 128, 255]])
        self.assertEqual(pictures.grey_levels(np.array([[-10, 0, 10]])).tolist(), [[0, 128, 255]])
        self.assertEqual(pictures.grey_levels(np.array([[100, 250]])).tolist(), [[102, 255]])
        self.assertEqual(pictures.grey_levels(np.zeros((1, 2))).tolist(), [[0, 0]])

    def test_colours_may_be_outermost(self) -> None:
        planes = np.arange(24).reshape(3, 2, 4)
        self.assertEqual(pictures.colours_last(planes).shape, (2, 4, 3))
        self.assertEqual(pictures.colours_last(planes)[1, 2].tolist(), planes[:, 1, 2].tolist())

    def test_pictures_are_arrays(self) -> None:
        picture = np.arange(6, dtype=np.uint16).reshape(2, 3).view(pictures.Picture)
        np.testing.assert_array_equal(picture + 1, np.arange(1, 7).reshape(2, 3))
        self.assertIn("3 × 2 pixels of uint16, from 0 to 5", picture._repr_html_())
        self.assertIsNone(picture[0]._repr_html_())
        self.assertIsNone(picture[:0]._repr_html_())


class Schedules(unittest.TestCase):
    """Schedules as charts, and reports with them."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "trace.json").write_text(json.dumps(TRACE))
        (self.folder / "report.html").write_text("<p title=\"a\">whole & page</p>")
        self.schedule = pictures.Schedule.of(self.folder)

    def test_operations_with_the_times_in_which_they_are_busy(self) -> None:
        rows, = self.schedule.operations
        self.assertEqual((rows.name, rows.begin, rows.end, rows.iterations), ("rows", 4, 94, 60))
        self.assertEqual(rows.parts, ((4, 44), (74, 94)))
        self.assertIn("rows", str(self.schedule))
        self.assertIn("60 iterations", str(self.schedule))

    def test_chart_is_to_scale(self) -> None:
        chart = ElementTree.fromstring(self.schedule._repr_html_())
        bars = [(float(bar.get("x")), float(bar.get("width"))) for bar in chart.iter("{http://www.w3.org/2000/svg}rect")]
        scale = pictures.BARS / 100
        self.assertEqual(bars, [(pictures.NAMES + 4 * scale, 40 * scale), (pictures.NAMES + 74 * scale, 20 * scale)])

    def test_parts_too_near_to_see_are_one_bar(self) -> None:
        self.assertEqual(len(pictures.visible(tuple((10 * n, 10 * n + 9) for n in range(1000)), 0.05)), 1)
        self.assertEqual(len(pictures.visible(tuple((10 * n, 10 * n + 5) for n in range(10)), 5)), 10)

    def test_report_has_figures_chart_and_page(self) -> None:
        report = pictures.Report.of(Build(self.folder, {"name": "blur", "cycles": 100, "memory_tiles": 2}))
        shown = report._repr_html_()
        for text in ["memory tiles", self.schedule._repr_html_(), "srcdoc=\"&lt;p title=&quot;a&quot;&gt;whole &amp; page&lt;/p&gt;\""]:
            self.assertIn(text, shown)


if __name__ == "__main__":
    unittest.main(buffer=True)
