"""Whatever code puts out is shown, and none of it runs."""

from playwright.sync_api import expect

ALERT = "<script>alert('ran')</script><img src=x onerror=\\\"alert('ran')\\\">"
HOSTILE = f"""
import sys
from IPython.display import HTML, SVG, Javascript, display
bad = "{ALERT}"
print(bad)
print(bad, file=sys.stderr)
display(HTML("<p id=there>shown</p>" + bad + "<meta http-equiv=refresh content='0;url=https://evil.example/'>"
    "<form action=https://evil.example/ id=f><button>x</button></form><script>document.forms[0].submit()</script>"
    "<link rel=stylesheet href=https://evil.example/x.css><iframe src=https://evil.example/></iframe>"))
display(SVG("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)' width='50' height='50'>"
    "<script>alert('ran')</script><image href='https://evil.example/x.png'/><rect width='50' height='50'/></svg>"))
display(Javascript("alert('ran')"))
open('/mnt/data/' + bad.replace('/', '_'), 'w').write(bad)
raise ValueError(bad)
"""


def test_nothing_of_a_request_runs(page, api):
    request = "req_<script>alert('ran')</script>"
    # The browser says that it refused them, which is what is wanted.
    for words in ("Content Security Policy", "sandbox", "ERR_BLOCKED", "refresh"):
        page.watch.forgive(words)
    api.execute(HOSTILE, request)
    page.goto("/console/requests?q=req_<script>")
    page.get_by_role("row").filter(has_text="req_<script>").get_by_role("link").click()
    cell = page.locator(".part.execution .cell")
    expect(cell.locator("pre.out").first).to_contain_text("<script>alert('ran')</script>")
    expect(page.frame_locator("iframe").first.get_by_text("shown")).to_be_visible()
    assert cell.locator("iframe").count() == 2
    here = page.url.split("/console")[0]
    assert [frame.url.startswith(here) for frame in page.main_frame.child_frames] == [True, True]
    expect(page.locator("main img")).to_have_count(0)
    page.wait_for_load_state("networkidle")


def test_a_document_of_code_has_no_power_on_its_own_either(page, api):
    """Whoever is lured to its address gets the same frame without an origin."""
    for words in ("Content Security Policy", "sandbox", "ERR_BLOCKED", "refresh"):
        page.watch.forgive(words)
    api.execute(HOSTILE, "req_lured")
    page.goto("/console/requests/one?id=req_lured")
    for frame in page.locator("iframe").all():
        address = frame.get_attribute("src")
        alone = page.context.new_page()
        seen = []
        alone.on("dialog", lambda dialog: (seen.append(dialog.message), dialog.dismiss()))
        alone.goto(address)
        alone.wait_for_load_state("networkidle")
        assert seen == []
        alone.close()


def test_names_of_others_are_only_text(page, api):
    bad = "<img src=x onerror=alert(1)>"
    api.ask("POST", "/v1/containers", {"name": bad})
    api.ask("POST", "/v1/admin/keys", {"name": bad})
    for name in ["containers", "keys", "requests"]:
        page.goto(f"/console/{name}")
        page.wait_for_load_state("networkidle")
        expect(page.locator("main img")).to_have_count(0)
