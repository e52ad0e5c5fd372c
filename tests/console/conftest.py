"""What all tests share: one server, one Chromium, and for each test a browser that knows nobody yet."""

import os
import shutil

import pytest
from asking import Api
from playwright.sync_api import sync_playwright
from programs import Sandgate
from watching import Watch

MASTER = "console-tests-master-key"
CONFIG = f"""
pool: 2
master_key: {MASTER}
ledger: {{code: true}}
approvals:
  rules:
    - name: a-person-looks
      when: code.contains('HOLD')
      then: ask
"""


@pytest.fixture(scope="session")
def server():
    server = Sandgate(CONFIG)
    yield server
    server.end()


@pytest.fixture(scope="session")
def api(server):
    """As a client of the server's own API has it, with the master key."""
    return Api(server.url, MASTER)


@pytest.fixture(scope="session")
def chromium():
    program = os.environ.get("SANDGATE_CHROMIUM") or shutil.which("chromium")
    assert program, "Chromium is needed: on Debian, apt-get install chromium"
    with sync_playwright() as playwright:
        # As root Chromium cannot have its own sandbox; what it opens here is our own.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def new_page(chromium, server):
    """Opens browsers that know nobody, each watched: whatever runs or goes out that should not fails the test."""
    watches = []

    def make(**settings):
        settings = {"viewport": {"width": 1280, "height": 860}, "color_scheme": "light", **settings}
        context = chromium.new_context(base_url=server.url, **settings)
        context.set_default_timeout(30_000)
        page = context.new_page()
        page.watch = Watch(page, server.url)
        watches.append(page.watch)
        return page

    yield make
    for watch in watches:
        watch.page.context.close()
        watch.check()


def sign_in(page, key=MASTER):
    page.goto("/console")
    page.get_by_label("Key").fill(key)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/console/requests**")


@pytest.fixture
def page(new_page):
    """Signed in with the master key."""
    page = new_page()
    sign_in(page)
    return page


def pytest_terminal_summary(terminalreporter):
    """In the words that `cargo xtask test` counts."""
    number = {kind: len(terminalreporter.stats.get(kind, [])) for kind in ("passed", "failed", "error")}
    failed = number["failed"] + number["error"]
    verdict = "FAILED" if failed else "ok"
    terminalreporter.write_line(f"test result: {verdict}. {number['passed']} passed; {failed} failed")
