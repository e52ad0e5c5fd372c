"""Requests: the list that keeps itself up to date, and one of them as a story."""

from playwright.sync_api import expect

CHART = """
import matplotlib.pyplot as plt
import pandas as pd
plt.figure(figsize=(5, 2.2))
plt.plot([3, 1, 4, 1, 5, 9, 2, 6])
plt.show()
print('a chart was made')
pd.DataFrame({'city': ['Bern', 'Oslo'], 'rain': [1059, 763]})
"""


def test_a_request_appears_by_itself_and_tells_its_story(page, api):
    expect(page.get_by_role("heading", name="Requests")).to_be_visible()
    api.respond(CHART, "req_story")
    row = page.get_by_role("row").filter(has_text="req_story")
    expect(row).to_contain_text("completed")
    expect(row).to_contain_text("loopback")
    row.get_by_role("link").click()
    expect(page.locator(".timeline li")).to_have_count(5)
    expect(page.locator(".part.turn")).to_have_count(2)
    cell = page.locator(".part.execution .cell")
    expect(cell.locator(".c-keyword").first).to_have_text("import")
    expect(cell).to_contain_text("a chart was made")
    picture = cell.locator("img")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.naturalWidth") > 100
    table = page.frame_locator(".part.execution iframe")
    expect(table.get_by_text("Bern")).to_be_visible()
    # A click on a bar leads to what it stands for.
    page.locator(".timeline li a").nth(2).click()
    expect(page.locator(".part:target")).to_be_visible()


def test_filters_and_pages(page, api):
    for number in range(55):
        api.execute("1", f"req_many_{number}")
    api.execute("1/0", "req_failing")
    page.goto("/console/requests")
    page.keyboard.press("/")
    page.keyboard.type("req_many")
    page.keyboard.press("Enter")
    expect(page.locator("tbody tr")).to_have_count(50)
    page.get_by_role("link", name="Older").click()
    expect(page.locator("tbody tr")).to_have_count(5)
    page.get_by_role("link", name="Newest").click()
    page.get_by_label("Model").fill("no-such-model")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No request is like this")).to_be_visible()
    page.get_by_role("link", name="Show all requests").click()
    page.get_by_label("Time").select_option("15m")
    expect(page.locator("tbody tr")).to_have_count(50)


def test_by_keyboard_alone(page, api):
    api.execute("1", "req_keys_one")
    api.execute("1", "req_keys_two")
    page.goto("/console/requests?q=req_keys")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/requests/one?id=req_keys_one")
    page.keyboard.press("g")
    page.keyboard.press("m")
    page.wait_for_url("**/console/metrics")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_be_visible()
