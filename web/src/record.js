// The run as the library wrote it into the page, with its columns decoded.
import { known, positive } from "./format.js";

/** @import { Advice, Column, ComparisonData, PageData, Phase, Point, Rent, Run, RunEvent } from "./run_model.js" */

const ABSENT = 0xffff;
const MANTISSA_BITS = 11;
const MANTISSA = 1 << MANTISSA_BITS;

/** @param {string} base64 */
function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new DataView(bytes.buffer);
}

/**
 * See chart_series.h: an unsigned float of 16 bits in the column's unit.
 * @param {string} base64
 * @param {number} unit
 * @returns {(number | null)[]}
 */
function decode(base64, unit) {
  const view = bytesOf(base64);
  const values = new Array(view.byteLength >> 1);
  for (let i = 0; i < values.length; i++) {
    const code = view.getUint16(2 * i, true);
    const exponent = code >> MANTISSA_BITS;
    const mantissa = code & (MANTISSA - 1);
    values[i] = code === ABSENT ? null : (exponent ? (MANTISSA + mantissa) * 2 ** (exponent - 1) : mantissa) * unit;
  }
  return values;
}

/**
 * @param {string} base64
 * @returns {number[]}
 */
export function decodeFloats(base64) {
  const view = bytesOf(base64);
  const values = new Array(view.byteLength >> 2);
  for (let i = 0; i < values.length; i++) values[i] = view.getFloat32(4 * i, true);
  return values;
}

/**
 * @param {Column} column
 * @param {number} points
 * @returns {(number | null)[]}
 */
export function decodeColumn(column, points) {
  return column.data === undefined ? new Array(points).fill(column.value) : decode(column.data, column.unit);
}

/**
 * Of a run that is too short to size a job by, what it cost is known; what to rent is not.
 * @param {Advice | undefined} advice
 * @returns {Rent | undefined}
 */
function readRent(advice) {
  const rent = advice?.rent;
  if (!rent || Object.keys(advice?.levels ?? {}).length > 0) return rent;
  return { ...rent, servers: [], by_vendor: [], finish: [] };
}

/** @param {RunEvent} event */
const eventTime = (event) => event.time ?? event.timestamp ?? event.at ?? NaN;

/**
 * What was started and stopped by name, and what has no length.
 * @param {RunEvent[]} events
 * @param {number} start
 * @param {number} end of the run, in seconds since its start
 * @returns {{ phases: Phase[], points: Point[] }}
 */
function readPhases(events, start, end) {
  /** @type {Map<string, number>} */
  const open = new Map();
  /** @type {Phase[]} */
  const phases = [];
  /** @type {Point[]} */
  const points = [];
  for (const event of [...events].sort((a, b) => eventTime(a) - eventTime(b))) {
    const at = eventTime(event) - start;
    const kind = event.kind ?? event.type ?? event.event;
    const from = open.get(event.name);
    if (kind === "start") open.set(event.name, at);
    else if (kind === "stop" && from !== undefined) {
      phases.push({ name: event.name, from, to: at });
      open.delete(event.name);
    } else points.push({ name: event.name, at });
  }
  for (const [name, from] of open) phases.push({ name, from, to: end, open: true });
  return { phases: phases.sort((a, b) => a.from - b.from), points };
}

/** @returns {PageData | { comparison: ComparisonData }} */
export function readData() {
  return JSON.parse(document.getElementById("run-data")?.textContent ?? "");
}

/**
 * @param {PageData} data
 * @returns {Run}
 */
export function readRecord(data) {
  const { charts, metadata } = data;
  const { columns } = charts;
  const times = decodeFloats(charts.times);
  /** @type {Record<string, (number | null)[]>} */
  const decoded = {};
  const last = times.length ? times[times.length - 1] : null;
  const wall = metadata?.wall_seconds ?? last;
  // On the charts: a tracker within a program runs for a moment before the grid of its samples begins.
  const stop = known(metadata?.stop_time) && known(metadata.start_time) ? metadata.stop_time - metadata.start_time : 0;
  const end = known(metadata?.wall_seconds) && metadata.wall_seconds > stop ? Math.max(stop, last ?? 0) : wall;
  return {
    ...data,
    times,
    start: charts.start_time,
    interval: charts.interval,
    wall,
    end,
    rent: data.rent ?? readRent(data.advice),
    has: (name) => name in columns,
    stats: (name) => columns[name]?.stats ?? null,
    column: (name) => (decoded[name] ??= decodeColumn(columns[name], times.length)),
    isUsed: (name) => positive(columns[name]?.stats.max),
    ...readPhases(data.events ?? [], charts.start_time, end ?? last ?? 0),
  };
}
