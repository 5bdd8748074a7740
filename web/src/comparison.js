// The page of a comparison: its figures, its gates, and the charts of both sides on one time axis.
import { Chart, ChartGroup } from "./charts.js";
import { chartSection } from "./chart_section.js";
import { foreign, h, visible } from "./dom.js";
import { bytes, dateTime, duration, known, money } from "./format.js";
import { decodeColumn, decodeFloats } from "./record.js";
import { startTheme, toggleTheme } from "./theme.js";

/** @import { ChartSpec, SeriesSpec } from "./charts.js" */
/** @import { Compared, ComparisonData, Gate, RunCharts } from "./run_model.js" */

const POINTS = 1200; // of the common time axis

/** @typedef {{ end: number, interval: number, times: number[], columns: Record<string, (number | null)[]> }} Line a run on its own axis */
/** @typedef {{ name: string, colour: string, lines: Line[] }} Side */

/**
 * @param {RunCharts} charts
 * @returns {Line}
 */
function readLine(charts) {
  const times = decodeFloats(charts.times);
  const columns = Object.fromEntries(Object.entries(charts.columns).map(([name, column]) => [name, decodeColumn(column, times.length)]));
  return { end: times[times.length - 1] ?? 0, interval: charts.interval, times, columns };
}

/**
 * The value of the row that covers each moment; null after the end of the run.
 * @param {Line} line
 * @param {string} name
 * @param {number[]} moments
 */
function spread(line, name, moments) {
  const values = line.columns[name];
  let row = 0;
  return moments.map((moment) => {
    while (row < line.times.length && line.times[row] < moment) row++;
    return values && row < line.times.length ? values[row] : null;
  });
}

