// Charts over one time axis: one cursor, one zoom, legends that tell the values under the cursor.
import uPlot from "uplot";
import { h, visible } from "./dom.js";
import { byteUnit, bytes, clock, count, dateTime, elapsed, known, number, percent, rate } from "./format.js";

/** @import { Axis, Options, Series } from "uplot" */
/** @import { Phase, Run, Stats } from "./run_model.js" */

/** @typedef {Pick<Run, "times" | "end" | "interval" | "start" | "phases" | "column" | "stats">} ChartedRun */

/** @typedef {{ at: number, text: string, colour: string }} ChartLine across the plot */

/**
 * @typedef {object} SeriesSpec
 * @property {string} name
 * @property {string} [column] of the run; else `values`
 * @property {(number | null)[]} [values]
 * @property {string} colour
 * @property {boolean | string} [fill] below the line; a text is how opaque it is, in hex
 * @property {boolean} [dash]
 * @property {boolean} [bare] without a line
 * @property {boolean} [behind] is drawn first
 * @property {boolean} [hidden]
 * @property {boolean} [step]
 */

/**
 * @typedef {object} ChartSpec
 * @property {string} id
 * @property {string} title
 * @property {string} [note]
 * @property {UnitName} unit
 * @property {string} [most] what the largest value is called
 * @property {boolean} [names] of phases are drawn
 * @property {ChartLine[]} [lines]
 * @property {{ low: number, high: number, colour: string } | null} [band]
 * @property {SeriesSpec[]} series
 */

/** @typedef {{ min: number, max: number }} TimeRange */

const HEIGHT = 220;
const TIME_STEPS = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800,
  21600, 43200, 86400, 172800, 604800, 2592000,
];

/**
 * How figures of a chart are shown: at the cursor, and on the axis in one unit for all its marks.
 * @typedef {object} Unit
 * @property {(value: Stats["mean"]) => string} tell
 * @property {(value: number) => string} [axis]
 * @property {boolean} [whole]
 * @property {boolean} [binary]
 * @property {boolean} [perSecond]
 */

/** @typedef {"cores" | "gpus" | "count" | "bytes" | "rate" | "share"} UnitName */

/** @type {Record<UnitName, Unit>} */
const UNITS = {
  cores: { tell: (v) => `${number(v)} cores` },
  gpus: { tell: (v) => `${number(v)} GPUs` },
  count: { tell: count, whole: true },
  bytes: { tell: bytes, binary: true },
  rate: { tell: rate, binary: true, perSecond: true },
  share: { tell: percent, axis: (v) => `${+(v * 100).toFixed(1)} %` },
};

/** @param {number} value */
const plain = (value) => String(+value.toFixed(6));

/** @param {number} largest */
function binarySteps(largest) {
  const unit = byteUnit(largest).size;
  const steps = [];
  for (let decade = 0.01; decade < 2000; decade *= 10) for (const step of [1, 2, 5]) steps.push(step * decade * unit);
  return steps;
}

/**
 * @param {Unit} unit
 * @returns {(plot: uPlot, marks: number[]) => string[]}
 */
function axisWords(unit) {
  return (_, marks) => {
    if (!unit.binary) return marks.map(unit.axis ?? plain);
    const scale = byteUnit(marks.length ? Math.max(...marks) : 0);
    return marks.map((v) => (v === 0 ? "0" : `${plain(v / scale.size)} ${scale.name}${unit.perSecond ? "/s" : ""}`));
  };
}

/** @param {string} name */
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// What a chart may not squeeze to a line at the bottom: lines far above the data stay out of its range.
const LINE_REACH = 2.5;

export class ChartGroup {
  /** @param {ChartedRun} run */
  constructor(run) {
    this.run = run;
    /** @type {Chart[]} */
    this.charts = [];
    this.relative = true;
    this.xs = run.times;
    this.full = { min: 0, max: Math.max(run.times[run.times.length - 1] ?? 0, run.end ?? 0) };
    /** @type {TimeRange} */
    this.range = { ...this.full };
    this.sync = uPlot.sync("time");
    /** @type {(zoomed: boolean) => void} */
    this.onZoom = () => {};
  }

