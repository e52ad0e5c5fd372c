"""The pictures of the README. They are made anew in every run, and kept where SANDGATE_PICTURES says."""

import base64
import os
from pathlib import Path

import pytest
from asking import Api
from conftest import CONFIG, MASTER, sign_in
from playwright.sync_api import expect
from programs import ROOT, TARGET, Sandgate
from test_requests import CHART

MOST_BYTES = 60_000


@pytest.fixture(scope="module")
def server():
    """One of their own: what other tests did is not to be seen on them."""
    server = Sandgate(CONFIG)
    yield server
    server.end()


@pytest.fixture(scope="module")
def api(server):
    return Api(server.url, MASTER)


@pytest.fixture
def take(new_page):
    page = new_page(viewport={"width": 1120, "height": 700})
    sign_in(page)
    kept = os.environ.get("SANDGATE_PICTURES")
    folder = ROOT / kept if kept else Path(TARGET) / "sdk" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)

    def take(name):
        browser = page.context.new_cdp_session(page)
        taken = browser.send("Page.captureScreenshot", {"format": "webp", "quality": 80})
        picture = base64.b64decode(taken["data"])
        assert len(picture) < MOST_BYTES
        (folder / f"{name}.webp").write_bytes(picture)

    return page, take


def test_a_request_as_a_story(take, api):
    page, take = take
    api.respond(CHART, "req_7f3a9c1e5b2d4f60")
    page.goto("/console/requests/one?id=req_7f3a9c1e5b2d4f60")
    expect(page.locator(".cell img")).to_be_visible()
    take("request")


def test_an_execution_that_waits(take, api):
    page, take = take
    code = "import os, pandas  # HOLD\nfor name in os.listdir('/mnt/data'):\n    print(name, pandas.read_csv(name).shape)"
    waits = api.later(lambda: api.respond(code))
    page.goto("/console/approvals")
    expect(page.locator(".held")).to_be_visible()
    page.keyboard.press("j")
    take("approvals")
    page.get_by_role("button", name="Approve").click()
    waits.result()


def test_an_answer_in_the_playground(take):
    page, take = take
    page.goto("/console/playground")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator("#turns img")).to_be_visible()
    expect(page.get_by_role("button", name="New conversation")).to_be_visible()
    page.locator("#turns img").scroll_into_view_if_needed()
    take("playground")
