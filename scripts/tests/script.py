"""Scripts as modules, for tests: their names have no ending."""

import importlib.machinery
import importlib.util
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent


def load(name: str):
    """The script of this name as a module."""
    if str(SCRIPTS) not in sys.path:
        sys.path.append(str(SCRIPTS))
    loader = importlib.machinery.SourceFileLoader(name, str(SCRIPTS / name))
    sys.dont_write_bytecode = True
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module
