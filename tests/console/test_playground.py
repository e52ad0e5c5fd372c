"""The playground, as somebody who has never seen it uses it."""

from playwright.sync_api import expect


def test_the_example_draws_a_chart_and_leads_on(page):
    page.goto("/console/playground")
    page.get_by_role("button", name="Ask").click()
    turn = page.locator(".turn").first
    expect(turn.locator(".pill")).to_contain_text("done")
    expect(turn.locator(".answer img")).to_be_visible()
    expect(turn.locator(".answer .text")).to_contain_text("half of it is gone")
    request = turn.get_by_role("link", name="Timeline").get_attribute("href")
    container = turn.get_by_role("link", name="Container").get_attribute("href")
    # The conversation goes on in the same container.
    page.get_by_label("Your message").fill("```python\nprint(len(x))\n```")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".turn").nth(1)).to_contain_text("400")
    page.goto(request)
    expect(page.locator(".part.execution")).to_have_count(1)
    page.goto(container)
    page.get_by_role("link", name="Files").click()
    expect(page.locator("#entries")).to_contain_text(".png")


def test_the_same_call_as_code(page):
    page.goto("/console/playground")
    page.get_by_text("Show as code").click()
    snippet = page.locator("#snippet pre")
    expect(snippet).to_contain_text("client.responses.create(")
    page.get_by_role("tab", name="curl").click()
    expect(snippet).to_contain_text("curl -N")
    page.keyboard.press("ArrowRight")
    expect(snippet).to_contain_text("Sandbox.create()")
    expect(snippet).to_contain_text("plt.show()")


def test_hostile_answers_are_text(page):
    page.goto("/console/playground")
    code = "print('<script>alert(1)</script><img src=x onerror=alert(1)>')"
    page.get_by_label("Your message").fill(f"```python\n{code}\n```")
    page.get_by_role("button", name="Ask").click()
    turn = page.locator(".turn")
    expect(turn.locator(".pill")).to_contain_text("done")
    expect(turn.locator("pre.out")).to_contain_text("<script>alert(1)</script>")
    expect(turn.locator("img")).to_have_count(0)
