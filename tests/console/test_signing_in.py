"""Who gets in, and how it looks to who does not."""

from conftest import MASTER, sign_in
from playwright.sync_api import expect


def test_a_wrong_key_is_refused_and_the_right_one_leads_where_one_wanted_to_go(new_page):
    page = new_page()
    page.watch.forgive("403")
    page.goto("/console/keys")
    page.wait_for_url("**/console/sign-in?next=%2Fconsole%2Fkeys")
    page.get_by_label("Key").fill("a-wrong-key")
    page.keyboard.press("Enter")
    assert "wrong" in page.get_by_role("alert").inner_text()
    page.get_by_label("Key").fill(MASTER)
    page.keyboard.press("Enter")
    page.wait_for_url("**/console/keys")
    cookie = page.context.cookies()[0]
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/console")


def test_signing_out_ends_the_session_everywhere(new_page):
    page = new_page()
    sign_in(page)
    cookies = page.context.cookies()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/console/sign-in")
    page.context.add_cookies(cookies)
    page.goto("/console/requests")
    assert "/console/sign-in" in page.url


def test_a_key_for_the_console_signs_in_and_makes_no_keys(new_page, api):
    made = api.ask("POST", "/v1/admin/keys", {"name": "reviewer", "limits": {"console": True}})
    page = new_page()
    sign_in(page, made["key"])
    page.goto("/console/keys")
    assert page.get_by_text("Keys are made and ended with the master key.").is_visible()
    api.ask("DELETE", f"/v1/admin/keys/{made['id']}")
    page.goto("/console/requests")
    assert "/console/sign-in" in page.url


def test_the_name_of_the_server_is_enough(new_page):
    page = new_page()
    page.goto("/")
    page.wait_for_url("**/console/sign-in**")
    page.goto("/console/")
    page.wait_for_url("**/console/sign-in**")


def test_a_link_of_another_site_finds_who_is_signed_in(new_page, server):
    page = new_page()
    sign_in(page)
    # Another site by its name, so that the browser keeps the cookie back.
    other = server.url.replace("127.0.0.1", "localhost")
    page.watch.forgive("404")
    page.route(f"{other}/**", lambda route: route.fulfill(
        content_type="text/html", body=f"<a href='{server.url}/console/keys'>here</a>"))
    page.watch.allow(other)
    page.goto(f"{other}/somewhere")
    page.get_by_role("link", name="here").click()
    page.wait_for_url("**/console/keys")
    expect(page.get_by_role("heading", name="Keys", exact=True)).to_be_visible()
