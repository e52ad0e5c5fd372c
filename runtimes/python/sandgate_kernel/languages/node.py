"""JavaScript and TypeScript on Node.js: the driver beside the program evaluates cells."""

import os

from .child import Child

# Evaluating TypeScript and loading modules from cells are called experimental by Node.js; the code need not hear of it.
OPTIONS = ["--disable-warning=ExperimentalWarning"]


class JavaScript(Child):
    LANGUAGE = "javascript"

    def __init__(self, reporter):
        folder = reporter.tools
        driver = f"{folder}/driver/driver.cjs"
        # Garbage is collected with the sandbox's memory in mind, not the machine's.
        heap = [f"--max-old-space-size={reporter.memory >> 20}"] if reporter.memory else []
        program = [*heap, *self.needed(folder), driver, self.LANGUAGE]
        super().__init__(reporter, [f"{folder}/bin/node", *OPTIONS, *program])

    def needed(self, folder):
        """Options for what this Node.js lacks."""
        return []


class TypeScript(JavaScript):
    LANGUAGE = "typescript"

    def needed(self, folder):
        """Older ones have a package beside the driver that reads TypeScript for them."""
        types = f"{folder}/driver/types/types.cjs"
        return ["--require", types] if os.path.exists(types) else []
