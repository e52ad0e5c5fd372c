// The playground: a message goes to a model, and text, code and charts come back as they are made.

import { ask, element, submitByKey } from "./events.js";
import { addPicture, addText, showHeld } from "./output.js";
import { snippets } from "./snippets.js";

const form = document.getElementById("prompt");
const turns = document.getElementById("turns");
const [askButton, stopButton, newButton] = ["[data-run-button]", "[data-stop-button]", "[data-new]"].map((which) =>
  form.querySelector(which),
);
let previous = null;
let abort = null;

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const [model, message] = [form.model.value, form.message.value];
  if (abort || !message.trim()) return;
  const turn = newTurn(model, message);
  abort = new AbortController();
  busy(true);
  try {
    await ask(form.dataset.ask, { model, message, previous }, abort.signal, (event) => take(turn, event));
    if (!turn.isOver) end(turn, "broke off", "bad");
    else if (turn.isGood) clear();
  } catch (error) {
    const isStopped = error.name === "AbortError";
    if (!isStopped) turn.body.append(element("p", "notice bad", error.message));
    end(turn, isStopped ? "stopped" : "refused", "bad");
  }
  abort = null;
  busy(false);
  showSnippet();
});

/** The next message is most often short. */
function clear() {
  form.message.value = "";
  form.message.rows = 3;
  form.message.placeholder = "Go on in the same container";
}

stopButton.addEventListener("click", () => abort?.abort());
newButton.addEventListener("click", () => {
  previous = null;
  turns.replaceChildren();
  newButton.hidden = true;
  form.message.value = form.message.defaultValue;
  form.message.rows = 12;
  form.message.focus();
  showSnippet();
});

function newTurn(model, message) {
  const turn = element("article", "turn");
  const asked = element("pre", "asked", message);
  const head = element("header", "cell-head");
  const status = element("span", "pill under-way", "asked");
  const [request, container] = [element("a", "", "Timeline"), element("a", "", "Container")];
  request.hidden = container.hidden = true;
  status.setAttribute("role", "status");
  head.append(element("strong", "", model), status, request, container);
  const body = element("div", "answer");
  turn.append(asked, head, body);
  turns.append(turn);
  turn.scrollIntoView({ block: "nearest" });
  return { body, status, request, container, items: new Map(), isOver: false, isGood: false };
}

function take(turn, event) {
  switch (event.type) {
    case "console.asked":
      turn.request.href = event.request;
      turn.request.hidden = false;
      return;
    case "response.created":
      turn.id = event.response.id;
      say(turn, "answers");
      return;
    case "held":
      return showHeld(turn.status, event);
    case "response.output_item.added":
      return begin(turn, event.item, event.output_index);
    case "response.output_text.delta":
      return turn.items.get(event.output_index)?.part.append(event.delta);
    case "response.refusal.delta":
      return turn.items.get(event.output_index)?.part.append(event.delta);
    case "response.code_interpreter_call_code.delta":
      say(turn, "writes code");
      return turn.items.get(event.output_index)?.code.append(event.delta);
    case "response.code_interpreter_call.interpreting":
      say(turn, "runs code");
      return;
    case "response.output_item.done":
      return complete(turn, event.item, event.output_index);
    case "response.completed":
      previous = turn.id;
      turn.isGood = true;
      newButton.hidden = false;
      return end(turn, tokens(event.response.usage), "good");
    case "response.incomplete":
      previous = turn.id;
      return end(turn, `incomplete: ${event.response.incomplete_details?.reason ?? ""}`, "warn");
    case "response.failed":
      turn.body.append(element("p", "notice bad", event.response.error?.message ?? "The response failed."));
      return end(turn, "failed", "bad");
    case "error":
      if (!turn.isOver) turn.body.append(element("p", "notice bad", event.message ?? event.error?.message ?? "Something failed."));
      return;
  }
}

function begin(turn, item, place) {
  if (item.type === "message") {
    say(turn, "answers");
    turn.items.set(place, { part: turn.body.appendChild(element("div", "text")) });
  } else if (item.type === "code_interpreter_call") {
    const part = turn.body.appendChild(element("div", "cell"));
    const source = part.appendChild(element("pre", "code"));
    source.tabIndex = 0;
    turn.items.set(place, { part, code: source.appendChild(element("code")) });
    if (item.container_id) {
      turn.container.href = `/console/containers/one?${new URLSearchParams({ id: item.container_id })}`;
      turn.container.hidden = false;
    }
  }
}

/** The whole of it, which may differ from its pieces by nothing but marks around citations. */
function complete(turn, item, place) {
  const known = turn.items.get(place);
  if (!known || item.type !== "code_interpreter_call") return;
  if (typeof item.code === "string") known.code.textContent = item.code;
  for (const output of item.outputs ?? []) {
    if (output.type === "logs") addText(known.part, "stdout", output.logs);
    else if (output.type === "image") addPicture(known.part, output.url, "A chart that the code drew");
  }
  if (item.status === "failed") known.part.append(element("p", "notice bad", "The code did not end well; the model was told why."));
}

function tokens(usage) {
  return usage ? `done, ${usage.input_tokens} tokens in, ${usage.output_tokens} out` : "done";
}

function say(turn, text) {
  turn.status.className = "pill under-way";
  turn.status.textContent = text;
}

function end(turn, text, tone) {
  if (turn.isOver) return;
  turn.isOver = true;
  turn.status.className = `pill ${tone}`;
  turn.status.textContent = text;
}

function busy(isBusy) {
  askButton.disabled = isBusy;
  stopButton.hidden = !isBusy;
}

const panel = document.getElementById("as-code");
const tabs = [...panel.querySelectorAll("[role=tab]")];

function showSnippet() {
  const tab = tabs.find((one) => one.getAttribute("aria-selected") === "true");
  const message = form.message.value || form.message.defaultValue;
  const text = snippets[tab.dataset.kind]({ model: form.model.value, message, previous });
  panel.querySelector("pre code").textContent = text;
  panel.querySelector("[data-copy]").dataset.copy = text;
  panel.querySelector("[role=tabpanel]").setAttribute("aria-labelledby", tab.id);
}

function choose(tab) {
  for (const one of tabs) {
    one.setAttribute("aria-selected", String(one === tab));
    one.tabIndex = one === tab ? 0 : -1;
  }
  tab.focus();
  showSnippet();
}

for (const [place, tab] of tabs.entries()) {
  tab.addEventListener("click", () => choose(tab));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) choose(tabs[(place + step + tabs.length) % tabs.length]);
  });
}
form.addEventListener("input", showSnippet);
submitByKey(form);
showSnippet();
