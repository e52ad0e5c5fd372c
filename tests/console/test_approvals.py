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


def test_whoever_waits_is_told_for_what(page, api):
    """In the playground; the link leads to where it is decided."""
    page.goto("/console/playground")
    page.get_by_label("Your message").fill("```python\nprint('it', 'ran')  # HOLD\n```")
    page.get_by_role("button", name="Ask").click()
    held = page.locator(".turn .pill a")
    expect(held).to_have_text("waits for a person")
    assert held.get_attribute("href") == "/console/approvals"
    expect(page.locator("nav .count")).to_have_text("1")
    waiting = api.ask("GET", "/v1/admin/approvals")["data"][0]["id"]
    api.ask("POST", f"/v1/admin/approvals/{waiting}", {"decision": "approve"})
    expect(page.locator(".turn pre.out")).to_contain_text("it ran")
    expect(page.locator(".turn .pill")).to_contain_text("done")


def test_a_question_that_is_taken_back_goes_away(page, api):
    api.later(lambda: api.execute("1  # HOLD"))
    page.goto("/console/approvals")
    expect(page.locator(".held")).to_be_visible()
    waiting = api.ask("GET", "/v1/admin/approvals")["data"][0]["id"]
    api.ask("POST", f"/v1/admin/approvals/{waiting}", {"decision": "deny"})
    expect(page.get_by_text("Nothing waits")).to_be_visible()


def test_enter_in_the_reason_decides_nothing(page, api):
    waits = api.later(lambda: api.execute("print('leaks')  # HOLD"))
    page.goto("/console/approvals")
    card = page.locator(".held")
    expect(card).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("r")
    page.keyboard.type("leaks customer data")
    page.keyboard.press("Enter")
    expect(card.get_by_role("textbox")).to_have_value("leaks customer data")
    assert api.ask("GET", "/v1/admin/approvals")["data"], "nobody has decided"
    page.keyboard.press("Escape")
    page.keyboard.press("d")
    page.keyboard.press("d")
    expect(page.get_by_text("Denied: nothing ran")).to_be_visible()
    assert "leaks customer data" in str(waits.result())


def test_a_key_that_is_held_down_decides_once_at_most(page, api):
    waiting = [api.later(lambda: api.execute("print('unread')  # HOLD")) for _ in range(3)]
    page.goto("/console/approvals")
    expect(page.locator(".held")).to_have_count(3)
    for _ in range(20):
        # Without going up in between, as a keyboard repeats it.
        page.keyboard.down("a")
    page.keyboard.up("a")
    expect(page.locator(".held.chosen")).to_be_visible()
    assert len(api.ask("GET", "/v1/admin/approvals")["data"]) == 3
    for one in api.ask("GET", "/v1/admin/approvals")["data"]:
        api.ask("POST", f"/v1/admin/approvals/{one['id']}", {"decision": "deny"})
    for one in waiting:
        one.result()


def test_code_that_is_not_what_it_looks_like_is_shown_as_it_is(page, api):
    code = "x = 1  #\u202e ;metsys.so  HOLD" + " " * 400 + "\rprint('ran')"
    waits = api.later(lambda: api.execute(code))
    page.goto("/console/approvals")
    card = page.locator(".held")
    expect(card.get_by_role("alert")).to_contain_text("2 letters")
    expect(card.locator("pre.code")).to_contain_text("⟨U+202E⟩")
    # What stands after four hundred blanks is within the panel, and no comment.
    last = card.locator("pre.code .c-name", has_text="print")
    box, panel = last.bounding_box(), card.locator("pre.code").bounding_box()
    assert box["x"] + box["width"] <= panel["x"] + panel["width"]
    page.keyboard.press("d")
    page.keyboard.press("d")
    expect(page.get_by_text("Denied: nothing ran")).to_be_visible()
    waits.result()
