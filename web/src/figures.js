// Tables of figures: the server, the cloud, statistics beside history, earlier runs, GPUs, how it was measured.
import { foreign, h, visible } from "./dom.js";
import { bytes, count, dateTime, duration, known, number, percent, positive } from "./format.js";
import { exitWords } from "./outcome.js";

/** @import { Child } from "./dom.js" */
/** @import { EarlierRun, Figure, Phase, Run, Text, Total } from "./run_model.js" */

/**
 * @param {object} content
 * @param {string} content.caption
 * @param {string[]} content.head
 * @param {Child[][]} content.rows
 */
function table({ caption, head, rows }) {
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { class: "figures" },
      h("caption", { class: "for-readers" }, caption),
      h("thead", null, h("tr", null, head.map((cell) => h("th", { scope: "col" }, cell)))),
      h("tbody", null, rows.map(([first, ...rest]) => h("tr", null, h("th", { scope: "row" }, first), rest.map((cell) => h("td", null, cell))))),
    ),
  );
}

/** @param {[string, Child][]} items */
function pairs(items) {
  return h("dl", { class: "pairs" }, items.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))));
}

/**
 * @param {string} id
 * @param {string} title
 * @param {Child[]} body
 */
function card(id, title, ...body) {
  return h("section", { class: "card", id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), body);
}

// ---- where it ran

/** @param {Run} run */
export function serverCard(run) {
  const server = run.server_info ?? {};
  const limits = run.limits ?? {};
  const memory = (server.memory_mb ?? server.memory_mib ?? NaN) * 1048576;
  const gpus = server.gpu_count ?? 0;
  const container = typeof server.container === "string" ? server.container : server.container?.runtime ?? JSON.stringify(server.container);
  /** @type {([string, Child] | false | "" | null | undefined)[]} */
  const items = [
    run.metadata?.host && ["Host", foreign(run.metadata.host)],
    server.os && ["System", foreign(server.os)],
    server.cpu_model && ["CPU", foreign(server.cpu_model)],
    known(server.vcpus) && ["Cores", known(server.vcpus_allowed) && server.vcpus_allowed !== server.vcpus ? `${server.vcpus}, ${server.vcpus_allowed} for this job` : count(server.vcpus)],
    known(limits.cpu_cores) && ["CPU quota", `${number(limits.cpu_cores)} cores`],
    positive(limits.throttled_seconds) && ["Throttled for", duration(limits.throttled_seconds)],
    known(memory) && ["Memory", bytes(memory)],
    known(limits.memory_bytes) && ["Memory limit", bytes(limits.memory_bytes)],
    gpus > 0 && ["GPUs", [`${gpus} × `, foreign(server.gpu_name || "GPU")]],
    gpus > 0 && positive(server.gpu_memory_mb) && ["VRAM", bytes(server.gpu_memory_mb * 1048576)],
    server.allocation && ["Allocation", foreign(server.allocation)],
    server.container && ["Container", foreign(container)],
  ];
  const shown = items.filter((item) => !!item);
  return shown.length ? card("server", "Server", pairs(shown)) : null;
}

/** @param {Run} run */
export function cloudCard(run) {
  const cloud = run.cloud_info;
  if (!cloud || !cloud.vendor || cloud.vendor === "unknown") return null;
  /** @type {[string, Text][]} */
  const facts = [["Vendor", cloud.vendor], ["Instance type", cloud.instance_type], ["Region", cloud.region], ["Zone", cloud.zone]];
  const shown = facts.filter(([, value]) => value && value !== "unknown");
  return card("cloud", "Cloud", pairs(shown.map(([name, value]) => [name, foreign(value)])));
}

// ---- statistics

/** @param {number[]} values */
const mean = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : NaN);
/** @param {number[]} values */
const largest = (values) => (values.length ? Math.max(...values) : NaN);

/** @typedef {(old: EarlierRun) => [Figure, Figure]} FromEarlier average and peak of a figure in an earlier run */

/**
 * What earlier runs say of a figure: [average, peak]. From statistics that were handed in, else from the kept runs.
 * @param {Run} run
 * @param {string} key
 * @param {number} scale
 * @param {FromEarlier} kept
 */
