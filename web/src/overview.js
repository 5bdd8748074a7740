// The top of the page: what ran, how it ended, the figures that most people came for, and what is worth knowing.
import { foreign, h, visible } from "./dom.js";
import { bytes, count, dateTime, duration, known, money, number, percent, positive, roundBytes } from "./format.js";
import { outcomeOf, wasOutOfMemory } from "./outcome.js";

/** @import { Child } from "./dom.js" */
/** @import { PeakTotal, Run } from "./run_model.js" */

// ---- what ran

/** @param {string} word */
function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** @param {Run} run */
function commandLine(run) {
  const line = (run.command ?? []).map(quoted).join(" ");
  return run.command_is_cut ? `${line} …` : line;
}

const LONG_COMMAND = 220;

/** @param {Run} run */
function commandElement(run) {
  const line = commandLine(run);
  if (!line) return null;
  if (line.length <= LONG_COMMAND) return h("p", { class: "command" }, h("code", null, foreign(line)));
  return h(
    "details",
    { class: "command" },
    h("summary", null, h("code", null, foreign(`${line.slice(0, LONG_COMMAND)}…`)), h("span", { class: "muted" }, ` ${count(line.length)} characters; show all`)),
    h("code", { class: "whole" }, foreign(line)),
  );
}

/** @param {Run} run */
export function titleOf(run) {
  const data = run.metadata ?? {};
  if (data.job_name) return data.job_name;
  const [program, ...rest] = run.command ?? [];
  if (!program) return data.track_processes === false ? "This machine" : known(data.pid) ? `Process ${data.pid}` : "A run";
  const base = program.split("/").pop() ?? "";
  const script = /^(python|perl|ruby|node|Rscript|bash|sh|java)/.test(base) ? rest.find((word) => !word.startsWith("-")) : null;
  const title = script ? `${base} ${script.split("/").pop()}` : base;
  return title.length > 80 ? `${title.slice(0, 80)}…` : title;
}

/**
 * @param {Run} run
 * @param {Child} buttons
 */
export function header(run, buttons) {
  const data = run.metadata ?? {};
  const outcome = outcomeOf(run);
  /** @type {Child[]} */
  const facts = [
    data.host && ["on ", foreign(data.host)],
    known(data.start_time) && ["started ", h("time", { datetime: new Date(data.start_time * 1000).toISOString() }, dateTime(data.start_time))],
    known(run.wall) && `took ${duration(run.wall)}`,
    run.charts.rows && `${count(run.charts.rows)} ${run.charts.rows === 1 ? "sample" : "samples"}${known(data.interval) ? `, one every ${data.interval === 1 ? "second" : duration(data.interval)}` : ""}`,
  ].filter(Boolean);
  return h(
    "header",
    { class: "top" },
    h("div", { class: "top-line" }, h("span", { class: "brand" }, run.integration === "metaflow" ? "resource-tracker in Metaflow" : "resource-tracker"), h("div", { class: "buttons no-print" }, buttons)),
    h(
      "div",
      { class: "title-line" },
      h("h1", null, foreign(titleOf(run))),
      h("span", { class: `pill ${outcome.tone}`, id: "status" }, h("strong", null, outcome.status), outcome.reason && h("span", null, ` ${outcome.reason}`)),
    ),
    commandElement(run),
    h("p", { class: "facts muted" }, facts.map((fact, i) => [i ? " · " : "", fact])),
  );
}

// ---- tiles

/**
 * @param {number} ratio
 * @param {string} tone
 * @param {string} label
 */
function meter(ratio, tone, label) {
  if (!known(ratio)) return null;
  const share = Math.max(0, Math.min(1, ratio));
  return h(
    "div",
    { class: `meter ${tone}`, role: "meter", "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": Math.round(share * 100), "aria-label": label },
    h("span", { style: `width: ${Math.max(share * 100, 1).toFixed(1)}%` }),
  );
}

