#!/usr/bin/env python3
"""Reads the list of memory macros as Hammer does, and has its SRAM generator asked for each of them.

Usage: hammer.py memories.json FOLDER

The driver of Hammer gets the list as a project of Chipyard gives it, checks it by its types, and calls the generator that it
ships for tests, which says what library it would make. The output is the understanding of Hammer, as JSON: name, family, depth
and width of each macro, whether it has a mask, and the file of its library.
"""

import contextlib
import json
import sys
from pathlib import Path

import pydantic.v1

# This folder has a file of the same name; and Hammer is written for the first version of Pydantic, which the second has within.
sys.path.pop(0)
sys.modules["pydantic"] = pydantic.v1

from hammer.vlsi import HammerDriver  # noqa: E402

memories, folder = sys.argv[1:]
project = Path(folder) / "hammer.json"
corner = {"name": "typical", "type": "extra", "voltage": "1.2 V", "temp": "25 C"}
project.write_text(json.dumps({
    "vlsi.core.technology": "hammer.technology.nop",
    "vlsi.core.sram_generator_tool": "hammer.sram_generator.mocksram_generator",
    "vlsi.inputs.mmmc_corners": [corner],
    "vlsi.inputs.sram_parameters": memories,
    "vlsi.inputs.sram_parameters_meta": ["transclude", "json2list"],
}))
# The log of Hammer goes to the standard output.
with contextlib.redirect_stdout(sys.stderr):
    options = HammerDriver.get_default_driver_options()._replace(project_configs=[str(project)], obj_dir=folder)
    driver = HammerDriver(options)
    if not driver.load_sram_generator_tool():
        sys.exit("Hammer has no SRAM generator")
    success, output = driver.run_sram_generator()
    if not success:
        sys.exit("the SRAM generator of Hammer fails")
    parameters = driver.sram_generator_tool.input_parameters
    libraries = output["vlsi.technology.extra_libraries"]
print(json.dumps([[*[one.name, one.family, one.depth, one.width, one.mask], library["library"]["gds_file"]]
                  for one, library in zip(parameters, libraries, strict=True)]))