  /** @param {number} seconds */
  tellTime(seconds) {
    return this.relative ? `+${elapsed(seconds, this.run.interval < 1 ? this.run.interval : 1)}` : dateTime(this.run.start + seconds);
  }

  /** @param {Chart} chart */
  add(chart) {
    this.charts.push(chart);
  }

  /**
   * @param {number} min
   * @param {number} max
   */
  zoom(min, max) {
    const least = Math.max(this.run.interval * 2, 0.002);
    const width = Math.min(Math.max(max - min, least), this.full.max - this.full.min);
    const from = Math.min(Math.max(min, this.full.min), this.full.max - width);
    this.range = { min: from, max: from + width };
    for (const chart of this.charts) chart.show(this.range);
    this.onZoom(this.isZoomed());
  }

  reset() {
    this.zoom(this.full.min, this.full.max);
  }

  isZoomed() {
    return this.range.max - this.range.min < (this.full.max - this.full.min) * 0.999;
  }

  /** @param {boolean} relative */
  setRelative(relative) {
    this.relative = relative;
    this.redraw();
  }

  redraw() {
    for (const chart of this.charts) chart.draw();
  }

  resize() {
    for (const chart of this.charts) chart.resize();
  }
}

export class Chart {
  /** @type {uPlot | undefined} */
  plot;
  place = h("div", { class: "plot" });
  when = h("span", { class: "legend-time" });

  /**
   * @param {ChartGroup} group
   * @param {ChartSpec} spec
   */
  constructor(group, spec) {
    this.group = group;
    this.spec = { lines: [], most: "peak", ...spec };
    this.unit = UNITS[spec.unit];
    this.shown = spec.series.map((series) => !series.hidden);
    // The last to be drawn lies on top: the machine's figures are the ground for the job's.
    const indices = spec.series.map((_, index) => index);
    this.order = [...indices.filter((i) => spec.series[i].behind), ...indices.filter((i) => !spec.series[i].behind)];
    this.values = spec.series.map((series) => series.values ?? (series.column ? group.run.column(series.column) : []));
    this.legend = h("div", { class: "legend", role: "group", "aria-label": `Series of ${spec.title}` });
    this.tellers = spec.series.map((series, index) => this.makeLegendItem(series, index));
    this.element = this.makeFigure();
    Object.assign(this.element, { chart: this }); // for programs that look at the page, such as its tests
    group.add(this);
  }

  /** @param {number} index */
  stats(index) {
    const series = this.spec.series[index];
    return series.column ? this.group.run.stats(series.column) : null;
  }

  // ---- what stands around the plot

  makeFigure() {
    this.legend.append(this.when);
    const figure = h(
      "figure",
      { class: "card chart", id: this.spec.id },
      h("div", { class: "chart-head" }, h("h3", null, this.spec.title), this.spec.note && h("span", { class: "muted" }, this.spec.note)),
      this.legend,
      this.place,
      this.makeTable(),
    );
    this.place.tabIndex = 0;
    this.place.setAttribute("role", "img");
    this.place.setAttribute("aria-label", this.describe());
    this.place.addEventListener("keydown", (event) => this.onKey(event));
    return figure;
  }

  /**
   * @param {SeriesSpec} series
   * @param {number} index
   */
  makeLegendItem(series, index) {
    const value = h("span", { class: "legend-value" });
    const item = h(
      "button",
      { type: "button", class: "legend-item", "aria-pressed": String(this.shown[index]), title: "Show or hide" },
      h("span", { class: `swatch ${series.dash ? "dashed" : ""}`, style: `--colour: var(--${series.colour})`, "aria-hidden": "true" }),
      h("span", { class: "legend-name" }, series.name),
      value,
    );
    item.addEventListener("click", () => {
      this.shown[index] = !this.shown[index];
      item.setAttribute("aria-pressed", String(this.shown[index]));
      this.plot?.setSeries(this.order.indexOf(index) + 1, { show: this.shown[index] });
    });
    this.legend.append(item);
    return value;
  }

