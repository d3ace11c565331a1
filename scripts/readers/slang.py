#!/usr/bin/env python3
"""Elaborates a design with slang.

Usage: slang.py TOP FILE...

TOP is the top module, FILE what a file list has. Exit code: 0 when there is no error.
"""

import sys

import pyslang

top, *files = sys.argv[1:]
driver = pyslang.driver.Driver()
driver.addStandardArgs()
arguments = ["slang", "--top", top, *files]
done = driver.parseCommandLine(" ".join(arguments), pyslang.driver.CommandLineOptions()) and driver.processOptions()
sys.exit(0 if done and driver.parseAllSources() and driver.runFullCompilation() else 1)
