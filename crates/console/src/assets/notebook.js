// The notebook of a container: each run is a cell with its code and what it puts out, as it comes.

import { send } from "./console.js";
import { ask, element, submitByKey } from "./events.js";
import { addRaised, addShown, addText, showHeld } from "./output.js";

const form = document.getElementById("editor");
const cells = document.getElementById("cells");
const [runButton, stopButton] = ["[data-run-button]", "[data-stop-button]"].map((which) => form.querySelector(which));
let current = null;

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const code = form.code.value;
  if (current || !code.trim()) return;
  const [kind, name] = form.place.value.split(/:(.*)/);
  const cell = newCell(code, name);
  current = { abort: new AbortController(), run: null, presses: 0 };
  busy(true);
  try {
    await ask(form.dataset.run, { code, [kind]: name }, current.abort.signal, (event) => take(cell, event));
    if (!cell.isOver) end(cell, "broke off", "bad");
  } catch (error) {
    if (error.name !== "AbortError") addText(cell.out, "stderr", error.message);
    end(cell, error.name === "AbortError" ? "stopped" : "refused", "bad");
  }
  current = null;
  busy(false);
});

stopButton.addEventListener("click", async () => {
  if (!current) return;
  current.presses += 1;
  // Nothing runs yet, or it does not listen: leaving it stops it as well.
  if (!current.run || current.presses > 2) return current.abort.abort();
  await send(`${form.dataset.stop}&run=${encodeURIComponent(current.run)}`);
});

function newCell(code, name) {
  const out = element("article", "cell");
  const head = element("header", "cell-head");
  const [status, link] = [element("span", "pill under-way", "waits"), element("a", "", "Request")];
  link.hidden = true;
  status.setAttribute("role", "status");
  head.append(element("span", "soft", name), status, link);
  const source = element("pre", "code");
  source.tabIndex = 0;
  source.append(element("code", "", code));
  out.append(head, source);
  cells.append(out);
  out.scrollIntoView({ block: "nearest" });
  return { out, status, link, isOver: false };
}

function take(cell, event) {
  switch (event.type) {
    case "asked":
      cell.link.href = event.request;
      cell.link.hidden = false;
      return;
    case "held":
      return showHeld(cell.status, event);
    case "running":
      current.run = event.run;
      cell.status.textContent = "running";
      cell.status.className = "pill good under-way";
      return;
    case "stdout":
    case "stderr":
      return addText(cell.out, event.type, event.text);
    case "shown":
      return addShown(cell.out, event.shown);
    case "raised":
      return addRaised(cell.out, event);
    case "note":
      return cell.out.append(element("p", "notice", event.text));
    case "files":
      return files(cell, event.paths);
    case "refused":
      addText(cell.out, "stderr", event.text);
      return end(cell, "not run", "bad");
    case "done": {
      const isGood = event.ending.kind === "ok";
      if (!isGood && event.ending.kind !== "raised" && event.text) cell.out.append(element("p", "notice", event.text));
      return end(cell, `${event.ending.kind.replaceAll("_", " ")}, ${event.took}`, isGood ? "good" : "bad");
    }
  }
}

function files(cell, paths) {
  if (paths.length === 0) return;
  const line = element("p", "hint files", "Files changed: ");
  const id = new URLSearchParams(location.search).get("id");
  paths.slice(0, 20).forEach((path, place) => {
    if (place > 0) line.append(", ");
    const link = element("a", "", path);
    link.href = `/console/containers/files?${new URLSearchParams({ id, path })}`;
    line.append(link);
  });
  cell.out.append(line);
}

function end(cell, text, tone) {
  if (cell.isOver) return;
  cell.isOver = true;
  cell.status.className = `pill ${tone}`;
  cell.status.textContent = text;
}

function busy(isBusy) {
  runButton.disabled = isBusy;
  stopButton.hidden = !isBusy;
}

submitByKey(form);
