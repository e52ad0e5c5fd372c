// What a container uses, as small plots: the last minutes that this page has seen.

const MOST = 80;
const [WIDTH, HEIGHT] = [120, 32];
const histories = new Map();

function look() {
  const now = performance.now();
  for (const plot of document.querySelectorAll("[data-plot]")) {
    const { value, limit } = plot.querySelector("[data-limit]").dataset;
    const history = histories.get(plot.dataset.plot) ?? { points: [], last: null };
    histories.set(plot.dataset.plot, history);
    const part = share(plot.dataset.plot, value === undefined ? null : Number(value), Number(limit), history, now);
    if (part === null) continue;
    history.points.push(Math.min(Math.max(part, 0), 1));
    if (history.points.length > MOST) history.points.shift();
    draw(plot, history.points);
    plot.querySelector(".now").textContent = percent(part);
  }
}

/** Of what it may use; a sum of processor time becomes a rate. */
function share(name, value, limit, history, now) {
  if (value === null || limit <= 0) return null;
  if (name !== "cpu") return value / limit;
  const before = history.last;
  history.last = { value, now };
  if (!before || value < before.value || now - before.now < 100) return null;
  const ofOne = (value - before.value) / 1000 / (now - before.now);
  return ofOne / (limit / 1000);
}

function percent(part) {
  const value = part * 100;
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} %`;
}

function draw(plot, points) {
  const step = WIDTH / (MOST - 1);
  const from = WIDTH - (points.length - 1) * step;
  const line = points.map((part, place) => `${(from + place * step).toFixed(1)},${(HEIGHT - 1 - part * (HEIGHT - 2)).toFixed(1)}`);
  plot.querySelector(".line").setAttribute("points", line.join(" "));
  plot.querySelector(".area").setAttribute("points", `${from.toFixed(1)},${HEIGHT} ${line.join(" ")} ${WIDTH},${HEIGHT}`);
}

look();
document.addEventListener("console:live", look);
