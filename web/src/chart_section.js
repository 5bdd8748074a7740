// The charts of a page under one head, with what moves their time axis.
import { h } from "./dom.js";

/** @import { Chart, ChartGroup } from "./charts.js" */

/**
 * @param {ChartGroup} group
 * @param {Chart[]} charts
 * @param {boolean} [hasClock] the axis can show the time of day
 */
export function chartSection(group, charts, hasClock = true) {
  if (!charts.length) return null;
  const reset = h("button", { type: "button", hidden: true, onclick: () => group.reset() }, "Show all");
  const time = h("button", { type: "button", "aria-pressed": "false" }, "Clock time");
  time.addEventListener("click", () => {
    group.setRelative(!group.relative);
    time.setAttribute("aria-pressed", String(!group.relative));
  });
  group.onZoom = (zoomed) => {
    reset.hidden = !zoomed;
  };
  return h(
    "section",
    { id: "charts", "aria-labelledby": "charts-title" },
    h(
      "div",
      { class: "section-head" },
      h("h2", { id: "charts-title" }, "Over time"),
      h("span", { class: "muted no-print" }, "drag to zoom, double-click to show all"),
      h("div", { class: "buttons no-print" }, reset, hasClock && time),
    ),
    h("div", { class: "charts" }, charts.map((chart) => chart.element)),
  );
}
