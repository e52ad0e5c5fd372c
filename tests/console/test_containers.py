"""One container: what it uses, its files, a notebook over it and a terminal in it. Whatever code there makes is
shown, and none of it runs."""

import re

import pytest
from conftest import sign_in
from playwright.sync_api import expect
from test_hostile import HOSTILE

TWO_POINTS = re.compile(r"\d+\.\d,\d+\.\d \d+\.\d,\d+\.\d")
BAD = "<img src=x onerror=alert('ran')>"


@pytest.fixture
def container(api):
    return api.ask("POST", "/v1/containers", {"name": "looked-into"})["id"]


def run(page, code):
    page.get_by_label("Code", exact=True).fill(code)
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    return page.locator("#cells .cell").last


def test_what_it_is_and_uses(page, api, container):
    api.execute("print(1)", container=container)
    page.goto("/console/containers")
    page.locator(f"tr[id='{container}']").get_by_role("link").first.click()
    expect(page.get_by_role("heading", name="looked-into")).to_be_visible()
    memory = page.locator("[data-plot=memory]")
    expect(memory).to_contain_text("MiB of 1 GiB")
    # Drawn from what the page has seen.
    expect(memory.locator(".line")).to_have_attribute("points", TWO_POINTS)
    expect(memory.locator(".now")).to_contain_text("%")
    page.get_by_role("button", name="Pause").click()
    # Whoever changes it there stays there.
    expect(page.locator("#state")).to_have_text("paused")
    page.get_by_role("button", name="Resume").click()
    expect(page.locator("#state")).to_have_text("running")
    page.watch.answers_to_dialogs = [True]
    page.get_by_role("button", name="Delete").click()
    page.wait_for_url("**/console/containers")
    expect(page.locator(f"tr[id='{container}']")).to_have_count(0)


def test_no_part_is_wider_than_a_phone(new_page, api, container):
    api.execute(f"open('/mnt/data/{'long' * 40}', 'w')", container=container)
    page = new_page(viewport={"width": 360, "height": 740})
    sign_in(page)
    for part in ["one", "files", "notebook", "terminal"]:
        page.goto(f"/console/containers/{part}?id={container}")
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 360, f"{part} is {width} wide"


def test_files_come_in_are_seen_and_go(page, api, container):
    page.goto(f"/console/containers/files?id={container}")
    csv = f'name,value\n"a, b",1\n{BAD},2\n'.encode()
    page.get_by_label("Upload files").set_input_files(
        [
            {"name": "table.csv", "mimeType": "text/csv", "buffer": csv},
            {"name": f"{BAD}.txt", "mimeType": "text/plain", "buffer": b"<script>alert('ran')</script>"},
            {"name": "not.png", "mimeType": "image/png", "buffer": b"<svg onload=alert(1)></svg>"},
        ]
    )
    page.get_by_role("link", name="table.csv").click()
    expect(page.locator(".sheet td")).to_have_text(["a, b", "1", BAD, "2"])
    page.go_back()
    page.get_by_role("link", name=BAD).click()
    expect(page.locator("pre.code")).to_have_text("<script>alert('ran')</script>")
    expect(page.locator("main img")).to_have_count(0)
    page.go_back()
    page.get_by_role("link", name="not.png").click()
    expect(page.locator("pre.code")).to_have_text("<svg onload=alert(1)></svg>")
    page.go_back()
    row = page.get_by_role("row").filter(has_text="table.csv")
    with page.expect_download() as download:
        row.get_by_role("link", name="Download").click()
    assert download.value.path().read_bytes() == csv
    page.watch.answers_to_dialogs = [True]
    row.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("link", name="table.csv")).to_have_count(0)


def test_files_are_dropped_into_the_folder_that_is_shown(page, container):
    page.goto(f"/console/containers/files?id={container}")
    drop = """() => {
        const data = new DataTransfer();
        data.items.add(new File(["one"], "first.txt"));
        data.items.add(new File(["two"], " with blanks "));
        for (const kind of ["dragenter", "dragover", "drop"]) {
            document.querySelector("[data-upload]").dispatchEvent(
                new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
        }
    }"""
    page.evaluate(drop)
    expect(page.get_by_text("2 files uploaded")).to_be_visible()
    expect(page.locator("#entries tbody tr")).to_have_count(2)
    page.get_by_role("link", name="first.txt").click()
    expect(page.locator("pre.code")).to_have_text("one")