/**
 * @param {object} content
 * @param {string} content.id
 * @param {string} content.label
 * @param {Child} content.value
 * @param {string} [content.unit]
 * @param {Child} [content.detail]
 * @param {Child} [content.gauge]
 * @param {boolean} [content.accent]
 */
function tile({ id, label, value, unit, detail, gauge, accent }) {
  return h(
    "div",
    { class: `card tile ${accent ? "accent" : ""}`, id },
    h("h2", { class: "tile-label" }, label),
    h("p", { class: "tile-value" }, value, unit && [" ", h("small", null, unit)]),
    gauge,
    detail && h("p", { class: "tile-detail muted" }, detail),
  );
}

/** @param {Run} run */
export function coresAvailable(run) {
  const candidates = [run.server_info?.vcpus, run.server_info?.vcpus_allowed, run.limits?.cpu_cores].filter(known);
  return candidates.length ? Math.min(...candidates) : null;
}

/** @param {Run} run */
const memoryAvailable = (run) => {
  const machine = (run.server_info?.memory_mb ?? run.server_info?.memory_mib ?? NaN) * 1048576;
  const candidates = [machine, run.limits?.memory_bytes].filter(known);
  return candidates.length ? Math.min(...candidates) : null;
};

/** @param {Run} run */
const peakMemory = (run) => run.totals?.peak_memory_bytes?.value ?? run.stats("process_memory")?.max ?? null;

/** @param {Run} run */
function askTile(run) {
  const level = run.advice?.levels?.balanced;
  if (!level) return null;
  return tile({
    id: "tile-ask",
    accent: true,
    label: "Ask for next time",
    value: [roundBytes((level.memory ?? NaN) * 1048576), " ", h("small", null, "memory")],
    detail: [
      h("strong", null, `${count(level.cpu)} ${level.cpu === 1 ? "core" : "cores"}`),
      positive(level.gpu) && [" · ", h("strong", null, `${count(level.gpu)} ${level.gpu === 1 ? "GPU" : "GPUs"}`)],
      known(level.risk) && ` · ${percent(level.risk)} risk that it is too little`,
    ],
  });
}

/** @param {Run} run */
function timeTile(run) {
  if (!known(run.wall)) return null;
  const cpu = run.totals?.cpu_seconds;
  const least = cpu?.coverage === null && positive(cpu.value) && known(cpu.sampled) ? "at least " : ""; // some ended unseen
  return tile({
    id: "tile-time",
    label: "Time",
    value: duration(run.wall),
    detail: known(cpu?.value) ? [`${least}${duration(cpu.value)} of CPU time`, known(cpu.user) && `: ${duration(cpu.user)} user, ${duration(cpu.system)} system`] : null,
  });
}

/** @param {Run} run */
function cpuTile(run) {
  const stats = run.stats("process_cpu") ?? run.stats("system_cpu");
  if (!stats) return null;
  const cores = coresAvailable(run);
  const mean = stats.mean ?? NaN;
  return tile({
    id: "tile-cpu",
    label: run.has("process_cpu") ? "CPU" : "CPU of the machine",
    value: number(mean),
    unit: known(cores) ? `of ${number(cores).replace(/\.00$/, "")} ${cores === 1 ? "core" : "cores"}` : "cores",
    gauge: known(cores) && meter(mean / cores, "blue", "share of the cores in use"),
    detail: [known(cores) && `${percent(mean / cores)} used on average · `, `peak ${number(stats.max)}`],
  });
}

