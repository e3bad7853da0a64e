"""Programs of this folder as modules: they have no ending, so that an import does not find them."""

import importlib.machinery
import importlib.util
from pathlib import Path


def program(name):
    loader = importlib.machinery.SourceFileLoader(f"bench_cpu_{name}", str(Path(__file__).with_name(name)))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module
