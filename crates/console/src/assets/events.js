// Reading answers that go on: the events of a request as they come, and the words of a refusal.

import { send } from "./console.js";

/** Calls `take` with each event; throws the words of the server where it refused. */
export async function ask(path, body, signal, take) {
  const answer = await send(path, {
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" },
    signal,
  });
  if (!answer.ok) throw new Error(await refusal(answer));
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const data = part.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart());
      if (data.length > 0) take(JSON.parse(data.join("\n")));
    }
  }
}

/** What the page of a problem says. */
export async function refusal(answer) {
  const text = await answer.text();
  if (!(answer.headers.get("content-type") ?? "").startsWith("text/html")) return text || answer.statusText;
  const page = new DOMParser().parseFromString(text, "text/html");
  return page.querySelector("main .lead, main h1 + p")?.textContent ?? answer.statusText;
}

/** An element with a class and text; nothing that comes from a sandbox is ever more than text. */
export function element(name, className = "", text = "") {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

/** Ctrl and Enter send the form that is being written. */
export function submitByKey(form) {
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey || event.shiftKey) && event.target.matches("textarea")) {
      if (event.shiftKey && !form.matches(".editor")) return;
      event.preventDefault();
      form.requestSubmit();
    }
  });
}
