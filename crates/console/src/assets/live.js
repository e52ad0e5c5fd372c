// Regions that keep themselves up to date. An element with an id and `data-live="milliseconds"` is taken from a
// fresh copy of this page now and then; only what differs is changed, so focus, scrolling and open details stay.
// Nothing is asked while nobody looks.

import { refreshTimes } from "./console.js";

const regions = () => [...document.querySelectorAll("[data-live]")].filter((region) => region.id);

let failures = 0;
let fresh = new Date();

async function refresh() {
  const live = regions();
  if (live.length === 0) return;
  if (document.hidden || isBusy(live)) return schedule();
  try {
    const answer = await fetch(location.href, { headers: { "x-console-live": "1" }, cache: "no-store" });
    if (answer.status === 401) return location.reload();
    if (answer.status === 404) throw new Error("What this page is about is gone.");
    if (!answer.ok) throw new Error("The server does not show this page any more.");
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const region of live) {
      const next = page.getElementById(region.id);
      if (next && region.isConnected && !isBusy([region])) morph(region, next);
    }
    refreshTimes();
    document.dispatchEvent(new CustomEvent("console:live"));
    failures = 0;
    fresh = new Date();
    tellOld(null);
  } catch (error) {
    failures += 1;
    const why = error instanceof TypeError ? "The server does not answer." : error.message;
    if (failures > 1) tellOld(`${why} What is shown is of ${fresh.toLocaleTimeString()}.`);
  }
  schedule();
}

/** A page that stands still must not look as if nothing happened. */
function tellOld(text) {
  const notice = document.getElementById("old");
  if (!text) return notice?.remove();
  if (notice) {
    if (notice.textContent !== text) notice.textContent = text;
    return;
  }
  const made = document.createElement("p");
  made.id = "old";
  made.className = "notice bad";
  made.setAttribute("role", "alert");
  made.textContent = text;
  document.getElementById("main")?.prepend(made);
}

/** Somebody writes, marks text or has a dialog open in there: it would be lost. Or is about to press something, and
 * another row would move under the pointer. */
function isBusy(live) {
  const active = document.activeElement;
  const selection = getSelection();
  return live.some(
    (region) =>
      (active && region.contains(active) && active.matches("input, textarea, select")) ||
      (selection && !selection.isCollapsed && region.contains(selection.anchorNode)) ||
      region.querySelector("dialog[open], .actions:hover, .actions :focus-visible, .decide button:hover"),
  );
}

function schedule() {
  const every = Math.min(...regions().map((region) => Number(region.dataset.live) || 2000));
  if (!Number.isFinite(every)) return;
  // A server that does not answer is asked less and less often.
  setTimeout(refresh, Math.max(500, every) * 2 ** Math.min(failures, 5));
}

/** Makes `old` look like `fresh`. Children with ids are matched by them, others by their place. */
export function morph(old, fresh) {
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !(name === "open" && old.matches("details"))) old.removeAttribute(name);
  }
  for (const { name, value } of [...fresh.attributes]) {
    if (old.getAttribute(name) !== value && !kept(old, name)) old.setAttribute(name, value);
  }
  const byId = new Map([...old.children].filter((child) => child.id).map((child) => [child.id, child]));
  let place = old.firstChild;
  for (const next of [...fresh.childNodes]) {
    const match = next.id ? byId.get(next.id) : place && !place.id && alike(place, next) ? place : null;
    if (!match) {
      old.insertBefore(document.importNode(next, true), place);
      continue;
    }
    if (match === place) place = place.nextSibling;
    else old.insertBefore(match, place);
    if (match.nodeType === Node.ELEMENT_NODE) morph(match, next);
    else if (match.data !== next.data) match.data = next.data;
  }
  while (place) {
    const after = place.nextSibling;
    place.remove();
    place = after;
  }
}

/** What the person at the browser did, and the server does not know of. */
function kept(element, name) {
  return (name === "open" && element.matches("details")) || (name === "class" && element.matches(".copy.done, .chosen"));
}

function alike(one, other) {
  return one.nodeType === other.nodeType && one.nodeName === other.nodeName;
}

let nextLook = 0;

/** The number beside "Approvals", which every page has. */
async function lookForWaiting() {
  clearTimeout(nextLook);
  const nav = document.querySelector("[data-waiting]");
  const badge = nav?.querySelector(".count");
  if (!badge) return;
  if (!document.hidden) {
    const answer = await fetch(nav.dataset.waiting, { headers: { "x-console-live": "1" } }).catch(() => null);
    if (answer?.status === 401) return location.reload();
    const count = answer?.ok ? await answer.json().catch(() => null) : null;
    if (typeof count === "number") {
      badge.hidden = count === 0;
      badge.textContent = String(count);
      badge.setAttribute("aria-label", `${count} wait`);
    }
  }
  clearTimeout(nextLook);
  nextLook = setTimeout(lookForWaiting, 5000);
}

// Whoever waits on this page should not have to wait for the number too.
document.addEventListener("held", lookForWaiting);

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) {
    failures = 0;
  }
});

schedule();
lookForWaiting();