def test_a_name_with_blanks_is_that_file_and_no_other(page, api, container):
    code = "import os; os.mkdir('results'); open('results/kept', 'w'); open('results/ ', 'w').write('blank')"
    api.execute(code, container=container)
    page.goto(f"/console/containers/files?id={container}&path=/mnt/data/results")
    page.watch.answers_to_dialogs = [True]
    page.locator("#entries tbody tr").first.get_by_role("button", name="Delete").click()
    expect(page.locator("#entries tbody tr")).to_have_count(1)
    expect(page.get_by_role("link", name="kept")).to_be_visible()


def test_contexts_are_made_restarted_and_deleted(page, container):
    page.goto(f"/console/containers/notebook?id={container}")
    page.get_by_role("button", name="Make a context").click()
    # Beside the usual one, which a container may have from the start.
    made = page.locator("#contexts tbody tr").filter(has_not_text="default")
    expect(made).to_have_count(1)
    name = made.locator("code").first.inner_text()
    page.locator("#place").select_option(f"context:{name}")
    expect(run(page, "x = 41\nx + 1")).to_contain_text("42")
    page.watch.answers_to_dialogs = [True, True]
    made.get_by_role("button", name="Restart").click()
    page.locator("#place").select_option(f"context:{name}")
    expect(run(page, "x")).to_contain_text("NameError")
    made.get_by_role("button", name="Delete").click()
    expect(made).to_have_count(0)


def test_a_picture_is_shown(page, api, container):
    code = "import matplotlib.pyplot as p; p.plot([1, 2]); p.savefig('/mnt/data/p.png')"
    api.execute(code, container=container)
    page.goto(f"/console/containers/files?id={container}&path=/mnt/data/p.png")
    picture = page.locator(".picture img")
    expect(picture).to_be_visible()
    page.wait_for_function("document.querySelector('.picture img').naturalWidth > 100")
    answer = page.request.get(page.evaluate("document.querySelector('.picture img').src"))
    assert answer.headers["content-security-policy"].startswith("sandbox")
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_notebook_streams_keeps_its_state_and_stops(page, container):
    page.goto(f"/console/containers/notebook?id={container}")
    expect(run(page, "x = 20\nprint('said')\nx + 1")).to_contain_text("21")
    expect(run(page, "print('it is', x * 2)")).to_contain_text("it is 40")
    expect(run(page, "1/0")).to_contain_text("ZeroDivisionError")
    expect(page.locator("#contexts")).to_contain_text("default")
    page.get_by_label("Code", exact=True).fill("import time\nprint('begun')\ntime.sleep(600)")
    page.keyboard.press("Control+Enter")
    cell = page.locator("#cells .cell").last
    expect(cell).to_contain_text("begun")
    page.get_by_role("button", name="Stop").click()
    expect(cell.locator(".pill")).to_contain_text("interrupted")
    page.goto(cell.get_by_role("link", name="Request").get_attribute("href"))
    expect(page.locator(".part.execution")).to_have_count(1)


def test_a_cell_that_shows_without_end_is_cut_off(page, container):
    page.goto(f"/console/containers/notebook?id={container}")
    shows = "from IPython.display import HTML, display\nfor n in range(1000): display(HTML(f'<p>{n}')); print(n)"
    cell = run(page, shows)
    expect(cell.get_by_text("is left out here")).to_be_visible()
    expect(cell.locator(".pill")).to_contain_text("ok")
    assert cell.locator("iframe").count() <= 50
    assert cell.evaluate("cell => cell.childElementCount") < 220


