// Records of runs as the tracker keeps them, made by rules: the same at every call.
import { gzipSync } from "node:zlib";
import { writeFileSync } from "node:fs";

/** @import { CloudInfo, Gpu, Limits, Metadata, ProcessLife, RunEvent, ServerInfo, Totals } from "../src/run_model.js" */

/** @typedef {Record<string, number[]>} Table by columns */
/** @typedef {Record<string, (row: number) => number>} Rules a column's value in each row */

/**
 * The parts of a record beside its tables.
 * @typedef {object} Parts
 * @property {(CloudInfo & Record<string, unknown>) | null} [cloud_info]
 * @property {Limits} [limits]
 * @property {(Gpu & Record<string, unknown>)[]} [gpus]
 * @property {RunEvent[]} [events]
 * @property {(ProcessLife & { ppid?: number })[]} [processes]
 * @property {Record<string, unknown>} [oom]
 */

/** @typedef {Metadata & Record<string, unknown>} AnyMetadata */
/** @typedef {ServerInfo & Record<string, unknown>} AnyServer */
/** @typedef {Parts & { metadata: AnyMetadata, server_info: AnyServer, totals?: Totals, process_metrics: Table, system_metrics: Table, detail_metrics?: Table }} RunRecord */

export const START = 1767225600; // 2026-01-01 00:00:00 UTC
const GIB = 1024 ** 3;
const MIB = 1024 ** 2;

/**
 * A small generator, so that noise is the same in every run of the tests.
 * @param {number} seed
 */