/** @param {Run} run */
function memoryTile(run) {
  const peak = peakMemory(run);
  if (!known(peak)) return null;
  /** @type {PeakTotal} */
  const bracket = run.totals?.peak_memory_bytes ?? {};
  const available = memoryAvailable(run);
  const sure = known(bracket.high) && bracket.high <= 2 * peak && bracket.high > peak * 1.01;
  const limited = known(run.limits?.memory_bytes);
  const mean = run.stats("process_memory")?.mean;
  return tile({
    id: "tile-memory",
    label: "Memory peak",
    value: bytes(peak),
    gauge: known(available) && meter(peak / available, wasOutOfMemory(run) ? "red" : "teal", "share of the memory in use at the peak"),
    detail: [
      known(mean) && `${bytes(mean)} on average`,
      known(available) && ` · ${bytes(available)} ${limited ? "allowed" : "in the machine"}`,
      sure && ` · at most ${bytes(bracket.high)}`,
    ],
  });
}

/** @param {Run} run */
function gpuTile(run) {
  const total = run.server_info?.gpu_count ?? 0;
  if (!run.isUsed("process_gpu") && !run.isUsed("system_gpu") && !(total > 0)) return null;
  const usage = run.stats("process_gpu") ?? run.stats("system_gpu");
  const vram = run.stats("process_vram") ?? run.stats("system_vram");
  return tile({
    id: "tile-gpu",
    label: "GPU",
    value: number(usage?.mean),
    unit: total ? `of ${total} ${total === 1 ? "GPU" : "GPUs"}` : "GPUs",
    gauge: total > 0 && meter((usage?.mean ?? NaN) / total, "violet", "share of the GPUs in use"),
    detail: [`peak ${number(usage?.max)}`, positive(vram?.max) && ` · ${bytes(vram.max)} VRAM at the peak`],
  });
}

/** @param {Run} run */
function diskTile(run) {
  const read = run.totals?.read_bytes?.value ?? run.stats("process_read")?.total;
  const write = run.totals?.write_bytes?.value ?? run.stats("process_write")?.total;
  if (!known(read) && !known(write)) return null;
  return tile({
    id: "tile-disk",
    label: "Disk",
    value: bytes((read ?? 0) + (write ?? 0)),
    detail: `${bytes(read)} read · ${bytes(write)} written`,
  });
}

/**
 * What it cost where it ran; where that is not known, what it would cost on the server that is recommended.
 * @param {Run} run
 */
function costTile(run) {
  const { rent } = run;
  const best = rent?.servers?.[0];
  const paid = rent?.run?.run_costs;
  const there = best?.best_ondemand_price_duration;
  if (!known(paid) && !known(there)) return null;
  const name = best && `${visible(best.vendor_id ?? "")} ${visible(best.server_id ?? best.api_reference ?? "")}`;
  return tile({
    id: "tile-cost",
    label: known(paid) ? "Cost of this run" : "Would cost in a cloud",
    value: money(known(paid) ? paid : there, rent?.currency),
    detail: known(paid) ? [known(there) && `${money(there, rent?.currency)} on ${name}, the cheapest that fits`] : `on ${name}, the cheapest that fits`,
  });
}

/** @param {Run} run */
export function tiles(run) {
  const made = [askTile(run), cpuTile(run), memoryTile(run), gpuTile(run), timeTile(run), costTile(run), diskTile(run)].filter(Boolean);
  return made.length ? h("section", { class: "tiles", "aria-label": "At a glance" }, made) : null;
}

// ---- findings

const MARKS = { fault: ["!", "needs attention"], waste: ["↓", "could be less"], hint: ["i", "good to know"] };

/** @param {Run} run */
export function findings(run) {
  if (!run.findings?.length) return null;
  return h(
    "section",
    { class: "card findings", id: "findings", "aria-labelledby": "findings-title" },
    h("h2", { id: "findings-title" }, "What stands out"),
    h(
      "ul",
      null,
      run.findings.map((finding) => {
        const [mark, meaning] = MARKS[finding.weight] ?? MARKS.hint;
        return h(
          "li",
          { class: finding.weight, "data-rule": finding.rule },
          h("span", { class: "mark", role: "img", "aria-label": meaning, title: meaning }, mark),
          h("div", null, h("strong", null, visible(finding.title)), h("span", { class: "muted" }, visible(finding.evidence))),
        );
      }),
    ),
  );
}
