// Small behaviours that every page has: copying, times that stay true, light and dark, questions before
// something is lost, filters that apply themselves.

/** Says something for a moment, to eyes and to screen readers. */
export function say(text) {
  const toast = document.getElementById("toast");
  if (!toast) return;
  toast.textContent = text;
  toast.classList.add("shown");
  clearTimeout(say.timer);
  say.timer = setTimeout(() => toast.classList.remove("shown"), 2200);
}

/** A request that changes something: with the token that proves it comes from a page of ours. */
export function send(path, options = {}) {
  const token = document.querySelector('meta[name="csrf"]')?.content ?? "";
  return fetch(path, { method: "POST", ...options, headers: { ...options.headers, "x-csrf-token": token } });
}

// A page that answers a form would send it once more when it is loaded again.
const reload = document.querySelector("[data-reload]")?.dataset.reload;
if (reload) history.replaceState(null, "", reload);

document.addEventListener("click", async (event) => {
  const copy = event.target.closest?.("[data-copy]");
  if (copy) {
    await copyText(copy.dataset.copy);
    copy.classList.add("done");
    setTimeout(() => copy.classList.remove("done"), 1200);
    say("Copied");
    return;
  }
  if (event.target.closest?.("[data-theme-toggle]")) toggleTheme();
  if (event.target.closest?.("[data-help]")) document.getElementById("help")?.showModal();
});

/** Also where the browser keeps the clipboard for pages with TLS. */
async function copyText(text) {
  if (navigator.clipboard) {
    try {
      return await navigator.clipboard.writeText(text);
    } catch {
      // Not allowed: the old way.
    }
  }
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

function toggleTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  document.cookie = `sandgate_theme=${root.dataset.theme}; Path=/console; Max-Age=31536000; SameSite=Strict`;
}

document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
});

document.addEventListener("change", (event) => {
  // What is typed is sent with Enter: leaving a field for the next one loads no page.
  const form = event.target.closest?.("form[data-auto]");
  if (form && event.target.matches("select")) form.requestSubmit();
});

function length(seconds) {
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

export function refreshTimes() {
  const now = Date.now();
  for (const time of document.querySelectorAll("time[data-ago]")) {
    const seconds = (now - Date.parse(time.dateTime)) / 1000;
    time.textContent = seconds < 1.5 ? "just now" : `${length(seconds)} ago`;
  }
  for (const time of document.querySelectorAll("time[data-until]")) {
    const seconds = (Date.parse(time.dateTime) - now) / 1000;
    time.textContent = seconds <= 0 ? "now" : `in ${length(seconds)}`;
  }
}

setInterval(refreshTimes, 1000);
