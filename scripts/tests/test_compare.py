#!/usr/bin/env python3
"""Tests of scripts/compare and of the action that runs it, without GitHub: in a repository of their own, with a stand-in for pushmem."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import script
import yaml

COMPARE = script.SCRIPTS / "compare"
ACTION = script.SCRIPTS.parent / ".github" / "actions" / "compare"
# The cycles of a program are its text; a program with another text is refused. Its area is twice as much.
PUSHMEM = """#!/usr/bin/env python3
import json, sys
command, program, *options = sys.argv[1:]
text = open(program).read().strip()
if not text.isdigit():
    sys.exit(f"{program} is refused")
cycles = int(text) + (100 if "--slow" in options else 0)
built, synthesized = {"cycles": cycles, "memories": {"used": 3, "available": 9}}, {"blocks": [{"area": 2.0 * cycles}]}
print(json.dumps(built if command == "build" else synthesized))
"""


class Compare(unittest.TestCase):
    """A repository with the programs `a.yaml` and `b.yaml`, of which the first changes."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name)
        self.folder = self.scratch / "repository" / "hardware"
        self.folder.mkdir(parents=True)
        program = self.scratch / "pushmem"
        program.write_text(PUSHMEM)
        program.chmod(0o755)
        self.write(a="1000", b="500")
        git = ["git", "-c", "user.name=me", "-c", "user.email=me@example.com"]
        for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "first"]):
            subprocess.run([*git, *words], cwd=self.folder, check=True)

    def write(self, **programs: str) -> None:
        for name, text in programs.items():
            (self.folder / f"{name}.yaml").write_text(text)

    def run_compare(self, *words: str) -> tuple[int, str]:
        """The exit code, and all that it prints."""
        files = ["--pushmem", self.scratch / "pushmem", "--output", self.scratch / "table.md"]
        command = [COMPARE, "--base", "HEAD", *files, "*.yaml", *words]
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def test_changes_are_shown(self) -> None:
        self.write(a="1100", c="7")
        code, text = self.run_compare()
        self.assertEqual(code, 0)
        self.assertEqual(text, (self.scratch / "table.md").read_text())
        self.assertIn("| program | cycles | memory tiles |\n|---|--:|--:|\n", text)
        self.assertIn("| `a.yaml` | **1,100** (+100, +10.0%) | 3 |\n", text)
        self.assertIn("| `b.yaml` | 500 | 3 |\n", text)
        self.assertIn("| `c.yaml` (new) | 7 | 3 |\n", text)

    def test_area_has_options_of_its_own(self) -> None:
        self.write(a="1100")
        _, text = self.run_compare("--area=--slow")
        self.assertIn("| `a.yaml` | **1,100** (+100, +10.0%) | 3 | **2,400** (+200, +9.1%) |", text)

    def test_more_cycles_than_allowed_fail(self) -> None:
        self.write(a="1100")
        self.assertEqual(self.run_compare("--most=10")[0], 0)
        code, text = self.run_compare("--most=9")
        self.assertEqual(code, 1)
        self.assertIn("`a.yaml` takes 1,100 cycles, more than 9 % above 1,000", text)

    def test_programs_that_are_refused_fail(self) -> None:
        self.write(a="no number")
        code, text = self.run_compare()
        self.assertEqual(code, 1)
        self.assertIn("a.yaml is refused", text)
        self.assertIn("| `b.yaml` | 500 |", text)

    def test_wrong_use(self) -> None:
        code, text = self.run_compare("--base", "nowhere")
        self.assertEqual(code, 1)
        self.assertIn("git has no commit `nowhere`", text)
        code, text = self.run_compare("--pushmem", "no_such_program")
        self.assertEqual(code, 2)
        self.assertIn("there is no program `no_such_program`", text)
        for file in self.folder.glob("*.yaml"):
            file.unlink()
        code, text = self.run_compare()
        self.assertEqual(code, 2)
        self.assertIn("no file is called *.yaml", text)

    def test_nothing_stays_in_the_repository(self) -> None:
        self.run_compare()
        told = subprocess.run(["git", "worktree", "list"], cwd=self.folder, check=True, stdout=subprocess.PIPE, text=True).stdout
        self.assertEqual(len(told.splitlines()), 1)

    def test_step_of_the_action(self) -> None:
        self.write(a="1100")
        action = yaml.safe_load((ACTION / "action.yml").read_text())
        compare, comment = action["runs"]["steps"]
        self.assertEqual(action["runs"]["using"], "composite")
        self.assertIn("gh pr comment", comment["run"])
        values = {"programs": "*.yaml", "options": "", "area": "", "most": "9", "base": "HEAD", "pushmem": str(self.scratch / "pushmem")}
        self.assertEqual(set(values), set(action["inputs"]))
        given = {name: values[text.split("inputs.")[1].split()[0]] for name, text in compare["env"].items()}
        files = {"GITHUB_OUTPUT": "output", "GITHUB_STEP_SUMMARY": "summary"}
        environment = os.environ | given | {"RUNNER_TEMP": str(self.scratch), "GITHUB_ACTION_PATH": str(ACTION)}
        environment |= {name: str(self.scratch / file) for name, file in files.items()}
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", compare["run"]], cwd=self.folder, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual((self.scratch / "output").read_text(), f"table={self.scratch}/pushmem.md\n")
        self.assertIn("more than 9 % above 1,000", (self.scratch / "summary").read_text())


if __name__ == "__main__":
    unittest.main(buffer=True)
