"""What "Show as code" shows is taken out of the page and run as it stands, with nothing set but what it says."""

import os
import subprocess
import tempfile

import pytest
from conftest import MASTER
from playwright.sync_api import expect

# Which interpreter has the SDK; `cargo xtask test` says it.
SDKS = {"OpenAI SDK": "SANDGATE_OPENAI_PYTHON", "E2B SDK": "SANDGATE_E2B_PYTHON"}


def snippet(page, name):
    page.goto("/console/playground")
    page.get_by_text("Show as code").click()
    page.get_by_role("tab", name=name).click()
    expect(page.get_by_role("tab", name=name)).to_have_attribute("aria-selected", "true")
    return page.locator("#snippet pre").inner_text()


def run(arguments, **env):
    with tempfile.TemporaryDirectory() as folder:
        usual = {"PATH": os.environ["PATH"], "HOME": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            arguments, env={**usual, **env}, cwd=folder, capture_output=True, text=True, timeout=300
        )
    assert done.returncode == 0, done.stderr
    return done.stdout


def interpreter(name):
    found = os.environ.get(SDKS[name])
    assert found, f"{SDKS[name]} is to be a Python that has the {name}"
    return found


def test_with_the_openai_sdk(page):
    said = run([interpreter("OpenAI SDK"), "-c", snippet(page, "OpenAI SDK")], SANDGATE_KEY=MASTER)
    assert "ax.legend()" in said
    assert "half of it is gone at x = 4.16" in said


def test_with_curl(page):
    said = run(["sh", "-c", snippet(page, "curl")], SANDGATE_KEY=MASTER)
    assert "event: response.completed" in said
    assert "half of it is gone at x = 4.16" in said
    assert "data:image/png;base64," in said


def test_with_the_e2b_sdk(page, server):
    text = snippet(page, "E2B SDK")
    # Where the server is says the snippet itself; the key is whoever's runs it.
    said = run([interpreter("E2B SDK"), "-c", text], E2B_API_KEY=MASTER)
    assert "half of it is gone at x = 4.16" in said
    assert "a chart," in said


@pytest.mark.parametrize("name", ["OpenAI SDK", "curl"])
def test_whatever_is_written_is_what_is_sent(page, name):
    """Quotes, dollars and letters of all kinds survive the way through a shell and through Python."""
    page.goto("/console/playground")
    odd = "it's \"$HOME\" `x` \\\\ ü \U0001f980"
    page.get_by_label("Your message").fill(f"```python\nprint({odd!r})\n```")
    page.get_by_text("Show as code").click()
    page.get_by_role("tab", name=name).click()
    text = page.locator("#snippet pre").inner_text()
    arguments = ["sh", "-c", text] if name == "curl" else [interpreter(name), "-c", text]
    said = run(arguments, SANDGATE_KEY=MASTER)
    assert "ü" in said and "\U0001f980" in said and "$HOME" in said
