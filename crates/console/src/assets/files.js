// Uploads: files that are picked or dropped go into the folder that is shown, one after the other.

import { say, send } from "./console.js";
import { refusal } from "./events.js";
import { morph } from "./live.js";

const zone = document.querySelector("[data-upload]");
const status = zone?.querySelector("[data-upload-status]");

async function upload(files) {
  const failed = [];
  let count = 0;
  for (const file of files) {
    count += 1;
    status.textContent = `${file.name}, ${count} of ${files.length}`;
    const answer = await send(`${zone.dataset.upload}&name=${encodeURIComponent(file.name)}`, { body: file }).catch(() => null);
    if (!answer?.ok) failed.push(`${file.name}: ${answer ? await refusal(answer) : "the server did not answer"}`);
  }
  await refresh();
  status.textContent = failed.join(" ");
  status.classList.toggle("bad", failed.length > 0);
  if (failed.length === 0) say(files.length === 1 ? "Uploaded" : `${files.length} files uploaded`);
}

async function refresh() {
  const answer = await fetch(location.href, { cache: "no-store" });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const [old, fresh] = [document.getElementById("entries"), page.getElementById("entries")];
  if (old && fresh) morph(old, fresh);
}

if (zone) {
  const input = zone.querySelector("input[type=file]");
  input.addEventListener("change", async () => {
    await upload([...input.files]);
    input.value = "";
  });
  for (const kind of ["dragenter", "dragover"]) {
    document.addEventListener(kind, (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      zone.classList.add("over");
    });
  }
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) zone.classList.remove("over");
  });
  document.addEventListener("drop", (event) => {
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    zone.classList.remove("over");
    upload([...event.dataTransfer.files]);
  });
}