function earlier(run, key, scale, kept) {
  const stats = run.historical_stats ?? [];
  if (stats.length) {
    /** @param {string} name */
    const pick = (name) => stats.map((one) => one?.[key]?.[name]).filter(known);
    return [mean(pick("mean")) * scale, largest(pick("max")) * scale];
  }
  const picked = (run.history ?? []).map(kept);
  return [mean(picked.map(([average]) => average).filter(known)), largest(picked.map(([, peak]) => peak).filter(known))];
}

/** @param {Run} run */
export function statisticsCard(run) {
  const KIB = 1024;
  const MIB = 1048576;
  /** @type {FromEarlier} */
  const nothing = () => [NaN, NaN];
  /** @param {Figure} value */
  const cores = (value) => (known(value) ? `${number(value)} cores` : "–");
  /** @param {Figure} value */
  const devices = (value) => (known(value) ? `${number(value)} GPUs` : "–");
  const peak = run.totals?.peak_memory_bytes?.value;
  /** @type {[name: string, column: string, words: (value: Figure) => string, key: string, scale: number, kept: FromEarlier, exact?: Figure][]} */
  const specs = [
    ["CPU usage", "process_cpu", cores, "process_cpu_usage", 1, (old) => [(old.cpu_seconds ?? NaN) / (old.wall_seconds ?? NaN), NaN]],
    ["Memory", "process_memory", bytes, "process_memory", KIB, (old) => [NaN, old.peak_memory_bytes], peak],
    ["GPU usage", "process_gpu", devices, "process_gpu_usage", 1, nothing],
    ["GPUs in use", "process_gpus_used", devices, "process_gpu_utilized", 1, nothing],
    ["VRAM", "process_vram", bytes, "process_gpu_vram", MIB, nothing],
    ["CPU of the machine", "system_cpu", cores, "system_cpu_usage", 1, nothing],
    ["Memory of the machine", "system_memory", bytes, "system_memory_used", KIB, nothing],
    ["Disk space used", "space_used", bytes, "system_disk_space_used_gb", 1024 * MIB, nothing],
  ];
  const runs = run.historical_stats?.length || run.history?.length || 0;
  const rows = specs
    .filter(([, column]) => run.has(column) && (!/gpu|vram/.test(column) || run.isUsed(column)))
    .map(([name, column, words, key, scale, kept, exact]) => {
      const stats = run.stats(column);
      const history = runs ? earlier(run, key, scale, kept) : [];
      return [name, words(stats?.mean), words(exact ?? stats?.max), ...history.map(words)];
    });
  /** @type {[name: string, column: string, exact?: Figure][]} */
  const flows = [
    ["Disk read", "process_read", run.totals?.read_bytes?.value], ["Disk written", "process_write", run.totals?.write_bytes?.value],
    ["Network received (machine)", "net_recv"], ["Network sent (machine)", "net_sent"],
  ];
  for (const [name, column, exact] of flows) {
    const stats = run.stats(column);
    if (!stats) continue;
    rows.push([name, `${bytes(stats.mean)}/s`, `${bytes(stats.max)}/s`, ...(runs ? ["–", "–"] : []), bytes(exact ?? stats.total)]);
  }
  if (!rows.length) return null;
  const head = ["", "Average", "Peak", ...(runs ? [`Average of ${runs} earlier`, "Peak of earlier"] : []), "In all"];
  const filled = rows.map((row) => (row.length < head.length ? [...row, "–"] : row));
  return card("statistics", "Usage statistics", table({ caption: "Usage statistics", head, rows: filled }));
}

/** @param {Run} run */
export function historyCard(run) {
  if (!run.history?.length) return null;
  const rows = run.history.map((old) => [
    dateTime(old.start_time), duration(old.wall_seconds), duration(old.cpu_seconds), bytes(old.peak_memory_bytes),
    old.interrupted ? "interrupted" : exitWords(old) || "ended",
  ]);
  return card("history", "Earlier runs of this command", table({ caption: "Earlier runs", head: ["Started", "Time", "CPU time", "Memory peak", "Outcome"], rows }));
}

// ---- GPUs

