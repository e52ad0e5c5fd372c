"""Runs a step right before or after a module is imported, so that a kernel need not import it early."""

import importlib.machinery
import sys


class ImportSteps:
    """A finder that stands first in `sys.meta_path` and only cares for the few modules it has steps for."""

    def __init__(self):
        self.steps = {}

    def install(self):
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def add(self, name, before=None, after=None):
        """The steps for a module: `before()` and `after(module)`. One that is loaded already gets the latter now."""
        module = sys.modules.get(name)
        if module is None:
            self.steps[name] = (before, after)
        elif after is not None:
            after(module)

    def find_spec(self, name, path=None, target=None):
        if name not in self.steps:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            before, after = self.steps[name]
            load = spec.loader.exec_module

            def exec_module(module):
                if before is not None:
                    before()
                load(module)
                if after is not None:
                    after(module)

            spec.loader.exec_module = exec_module
        return spec


steps = ImportSteps()