/** @param {number[]} sorted */
const middle = (sorted) => (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;

/**
 * At each moment the median over the runs of a side, as long as half of them last, and the largest of them.
 * @param {Side} side
 * @param {string} name
 * @param {number[]} moments
 * @returns {SeriesSpec[]}
 */
function sideSeries(side, name, moments) {
  const runs = side.lines.filter((line) => line.columns[name]).map((line) => spread(line, name, moments));
  if (!runs.length) return [];
  const at = moments.map((_, i) => runs.map((values) => values[i]).filter(known).sort((a, b) => a - b));
  /** @type {SeriesSpec[]} */
  const series = [
    {
      name: runs.length > 1 ? `${side.name}, median of ${runs.length}` : side.name,
      values: at.map((values) => (2 * values.length >= runs.length ? middle(values) : null)),
      colour: side.colour,
      fill: true,
    },
  ];
  if (runs.length > 1) series.push({ name: `${side.name}, largest`, values: at.map((values) => values[values.length - 1] ?? null), colour: side.colour, dash: true });
  return series;
}

/** @type {Omit<ChartSpec, "series">[]} */
const CHARTS = [
  { id: "chart-cpu", title: "CPU usage", unit: "cores" },
  { id: "chart-memory", title: "Memory", unit: "bytes" },
  { id: "chart-read", title: "Disk read", unit: "rate" },
  { id: "chart-write", title: "Disk written", unit: "rate" },
  { id: "chart-gpu", title: "GPU usage", unit: "gpus" },
  { id: "chart-vram", title: "GPU memory", unit: "bytes" },
];
const COLUMNS = ["process_cpu", "process_memory", "process_read", "process_write", "process_gpu", "process_vram"];

/**
 * @param {Side[]} sides
 * @returns {{ group: ChartGroup, charts: Chart[] }}
 */
function makeCharts(sides) {
  const lines = sides.flatMap((side) => side.lines);
  const end = Math.max(0, ...lines.map((line) => line.end));
  const interval = Math.max(Math.min(...lines.map((line) => line.interval)), end / POINTS);
  const count = end > 0 ? Math.ceil(end / interval) : 0;
  const moments = Array.from({ length: count }, (_, i) => Math.min((i + 1) * interval, end));
  const group = new ChartGroup({ times: moments, end, interval, start: 0, phases: [], column: () => [], stats: () => null });
  const charts = CHARTS.map((chart, i) => ({ ...chart, series: sides.flatMap((side) => sideSeries(side, COLUMNS[i], moments)) }))
    .filter(({ series }) => series.some(({ values }) => values?.some((value) => known(value) && value > 0)))
    .map((spec) => new Chart(group, spec));
  return { group, charts: count > 1 ? charts : [] };
}

// ---- figures

/**
 * @param {Compared["unit"]} unit
 * @param {Compared["base"]} group
 */
function figureWords(unit, group) {
  const value = group?.median.value;
  if (!known(value)) return "–";
  const words = unit === "bytes" ? bytes(value) : unit === "seconds" ? duration(value) : money(value);
  return group?.at_most ? `at most ${words}` : words;
}

/** @param {Compared} row */
function figureRow(row) {
  const isSeen = row.verdict === "different";
  return h(
    "tr",
    null,
    h("th", { scope: "row" }, row.title),
    h("td", { "data-side": "base" }, figureWords(row.unit, row.base)),
    h("td", { "data-side": "new" }, figureWords(row.unit, row.new)),
    h("td", { class: "text" }, isSeen ? h("strong", null, row.words) : row.words),
  );
}

/**
 * @param {string | null} phase
 * @param {Compared[]} rows
 * @param {ComparisonData} data
 */
function figuresCard(phase, rows, data) {
  const title = phase === null ? "Figures" : ["Phase ", foreign(phase)];
  return h(
    "section",
    { class: "card compared" },
    h("h2", null, title),
    h(
      "div",
      { class: "scroll" },
      h(
        "table",
        { class: "figures" },
        h(
          "thead",
          null,
          h("tr", null, h("th", { scope: "col" }, "Median"), h("th", { scope: "col" }, `base (${data.base?.runs.length ?? 0})`), h("th", { scope: "col" }, `new (${data.new.runs.length})`), h("th", { scope: "col", class: "text" }, "Difference")),
        ),
        h("tbody", null, rows.map(figureRow)),
      ),
    ),
  );
}

/** @type {Record<Gate["outcome"], [string, string]>} a mark and its tone */
const OUTCOMES = { passed: ["✓", "passed"], failed: ["!", "fault"], uncertain: ["?", "waste"], unknown: ["?", "waste"] };

/** @param {Gate[]} gates */
function gatesCard(gates) {
  if (!gates.length) return null;
  const item = (/** @type {Gate} */ gate) =>
    h("li", { class: OUTCOMES[gate.outcome][1] }, h("span", { class: "mark", "aria-hidden": "true" }, OUTCOMES[gate.outcome][0]), h("div", null, foreign(gate.words)));
  return h("section", { class: "card findings", id: "gates" }, h("h2", null, "Gates"), h("ul", null, gates.map(item)));
}

/** @param {string[]} outliers */
function outliersCard(outliers) {
  if (!outliers.length) return null;
  return h("section", { class: "card", id: "outliers" }, h("h2", null, "Far from the other runs of their side"), h("ul", { class: "reasons" }, outliers.map((words) => h("li", null, foreign(words)))));
}

/** @param {ComparisonData} data */
function statusOf(data) {
  if (data.gates.some((gate) => gate.outcome === "failed")) return { tone: "bad", words: "a gate failed" };
  if (data.gates.some((gate) => gate.outcome === "uncertain")) return { tone: "warn", words: "a gate is uncertain" };
  if (data.gates.some((gate) => gate.outcome === "unknown")) return { tone: "warn", words: "a gate cannot be checked" };
  if (data.gates.length) return { tone: "good", words: data.gates.length > 1 ? "all gates passed" : "the gate passed" };
  const seen = data.figures.filter((row) => row.verdict === "different").length;
  if (!data.figures.some((row) => ["different", "none_seen", "equal"].includes(row.verdict))) return { tone: "plain", words: "too few runs to tell differences from noise" };
  return { tone: "plain", words: seen === 1 ? "1 difference seen" : seen ? `${seen} differences seen` : "no difference seen" };
}

/** @param {ComparisonData} data */
export function drawComparison(data) {
  document.title = "Comparison – resource-tracker";
  /** @type {Side[]} */
  const sides = [
    { name: "base", colour: "grey", lines: data.charts.base.map(readLine) },
    { name: "new", colour: "blue", lines: data.charts.new.map(readLine) },
  ];
  const { group, charts } = makeCharts(sides);
  const redraw = () => group.redraw();
  const status = statusOf(data);
  const names = (/** @type {string[]} */ runs) => (runs.length > 3 ? `${runs.length} runs, ${visible(runs[0])} to ${visible(runs[runs.length - 1])}` : runs.map(visible).join(", "));
  const phases = [...new Set(data.figures.map((row) => row.phase))];
  const page = document.getElementById("page");
  if (!page) throw new Error("the page has no place for the comparison");
  page.replaceChildren(
    h(
      "header",
      { class: "top" },
      h(
        "div",
        { class: "top-line" },
        h("span", { class: "brand" }, "resource-tracker"),
        h(
          "div",
          { class: "buttons no-print" },
          h("button", { type: "button", id: "theme", title: "Light or dark", onclick: () => toggleTheme(redraw) }, "Light / dark"),
          h("button", { type: "button", onclick: () => print() }, "Print"),
        ),
      ),
      h("div", { class: "title-line" }, h("h1", null, "Comparison"), h("span", { class: `pill ${status.tone}`, id: "status" }, h("strong", null, status.words))),
      h("p", { class: "facts muted" }, "base: ", foreign(names(data.base?.runs ?? [])), " · new: ", foreign(names(data.new.runs))),
    ),
    h(
      "main",
      null,
      ...[
        gatesCard(data.gates),
        ...phases.map((phase) => figuresCard(phase, data.figures.filter((row) => row.phase === phase), data)),
        chartSection(group, charts, false),
        outliersCard(data.outliers),
      ].filter((card) => card !== null),
    ),
    h("footer", { class: "muted" }, `Made ${dateTime(data.made_at)} by resource-tracker ${visible(data.made_by)}. Nothing on this page is loaded from elsewhere.`),
  );
  startTheme(redraw); // draws the charts
  new ResizeObserver(() => group.resize()).observe(page);
}
