"""What waits for a person is decided with the keyboard, and the code runs or does not."""

from playwright.sync_api import expect


def test_one_is_approved_and_one_denied_with_a_reason(page, api):
    page.goto("/console/approvals")
    expect(page.get_by_text("Nothing waits")).to_be_visible()
    first = api.later(lambda: api.execute("import os  # HOLD\nprint('it ran')"))
    card = page.locator(".held")
    expect(card).to_contain_text("a-person-looks")
    expect(card.locator(".chip")).to_have_text("os")
    expect(page.locator("nav .count")).to_have_text("1", timeout=30_000)
    # The first press chooses, so that nobody decides about what has just moved up.
    page.keyboard.press("a")
    expect(page.locator(".held.chosen")).to_be_visible()
    page.keyboard.press("a")
    expect(page.get_by_text("Approved: it runs.")).to_be_visible()
    assert first.result()["stdout"] == "it ran\n"

    second = api.later(lambda: api.execute("print('no')  # HOLD"))
    expect(card).to_contain_text("print")
    page.keyboard.press("j")
    page.keyboard.press("r")
    page.keyboard.type("not on a Monday")
    page.get_by_role("button", name="Deny").click()
    expect(page.get_by_text("Denied: nothing ran")).to_be_visible()
    assert "not on a Monday" in str(second.result())


def test_a_question_that_is_taken_back_goes_away(page, api):
    api.later(lambda: api.execute("1  # HOLD"))
    page.goto("/console/approvals")
    expect(page.locator(".held")).to_be_visible()
    waiting = api.ask("GET", "/v1/admin/approvals")["data"][0]["id"]
    api.ask("POST", f"/v1/admin/approvals/{waiting}", {"decision": "deny"})
    expect(page.get_by_text("Nothing waits")).to_be_visible()
