"""The line that `cargo xtask test` counts."""


class Reports:
    def __init__(self, config):
        self.is_worker = hasattr(config, "workerinput")

    def pytest_terminal_summary(self, terminalreporter):
        stats = terminalreporter.stats
        number = {kind: len(stats.get(kind, [])) for kind in ("passed", "failed", "error")}
        failed = number["failed"] + number["error"]
        for skipped in stats.get("skipped", []):
            terminalreporter.write_line(f"skipped: {skipped.nodeid}: {skipped.longrepr[2]}")
        verdict = "FAILED" if failed else "ok"
        terminalreporter.write_line(f"test result: {verdict}. {number['passed']} passed; {failed} failed")