def test_nothing_that_a_notebook_shows_runs(page, container):
    for words in ("Content Security Policy", "sandbox", "ERR_BLOCKED", "refresh"):
        page.watch.forgive(words)
    page.goto(f"/console/containers/notebook?id={container}")
    cell = run(page, HOSTILE)
    expect(cell.locator("pre.out").first).to_contain_text("<script>alert('ran')</script>")
    expect(page.frame_locator("iframe").first.get_by_text("shown")).to_be_visible()
    for frame in cell.locator("iframe").all():
        assert frame.get_attribute("sandbox") == ""
    expect(cell.locator("img")).to_have_count(0)
    page.wait_for_load_state("networkidle")
    page.goto(f"/console/containers/files?id={container}")
    expect(page.locator("main img")).to_have_count(0)


def test_a_terminal_that_no_escape_sequence_gets_out_of(page, container):
    page.goto(f"/console/containers/terminal?id={container}")
    page.get_by_role("button", name="Open a shell").click()
    screen = page.locator(".screen")
    expect(screen).to_contain_text("$")
    title = page.title()
    page.keyboard.type("echo one$((1+1))two; printf '\\e[31mred\\e[0m\\n'")
    page.keyboard.press("Enter")
    expect(screen).to_contain_text("one2two")
    expect(screen.locator(".t-f1")).to_have_text("red")
    attack = r"printf '\e]0;evil\a\e]52;c;ZXZpbA==\a\e]8;;javascript:alert(1)\e\\click\e]8;;\e\\ <script>alert(1)</script>\n'; echo o''ver"
    page.keyboard.insert_text(attack)
    page.keyboard.press("Enter")
    expect(screen).to_contain_text("click <script>alert(1)</script>")
    expect(screen).to_contain_text("over")
    assert page.title() == title
    assert page.locator(".terminal a, .terminal script, .terminal img").count() == 0
    page.keyboard.type("sleep 600")
    page.keyboard.press("Enter")
    page.keyboard.press("Control+C")
    page.keyboard.type("echo back$((3+4))again")
    page.keyboard.press("Enter")
    expect(screen).to_contain_text("back7again")
    page.keyboard.type("exit")
    page.keyboard.press("Enter")
    expect(page.locator("[data-terminal-status]")).to_have_text("The shell has ended.")
    expect(page.locator("[data-terminal-status]")).to_have_class("pill calm")


def open_shell(page, container):
    page.goto(f"/console/containers/terminal?id={container}")
    page.get_by_role("button", name="Open a shell").click()
    screen = page.locator(".screen")
    expect(screen).to_contain_text("$")
    return screen


def test_a_terminal_outlives_its_page(page, container):
    screen = open_shell(page, container)
    page.keyboard.type("kept=here; echo be''fore")
    page.keyboard.press("Enter")
    expect(screen).to_contain_text("before")
    page.reload()
    expect(screen).to_contain_text("before")
    # As somebody does who looks at a file meanwhile.
    page.get_by_role("link", name="Files").click()
    page.get_by_role("link", name="Terminal").click()
    expect(page.locator("[data-terminal-status]")).to_have_text("open")
    page.locator(".terminal .keys").focus()
    page.keyboard.type("echo it is $kept")
    page.keyboard.press("Enter")
    expect(screen).to_contain_text("it is here")


def test_text_is_pasted_and_what_scrolled_off_is_looked_at(page, container):
    screen = open_shell(page, container)
    paste = """text => {
        const data = new DataTransfer();
        data.setData("text/plain", text);
        document.querySelector(".terminal .keys").dispatchEvent(
            new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
    }"""
    # Escape sequences in what is pasted are no keys.
    page.evaluate(paste, "for i in $(seq 1 300); do echo line\x1b-$i; done")
    page.keyboard.press("Enter")
    expect(screen).to_contain_text("line-300")
    expect(screen).not_to_contain_text("line-150\n")
    while "line-150" not in screen.inner_text().split():
        page.keyboard.press("Shift+PageUp")
        expect(page.locator(".terminal.scrolled")).to_be_visible()
    page.keyboard.type("echo pre''sent")
    page.keyboard.press("Enter")
    expect(screen).to_contain_text("present")
    expect(page.locator(".terminal.scrolled")).to_have_count(0)