  describe() {
    const parts = this.spec.series.map((series, index) => {
      const stats = this.stats(index);
      return stats ? `${series.name}: ${this.unit.tell(stats.mean)} on average, ${this.unit.tell(stats.max)} at most` : series.name;
    });
    return `${this.spec.title}. ${parts.join("; ")}. Arrow keys move the cursor, plus and minus zoom, Escape shows all.`;
  }

  // The same in words, for those who do not see it: figures and a few moments.
  makeTable() {
    const MOMENTS = 12;
    const points = this.group.xs.length;
    const step = Math.max(1, Math.floor(points / MOMENTS));
    const rows = [];
    for (let i = step - 1; i < points; i += step) {
      rows.push(h("tr", null, h("th", { scope: "row" }, `+${elapsed(this.group.xs[i], 1)}`), this.values.map((values) => h("td", null, this.unit.tell(values[i])))));
    }
    const table = h(
      "table",
      null,
      h("caption", null, this.spec.title),
      h("thead", null, h("tr", null, h("th", { scope: "col" }, "Time"), this.spec.series.map((series) => h("th", { scope: "col" }, series.name)))),
      h("tbody", null, this.figureRow("average", "mean"), this.figureRow(this.spec.most, "max"), rows),
    );
    return h("div", { class: "for-readers" }, table); // a table of its own would take its full width
  }

  /**
   * @param {string} name
   * @param {"mean" | "max"} key
   */
  figureRow(name, key) {
    return h(
      "tr",
      null,
      h("th", { scope: "row" }, name),
      this.spec.series.map((_, index) => {
        const stats = this.stats(index);
        return h("td", null, stats ? this.unit.tell(stats[key]) : "–");
      }),
    );
  }

  // ---- the plot

  // After the figure is in the page, so that its width is known.
  draw() {
    this.plot?.destroy();
    this.plot = new uPlot(this.options(), [this.group.xs, ...this.order.map((index) => this.values[index])], this.place);
    this.tell(null);
  }

  resize() {
    const width = this.width();
    if (this.plot && width !== this.plot.width) this.plot.setSize({ width, height: HEIGHT });
  }

  width() {
    return Math.max(240, Math.floor(this.place.clientWidth));
  }

  /** @param {TimeRange} range */
  show(range) {
    this.plot?.setScale("x", range);
  }

  /** @returns {Options} */
  options() {
    const ink = style("--ink-2");
    const font = `11px ${style("--font")}`;
    return {
      width: this.width(),
      height: HEIGHT,
      padding: [10, 22, 0, 0],
      legend: { show: false },
      focus: { alpha: 1 },
      cursor: {
        sync: { key: this.group.sync.key },
        drag: { x: true, y: false, setScale: false },
        points: { size: 7, width: 2 },
        bind: {
          dblclick: () => () => {
            this.group.reset();
            return null;
          },
        },
      },
      scales: {
        x: { time: false, range: () => [this.group.range.min, this.group.range.max] },
        y: { range: (_plot, _min, max) => this.rangeOf(max) },
      },
      axes: [this.timeAxis(ink, font), this.valueAxis(ink, font)],
      series: [{}, ...this.order.map((index) => this.seriesOptions(this.spec.series[index], index))],
      hooks: {
        setSelect: [(plot) => this.onSelect(plot)],
        setCursor: [(plot) => this.tell(plot.cursor.idx)],
        drawClear: [(plot) => this.drawBehind(plot)],
        draw: [(plot) => this.drawLines(plot)],
      },
    };
  }

