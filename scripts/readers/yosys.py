#!/usr/bin/env python3
"""Yosys as FuseSoC calls it: yosys -l LOG -p 'tcl FILE'. The Yosys of the Python environment has the front end slang, but no Tcl, which is
Python's here."""

import sys
import tkinter

from pyosys import libyosys

design = libyosys.Design()
tcl = tkinter.Tcl()
tcl.createcommand("yosys", lambda *words: "" if words == ("-import",) else libyosys.run_pass(" ".join(words), design))
# All passes are commands, as after `yosys -import`.
tcl.eval("proc unknown {args} {yosys {*}$args}")
[command] = [word for word in sys.argv[1:] if word.startswith("tcl ")]
try:
    tcl.eval(f"source {{{command.removeprefix('tcl ')}}}")
except tkinter.TclError as error:
    sys.exit(f"ERROR: {error}")
