#!/usr/bin/env python3
"""Elaborates a design with slang.

Usage: slang.py TOP FILE...

TOP is the top module, FILE what a file list has, or an option of slang. Exit code: 0 when there is no error.
"""

import sys

import pyslang


def elaborated(top: str, files: list[str]) -> pyslang.ast.Compilation | None:
    """The design, if it has no error; slang prints those that there are. Its symbols live as long as it does."""
    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    command = " ".join(["slang", "--top", top, *files])
    if not driver.parseCommandLine(command, pyslang.driver.CommandLineOptions()) or not driver.processOptions():
        return None
    if not driver.parseAllSources():
        return None
    design = driver.createCompilation()
    driver.reportCompilation(design, True)
    return design if driver.reportDiagnostics(True) else None


if __name__ == "__main__":
    sys.exit(0 if elaborated(sys.argv[1], sys.argv[2:]) else 1)
