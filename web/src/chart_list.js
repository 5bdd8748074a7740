// Which charts there are: each is made where the run has something to show in it.
import { Chart } from "./charts.js";
import { bytes, known, number, positive } from "./format.js";
import { coresAvailable } from "./overview.js";

/** @import { ChartGroup, ChartLine, ChartSpec, SeriesSpec } from "./charts.js" */
/** @import { PeakTotal, Run } from "./run_model.js" */
/** @typedef {SeriesSpec & { column: string }} ColumnSpec */

// A series that would squeeze the job's own to a line at the bottom is there, but off until asked for.
const OVERSHADOWS = 5;

/**
 * @param {Run} run
 * @param {string} column
 * @param {string} main
 */
function overshadows(run, column, main) {
  const [largest, own] = [run.stats(column)?.max, run.stats(main)?.max];
  return positive(own) && known(largest) && largest > OVERSHADOWS * own;
}

/**
 * @param {Run} run
 * @param {ColumnSpec[]} items
 */
const series = (run, items) => items.filter(({ column }) => run.has(column));

/**
 * Of what never moved there is nothing to see.
 * @param {Run} run
 * @param {ColumnSpec[]} items
 */
const moved = (run, items) => (items.some(({ column }) => run.isUsed(column)) ? series(run, items) : []);

/**
 * @param {Run} run
 * @returns {ChartSpec}
 */
function cpuChart(run) {
  const cores = coresAvailable(run);
  const quota = run.limits?.cpu_cores;
  const machine = run.server_info?.vcpus;
  /** @type {ChartLine[]} */
  const lines = [];
  if (known(machine)) lines.push({ at: machine, text: `${machine} ${machine === 1 ? "core" : "cores"} available`, colour: "ink-3" });
  if (known(quota) && quota !== machine) lines.push({ at: quota, text: `CPU quota ${number(quota)}`, colour: "amber" });
  else if (known(cores) && known(machine) && cores < machine) lines.push({ at: cores, text: `${number(cores)} cores for this job`, colour: "amber" });
  return {
    id: "chart-cpu",
    title: "CPU usage",
    unit: "cores",
    names: true,
    lines,
    series: series(run, [
      { name: "Process CPU usage", column: "process_cpu", colour: "blue", fill: true },
      { name: "System CPU usage", column: "system_cpu", colour: "grey", behind: true, hidden: overshadows(run, "system_cpu", "process_cpu") },
    ]),
  };
}

/**
 * The part that was read exactly is drawn fuller than the part that is estimated.
 * @param {Run} run
 * @returns {ChartSpec}
 */
function memoryChart(run) {
  const limit = run.limits?.memory_bytes;
  /** @type {PeakTotal} */
  const peak = run.totals?.peak_memory_bytes ?? {};
  const machine = (run.server_info?.memory_mb ?? run.server_info?.memory_mib ?? NaN) * 1048576;
  /** @type {ChartLine[]} */
  const lines = [];
  if (known(limit)) lines.push({ at: limit, text: `limit ${bytes(limit)}`, colour: "red" });
  else if (known(machine)) lines.push({ at: machine, text: `${bytes(machine)} in the machine`, colour: "ink-3" });
  const atLimit = known(limit) && known(peak.value) && Math.abs(peak.value - limit) < 0.05 * limit;
  if (known(peak.value) && run.has("process_memory") && !atLimit) lines.push({ at: peak.value, text: `peak ${bytes(peak.value)}`, colour: "teal" });
  /** @type {ChartSpec} */
  const spec = {
    id: "chart-memory",
    title: "Memory",
    unit: "bytes",
    most: known(peak.value) ? "largest sample" : "peak", // the exact peak may lie between two samples, and has a line
    lines,
    band: known(peak.low) && known(peak.high) && known(peak.value) && peak.high <= 2 * peak.value ? { low: peak.low, high: peak.high, colour: "teal" } : null,
    series: series(run, [
      { name: "Process memory usage", column: "process_memory", colour: "teal", fill: run.isUsed("memory_estimated") ? "18" : true },
      { name: "System used memory", column: "system_memory", colour: "grey", behind: true, hidden: overshadows(run, "system_memory", "process_memory") },
    ]),
  };
  if (run.isUsed("memory_estimated")) {
    const estimated = run.column("memory_estimated");
    const values = run.column("process_memory").map((value, i) => (value === null ? null : Math.max(0, value - (estimated[i] ?? 0))));
    spec.series.push({ name: "of which read, not estimated", values, colour: "teal", bare: true, dash: true, fill: "30" });
  }
  return spec;
}

/**
 * @param {Run} run
 * @returns {ChartSpec}
 */
function diskChart(run) {
  return {
    id: "chart-disk",
    title: "Disk I/O",
    unit: "rate",
    series: moved(run, [
      { name: "Process disk read", column: "process_read", colour: "blue", fill: true },
      { name: "Process disk write", column: "process_write", colour: "amber", fill: true },
      { name: "System disk read", column: "disk_read", colour: "grey", behind: true, hidden: overshadows(run, "disk_read", "process_read") || !run.isUsed("disk_read") },
      { name: "System disk write", column: "disk_write", colour: "brown", behind: true, hidden: overshadows(run, "disk_write", "process_write") || !run.isUsed("disk_write") },
    ]),
  };
}

