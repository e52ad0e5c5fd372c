// What code puts out, on a page: text as text, pictures of known kinds, and everything that could act in a frame
// that has no powers.

import { element } from "./events.js";

const PICTURE = /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*$/;
const LONGEST_TEXT = 200_000;
const MOST_PARTS = 200;

/** Whether a cell has room for another part; the last one says that there is more. */
function hasRoom(cell) {
  if (cell.childElementCount < MOST_PARTS) return true;
  if (!cell.dataset.full) cell.append(element("p", "notice", "The rest of what it shows is left out here."));
  cell.dataset.full = "true";
  return false;
}

/** Adds text to the last part if that is of the same kind. */
export function addText(cell, kind, text) {
  const last = cell.lastElementChild;
  if (last?.dataset.kind !== kind && !hasRoom(cell)) return;
  const into = last?.dataset.kind === kind ? last : cell.appendChild(element("pre", `out ${kind === "stderr" ? "err" : kind}`));
  into.dataset.kind = kind;
  into.tabIndex = 0;
  const room = LONGEST_TEXT - into.textContent.length;
  if (room <= 0) return;
  into.append(text.length > room ? `${text.slice(0, room)}\n… the rest is not shown` : text);
  into.scrollTop = into.scrollHeight;
}

export function addPicture(cell, url, text) {
  if (!PICTURE.test(url)) return addText(cell, "result", text || url);
  if (!hasRoom(cell)) return;
  const picture = element("img");
  picture.src = url;
  picture.alt = text || "A picture that the code made";
  cell.append(picture);
}

export function addFrame(cell, src, height, text) {
  if (!hasRoom(cell)) return;
  const frame = element("iframe");
  frame.setAttribute("sandbox", "");
  frame.referrerPolicy = "no-referrer";
  frame.title = "What the code made";
  frame.height = height;
  frame.src = src;
  cell.append(frame);
  if (text) {
    const details = element("details", "plain");
    details.append(element("summary", "", "As text"), element("pre", "out", text.slice(0, LONGEST_TEXT)));
    cell.append(details);
  }
}

export function addShown(cell, { kind, url, src, height, text }) {
  if (kind === "image") addPicture(cell, url, text);
  else if (kind === "frame") addFrame(cell, src, height, text);
  else addText(cell, "result", text + "\n");
}

/** Nothing happens before a person says so, and that is somewhere else. */
export function showHeld(status, { where }) {
  const link = element("a", "", "waits for a person");
  link.href = where;
  status.className = "pill warn under-way";
  status.replaceChildren(link);
  document.dispatchEvent(new Event("held"));
}

export function addRaised(cell, { name, value, traceback }) {
  const part = cell.appendChild(element("pre", "out err"));
  part.append(element("strong", "", name), `: ${value}`);
  if (traceback) {
    const details = element("details", "plain");
    details.open = true;
    details.append(element("summary", "", "Traceback"), element("pre", "out err", traceback.slice(0, LONGEST_TEXT)));
    cell.append(details);
  }
}
