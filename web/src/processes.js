// The processes of the job: a table that sorts, and when each of them lived.
import { foreign, h, svg, visible } from "./dom.js";
import { bytes, count, duration, elapsed, known, positive } from "./format.js";
import { signalName } from "./outcome.js";

/** @import { Child } from "./dom.js" */
/** @import { ProcessLife, Run } from "./run_model.js" */

const SHOWN = 50;
const LANES = 40;

/** @param {ProcessLife} process */
const nameOf = (process) => (known(process.count) && process.count > 1 ? `${process.command} (${count(process.count)} processes)` : process.command);

/** @param {ProcessLife} process */
function exitOf(process) {
  const code = process.exit_code;
  if (!known(code)) return "–";
  return code < 0 ? signalName(-code) : String(code);
}

/**
 * One that outlived the tracking has no end: it lived as long as the tracker ran, or longer.
 * @param {ProcessLife} process
 */
const outlived = (process) => !known(process.end_time) && !known(process.exit_code) && positive(process.pid);

/**
 * NaN where it is not known.
 * @param {ProcessLife} process
 * @param {Run} run
 */
const endOf = (process, run) => (outlived(process) ? run.start + (run.end ?? 0) : process.end_time ?? NaN);

/**
 * @param {ProcessLife} process
 * @param {Run} run
 */
const secondsOf = (process, run) => endOf(process, run) - (process.start_time ?? NaN);

/**
 * @param {ProcessLife} process
 * @param {Run} run
 */
function lifeOf(process, run) {
  const seconds = secondsOf(process, run);
  if (!(seconds >= 0)) return "–";
  return outlived(process) ? `over ${duration(seconds)}` : duration(seconds);
}

/**
 * @typedef {object} ProcessColumn
 * @property {string} key
 * @property {string} name
 * @property {(process: ProcessLife, run: Run) => string | number} value to sort by
 * @property {(process: ProcessLife, run: Run) => Child} words
 * @property {boolean} [text]
 */

/** @type {ProcessColumn[]} */
const COLUMNS = [
  { key: "pid", name: "PID", value: (p) => p.pid ?? 0, words: (p) => (p.pid ? String(p.pid) : "–") },
  { key: "command", name: "Command", value: (p) => p.command ?? "", words: (p) => foreign(nameOf(p)), text: true },
  { key: "start", name: "Started", value: (p) => p.start_time ?? 0, words: (p, run) => (known(p.start_time) ? `+${elapsed(Math.max(0, p.start_time - run.start), 0.1)}` : "–") },
  { key: "life", name: "Lived", value: (p, run) => secondsOf(p, run) || 0, words: lifeOf },
  { key: "cpu", name: "CPU time", value: (p) => p.cpu_seconds ?? -1, words: (p) => duration(p.cpu_seconds) },
  { key: "rss", name: "Peak RSS", value: (p) => p.peak_rss_bytes ?? -1, words: (p) => bytes(p.peak_rss_bytes) },
  { key: "read", name: "Read", value: (p) => p.read_bytes ?? -1, words: (p) => bytes(p.read_bytes) },
  { key: "write", name: "Written", value: (p) => p.write_bytes ?? -1, words: (p) => bytes(p.write_bytes) },
  { key: "exit", name: "Exit", value: (p) => p.exit_code ?? 0, words: exitOf },
];

/**
 * @param {Run} run
 * @param {ProcessLife[]} processes
 */