/**
 * @param {Run} run
 * @returns {ChartSpec}
 */
function spaceChart(run) {
  const free = run.stats("space_free")?.last;
  const used = run.stats("space_used")?.last;
  return {
    id: "chart-space",
    title: "Disk space",
    note: "whole machine",
    unit: "bytes",
    lines: known(free) && known(used) ? [{ at: used + free, text: `${bytes(used + free)} in all`, colour: "ink-3" }] : [],
    series: series(run, [{ name: "Disk space used", column: "space_used", colour: "brown", fill: true }]),
  };
}

/**
 * @param {Run} run
 * @returns {ChartSpec}
 */
function networkChart(run) {
  return {
    id: "chart-network",
    title: "Network",
    note: "whole machine",
    unit: "rate",
    series: moved(run, [
      { name: "Inbound network traffic", column: "net_recv", colour: "blue", fill: true },
      { name: "Outbound network traffic", column: "net_sent", colour: "amber", fill: true },
    ]),
  };
}

/** @param {Run} run */
const hasGpu = (run) => positive(run.server_info?.gpu_count) || run.isUsed("process_gpu") || run.isUsed("system_gpu");

/**
 * @param {Run} run
 * @returns {ChartSpec[]}
 */
function gpuCharts(run) {
  if (!hasGpu(run)) return [];
  const total = run.server_info?.gpu_count;
  const vram = (run.server_info?.gpu_memory_mb ?? NaN) * 1048576;
  /** @type {ChartLine[]} */
  const lines = positive(total) ? [{ at: total, text: `${total} ${total === 1 ? "GPU" : "GPUs"}`, colour: "ink-3" }] : [];
  return [
    {
      id: "chart-gpu", title: "GPU usage", unit: "gpus", lines,
      series: series(run, [
        { name: "Process GPU usage", column: "process_gpu", colour: "violet", fill: true },
        { name: "System GPU usage", column: "system_gpu", colour: "grey", behind: true },
      ]),
    },
    {
      id: "chart-vram", title: "VRAM", unit: "bytes", lines: vram > 0 ? [{ at: vram, text: `${bytes(vram)} in all`, colour: "ink-3" }] : [],
      series: series(run, [
        { name: "Process VRAM used", column: "process_vram", colour: "violet", fill: true },
        { name: "System VRAM used", column: "system_vram", colour: "grey", behind: true },
      ]),
    },
    {
      id: "chart-gpus-used", title: "GPUs in use", unit: "count", lines,
      series: series(run, [
        { name: "Process GPUs in use", column: "process_gpus_used", colour: "violet", fill: true, step: true },
        { name: "System GPUs in use", column: "system_gpus_used", colour: "grey", behind: true, step: true },
      ]),
    },
  ];
}

const DEVICE_COLOURS = ["violet", "blue", "teal", "amber", "red", "brown", "green", "grey"];

/**
 * Each GPU by itself, where the record has it.
 * @param {Run} run
 * @returns {ChartSpec[]}
 */
function deviceCharts(run) {
  const devices = [...Array(16).keys()].filter((gpu) => run.has(`gpu${gpu}_utilization`) || run.has(`gpu${gpu}_memory`));
  if (devices.length < 2) return [];
  const lines = (/** @type {string} */ kind) => series(run, devices.map((gpu) => ({ name: `GPU ${gpu}`, column: `gpu${gpu}_${kind}`, colour: DEVICE_COLOURS[gpu % DEVICE_COLOURS.length] })));
  return [
    { id: "chart-gpu-devices", title: "Each GPU", note: "how busy it was", unit: "share", series: lines("utilization") },
    { id: "chart-vram-devices", title: "VRAM of each GPU", unit: "bytes", series: lines("memory") },
  ];
}

/**
 * @param {Run} run
 * @returns {ChartSpec}
 */
function pressureChart(run) {
  return {
    id: "chart-pressure",
    title: "Pressure",
    note: "share of the time that some task waited",
    unit: "share",
    series: moved(run, [
      { name: "for a core", column: "pressure_cpu", colour: "blue" },
      { name: "for memory", column: "pressure_memory", colour: "red" },
      { name: "for disk", column: "pressure_io", colour: "amber" },
      { name: "Throttled by quota", column: "throttled", colour: "violet" },
    ]).filter(({ column }) => column !== "throttled" || run.isUsed("throttled")),
  };
}

/**
 * @param {Run} run
 * @returns {ChartSpec}
 */
function childrenChart(run) {
  return { id: "chart-processes", title: "Processes alive", unit: "count", series: run.isUsed("children") ? [{ name: "Descendants of the job", column: "children", colour: "blue", fill: true, step: true }] : [] };
}

/**
 * @param {Run} run
 * @param {ChartGroup} group
 */
export function makeCharts(run, group) {
  const specs = [cpuChart(run), memoryChart(run), ...gpuCharts(run), ...deviceCharts(run), diskChart(run), networkChart(run), pressureChart(run), spaceChart(run), childrenChart(run)];
  return specs.filter((spec) => spec.series.length > 0).map((spec) => new Chart(group, spec));
}
