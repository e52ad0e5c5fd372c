// The page's side of a terminal: keys go to the server, rows of letters and colours come back. What programs
// print is never more than text here.

import { showHeld } from "./output.js";

const box = document.getElementById("terminal");
const screen = box.querySelector(".screen");
const keys = box.querySelector(".keys");
const status = document.querySelector("[data-terminal-status]");
const opener = document.querySelector("[data-open]");
const [BOLD, DIM, ITALIC, UNDERLINE, INVERSE] = [1, 2, 4, 8, 16];

/** Which shell this window has in this container, so that it is found again when the page is. */
const KEPT = `terminal ${box.dataset.container}`;

let socket = null;
/** Whether it was said why nothing comes any more. */
let isOver = false;
let back = 0;
let isAlternate = false;
const cursor = document.createElement("span");
cursor.className = "cursor";

function open() {
  if (socket) return;
  screen.replaceChildren(cursor);
  isOver = false;
  back = 0;
  say("connecting", "");
  const address = new URL(box.dataset.socket, location.href);
  const kept = sessionStorage.getItem(KEPT);
  if (kept) address.searchParams.set("terminal", kept);
  address.protocol = address.protocol.replace("http", "ws");
  socket = new WebSocket(address);
  socket.onmessage = ({ data }) => take(JSON.parse(data));
  socket.onclose = () => closed();
  opener.disabled = true;
  keys.focus();
}

function closed() {
  if (!socket) return;
  socket = null;
  opener.disabled = false;
  cursor.hidden = true;
  const isKept = sessionStorage.getItem(KEPT) !== null;
  opener.textContent = isKept ? "Connect again" : "Open a shell";
  if (!isOver) say(isKept ? "the connection is lost" : "closed", "bad");
}

function take(message) {
  switch (message.type) {
    case "screen":
      return show(message);
    case "asked":
      return say("waits", "");
    case "held":
      return showHeld(status, message);
    case "open":
      return sessionStorage.setItem(KEPT, message.terminal);
    case "elsewhere":
      isOver = true;
      return say("It is shown in another window now.", "bad");
    case "gone":
      return over("The shell has ended meanwhile.");
    case "ended":
      return over(message.text, message.is_good ? "calm" : "bad");
  }
}

function over(text, tone = "bad") {
  sessionStorage.removeItem(KEPT);
  isOver = true;
  say(text, tone);
}

function say(text, tone) {
  status.textContent = text;
  status.className = `pill ${tone}`;
}

let isFirst = true;

function show({ rows, cursor: at, back: shownBack, alternate, height }) {
  if (status.textContent !== "open") {
    say("open", "good");
    isFirst = true;
  }
  const lines = [...screen.querySelectorAll(".row")];
  while (lines.length < height) lines.push(screen.insertBefore(newRow(), cursor));
  while (lines.length > height) lines.pop().remove();
  for (const [place, pieces] of rows) lines[place]?.replaceChildren(...pieces.map(piece));
  back = shownBack;
  isAlternate = alternate;
  cursor.hidden = !at;
  if (at) {
    cursor.style.top = `calc(${at[0]} * var(--row))`;
    cursor.style.left = `${at[1]}ch`;
  }
  box.classList.toggle("scrolled", back > 0);
  if (isFirst) {
    isFirst = false;
    fit();
  }
}

function newRow() {
  const row = document.createElement("div");
  row.className = "row";
  return row;
}

function piece([text, front, behind, flags]) {
  const span = document.createElement("span");
  span.textContent = text;
  if (flags & INVERSE) [front, behind] = [behind ?? "back", front ?? "front"];
  paint(span, "color", front, "f");
  paint(span, "background-color", behind, "b");
  for (const [flag, name] of [[BOLD, "bold"], [DIM, "dim"], [ITALIC, "italic"], [UNDERLINE, "underline"]]) {
    if (flags & flag) span.classList.add(`t-${name}`);
  }
  return span;
}

