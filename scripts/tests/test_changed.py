#!/usr/bin/env python3
"""Tests of scripts/changed and of its table, scripts/sections.tsv."""

import subprocess
import unittest

import script

changed = script.load("changed")
TEST = script.SCRIPTS / "test"


def output(*command: object) -> str:
    """What a command prints."""
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True, cwd=script.SCRIPTS.parent).stdout


class Table(unittest.TestCase):
    """The table names each section and has a row for each file."""

    def test_every_text_is_in_a_title_and_every_title_has_a_text(self) -> None:
        titles = output(TEST, "--sections").splitlines()
        self.assertGreater(len(titles), 20)
        texts = {text for _, texts in changed.rows() for text in texts}
        for text in sorted(texts):
            self.assertTrue(any(text in title for title in titles), f"no section of scripts/test has `{text}` in its title")
        always = {"Setup: each option alone in a bare Debian"}
        for title in titles:
            self.assertTrue(title in always or any(text in title for text in texts), f"no row of scripts/sections.tsv names `{title}`")

    def test_every_file_has_a_row(self) -> None:
        files = output("git", "ls-files").splitlines()
        self.assertTrue(changed.sections_of(files))

    def test_every_row_has_a_file(self) -> None:
        files = output("git", "ls-files").splitlines()
        for pattern, _ in changed.rows():
            self.assertTrue(any(changed.fnmatch.fnmatchcase(file, pattern) for file in files), f"no file is called `{pattern}`")


class Sections(unittest.TestCase):
    """The sections of files."""

    def test_rows_add_up(self) -> None:
        found = changed.sections_of(["generator/program/networks/src/lib.rs"])
        for wanted in ["Rust tests", "Applications", "Networks"]:
            self.assertIn(wanted, found)
        self.assertNotIn("Buses", found)
        self.assertEqual(changed.sections_of(["README.md"]), ["Documentation: examples", "Wheel"])

    def test_a_file_without_a_row_is_refused(self) -> None:
        with self.assertRaises(SystemExit) as refusal:
            changed.sections_of(["README.md", "elsewhere/file"])
        self.assertIn("no row for elsewhere/file", str(refusal.exception))

    def test_an_unknown_section_is_refused(self) -> None:
        done = subprocess.run([TEST, "--only", "no such section"], stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no section has `no such section`", done.stderr)


class Subjects(unittest.TestCase):
    """The rule for the subjects of commits."""

    def setUp(self) -> None:
        self.complaint = script.load("subjects").complaint

    def test_right_ones(self) -> None:
        for subject in ["docs: show the report of an array", "rtl-tests: log the long tests", "cli: pass options", "nest: discuss less",
                        "build: bring tools", "a: " + "b" * 69]:
            self.assertIsNone(self.complaint(subject), subject)

    def test_wrong_ones(self) -> None:
        wrong = {"docs, cli: show more": "no form", "Show more": "no form", "docs: Show more": "no form", "docs: show more.": "full stop",
                 "docs: shows more": "no imperative", "docs: showed more": "no imperative", "docs: showing more": "no imperative",
                 "docs: " + "b" * 67: "73 characters"}
        for subject, fault in wrong.items():
            self.assertIn(fault, self.complaint(subject) or "", subject)


if __name__ == "__main__":
    unittest.main(buffer=True)