function processTable(run, processes) {
  let sorted = { by: COLUMNS.find(({ key }) => key === "cpu") ?? COLUMNS[0], falling: true };
  let shown = SHOWN;
  const body = h("tbody");
  const heads = COLUMNS.map((column) => {
    const button = h("button", { type: "button" }, column.name);
    button.addEventListener("click", () => {
      sorted = { by: column, falling: sorted.by === column ? !sorted.falling : !column.text };
      fill();
    });
    return h("th", { scope: "col", class: column.text ? "text" : "" }, button);
  });
  const more = h("button", { type: "button", class: "more no-print" });
  more.addEventListener("click", () => {
    shown = shown === SHOWN ? Infinity : SHOWN;
    fill();
  });
  function fill() {
    const way = sorted.falling ? -1 : 1;
    const order = [...processes].sort((a, b) => {
      const [x, y] = [sorted.by.value(a, run), sorted.by.value(b, run)];
      return (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y))) * way;
    });
    body.replaceChildren(
      ...order.slice(0, shown).map((process) => h("tr", null, COLUMNS.map((one) => h("td", { class: one.text ? "text" : "" }, one.words(process, run))))),
    );
    heads.forEach((head, i) => {
      if (COLUMNS[i] === sorted.by) head.setAttribute("aria-sort", sorted.falling ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    more.hidden = processes.length <= SHOWN;
    more.textContent = shown === SHOWN ? `Show all ${count(processes.length)}` : `Show ${SHOWN}`;
  }
  fill();
  return [
    h("div", { class: "scroll" }, h("table", { class: "figures sortable", id: "process-table" }, h("caption", { class: "for-readers" }, "Processes of the job"), h("thead", null, h("tr", null, heads)), body)),
    more,
  ];
}

/**
 * Lanes of the largest, in the order of their starts; as wide as the run is long.
 * @param {Run} run
 * @param {ProcessLife[]} processes
 */
function timeline(run, processes) {
  const startOf = (/** @type {ProcessLife} */ process) => process.start_time ?? NaN;
  const lived = processes.filter((p) => known(startOf(p)) && known(endOf(p, run)) && p.pid).slice(0, LANES);
  const length = run.end;
  if (lived.length < 1 || !positive(length)) return null;
  lived.sort((a, b) => startOf(a) - startOf(b));
  const LANE = 20;
  const WIDTH = 1000;
  const height = lived.length * LANE + 18;
  const most = Math.max(...lived.map((p) => p.cpu_seconds ?? 0), 1e-9);
  const x = (/** @type {number} */ time) => Math.min(1, Math.max(0, (time - run.start) / length)) * WIDTH;
  const bars = lived.map((p, lane) => {
    const from = x(startOf(p));
    const width = Math.max(2, x(endOf(p, run)) - from);
    const label = visible(p.command).slice(0, 60);
    const inside = width > 8 * label.length + 16;
    const right = !inside && from + width > WIDTH * 0.75;
    const strength = 0.35 + 0.65 * Math.sqrt((p.cpu_seconds ?? 0) / most);
    return svg(
      "g",
      null,
      svg("title", null, `${visible(p.command)} (${p.pid}): ${lifeOf(p, run)}, ${duration(p.cpu_seconds)} CPU, ${bytes(p.peak_rss_bytes)}`),
      svg("rect", { class: p.exit_code ? "bar failed" : "bar", x: from, y: lane * LANE + 3, width, height: LANE - 6, rx: 3, opacity: strength }),
      svg("text", { class: inside && strength > 0.8 ? "on-bar" : "", x: right ? from - 6 : inside ? from + 8 : from + width + 6, y: lane * LANE + 14, "text-anchor": right ? "end" : "start" }, label),
    );
  });
  const marks = [0, 0.25, 0.5, 0.75, 1].map((share) =>
    svg("text", { class: "mark", x: share * WIDTH, y: height - 3, "text-anchor": share === 0 ? "start" : share === 1 ? "end" : "middle" }, elapsed(share * length, length > 10 ? 1 : 0.1)),
  );
  const grid = [0, 0.25, 0.5, 0.75, 1].map((share) => svg("line", { x1: share * WIDTH, x2: share * WIDTH, y1: 0, y2: height - 16 }));
  return h(
    "div",
    { class: "timeline", id: "timeline" },
    h("h3", null, "When they lived"),
    h(
      "div",
      { class: "scroll" },
      svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, width: WIDTH, height, role: "img", "aria-label": `Timeline of ${lived.length} processes; the table has the same in words` }, grid, bars, marks),
    ),
    lived.length < processes.length && h("p", { class: "muted note" }, `The ${lived.length} with most CPU time of ${count(processes.length)}.`),
  );
}

/** @param {Run} run */
export function processesCard(run) {
  const processes = run.processes ?? [];
  if (!processes.length) return null;
  const { value: all, source } = run.totals?.processes ?? {};
  const least = known(all) && all > 1 && !["events", "ptrace"].includes(source ?? "") ? "at least " : "";
  return h(
    "section",
    { class: "card", id: "processes", "aria-labelledby": "processes-title" },
    h("div", { class: "card-head" }, h("h2", { id: "processes-title" }, "Processes"), known(all) && h("span", { class: "muted" }, `${least}${count(all)} in all`)),
    timeline(run, processes),
    processTable(run, processes),
  );
}
