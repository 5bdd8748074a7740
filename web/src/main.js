// The report of a run or of a comparison, drawn from the record that stands in the page.
import { adviceCard, costCard } from "./advice.js";
import { makeCharts } from "./chart_list.js";
import { chartSection } from "./chart_section.js";
import { ChartGroup } from "./charts.js";
import { drawComparison } from "./comparison.js";
import { h, visible } from "./dom.js";
import { cloudCard, gpuCard, historyCard, measuredCard, phasesCard, serverCard, statisticsCard } from "./figures.js";
import { dateTime } from "./format.js";
import { findings, header, tiles, titleOf } from "./overview.js";
import { processesCard } from "./processes.js";
import { readData, readRecord } from "./record.js";
import { startTheme, toggleTheme } from "./theme.js";

/** @import { Run } from "./run_model.js" */

/** @typedef {HTMLElement | null} Card */

/**
 * Cards in a row; one alone takes all of it, a list stands in one column.
 * @param {string} kind
 * @param {(Card | Card[])[]} columns
 */
function beside(kind, ...columns) {
  const filled = columns.map((cards) => [cards].flat().filter(Boolean)).filter((cards) => cards.length > 0);
  if (!filled.length) return null;
  return h("div", { class: `row ${filled.length > 1 ? kind : ""}` }, filled.map((cards) => h("div", { class: "stack" }, cards)));
}

/** @param {Run} run */
function footer(run) {
  return h("footer", { class: "muted" }, `Made ${dateTime(run.made_at)} by resource-tracker ${visible(run.made_by)}. Nothing on this page is loaded from elsewhere.`);
}

/** @param {Run} run */
function drawPage(run) {
  document.title = `${visible(titleOf(run))} – resource-tracker`;
  const group = new ChartGroup(run);
  const charts = run.times.length > 1 ? makeCharts(run, group) : [];
  const redraw = () => group.redraw();
  const buttons = [
    h("button", { type: "button", id: "theme", title: "Light or dark", onclick: () => toggleTheme(redraw) }, "Light / dark"),
    h("button", { type: "button", onclick: () => print() }, "Print"),
  ];
  const place = [serverCard(run), cloudCard(run)];
  const page = document.getElementById("page");
  if (!page) throw new Error("the page has no place for the report");
  page.replaceChildren(
    ...[
      header(run, buttons),
      h(
        "main",
        null,
        tiles(run),
        findings(run),
        beside("wide-narrow", adviceCard(run), costCard(run) ?? place.splice(0)),
        beside("even", ...place),
        chartSection(group, charts),
        gpuCard(run),
        phasesCard(run),
        processesCard(run),
        statisticsCard(run),
        historyCard(run),
        measuredCard(run),
      ),
      footer(run),
    ],
  );
  startTheme(redraw); // draws the charts
  new ResizeObserver(() => group.resize()).observe(page);
}

const data = readData();
if ("comparison" in data) drawComparison(data.comparison);
else drawPage(readRecord(data));
