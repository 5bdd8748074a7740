// The run as the library wrote it into the page, with its columns decoded.

const ABSENT = 0xffff;
const MANTISSA_BITS = 11;
const MANTISSA = 1 << MANTISSA_BITS;

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new DataView(bytes.buffer);
}

// See chart_series.h: an unsigned float of 16 bits in the column's unit.
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

function decodeFloats(base64) {
  const view = bytesOf(base64);
  const values = new Array(view.byteLength >> 2);
  for (let i = 0; i < values.length; i++) values[i] = view.getFloat32(4 * i, true);
  return values;
}

function decodeColumn(column, points) {
  return column.data === undefined ? new Array(points).fill(column.value) : decode(column.data, column.unit);
}

// Of a run that is too short to size a job by, what it cost is known; what to rent is not.
function readRent(advice) {
  const rent = advice?.rent;
  if (!rent || Object.keys(advice.levels ?? {}).length > 0) return rent;
  return { ...rent, servers: [], by_vendor: [], finish: [] };
}

export function readRecord() {
  const run = JSON.parse(document.getElementById("run-data").textContent);
  const charts = run.charts;
  const times = decodeFloats(charts.times);
  const decoded = {};
  run.times = times;
  run.start = charts.start_time;
  run.interval = charts.interval;
  run.has = (name) => name in charts.columns;
  run.stats = (name) => (charts.columns[name] ? charts.columns[name].stats : null);
  run.column = (name) => (decoded[name] ??= decodeColumn(charts.columns[name], times.length));
  run.isUsed = (name) => run.has(name) && run.stats(name).max > 0;
  run.rent ??= readRent(run.advice);
  const last = times.length ? times[times.length - 1] : null;
  run.wall = run.metadata?.wall_seconds ?? last;
  // On the charts: a tracker within a program runs for a moment before the grid of its samples begins.
  const stop = run.metadata?.stop_time - run.metadata?.start_time;
  run.end = run.metadata?.wall_seconds > stop ? Math.max(stop, last ?? 0) : run.wall;
  return run;
}
