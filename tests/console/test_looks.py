"""On a phone, in the dark, and with little to load."""

import pytest
from conftest import sign_in
from playwright.sync_api import expect

PAGES = ["requests", "containers", "playground", "approvals", "keys", "health", "metrics"]


CONTRAST = """() => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
    const rgb = (colours) => {
        canvas.clearRect(0, 0, 1, 1);
        for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const light = (parts) => {
        const [r, g, b] = parts.map((part) => part / 255).map((p) => (p <= 0.03928 ? p / 12.92 : ((p + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (one) => {
        const all = [];
        for (let at = one; at; at = at.parentElement) all.unshift(getComputedStyle(at).backgroundColor);
        return ["white", ...all];
    };
    const found = new Set();
    for (const one of document.querySelectorAll("body *")) {
        const isText = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
        if (!isText || !one.checkVisibility({visibilityProperty: true}) || one.closest("button:disabled, option, .toast")) continue;
        const ground = behind(one);
        const [back, front] = [light(rgb(ground)), light(rgb([...ground, getComputedStyle(one).color]))];
        const ratio = (Math.max(back, front) + 0.05) / (Math.min(back, front) + 0.05);
        if (ratio < 4.5) found.add(`${one.tagName}.${one.className} ${ratio.toFixed(2)}`);
    }
    return [...found];
}"""


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


@pytest.mark.parametrize("width", [360, 390])
def test_nothing_is_wider_than_a_phone(new_page, something, width):
    page = new_page(viewport={"width": width, "height": 740})
    page.goto("/console")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    sign_in(page)
    for name in [*PAGES, "requests/one?id=req_" + "long" * 30]:
        page.goto(f"/console/{name}")
        is_wide = page.evaluate("document.documentElement.scrollWidth")
        assert is_wide <= width, f"{name} is {is_wide} wide"
        # All sections are on the screen, also the last one.
        box = page.get_by_role("link", name="Metrics").bounding_box()
        assert box["x"] + box["width"] <= width, name


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read(new_page, something, scheme):
    """As WCAG measures it: 4.5 to 1 for all text, on whatever is behind it."""
    page = new_page(color_scheme=scheme)
    sign_in(page)
    for name in [*PAGES, "requests/one?id=req_" + "long" * 30]:
        page.goto(f"/console/{name}")
        faint = page.evaluate(CONTRAST)
        assert faint == [], f"{name}: {faint}"


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


def test_every_page_loads_in_under_150_kilobytes(new_page, something, api):
    container = api.ask("POST", "/v1/containers", {"name": "light"})["id"]
    parts = [f"containers/{part}?id={container}" for part in ["one", "files", "notebook", "terminal"]]
    for name in [*PAGES, *parts]:
        # Each in a browser that has nothing yet.
        page = new_page()
        sign_in(page)
        page.goto(f"/console/{name}")
        page.wait_for_load_state("load")
        sizes = page.evaluate(
            """() => Object.fromEntries(
                [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
                    .map((one) => [one.name, one.encodedBodySize]))"""
        )
        assert any("live.js" in url for url in sizes)
        assert 0 < sum(sizes.values()) < 150_000, (name, sizes)


def test_no_page_breaks_the_policy_it_is_sent_with(page, something, api):
    """Counted by the browser itself while every page and part is opened."""
    page.context.add_init_script(
        "document.addEventListener('securitypolicyviolation', (event) => console.error('a violation: ' + event.violatedDirective))"
    )
    container = api.ask("POST", "/v1/containers", {"name": "counted"})["id"]
    parts = [f"containers/{part}?id={container}" for part in ["one", "files", "notebook", "terminal"]]
    for name in [*PAGES, *parts, "requests/one?id=req_" + "long" * 30]:
        page.goto(f"/console/{name}")
        page.get_by_role("button", name="Light or dark").click()
        page.get_by_role("button", name="Keys of the keyboard").click()
        page.keyboard.press("Escape")
    page.goto("/console/playground")
    page.get_by_text("Show as code").click()
    page.goto(f"/console/containers/terminal?id={container}")
    page.get_by_role("button", name="Open a shell").click()
    expect(page.locator(".screen")).to_contain_text("$")
    # What it saw is looked at when the test is over.


def test_everything_that_can_be_pressed_has_a_name(page, something):
    for name in PAGES:
        page.goto(f"/console/{name}")
        nameless = page.evaluate(
            """() => [...document.querySelectorAll('button:not([hidden]), a[href], input:not([type=hidden]), select, textarea')]
                .filter((one) => !(one.textContent.trim() || one.ariaLabel || one.labels?.length || one.title))
                .map((one) => one.outerHTML)"""
        )
        assert nameless == [], name
