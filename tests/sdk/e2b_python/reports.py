"""What a run said: the line that `cargo xtask test` counts, and the file that COMPATIBILITY.md is made of."""

import collections
import importlib.metadata
import json
import os
from pathlib import Path

PACKAGES = ("e2b", "e2b-code-interpreter", "openai-agents")
# Begins the reason of a test that is about something newer than the installed packages.
NOT_IN_THIS_RELEASE = "not in this release: "


class Reports:
    def __init__(self, config):
        self.file = None if hasattr(config, "workerinput") else os.environ.get("SANDGATE_SDK_REPORT")

    def pytest_terminal_summary(self, terminalreporter):
        stats = terminalreporter.stats
        number = {kind: len(stats.get(kind, [])) for kind in ("passed", "failed", "error")}
        failed = number["failed"] + number["error"]
        for waits in stats.get("xfailed", []):
            terminalreporter.write_line(f"waits: {waits.nodeid}: {waits.wasxfail}")
        if self.file:
            Path(self.file).write_text(json.dumps({"packages": versions(), "areas": areas(stats)}, indent=1))
        verdict = "FAILED" if failed else "ok"
        terminalreporter.write_line(f"test result: {verdict}. {number['passed']} passed; {failed} failed")


def versions():
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def areas(stats):
    """By file: how many passed and failed, why others wait, and whether some are not in this release."""
    areas = collections.defaultdict(lambda: {"passed": 0, "failed": 0, "waits": [], "absent": 0})
    for kind, key in (("passed", "passed"), ("failed", "failed"), ("error", "failed")):
        for report in stats.get(kind, []):
            areas[area(report)][key] += 1
    for report in stats.get("xfailed", []):
        waits = areas[area(report)]["waits"]
        if report.wasxfail not in waits:
            waits.append(report.wasxfail)
    for report in stats.get("skipped", []):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if reason.startswith(NOT_IN_THIS_RELEASE):
            areas[area(report)]["absent"] += 1
        else:
            areas[area(report)]["waits"].append(reason)
    return dict(sorted(areas.items()))


def area(report):
    return Path(report.fspath).stem.removeprefix("test_")
