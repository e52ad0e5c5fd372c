"""JavaScript and TypeScript on Node.js: the driver beside the program evaluates cells."""

from . import tools
from .child import Child

# Evaluating TypeScript and loading modules from cells are called experimental by Node.js; the code need not hear of it.
OPTIONS = ["--disable-warning=ExperimentalWarning"]


class JavaScript(Child):
    LANGUAGE = "javascript"

    def __init__(self, reporter):
        folder = tools.folder("node")
        driver = f"{folder}/driver/driver.cjs"
        # Garbage is collected with the sandbox's memory in mind, not the machine's.
        heap = [f"--max-old-space-size={reporter.memory >> 20}"] if reporter.memory else []
        super().__init__(reporter, [f"{folder}/bin/node", *OPTIONS, *heap, driver, self.LANGUAGE])


class TypeScript(JavaScript):
    LANGUAGE = "typescript"