  /**
   * @param {SeriesSpec} series
   * @param {number} index
   * @returns {Series}
   */
  seriesOptions(series, index) {
    const colour = style(`--${series.colour}`);
    const dense = this.group.xs.length > 3000;
    return {
      label: series.name,
      show: this.shown[index],
      stroke: colour,
      width: series.bare ? 0 : dense ? 1 : 1.75,
      dash: series.dash ? [5, 4] : undefined,
      fill: series.fill ? colour + (series.fill === true ? "22" : series.fill) : undefined,
      paths: series.step ? uPlot.paths.stepped?.({ align: -1 }) : undefined,
      points: { show: this.group.xs.length < 40, size: 4, fill: colour },
      spanGaps: false,
    };
  }

  /**
   * @param {string} ink
   * @param {string} font
   * @returns {Axis}
   */
  timeAxis(ink, font) {
    const group = this.group;
    return {
      stroke: ink,
      font,
      grid: { stroke: style("--line"), width: 1 },
      ticks: { show: false },
      size: 26,
      gap: 6,
      space: 72,
      incrs: TIME_STEPS,
      splits: (_plot, _axis, min, max, step) => timeMarks(min, max, step, group.relative ? 0 : group.run.start),
      values: (_plot, marks, _axis, _space, step) =>
        marks.map((v) => (group.relative ? elapsed(v, step) : clock(group.run.start + v, step))),
    };
  }

  /**
   * @param {string} ink
   * @param {string} font
   * @returns {Axis}
   */
  valueAxis(ink, font) {
    const unit = this.unit;
    return {
      stroke: ink,
      font,
      grid: { stroke: style("--line"), width: 1 },
      ticks: { show: false },
      gap: 8,
      size: (_, values) => (values?.length ? 18 + 6.4 * Math.max(...values.map((v) => v.length)) : 48),
      space: 36,
      incrs: unit.binary ? (_plot, _axis, _min, max) => binarySteps(max) : unit.whole ? [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 10000] : undefined,
      values: axisWords(unit),
    };
  }

  /**
   * @param {number | null} max
   * @returns {[number, number]}
   */
  rangeOf(max) {
    let top = known(max) && max > 0 ? max : 0;
    for (const line of this.spec.lines) if (line.at <= top * LINE_REACH || top === 0) top = Math.max(top, line.at);
    if (this.spec.band && this.spec.band.high <= top * LINE_REACH) top = Math.max(top, this.spec.band.high);
    if (this.unit === UNITS.share) top = Math.min(1, Math.max(top, 0.02));
    return [0, top > 0 ? top * 1.08 : 1];
  }

  /**
   * Phases of the job behind everything, then how sure the peak is.
   * @param {uPlot} plot
   */
  drawBehind(plot) {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    this.group.run.phases.forEach((phase, index) => {
      const from = plot.valToPos(phase.from, "x", true);
      const to = plot.valToPos(phase.to, "x", true);
      ctx.fillStyle = style(index % 2 ? "--phase-b" : "--phase-a");
      ctx.fillRect(from, bbox.top, to - from, bbox.height);
      if (this.spec.names) this.namePhase(plot, phase, from, to);
    });
    const band = this.spec.band;
    if (band) {
      const high = plot.valToPos(Math.min(band.high, plot.scales.y.max ?? Infinity), "y", true);
      ctx.fillStyle = style(`--${band.colour}`) + "26";
      ctx.fillRect(bbox.left, high, bbox.width, plot.valToPos(band.low, "y", true) - high);
    }
    ctx.restore();
  }

  /**
   * @param {uPlot} plot
   * @param {Phase} phase
   * @param {number} from in pixels
   * @param {number} to in pixels
   */
  namePhase({ ctx, bbox }, phase, from, to) {
    const left = Math.max(from, bbox.left) + 5 * devicePixelRatio;
    ctx.font = `${10.5 * devicePixelRatio}px ${style("--font")}`;
    ctx.fillStyle = style("--ink-3");
    ctx.textAlign = "left";
    const name = visible(phase.name);
    if (ctx.measureText(name).width < to - left) ctx.fillText(name, left, bbox.top + bbox.height - 6 * devicePixelRatio);
  }