function paint(span, property, colour, prefix) {
  if (colour === null) return;
  if (colour === "front" || colour === "back") span.classList.add(`t-${prefix}-${colour}`);
  else if (typeof colour === "string") span.style.setProperty(property, colour);
  else if (colour < 16) span.classList.add(`t-${prefix}${colour}`);
  else span.style.setProperty(property, fromCube(colour));
}

/** The numbered colours above the first sixteen. */
function fromCube(number) {
  if (number >= 232) {
    const grey = 8 + (number - 232) * 10;
    return `rgb(${grey} ${grey} ${grey})`;
  }
  const part = (step) => (step === 0 ? 0 : 55 + step * 40);
  const place = number - 16;
  return `rgb(${part(Math.floor(place / 36))} ${part(Math.floor(place / 6) % 6)} ${part(place % 6)})`;
}

function tell(message) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

/** As many letters as fit. */
function fit() {
  const probe = document.createElement("span");
  probe.textContent = "0".repeat(20);
  screen.append(probe);
  const { width } = probe.getBoundingClientRect();
  probe.remove();
  const style = getComputedStyle(screen);
  const room = screen.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  const high = Math.max(240, Math.min(innerHeight - box.getBoundingClientRect().top - 80, 900));
  const rows = Math.floor(high / parseFloat(style.lineHeight));
  tell({ type: "resize", columns: Math.max(1, Math.floor(room / (width / 20))), rows: Math.max(1, rows) });
}

keys.addEventListener("keydown", (event) => {
  if (event.isComposing || event.metaKey) return;
  const { key, ctrlKey: ctrl, altKey: alt, shiftKey: shift } = event;
  if (key === "Tab" && shift) return;
  if (!socket) {
    if (key === "Enter") {
      event.preventDefault();
      open();
    }
    return;
  }
  if (shift && (key === "PageUp" || key === "PageDown")) {
    event.preventDefault();
    return lookBack(key === "PageUp" ? 10 : -10);
  }
  // Copying and pasting stay the browser's.
  if ((ctrl && shift && /^[cv]$/i.test(key)) || (shift && key === "Insert")) return;
  if (ctrl && key === "v") return;
  if (ctrl && key === "c" && !getSelection().isCollapsed) return;
  // A letter that somebody types comes as input, whatever makes it.
  if (key.length === 1 && !ctrl && !alt) return;
  if (["Shift", "Control", "Alt", "AltGraph", "Meta", "Dead", "Process", "Unidentified"].includes(key)) return;
  event.preventDefault();
  tell({ type: "key", key, ctrl, alt, shift: key.length > 1 && shift });
});

keys.addEventListener("input", (event) => {
  if (event.isComposing) return;
  if (keys.value) tell({ type: "text", text: keys.value });
  keys.value = "";
});
keys.addEventListener("compositionend", () => {
  if (keys.value) tell({ type: "text", text: keys.value });
  keys.value = "";
});
keys.addEventListener("paste", (event) => {
  event.preventDefault();
  const text = event.clipboardData.getData("text/plain").slice(0, 50_000);
  if (text) tell({ type: "paste", text });
});

function lookBack(rows) {
  tell({ type: "back", rows: Math.max(0, back + rows) });
}

screen.addEventListener("wheel", (event) => {
  if (!socket || event.deltaY === 0) return;
  event.preventDefault();
  const steps = 3;
  if (!isAlternate) return lookBack(event.deltaY < 0 ? steps : -steps);
  for (let step = 0; step < steps; step += 1) tell({ type: "key", key: event.deltaY < 0 ? "ArrowUp" : "ArrowDown" });
}, { passive: false });

box.addEventListener("mouseup", () => {
  if (getSelection().isCollapsed) keys.focus({ preventScroll: true });
});

opener.addEventListener("click", open);
for (const button of document.querySelectorAll("[data-send]")) {
  button.addEventListener("click", () => {
    tell({ type: "key", key: button.dataset.send, ctrl: "ctrl" in button.dataset });
    keys.focus({ preventScroll: true });
  });
}
if (sessionStorage.getItem(KEPT)) open();
let timer = 0;
addEventListener("resize", () => {
  clearTimeout(timer);
  timer = setTimeout(fit, 150);
});
