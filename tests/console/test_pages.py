"""Keys, containers, health and metrics, each clicked through."""

import re

from playwright.sync_api import expect


def test_a_key_is_made_limited_and_revoked(page, api):
    page.goto("/console/keys")
    page.get_by_text("New key", exact=True).click()
    page.get_by_label("Name").fill("ann's laptop")
    page.get_by_label("Requests per minute").fill("60")
    page.get_by_role("button", name="Make the key").click()
    secret = page.locator("#secret").inner_text()
    assert secret.startswith("sg-")
    page.reload()
    expect(page).to_have_url(re.compile("/console/keys$"))
    row = page.get_by_role("row").filter(has_text="ann's laptop")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("60 requests/min")
    assert secret not in page.content()
    row.get_by_role("link", name="ann's laptop").click()
    page.get_by_label("Executions at once").fill("3")
    page.get_by_role("button", name="Change the limits").click()
    expect(page.get_by_text("The limits are changed")).to_be_visible()
    page.goto("/console/keys")
    page.watch.answers_to_dialogs = [False, True]
    row.get_by_role("button", name="Revoke").click()
    expect(row).to_contain_text("active")
    row.get_by_role("button", name="Revoke").click()
    expect(row).to_contain_text("revoked")


def test_a_container_is_paused_resumed_and_deleted(page, api):
    made = api.ask("POST", "/v1/containers", {"name": "to-look-at"})
    page.goto("/console/containers")
    page.get_by_label("Id, name or owner").fill("to-look-at")
    page.keyboard.press("Enter")
    row = page.get_by_role("row").filter(has_text="to-look-at")
    expect(row).to_contain_text("running")
    expect(row.locator(".meter").first).to_be_visible()
    row.get_by_role("button", name="Pause").click()
    expect(row).to_contain_text("paused")
    row.get_by_role("button", name="Resume").click()
    expect(row).to_contain_text("running")
    page.watch.answers_to_dialogs = [True]
    row.get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)
    assert made["id"] not in str(api.ask("GET", "/v1/containers"))


def test_health_says_what_there_is(page):
    page.goto("/console/health")
    expect(page.get_by_text("healthy", exact=True)).to_be_visible()
    expect(page.get_by_text("loopback", exact=True).first).to_be_visible()


def test_metrics_are_plotted(page, api):
    api.execute("1")
    page.goto("/console/metrics")
    expect(page.locator(".plot")).to_have_count(12, timeout=30_000)
    page.get_by_label("How far back").select_option("60")
    page.wait_for_url("**/metrics?span=60")
    expect(page.locator(".plot").first).to_be_visible()


def test_an_unknown_page_is_a_page(page):
    page.watch.forgive("404")
    answer = page.goto("/console/nowhere")
    assert answer.status == 404
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()


def test_a_page_that_cannot_refresh_says_so(page):
    page.goto("/console/approvals")
    expect(page.get_by_text("Nothing waits")).to_be_visible()
    page.watch.forgive("ERR_FAILED")
    page.route("**/console/approvals", lambda route: route.abort())
    expect(page.locator("#old")).to_contain_text("The server does not answer", timeout=60_000)
    page.unroute("**/console/approvals")
    expect(page.locator("#old")).to_have_count(0, timeout=60_000)


def test_a_list_stands_still_under_the_pointer_and_asks_by_name(page, api):
    made = api.ask("POST", "/v1/containers", {"name": "first-of-two"})
    page.goto("/console/containers?q=of-two")
    row = page.locator(f"#{made['id']}")
    row.get_by_role("button", name="Delete").hover()
    api.ask("POST", "/v1/containers", {"name": "second-of-two"})
    # By the time that another page has refreshed itself twice, this one would have brought the second in.
    other = page.context.new_page()
    other.goto("/console/containers?q=of-two")
    for _ in range(2):
        other.wait_for_event("response", lambda answer: "x-console-live" in answer.request.headers)
    expect(other.locator("#containers tbody tr")).to_have_count(2)
    other.close()
    expect(page.locator("#containers tbody tr")).to_have_count(1)
    page.evaluate("window.confirm = (question) => { document.title = question; return false; }")
    row.get_by_role("button", name="Delete").click()
    asked = page.title()
    assert "first-of-two" in asked and made["id"] in asked
    page.mouse.move(0, 0)
    expect(page.locator("#containers tbody tr")).to_have_count(2)
