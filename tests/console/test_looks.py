"""On a phone, in the dark, and with little to load."""

import pytest
from conftest import sign_in

PAGES = ["requests", "containers", "playground", "approvals", "keys", "health", "metrics"]


@pytest.fixture(scope="module")
def something(api):
    api.respond("print('x' * 500)", "req_" + "long" * 30)
    api.ask("POST", "/v1/containers", {"name": "a-name-of-some-length"})
    api.ask("POST", "/v1/admin/keys", {"name": "a key with a rather long name", "limits": {"models": ["gpt-5*", "o9"]}})
    waits = api.later(lambda: api.execute("import numpy  # HOLD " + "x" * 300))
    yield
    for held in api.ask("GET", "/v1/admin/approvals?wait=10")["data"]:
        api.ask("POST", f"/v1/admin/approvals/{held['id']}", {"decision": "deny"})
    waits.result()


def test_nothing_is_wider_than_a_phone(new_page, something):
    page = new_page(viewport={"width": 360, "height": 740})
    sign_in(page)
    for name in [*PAGES, "requests/one?id=req_" + "long" * 30]:
        page.goto(f"/console/{name}")
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 360, f"{name} is {width} wide"


def test_dark_is_dark_and_stays_as_chosen(new_page):
    page = new_page(color_scheme="dark")
    sign_in(page)

    def brightness():
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))

    assert brightness() < 150
    page.get_by_role("button", name="Light or dark").click()
    assert brightness() > 600
    page.reload()
    assert brightness() > 600


def test_it_loads_in_under_150_kilobytes(new_page):
    page = new_page()
    sign_in(page)
    page.wait_for_load_state("load")
    sizes = page.evaluate(
        """() => Object.fromEntries(
            [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
                .map((one) => [one.name, one.encodedBodySize]))"""
    )
    assert any("live.js" in url for url in sizes)
    assert 0 < sum(sizes.values()) < 150_000, sizes


def test_everything_that_can_be_pressed_has_a_name(page, something):
    for name in PAGES:
        page.goto(f"/console/{name}")
        nameless = page.evaluate(
            """() => [...document.querySelectorAll('button, a[href], input:not([type=hidden]), select, textarea')]
                .filter((one) => !(one.textContent.trim() || one.ariaLabel || one.labels?.length || one.title))
                .map((one) => one.outerHTML)"""
        )
        assert nameless == [], name