  /** @param {uPlot} plot */
  drawLines(plot) {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.font = `${11 * ratio}px ${style("--font")}`;
    ctx.textAlign = "right";
    for (const line of this.spec.lines) {
      const colour = style(`--${line.colour}`);
      const above = line.at > (plot.scales.y.max ?? Infinity);
      const y = above ? bbox.top : plot.valToPos(line.at, "y", true);
      ctx.strokeStyle = ctx.fillStyle = colour;
      ctx.lineWidth = ratio;
      ctx.setLineDash([4 * ratio, 4 * ratio]);
      if (!above) {
        ctx.beginPath();
        ctx.moveTo(bbox.left, y);
        ctx.lineTo(bbox.left + bbox.width, y);
        ctx.stroke();
      }
      const below = above || y - bbox.top < 14 * ratio;
      const words = above ? `↑ ${line.text}` : line.text;
      const base = y + (below ? 13 : -5) * ratio;
      const width = ctx.measureText(words).width;
      ctx.globalAlpha = 0.75;
      ctx.fillStyle = style("--card");
      ctx.fillRect(bbox.left + bbox.width - width - 7 * ratio, base - 10 * ratio, width + 6 * ratio, 13 * ratio);
      ctx.globalAlpha = 1;
      ctx.fillStyle = colour;
      ctx.fillText(words, bbox.left + bbox.width - 4 * ratio, base);
    }
    ctx.restore();
  }

  // ---- what the reader does

  /** @param {uPlot} plot */
  onSelect(plot) {
    if (plot.select.width < 4) return;
    const min = plot.posToVal(plot.select.left, "x");
    const max = plot.posToVal(plot.select.left + plot.select.width, "x");
    plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.group.zoom(min, max);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (!this.plot) return;
    const { min, max } = this.group.range;
    const width = max - min;
    const left = this.plot.cursor.left ?? -1;
    const at = left >= 0 ? this.plot.posToVal(left, "x") : (min + max) / 2;
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowLeft: () => this.moveCursor(-1),
      ArrowRight: () => this.moveCursor(1),
      "+": () => this.group.zoom(at - width / 4, at + width / 4),
      "=": () => this.group.zoom(at - width / 4, at + width / 4),
      "-": () => this.group.zoom(at - width, at + width),
      Escape: () => this.group.reset(),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }

  /** @param {number} step */
  moveCursor(step) {
    if (!this.plot) return;
    const xs = this.group.xs;
    const from = this.plot.cursor.idx ?? Math.floor(xs.length / 2);
    const index = Math.min(xs.length - 1, Math.max(0, from + step));
    this.plot.setCursor({ left: this.plot.valToPos(xs[index], "x"), top: 10 });
  }

  /** @param {number | null | undefined} index */
  tell(index) {
    this.when.textContent = known(index) ? this.group.tellTime(this.group.xs[index]) : "";
    this.tellers.forEach((teller, i) => {
      const stats = this.stats(i);
      if (known(index)) teller.textContent = this.unit.tell(this.values[i][index]);
      else teller.textContent = stats ? `avg ${this.unit.tell(stats.mean)} · ${this.spec.most} ${this.unit.tell(stats.max)}` : "";
    });
  }
}

/**
 * Marks on round times: of the clock where `offset` is the start, else of the run.
 * @param {number} min
 * @param {number} max
 * @param {number} step
 * @param {number} offset
 */
function timeMarks(min, max, step, offset) {
  const zone = offset ? -new Date(offset * 1000).getTimezoneOffset() * 60 : 0;
  const base = offset + zone;
  const marks = [];
  for (let i = Math.ceil((min + base) / step - 1e-9); i * step - base <= max + 1e-9; i++) marks.push(+(i * step - base).toFixed(6));
  return marks;
}
