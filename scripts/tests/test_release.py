#!/usr/bin/env python3
"""Tests of scripts/release: what it refuses, and what a release writes."""

import tempfile
import unittest
from pathlib import Path

import script

release = script.load("release")
CHANGELOG = """# Changelog

## [Unreleased]

### Added

- A `gaussian` that is no generated file.

### Generated files
{lines}
## [0.2.0] - 2026-02-01

## [0.1.0] - 2026-01-01
"""
MANIFEST = '[workspace.package]\nversion = "0.2.0"\n'
LOCK = '[[package]]\nname = "other"\nversion = "0.2.0"\n\n[[package]]\nname = "pushmem-nest"\nversion = "0.2.0"\n'
CORE = 'CAPI=2:\nname: "pushmem::generator:0.2.0"\n'
FIRST = {("gaussian", "rtl"): "1111", ("gaussian", "report"): "2222", ("harris", "rtl"): "3333"}


class Release(unittest.TestCase):
    """A changelog, a manifest and digests in a folder of their own; `generated` is a dictionary in the place of a run of pushmem."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, text in {"CHANGELOG": CHANGELOG.format(lines=""), "MANIFEST": MANIFEST, "LOCK": LOCK, "GENERATOR": CORE}.items():
            path = Path(folder.name) / name
            path.write_text(text)
            setattr(release, name, path)
        release.DIGESTS = Path(folder.name) / "digests"
        self.generate(FIRST)
        release.bless("")

    def generate(self, digests: dict) -> None:
        release.generated = lambda pushmem: digests

    def say(self, lines: str) -> None:
        release.CHANGELOG.write_text(CHANGELOG.format(lines=lines))

    def refused(self, function, *arguments: str) -> str:
        with self.assertRaises(SystemExit) as refusal:
            function("", *arguments)
        return str(refusal.exception)

    def test_nothing_changed(self) -> None:
        release.check("")

    def test_changed_digests_need_a_line_for_their_set(self) -> None:
        self.generate(FIRST | {("gaussian", "rtl"): "9999"})
        self.assertIn("`gaussian` has another rtl", self.refused(release.check))
        self.assertIn("names `gaussian`, whose rtl changed", self.refused(release.bless))
        self.say("\n- `harris`: another set.\n")
        self.assertIn("names `gaussian`", self.refused(release.bless))
        self.say("\n- `gaussian`: shorter chains.\n")
        release.bless("")
        release.check("")
        self.say("")
        self.assertIn("names `gaussian`, whose rtl changed", self.refused(release.check))

    def test_sets_come_and_go(self) -> None:
        self.generate(FIRST | {("rom", "rtl"): "4444"})
        self.assertIn("`rom` has another rtl than the file says: nothing there", self.refused(release.check))
        self.generate({key: digest for key, digest in FIRST.items() if key[0] != "harris"})
        self.assertIn("nothing now", self.refused(release.check))
        release.bless("")
        release.check("")

    def test_versions_agree(self) -> None:
        release.MANIFEST.write_text(MANIFEST.replace("0.2.0", "0.3.0"))
        complaints = self.refused(release.check)
        self.assertIn("Cargo.toml has version 0.3.0, and the last release of CHANGELOG.md is 0.2.0", complaints)
        self.assertIn("Cargo.lock has crates of version 0.2.0", complaints)
        self.assertIn("FuseSoC has version 0.2.0, and Cargo.toml has 0.3.0", complaints)

    def test_releases_are_in_order(self) -> None:
        release.CHANGELOG.write_text(CHANGELOG.format(lines="").replace("2026-01-01", "2026-03-01"))
        self.assertIn("not in order", self.refused(release.check))

    def test_a_release(self) -> None:
        for version in ["0.2.0", "0.1.9", "1.0"]:
            self.assertIn("is no version above 0.2.0", self.refused(release.release, version))
        self.say("\n- `gaussian`: shorter chains.\n")
        self.generate(FIRST | {("gaussian", "rtl"): "9999"})
        release.bless("")
        release.release("", "0.10.0")
        self.assertIn('version = "0.10.0"', release.MANIFEST.read_text())
        self.assertIn('"pushmem::generator:0.10.0"', release.GENERATOR.read_text())
        self.assertIn('name = "other"\nversion = "0.2.0"', release.LOCK.read_text())
        self.assertNotIn("gaussian", release.unreleased(release.CHANGELOG.read_text()))
        self.assertEqual(release.recorded()["gaussian", "rtl"], ("9999", "9999"))
        release.check("")


if __name__ == "__main__":
    unittest.main(buffer=True)
