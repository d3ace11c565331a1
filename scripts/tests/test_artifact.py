#!/usr/bin/env python3
"""Tests of scripts/artifact: what it reads of tables, and what it says of figures."""

import tempfile
import unittest
from pathlib import Path

import script

artifact = script.load("artifact")
RESULTS = """# Results

## First

Text.

| program | cycles | sequential | tiles |
| --- | --: | --: | --: |
| blur | 90 (100) | 200 (150) | 3 (3) |
| edge | 70 | 1k (0.9k) | 3 + 2 |

## Second

| tile | area | peer | ratio |
| --- | --: | --: | --: |
| small | 393,257 | 496,287 | 79% |
| large | 5 µm² |  | |

| program | share of the macro | memory tiles |
| --- | --: | --: |
| blur | 36 % (46 %) | 3 (3) |
"""


class Artifact(unittest.TestCase):
    """A page with two sections in a folder of its own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        (Path(folder.name) / "page.md").write_text(RESULTS)
        artifact.PAGES = Path(folder.name)
        artifact.SECTIONS = [("page.md", "## First"), ("page.md", "## Second")]
        self.found = artifact.figures()

    def test_figures_and_verdicts(self) -> None:
        told = [(figure.row, figure.column, figure.ours, figure.published, figure.verdict) for figure in self.found]
        self.assertEqual(told, [
            ("blur", "cycles", "90", "100", "better"),
            ("blur", "cycles, sequential", "200", "150", "worse"),
            ("blur", "tiles", "3", "3", "same"),
            ("edge", "cycles, sequential", "1k", "0.9k", "worse"),
            ("small", "area", "393,257", "496,287", "better"),
            ("blur", "share of the macro", "36", "46", "other"),
        ])

    def test_reasons_by_section_row_and_column(self) -> None:
        artifact.REASONS = [("First", "blur", "sequential", "first"), ("", "", "", "all")]
        self.assertEqual([figure.reason for figure in self.found[:2]], ["all", "first"])
        artifact.REASONS = [("Second", "", "", "other")]
        self.assertIsNone(self.found[1].reason)

    def test_page_counts_and_explains(self) -> None:
        artifact.REASONS = [("", "", "", "Because.")]
        text = artifact.page(self.found)
        self.assertIn("| First | 1 | 1 | 2 | 0 |\n| Second | 0 | 1 | 0 | 1 |\n| all | 1 | 2 | 2 | 1 |\n", text)
        self.assertIn("- **cycles, sequential**: blur 200 (150), edge 1k (0.9k). Because.\n", text)

    def test_chart_has_a_dot_for_each_ratio(self) -> None:
        self.assertEqual(artifact.chart(self.found).count("<circle"), 5)


if __name__ == "__main__":
    unittest.main(buffer=True)
