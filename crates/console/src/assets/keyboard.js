// The keyboard: j and k walk through rows, Enter opens one, / goes to the search, g and a letter to a page,
// a and d decide about what is held.

let wentTo = -Infinity;

const rows = () => [...document.querySelectorAll("[data-rows] tbody tr, [data-row]")];

function chosen() {
  return document.querySelector(".chosen");
}

function choose(step) {
  const all = rows();
  if (all.length === 0) return;
  const now = all.indexOf(chosen());
  const next = all[Math.min(Math.max(now + step, 0), all.length - 1)];
  chosen()?.classList.remove("chosen");
  next.classList.add("chosen");
  next.scrollIntoView({ block: "nearest" });
  (next.tabIndex === -1 && next.hasAttribute("tabindex") ? next : (next.querySelector("a[href]") ?? next)).focus({
    preventScroll: true,
  });
}

/** Presses what has this key. Within rows only in the one that was chosen and has the focus still: another may have
 * moved up meanwhile, and letters that come from elsewhere (a held key, dictation) are not meant for it. */
function act(name) {
  const key = `[data-key="${name}"]`;
  const row = chosen()?.contains(document.activeElement) ? chosen() : null;
  const found = row?.querySelector(key) ?? [...document.querySelectorAll(key)].find((one) => !one.closest("[data-row]"));
  if (!found) {
    const isOfRows = document.querySelector(`[data-row] ${key}`);
    if (isOfRows && !row) choose(chosen() ? 0 : 1);
    return Boolean(isOfRows);
  }
  if (found.matches("input")) found.focus();
  else found.click();
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const target = event.target;
  if (target.matches?.("input, textarea, select, [contenteditable]")) {
    if (event.key === "Escape") target.blur();
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  const went = event.timeStamp - wentTo < 1500;
  wentTo = -Infinity;
  if (went) {
    const link = document.querySelector(`[data-go="${CSS.escape(event.key)}"]`);
    if (link) {
      event.preventDefault();
      link.click();
    }
    return;
  }
  switch (event.key) {
    case "j":
      return choose(1);
    case "k":
      return choose(-1);
    case "g":
      wentTo = event.timeStamp;
      return;
    case "/": {
      const search = document.querySelector("[data-search]");
      if (search) {
        event.preventDefault();
        search.focus();
      }
      return;
    }
    case "?":
      document.getElementById("help")?.showModal();
      return;
    default:
      // One press, one deed: a key that is held down goes on to the next page.
      if (/^[a-z]$/.test(event.key) && !event.repeat && act(event.key)) event.preventDefault();
  }
});