/** @param {Run} run */
export function gpuCard(run) {
  const gpus = (run.gpus ?? []).filter((gpu) => !gpu.is_split);
  if (!gpus.length) return null;
  const rows = gpus.map((gpu, index) => [
    `${index}`, foreign(gpu.name || gpu.uuid || "GPU"), percent(gpu.utilization_mean_ratio), percent(gpu.utilization_max_ratio), percent(gpu.busy_share_ratio),
    bytes(gpu.job_memory_peak_bytes ?? gpu.memory_peak_bytes), bytes(gpu.memory_bytes),
  ]);
  return card("gpus", "GPUs", table({ caption: "GPUs", head: ["GPU", "Name", "Average", "Peak", "Busy for", "VRAM peak", "VRAM"], rows }));
}

// ---- phases and events

/**
 * @param {Run} run
 * @param {string} column
 * @param {Phase} phase
 */
function within(run, column, phase) {
  if (!run.has(column)) return { mean: NaN, max: NaN };
  const values = run.column(column).filter((_, i) => run.times[i] > phase.from && run.times[i] <= phase.to + run.interval).filter(known);
  return { mean: mean(values), max: largest(values) };
}

/** @param {Run} run */
export function phasesCard(run) {
  if (!run.phases.length && !run.points.length) return null;
  /** @type {Child[][]} */
  const rows = run.phases.map((phase) => [
    foreign(phase.name), `+${duration(phase.from)}`, phase.open ? "until the end" : duration(phase.to - phase.from),
    `${number(within(run, "process_cpu", phase).mean)} cores`, bytes(within(run, "process_memory", phase).max),
  ]);
  for (const point of run.points) rows.push([foreign(point.name), `+${duration(point.at)}`, "–", "–", "–"]);
  return card("phases", "Phases and events", table({ caption: "Phases and events", head: ["Name", "From", "For", "CPU", "Largest memory sample"], rows }));
}

// ---- how it was measured

/** @type {Record<string, string>} */
const SOURCES = {
  wait4: "the kernel's account of ended children", events: "process events", taskstats: "taskstats exit records", cgroup: "the job's cgroup", perf: "perf",
  hwm: "high-water marks", ptrace: "exit stops", sampled: "samples",
};

/** @param {Text} source */
const sourceWords = (source) => String(source).split("+").map((name) => SOURCES[name] ?? visible(name)).join(", ");

/** @param {Run} run */
export function measuredCard(run) {
  const totals = run.totals ?? {};
  /** @type {[name: string, total: Total | undefined, words: (value: Figure) => string][]} */
  const all = [
    ["CPU time", totals.cpu_seconds, duration],
    ["Memory peak", totals.peak_memory_bytes, bytes],
    ["Read", totals.read_bytes, bytes],
    ["Written", totals.write_bytes, bytes],
    ["Processes", totals.processes, count],
    ["Kills for want of memory", totals.oom_kills, count],
  ];
  const rows = all.filter(([, total]) => known(total?.value));
  const notes = [];
  const bucket = run.charts.bucket_rows;
  if (bucket > 1) {
    notes.push(`The charts show ${count(run.charts.rows)} rows as ${count(run.times.length / 2)} spans of ${count(bucket)} rows, each by its smallest and its largest value: no extreme is left out. Averages and totals are of all rows.`);
  }
  if (run.downsampled) {
    notes.push(`The record itself was shortened from ${count(run.downsampled.process_rows || run.downsampled.system_rows)} rows: ${visible(run.downsampled.rule ?? "")}.`);
  }
  const peak = totals.peak_memory_bytes;
  if (known(peak?.low) && known(peak?.high)) notes.push(`The memory peak is between ${bytes(peak.low)} and ${bytes(peak.high)}.`);
  if (known(totals.cpu_seconds?.coverage)) notes.push(`The samples saw ${percent(totals.cpu_seconds.coverage)} of the CPU time.`);
  if (!rows.length && !notes.length) return null;
  return card(
    "measured",
    "How it was measured",
    rows.length > 0 && table({ caption: "Totals and their sources", head: ["Total", "Value", "From"], rows: rows.map(([name, total, words]) => [name, words(total?.value), sourceWords(total?.source)]) }),
    notes.map((note) => h("p", { class: "muted note" }, note)),
  );
}