function noise(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * @template Value
 * @param {number} count
 * @param {(index: number) => Value} value
 */
const range = (count, value) => Array.from({ length: count }, (_, i) => value(i));

/**
 * process, system, detail: columns as functions of the row, in the units of schema v2.
 * @param {{ rows: number, interval?: number, wall?: number, process: Rules, system: Rules, detail?: Rules, server?: AnyServer, totals: Totals, metadata?: AnyMetadata, sparse?: boolean } & Parts} run
 * @returns {RunRecord & { schema: string }}
 */
function makeRecord({ rows, interval = 1, wall = rows * interval, process, system, detail, server, totals, metadata, sparse, ...parts }) {
  const timestamp = range(rows, (i) => +(START + (i + 1) * interval).toFixed(3));
  const table = (/** @type {Rules} */ columns) => ({ timestamp, ...Object.fromEntries(Object.entries(columns).map(([name, value]) => [name, range(rows, value)])) });
  return {
    metadata: {
      version: 1, resource_tracker: { version: "0.1.0", implementation: "native" }, pid: 4242, children: true, interval, method: null, autostart: true,
      track_processes: true, track_system: true, discover_server: true, discover_cloud: true, start_time: START, stop_time: START + wall,
      duration: wall + interval, wall_seconds: wall, command: ["./job"], command_key: "./job", job_name: null, exit_code: 0, signal: null,
      interrupted: false, samples: rows, host: "worker-7", run_id: null, ...metadata,
    },
    schema: "v2",
    server_info: { os: "Linux", vcpus: 8, memory_mb: 32768, gpu_count: 0, gpu_names: [], gpu_name: "", gpu_memory_mb: 0, cpu_model: "AMD EPYC 7R13", vcpus_allowed: 8, ...server },
    cloud_info: null,
    totals,
    limits: { cpu_cores: null, memory_bytes: null, throttled_seconds: 0 },
    gpus: [],
    events: [],
    ...parts,
    process_metrics: table(sparse ? process : { pid: () => 4242, children: () => 0, utime: () => 0, stime: () => 0, gpu_usage: () => 0, gpu_vram: () => 0, gpu_utilized: () => 0, ...process }),
    system_metrics: table(sparse ? system : {
      processes: () => 180, utime: () => 0, stime: () => 0, memory_free: () => 8e6, memory_buffers: () => 2e5, memory_cached: () => 9e6, memory_active: () => 5e6,
      memory_inactive: () => 4e6, disk_space_total_gb: () => 200, disk_space_used_gb: () => 80, disk_space_free_gb: () => 120, net_recv_bytes: () => 0,
      net_sent_bytes: () => 0, disk_read_bytes: () => 0, disk_write_bytes: () => 0, gpu_usage: () => 0, gpu_vram: () => 0, gpu_utilized: () => 0, ...system,
    }),
    detail_metrics: table(sparse ? {} : { system_pressure_cpu_some_ratio: () => 0.01, system_pressure_memory_some_ratio: () => 0, system_pressure_io_some_ratio: () => 0.01, ...detail }),
  };
}

/**
 * @template {object} More
 * @param {number} value
 * @param {string} source
 * @param {More} [more]
 */
const total = (value, source, more) => ({ value, source, ...more });

/** @param {{ cpu: number, peak: number, low?: number, high?: number, read?: number, write?: number, processes?: number, oom?: number }} figures */
function makeTotals({ cpu, peak, low = peak, high = peak * 1.02, read = 0, write = 0, processes = 1, oom = 0 }) {
  return {
    cpu_seconds: total(cpu, "wait4", { user: cpu * 0.93, system: cpu * 0.07, sampled: cpu, coverage: 1 }),
    peak_memory_bytes: total(peak, "cgroup", { low, high, sampled: low }),
    read_bytes: total(read, "wait4"), write_bytes: total(write, "wait4"), processes: total(processes, "events"), oom_kills: total(oom, "cgroup"),
  };
}

/**
 * @param {number} pid
 * @param {number} ppid
 * @param {string} command
 * @param {number} from seconds since the start
 * @param {number} to
 * @param {number} cpu
 * @param {number} rss
 * @param {Partial<ProcessLife>} [more]
 */
function life(pid, ppid, command, from, to, cpu, rss, more) {
  return {
    pid, ppid, command, start_time: START + from, end_time: START + to, exit_code: 0, cpu_seconds: cpu, peak_rss_bytes: rss, read_bytes: 4096 * pid,
    write_bytes: 8192 * pid, ...more,
  };
}

// Twenty minutes on eight cores, one of them busy; a short peak of memory; phases; a dozen processes.
export function cpuJob() {
  const random = noise(1);
  const rows = 1200;
  const spike = (/** @type {number} */ i) => i >= 700 && i < 704;
  const memory = (/** @type {number} */ i) => Math.round((spike(i) ? 5.6 * GIB : (0.8 + 1.3 * Math.min(1, i / 200)) * GIB) / 1024);
  const cpu = (/** @type {number} */ i) => +(i % 300 < 30 ? 3.4 + 0.4 * random() : 0.97 + 0.05 * random()).toFixed(4);
  const used = range(rows, cpu);
  return makeRecord({
    rows,
    process: {
      cpu_usage: (i) => used[i], utime: (i) => used[i] * 0.93, stime: (i) => used[i] * 0.07, memory, children: (i) => (i % 300 < 30 ? 4 : 0),
      read_bytes: (i) => (i < 60 ? 180 * MIB : i % 90 === 0 ? 20 * MIB : 0), write_bytes: (i) => (i % 120 === 119 ? 400 * MIB : 0),
    },
    system: {
      cpu_usage: (i) => +(used[i] + 0.12 + 0.1 * random()).toFixed(4), memory_used: (i) => memory(i) + 1.6e6, disk_read_bytes: (i) => (i < 60 ? 181 * MIB : 0),
      disk_write_bytes: (i) => (i % 120 === 119 ? 402 * MIB : 40960), net_recv_bytes: (i) => Math.round((i < 60 ? 60 * MIB : 8000) * random()),
      net_sent_bytes: () => Math.round(5000 * random()), disk_space_used_gb: (i) => +(80 + i / 400).toFixed(2), disk_space_free_gb: (i) => +(120 - i / 400).toFixed(2),
    },
    detail: { process_memory_estimated_bytes: (i) => (i % 20 ? memory(i) * 1024 * 0.15 : 0), system_pressure_io_some_ratio: (i) => (i < 60 ? 0.18 : 0.004), system_pressure_cpu_some_ratio: () => +(0.02 * random()).toFixed(6) },
    metadata: { command: ["python3", "train.py", "--data", "s3 copy/part one", "--epochs", "4"], command_key: "python3 train.py", host: "worker-7" },
    cloud_info: { vendor: "aws", instance_type: "m6a.2xlarge", region: "eu-west-1", zone: "eu-west-1b", discovery_time: 0.21 },
    totals: makeTotals({ cpu: +used.reduce((sum, value) => sum + value, 0).toFixed(3), peak: 5.75 * GIB, low: 5.6 * GIB, high: 6.1 * GIB, read: 11.2 * GIB, write: 4.0 * GIB, processes: 13 }),
    events: [
      { timestamp: START + 2, name: "load", kind: "start" }, { timestamp: START + 62, name: "load", kind: "stop" },
      { timestamp: START + 62, name: "train", kind: "start" }, { timestamp: START + 690, name: "checkpoint", kind: "point" },
      { timestamp: START + 1150, name: "train", kind: "stop" },
    ],
    processes: [
      life(4242, 1, "python3", 0, 1200, 1040.5, 5.7 * GIB),
      ...range(12, (i) => life(4300 + i, 4242, i % 4 ? "python3" : "gzip", 300 * Math.floor(i / 3), 300 * Math.floor(i / 3) + 30 + i, 36.3 - i, (300 + 20 * i) * MIB, i === 7 ? { exit_code: 1 } : {})),
    ],
  });
}

// Ten minutes in which memory only grows, in a container with a limit and a CPU quota that holds it back.
export function memoryJob() {
  const random = noise(2);
  const rows = 600;
  const memory = (/** @type {number} */ i) => Math.round((0.5 + 5.2 * ((i + 1) / rows)) * GIB / 1024);
  return makeRecord({
    rows,
    process: { cpu_usage: () => +(1.9 + 0.1 * random()).toFixed(4), utime: () => 1.9, stime: () => 0.05, memory, read_bytes: () => 0, write_bytes: () => Math.round(2 * MIB * random()) },
    system: { cpu_usage: () => +(2.2 + 0.2 * random()).toFixed(4), memory_used: (i) => memory(i) + 3e6, disk_write_bytes: () => Math.round(3 * MIB * random()) },
    detail: { process_memory_estimated_bytes: () => 0, system_cgroup_throttled_seconds: () => 0.31 },
    metadata: { command: ["./simulate", "--grid", "large.nc"], command_key: "./simulate" },
    limits: { cpu_cores: 2, memory_bytes: 8 * GIB, throttled_seconds: 186 },
    totals: makeTotals({ cpu: 1168, peak: 5.7 * GIB, write: 600 * MIB }),
  });
}

// Four GPUs, two of them used.
export function gpuJob() {
  const random = noise(3);
  const rows = 900;
  const busy = (/** @type {number} */ gpu, /** @type {number} */ i) => (gpu < 2 ? +(i % 100 < 8 ? 0.1 : 0.82 + 0.15 * random()).toFixed(4) : 0);
  const vram = (/** @type {number} */ gpu, /** @type {number} */ i) => (gpu < 2 ? Math.round(Math.min(1, i / 30) * (19 - gpu) * GIB) : 300 * MIB);
  const device = [0, 1, 2, 3].map((gpu) => ({ busy: range(rows, (i) => busy(gpu, i)), vram: range(rows, (i) => vram(gpu, i)) }));
  const sum = (/** @type {number} */ i, /** @type {"busy" | "vram"} */ key) => device.reduce((all, one) => all + one[key][i], 0);
  return makeRecord({
    rows,
    process: {
      cpu_usage: () => +(2.2 + random()).toFixed(4), utime: () => 2.4, stime: () => 0.3, memory: (i) => Math.round(Math.min(1, i / 60) * 11e6), read_bytes: () => Math.round(80 * MIB * random()),
      write_bytes: () => 0, gpu_usage: (i) => +sum(i, "busy").toFixed(4), gpu_vram: (i) => (vram(0, i) + vram(1, i)) / MIB, gpu_utilized: () => 2,
    },
    system: { cpu_usage: () => +(2.5 + random()).toFixed(4), memory_used: () => 14e6, gpu_usage: (i) => +sum(i, "busy").toFixed(4), gpu_vram: (i) => sum(i, "vram") / MIB, gpu_utilized: () => 2 },
    detail: Object.fromEntries(device.flatMap((one, gpu) => [[`gpu${gpu}_utilization_ratio`, (i) => one.busy[i]], [`gpu${gpu}_memory_used_bytes`, (i) => one.vram[i]]])),
    metadata: { command: ["torchrun", "--nproc-per-node", "2", "finetune.py"], command_key: "torchrun", job_name: "finetune" },
    server: { vcpus: 48, vcpus_allowed: 48, memory_mb: 196608, gpu_count: 4, gpu_names: range(4, () => "NVIDIA A10G"), gpu_name: "NVIDIA A10G", gpu_memory_mb: 4 * 23028 },
    gpus: device.map((one, gpu) => ({
      name: "NVIDIA A10G", uuid: `GPU-${gpu}`, pci: `0000:0${gpu}:00.0`, vendor: "NVIDIA", is_split: false, memory_bytes: 23028 * MIB, memory_peak_bytes: Math.max(...one.vram),
      job_memory_peak_bytes: gpu < 2 ? Math.max(...one.vram) : 0, utilization_mean_ratio: one.busy.reduce((a, b) => a + b) / rows, utilization_max_ratio: Math.max(...one.busy),
      busy_share_ratio: gpu < 2 ? 1 : 0,
    })),
    totals: makeTotals({ cpu: 2430, peak: 10.6 * GIB, read: 35 * GIB, processes: 5 }),
  });
}

// Killed for want of memory after four minutes.
export function oomJob() {
  const rows = 240;
  const memory = (/** @type {number} */ i) => Math.round((0.4 + 3.6 * ((i + 1) / rows) ** 2) * GIB / 1024);
  return makeRecord({
    rows,
    process: { cpu_usage: () => 3.9, utime: () => 3.6, stime: () => 0.3, memory, read_bytes: () => 12 * MIB, write_bytes: () => 0 },
    system: { cpu_usage: () => 4.1, memory_used: (i) => memory(i) + 2e6, disk_read_bytes: () => 12 * MIB },
    detail: { system_pressure_memory_some_ratio: (i) => (i > 200 ? 0.6 : 0) },
    metadata: { command: ["./assemble", "reads.fq"], command_key: "./assemble", exit_code: null, signal: 9 },
    server: { vcpus: 4, vcpus_allowed: 4 },
    limits: { cpu_cores: null, memory_bytes: 4 * GIB, throttled_seconds: 0 },
    totals: makeTotals({ cpu: 936, peak: 4 * GIB, high: 4 * GIB, read: 2.8 * GIB, oom: 1 }),
    oom: { pid: 4242, command: "assemble", held_bytes: 3.96 * GIB, limit_bytes: 4 * GIB, advised_bytes: 6 * GIB, last_moments: [] },
    processes: [life(4242, 1, "assemble", 0, 240, 936, 3.96 * GIB, { exit_code: -9 })],
  });
}

// An hour at one row a second, where every column moves: what the page's size is held against.
export function hourJob(rows = 3600) {
  const random = noise(5);
  const any = (/** @type {number} */ most) => () => Math.round(most * random());
  return makeRecord({
    rows,
    process: { cpu_usage: () => +(8 * random()).toFixed(4), utime: () => +(4 * random()).toFixed(6), stime: () => +random().toFixed(6), memory: any(8e6), read_bytes: any(5e8), write_bytes: any(5e8), children: any(40) },
    system: { cpu_usage: () => +(8 * random()).toFixed(4), memory_used: any(2e7), disk_read_bytes: any(5e8), disk_write_bytes: any(5e8), net_recv_bytes: any(1e8), net_sent_bytes: any(1e8), disk_space_used_gb: any(200), disk_space_free_gb: any(200) },
    detail: { process_memory_estimated_bytes: any(8e9), system_pressure_io_some_ratio: () => +random().toFixed(6), system_pressure_cpu_some_ratio: () => +random().toFixed(6), system_pressure_memory_some_ratio: () => +random().toFixed(6), system_cgroup_throttled_seconds: () => +random().toFixed(6) },
    totals: makeTotals({ cpu: rows * 4, peak: 8e9 }),
  });
}

// Eleven days with two single rows that stand out: they must not be lost on the way to the page.
export const MILLION_PEAK = { row: 654321, cores: 7.75 };
export const MILLION_DIP = { row: 123457, cores: 0.01 };
export function millionJob() {
  const random = noise(6);
  const rows = 1e6;
  const cpu = (/** @type {number} */ i) => (i === MILLION_PEAK.row ? MILLION_PEAK.cores : i === MILLION_DIP.row ? MILLION_DIP.cores : +(3 + Math.sin(i / 40000) + 0.4 * random()).toFixed(3));
  return makeRecord({
    rows,
    sparse: true, // a column that says nothing costs as much as one that does
    process: { cpu_usage: cpu, utime: () => 3, stime: () => 0.1, memory: (i) => Math.round(2e6 + 1e6 * Math.sin(i / 90000) + 2e5 * random()), read_bytes: () => 0, write_bytes: (i) => (i % 3600 === 0 ? 50 * MIB : 0) },
    system: { cpu_usage: (i) => +(3.4 + Math.sin(i / 40000)).toFixed(3), memory_used: () => 5e6 },
    metadata: { command: ["./serve"], command_key: "./serve" },
    totals: makeTotals({ cpu: 3.1e6, peak: 3.3e9 }),
  });
}

// Twenty seconds: too little for advice.
export function shortJob() {
  const { metadata, cloud_info } = cpuJob();
  return makeRecord({
    rows: 20,
    process: { cpu_usage: () => 1, utime: () => 1, memory: () => 1e5, read_bytes: () => 0, write_bytes: () => 0 },
    system: { cpu_usage: () => 1.1, memory_used: () => 1e6 },
    metadata: { command: metadata.command, command_key: metadata.command_key },
    cloud_info,
    totals: makeTotals({ cpu: 20, peak: 1e8 }),
  });
}

// Names that a job chose to do harm with.
export const HOSTILE = `</script><script>window.harmed = 1</script><img src=x onerror="window.harmed = 2">`;
export const BIDI = "evil\u202egnp.exe";
export function hostileJob() {
  const run = cpuJob();
  run.metadata.command = ["sh", "-c", HOSTILE, `"quotes" 'and' \`ticks\``, BIDI, "a\u0001b\nc\td", "x".repeat(10240)];
  run.metadata.job_name = `${HOSTILE}${BIDI}`;
  run.metadata.host = HOSTILE;
  run.server_info.cpu_model = HOSTILE;
  run.cloud_info = { ...run.cloud_info, region: HOSTILE };
  run.processes = run.processes?.map((process, i) => ({ ...process, command: [HOSTILE, BIDI][i] ?? process.command }));
  run.events = run.events?.map((event, i) => (i < 2 ? { ...event, name: HOSTILE } : event));
  run.gpus = [{ name: HOSTILE, is_split: false, memory_bytes: 1e9, memory_peak_bytes: 1, busy_share_ratio: 0 }];
  return run;
}

/**
 * As the Python package writes it: no totals, no limits, rows alone; still running.
 * @returns {RunRecord}
 */
export function pythonRun() {
  const { metadata, server_info, process_metrics, system_metrics } = cpuJob();
  const { command, command_key, host, run_id, wall_seconds, exit_code, signal, interrupted, samples, ...plain } = metadata;
  return { metadata: { ...plain, stop_time: null, resource_tracker: { version: "0.4.2", implementation: "psutil" } }, server_info, cloud_info: null, process_metrics, system_metrics };
}

/**
 * @param {RunRecord} record
 * @param {string} path
 */
export function saveRecord(record, path) {
  writeFileSync(path, gzipSync(JSON.stringify(record), { level: 1 }));
  return path;
}
