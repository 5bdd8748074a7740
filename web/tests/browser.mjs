// The report in a real browser: node --test web/tests/browser.mjs, with --test-reporter and --test-name-pattern as one likes.
// TRK_BIN is the tracker, else that of build/. Pictures of the pages go to the folder TRK_PICTURES where it is set. What is
// missing on the machine is a reason to skip; with TRK_MUST_WORK=1 it is a failure.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import * as fixtures from "./fixtures.mjs";

/** @import { Browser, BrowserContextOptions, Page } from "playwright-core" */
/** @import { Chart } from "../src/charts.js" */
/** @typedef {HTMLElement & { chart: Chart }} Figure */

const LIMIT_MS = 180_000; // of a test, on a machine that is busy with something else
const WAIT_MS = 60_000; // of a wait within a test

const tracker = process.env.TRK_BIN ?? fileURLToPath(new URL("../../build/resource-tracker", import.meta.url));
const pictures = process.env.TRK_PICTURES;
const folder = mkdtempSync(join(tmpdir(), "report-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
// The runner, or somebody, stops the tests; the browser ends with its pipe.
process.on("SIGTERM", () => {
  console.error("the browser tests were stopped by SIGTERM");
  process.exit(143);
});

const chromium = await import("./chromium.mjs").catch((/** @type {Error} */ error) => error);
const missing =
  chromium instanceof Error ? `its packages are not installed (tools/bootstrap page browser): ${chromium.message}`
  : !existsSync(chromium.executablePath ?? "") ? "Chromium is not installed"
  : null;
const skip = process.env.TRK_MUST_WORK === "1" ? false : (missing ?? false);

/** @type {Browser} */
let browser;
before(async () => {
  if (pictures) mkdirSync(pictures, { recursive: true });
  if (!missing && !(chromium instanceof Error)) browser = await chromium.launch();
});
after(() => browser?.close());

// ---- runs and their pages

// Runs are kept in a folder of our own; nothing of the user's is read.
const env = { PATH: process.env.PATH, HOME: folder, XDG_STATE_HOME: join(folder, "state"), XDG_CONFIG_HOME: join(folder, "config"), TRACKER_CLOUD: "off", LC_ALL: "C.UTF-8" };

/** @param {string[]} words */
const track = (...words) => execFileSync(tracker, words, { env, stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28, timeout: LIMIT_MS });

/**
 * @param {string} name
 * @param {fixtures.RunRecord} record
 */
function makePage(name, record) {
  const snapshot = fixtures.saveRecord(record, join(folder, `${name}.json.gz`));
  const path = join(folder, `${name}.html`);
  track("report", snapshot, "-o", path, "--force");
  return path;
}

/** @type {string | undefined} */
let cpuPath;
const cpuPage = () => (cpuPath ??= makePage("cpu", fixtures.cpuJob()));

// ---- running

/** @typedef {BrowserContextOptions & { width?: number, height?: number, theme?: "light" | "dark" }} Look */
/** @typedef {(path: string, look?: Look) => Promise<Page>} Open */

/** @param {Page} page */
const twoFrames = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/**
 * A test. Pages that it opens print nothing on the console, have no error and ask nothing of anybody, until they are closed.
 * @param {string} name
 * @param {(open: Open) => Promise<void>} run
 */
function check(name, run) {
  test(name, { skip, timeout: LIMIT_MS }, async () => {
    assert.ok(!missing, `must work here, but: ${missing}`);
    /** @type {{ page: Page, troubles: string[] }[]} */
    const opened = [];
    try {
      await run(async (path, { width = 1280, height = 1000, theme = "light", ...more } = {}) => {
        const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, timezoneId: "UTC", permissions: ["clipboard-read", "clipboard-write"], ...more });
        context.setDefaultTimeout(WAIT_MS);
        const page = await context.newPage();
        /** @type {string[]} */
        const troubles = [];
        opened.push({ page, troubles });
        page.on("console", (message) => troubles.push(`console: ${message.text()}`));
        page.on("pageerror", (error) => troubles.push(`error: ${error.message}`));
        page.on("request", (request) => request.url() !== `file://${path}` && !request.url().startsWith("data:") && troubles.push(`request: ${request.url()}`));
        page.on("websocket", (socket) => troubles.push(`socket: ${socket.url()}`));
        await page.goto(`file://${path}`);
        await page.waitForSelector("footer");
        return page;
      });
      for (const { page, troubles } of opened) {
        await twoFrames(page); // what a frame still has to draw may fail too
        assert.deepEqual(troubles, []);
      }
    } finally {
      await Promise.all(opened.map(({ page }) => page.context().close()));
    }
  });
}

// ---- looking at pages

/**
 * @param {Page} page
 * @param {string} name
 */
async function shoot(page, name, fullPage = true) {
  if (pictures) await page.screenshot({ path: join(pictures, `report-${name}.png`), fullPage });
}

/**
 * @param {Page} page
 * @param {string} selector
 */
const textOf = async (page, selector) => (await page.locator(selector).innerText()).replace(/\s+/g, " ").trim();

/**
 * @param {Page} page
 * @param {string} selector
 * @returns {Promise<Record<string, string>>}
 */
async function pairsOf(page, selector) {
  return Object.fromEntries(await page.locator(`${selector} dl > div`).evaluateAll((rows) => rows.map((row) => [row.querySelector("dt")?.textContent, row.querySelector("dd")?.textContent])));
}

/**
 * @param {Page} page
 * @param {string} selector
 */
async function rowsOf(page, selector) {
  return page.locator(`${selector} tbody tr`).evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent ?? "")));
}

/**
 * The first cell of each row, and the cells that follow it.
 * @param {Page} page
 * @param {string} selector
 */
const tableOf = async (page, selector) => Object.fromEntries((await rowsOf(page, selector)).map(([name, ...cells]) => [name, cells]));

/**
 * What stands in a chart's legend, by the name of the series.
 * @param {Page} page
 * @param {string} chart
 * @returns {Promise<Record<string, string>>}
 */
async function legendOf(page, chart) {
  const items = await page.locator(`#${chart} .legend-item`).evaluateAll((all) => all.map((item) => [item.querySelector(".legend-name")?.textContent, item.querySelector(".legend-value")?.textContent]));
  return Object.fromEntries(items);
}

/**
 * What the page's own object of a chart knows.
 * @template Value
 * @param {Page} page
 * @param {string} chart
 * @param {(figure: Figure) => Value} read runs in the page
 */
const inChart = (page, chart, read) => page.locator(`#${chart}`).evaluate(read);

/**
 * @param {Page} page
 * @param {string} chart
 */
async function plotBox(page, chart) {
  await page.locator(`#${chart}`).scrollIntoViewIfNeeded();
  const box = await page.locator(`#${chart} .u-over`).boundingBox();
  assert.ok(box, `${chart} is not drawn`);
  return box;
}

/**
 * Puts the cursor on a share of a chart's width and returns the time that it shows.
 * @param {Page} page
 * @param {string} chart
 * @param {number} share
 */
async function pointAt(page, chart, share) {
  const box = await plotBox(page, chart);
  await page.mouse.move(box.x + share * box.width, box.y + box.height / 2);
  return textOf(page, `#${chart} .legend-time`);
}

/**
 * @param {Page} page
 * @param {string} chart
 * @param {number} from share of the width
 * @param {number} to share of the width
 */
async function drag(page, chart, from, to) {
  const box = await plotBox(page, chart);
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + from * box.width, y);
  await page.mouse.down();
  await page.mouse.move(box.x + ((from + to) / 2) * box.width, y, { steps: 4 });
  await page.mouse.move(box.x + to * box.width, y, { steps: 4 });
  await page.mouse.up();
}

/**
 * @param {Page} page
 * @param {string} chart
 */
const rangeOf = async (page, chart) => {
  const [from, to] = await inChart(page, chart, ({ chart: { plot } }) => [plot?.scales.x.min ?? NaN, plot?.scales.x.max ?? NaN]);
  return { from, to };
};

/**
 * @param {number} value
 * @param {number} wanted
 * @param {number} off
 */
const isNear = (value, wanted, off) => assert.ok(Math.abs(value - wanted) <= off, `${value} is not ${wanted} +- ${off}`);

/** @param {Page} page */
const rulesOf = (page) => page.locator("#findings li").evaluateAll((items) => items.map((item) => item.getAttribute("data-rule")));

/** @param {Page} page */
const overflowOf = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/**
 * @param {Page} page
 * @param {string} chart
 */
const linesOf = (page, chart) => inChart(page, chart, (figure) => figure.chart.spec.lines.map((line) => line.text));

// ---- what it shows

check("CPU time that nobody could see whole is said to be a lower bound, and is not split where it is not told", async (open) => {
  const record = fixtures.shortJob();
  assert.ok(record.totals?.cpu_seconds);
  Object.assign(record.totals.cpu_seconds, { value: 2, user: null, system: null, sampled: 2, coverage: null });
  const page = await open(makePage("least", record));
  assert.match(await textOf(page, "#tile-time"), / at least 2\.00 s of CPU time$/);
});

check("a CPU job: every section with its figures", async (open) => {
  const page = await open(cpuPage());
  assert.equal(await page.title(), "python3 train.py – resource-tracker");
  assert.equal(await textOf(page, "#status"), "Finished exit 0");
  assert.match(await textOf(page, ".command"), /^python3 train\.py --data 's3 copy\/part one' --epochs 4$/);
  assert.match(await textOf(page, ".facts"), /worker-7 · started 2026-01-01 00:00:00 · took 20 min 00 s · 1,200 samples, one every second/);
  assert.match(await textOf(page, "#tile-cpu"), /1\.26 of 8 cores 16 % used on average · peak 3\.79/);
  assert.match(await textOf(page, "#tile-memory"), /5\.75 GiB 2\.00 GiB on average · 32\.0 GiB in the machine · at most 6\.10 GiB/);
  assert.match(await textOf(page, "#tile-time"), /20 min 00 s 25 min 08 s of CPU time/);
  assert.match(await textOf(page, "#tile-disk"), /15\.2 GiB 11\.2 GiB read · 4\.00 GiB written/);
  const rules = await rulesOf(page);
  assert.deepEqual(rules, ["one_core", "short_peak"]);
  assert.match(await textOf(page, "#findings"), /One core busy, 7 idle for 90 % of the time .* The memory peak was short: 4 s of 20 min/);
  const server = await pairsOf(page, "#server");
  assert.deepEqual([server.Host, server.CPU, server.Cores, server.Memory], ["worker-7", "AMD EPYC 7R13", "8", "32.0 GiB"]);
  assert.deepEqual(await pairsOf(page, "#cloud"), { Vendor: "aws", "Instance type": "m6a.2xlarge", Region: "eu-west-1", Zone: "eu-west-1b" });
  const statistics = await tableOf(page, "#statistics");
  assert.deepEqual(statistics["Memory"], ["2.00 GiB", "5.75 GiB", "–"]);
  assert.deepEqual(statistics["Disk read"].slice(-1), ["11.2 GiB"]);
  const phases = await rowsOf(page, "#phases");
  assert.deepEqual(phases.map((row) => row.slice(0, 3)), [["load", "+2.00 s", "1 min 00 s"], ["train", "+1 min 02 s", "18 min 08 s"], ["checkpoint", "+11 min 30 s", "–"]]);
  assert.equal(phases[1][4], "5.60 GiB");
  assert.match(await textOf(page, "#measured"), /the job's cgroup.*between 5\.60 GiB and 6\.10 GiB.*100 % of the CPU time/);
  assert.equal(await page.locator("#gpus, #chart-gpu, #tile-gpu, #history").count(), 0); // nothing to show: left out
  await shoot(page, "cpu");
});

check("charts: names, averages and peaks of the series, lines of what is available", async (open) => {
  const record = fixtures.cpuJob();
  const page = await open(cpuPage());
  const ids = await page.locator(".chart").evaluateAll((all) => all.map((one) => one.id));
  assert.deepEqual(ids, ["chart-cpu", "chart-memory", "chart-disk", "chart-network", "chart-pressure", "chart-space", "chart-processes"]);
  const legend = await legendOf(page, "chart-cpu");
  const used = record.process_metrics.cpu_usage;
  const mean = used.reduce((sum, value) => sum + value, 0) / used.length;
  assert.deepEqual(Object.keys(legend), ["Process CPU usage", "System CPU usage"]);
  assert.equal(legend["Process CPU usage"], `avg ${mean.toFixed(2)} cores · peak ${Math.max(...used).toFixed(2)} cores`);
  assert.deepEqual(await linesOf(page, "chart-cpu"), ["8 cores available"]);
  assert.deepEqual(await linesOf(page, "chart-memory"), ["32.0 GiB in the machine", "peak 5.75 GiB"]);
  const band = await inChart(page, "chart-memory", ({ chart }) => chart.spec.band);
  assert.ok(band && band.high > band.low);
  assert.equal((await legendOf(page, "chart-memory"))["Process memory usage"], "avg 2.00 GiB · largest sample 5.60 GiB"); // the peak is exact, and between two samples
  assert.ok("of which read, not estimated" in (await legendOf(page, "chart-memory")));
  // Every row is there, to four digits.
  const drawn = await inChart(page, "chart-cpu", ({ chart }) => chart.values[0]);
  assert.equal(drawn.length, used.length);
  drawn.forEach((value, i) => isNear(value ?? NaN, used[i], used[i] * 5e-4));
});

check("the average of the CPU is one figure wherever it stands, also where rows missed some", async (open) => {
  const record = fixtures.cpuJob();
  assert.ok(record.totals?.cpu_seconds);
  record.totals.cpu_seconds.value = 1200 * 1.31;
  const page = await open(makePage("cpu-missed", record));
  assert.match(await textOf(page, "#tile-cpu"), /1\.31 of 8 cores 16 % used on average · peak 3\.79/);
  assert.match(await textOf(page, "#findings"), /The job kept 1\.31 of 8 cores busy on average/);
  assert.equal((await legendOf(page, "chart-cpu"))["Process CPU usage"], "avg 1.31 cores · peak 3.79 cores");
  const statistics = await tableOf(page, "#statistics");
  assert.deepEqual(statistics["CPU usage"].slice(0, 2), ["1.31 cores", "3.79 cores"]);
});

check("cursor: one for all charts, with values and both kinds of time", async (open) => {
  const record = fixtures.cpuJob();
  const page = await open(cpuPage());
  const at = await pointAt(page, "chart-cpu", 0.5);
  assert.match(at, /^\+(9:5\d|10:0\d)$/);
  const [minutes, seconds] = at.slice(1).split(":").map(Number);
  const row = minutes * 60 + seconds - 1;
  assert.equal((await legendOf(page, "chart-cpu"))["Process CPU usage"], `${record.process_metrics.cpu_usage[row].toFixed(2)} cores`);
  const memory = (await legendOf(page, "chart-memory"))["Process memory usage"];
  assert.equal(memory, `${((record.process_metrics.memory[row] * 1024) / 2 ** 30).toFixed(2)} GiB`);
  await page.getByRole("button", { name: "Clock time" }).click();
  assert.match(await pointAt(page, "chart-cpu", 0.5), /^2026-01-01 00:(09|10):\d\d$/);
  await page.mouse.move(5, 5);
  assert.match((await legendOf(page, "chart-cpu"))["Process CPU usage"], /^avg/);
});

check("zoom: by drag, by key, and back", async (open) => {
  const page = await open(cpuPage());
  const all = page.getByRole("button", { name: "Show all" });
  assert.deepEqual(await rangeOf(page, "chart-memory"), { from: 0, to: 1200 });
  assert.ok(await all.isHidden());
  await drag(page, "chart-cpu", 0.25, 0.5);
  for (const chart of ["chart-cpu", "chart-memory", "chart-disk"]) {
    const { from, to } = await rangeOf(page, chart);
    isNear(from, 300, 8);
    isNear(to, 600, 8);
  }
  await all.click();
  assert.deepEqual(await rangeOf(page, "chart-cpu"), { from: 0, to: 1200 });
  await page.locator("#chart-cpu .plot").focus();
  await page.keyboard.press("+");
  const half = await rangeOf(page, "chart-memory");
  isNear(half.to - half.from, 600, 1);
  await page.keyboard.press("ArrowRight");
  assert.match((await legendOf(page, "chart-cpu"))["Process CPU usage"], /^\d\.\d\d cores$/);
  await page.keyboard.press("Escape");
  assert.deepEqual(await rangeOf(page, "chart-disk"), { from: 0, to: 1200 });
  const box = await plotBox(page, "chart-cpu");
  await drag(page, "chart-cpu", 0.1, 0.2);
  await page.mouse.dblclick(box.x + box.width / 2, box.y + 40);
  assert.deepEqual(await rangeOf(page, "chart-cpu"), { from: 0, to: 1200 });
});

check("a series is hidden and shown by its name", async (open) => {
  const page = await open(cpuPage());
  const item = page.locator("#chart-cpu .legend-item").nth(1);
  const isShown = () => inChart(page, "chart-cpu", ({ chart }) => chart.plot?.series.find((series) => series.label === "System CPU usage")?.show);
  assert.equal(await isShown(), true);
  await item.click();
  assert.equal(await isShown(), false);
  assert.equal(await item.getAttribute("aria-pressed"), "false");
  await item.press("Enter");
  assert.equal(await isShown(), true);
});

check("advice: the levels as `recommend` has them, ready to paste, with a copy button", async (open) => {
  const path = cpuPage();
  const advice = JSON.parse(track("recommend", "--json", "--alone", join(folder, "cpu.json.gz")).toString());
  const page = await open(path);
  const rows = await tableOf(page, ".levels");
  const gib = (/** @type {number} */ mib) => `${+(mib / 1024).toFixed(2)} GiB`;
  assert.deepEqual(rows.Memory, [...["lean", "balanced", "safe"].map((level) => gib(advice.levels[level].memory)), gib(advice.classic.memory)]);
  assert.deepEqual(rows.Cores, [...["lean", "balanced", "safe"].map((level) => String(advice.levels[level].cpu)), String(advice.classic.cpu)]);
  assert.match(await textOf(page, "#tile-ask"), new RegExp(`^Ask for next time ${gib(advice.memory).replace(".", "\\.")} memory ${advice.cpu} cores`));
  assert.match(await textOf(page, ".reasons"), /largest peak of 1 run.*fewest cores/);
  await page.getByRole("radio", { name: "safe" }).click();
  await page.getByRole("radio", { name: "Kubernetes" }).click();
  const shown = await page.locator("#paste").innerText();
  assert.equal(shown.trim(), track("recommend", "--paste", "kubernetes", "--level", "safe", "--alone", join(folder, "cpu.json.gz")).toString().trim());
  // The word stands there for 2 s: whether it did is asked of the page, not by looking now and then.
  const said = await page.locator(".copied").evaluateHandle((place) => {
    /** @type {(string | null)[]} */
    const all = [];
    new MutationObserver(() => all.push(place.textContent)).observe(place, { childList: true });
    return all;
  });
  await page.getByRole("button", { name: "Copy" }).click();
  await page.waitForFunction((all) => all.includes("Copied"), said);
  assert.equal((await page.evaluate(() => navigator.clipboard.readText())).trim(), shown.trim());
});

check("cost: of this run, and of the server that is recommended", async (open) => {
  const path = cpuPage();
  const page = await open(path);
  assert.match(await textOf(page, "#tile-cost"), /^Cost of this run \$0\.1\d+ \$0\.0\d+ on \S+ \S+, the cheapest that fits$/);
  assert.match(await textOf(page, "#cost"), /for this run on aws m6a\.2xlarge, at \$0\.\d+ an hour/);
  assert.match(await textOf(page, "#cost"), /would save \$0\.\d+, \d+ % of this run/);
  assert.match(await textOf(page, "#cost"), /Prices: .*CC BY-SA 4\.0/); // the credit stands wherever a price does
  const [, paid, hourly] = /^What it costs \$([\d.]+) for this run on aws m6a\.2xlarge, at \$([\d.]+) an hour/.exec(await textOf(page, "#cost")) ?? [];
  isNear(Number(paid), (Number(hourly) / 3600) * 1201, 1e-3);
  assert.equal((await rowsOf(page, ".servers")).length, 4);
  const short = await open(makePage("short", fixtures.shortJob()));
  assert.match(await textOf(short, "#advice"), /too little to size a job by/);
  assert.match(await textOf(short, "#peaks"), /^Peaks: [\d.]+ [MG]iB of memory, [\d.]+ cores$/);
  assert.match(await textOf(short, "#tile-cost"), /^Cost of this run \$0\.0\d+/);
  assert.equal(await short.locator(".servers").count(), 0);
  // What was inferred is marked, and a price of another region is called one; an offer says where its price holds.
  const record = fixtures.cpuJob();
  record.cloud_info = { ...record.cloud_info, vendor: "hcloud", instance_type: "cx23", region: "nbg1", zone: "nbg1", instance_type_inferred: true };
  const inferred = await open(makePage("inferred", record));
  assert.match(await textOf(inferred, "#cost"), /on hcloud cx23 \(by its size\), at \$0\.\d+ an hour \(the price of its cheapest region\)/);
  assert.match(await textOf(page, ".servers"), /aws \S+ \d+ vCPUs, \d+ GiB, (arm64, )?[a-z]+-[a-z]+-\d/);
});

check("processes: a table that sorts, and when they lived", async (open) => {
  const page = await open(cpuPage());
  const column = async (/** @type {number} */ index) => (await rowsOf(page, "#process-table")).map((row) => row[index]);
  assert.equal((await column(0)).length, 13);
  assert.equal((await column(0))[0], "4242");
  await page.getByRole("button", { name: "PID" }).click();
  assert.equal((await column(0))[0], "4311");
  await page.getByRole("button", { name: "PID" }).click();
  assert.equal((await column(0))[0], "4242");
  assert.equal(await page.locator("#process-table th[aria-sort]").count(), 1);
  await page.getByRole("button", { name: "Command" }).click();
  assert.equal((await column(1))[0], "gzip");
  assert.equal((await column(8)).filter((exit) => exit === "1").length, 1);
  assert.equal(await page.locator("#timeline rect").count(), 13);
  assert.equal(await page.locator("#timeline rect.failed").count(), 1);
});

check("a process that outlived the tracking, as one that tracks itself does", async (open) => {
  const record = fixtures.cpuJob();
  record.processes?.splice(0, 1, { ...record.processes[0], end_time: null, exit_code: null });
  const page = await open(makePage("outlived", record));
  const [first] = await rowsOf(page, "#process-table");
  assert.deepEqual([first[0], first[3], first[8]], ["4242", "over 20 min 00 s", "–"]);
  await page.getByRole("button", { name: "Lived" }).click();
  assert.equal((await rowsOf(page, "#process-table"))[0][0], "4242");
  assert.equal(await page.locator("#timeline rect").count(), 13);
});

check("a job whose memory grows, in a container that holds it back", async (open) => {
  const page = await open(makePage("memory", fixtures.memoryJob()));
  const rules = await rulesOf(page);
  assert.deepEqual(rules, ["throttled", "memory_grew", "all_cores"]);
  assert.match(await textOf(page, "#findings"), /Throttled by the CPU quota 31 % of the time .*quota of 2 cores.*Memory grew until the end/);
  const server = await pairsOf(page, "#server");
  assert.deepEqual([server["CPU quota"], server["Memory limit"]], ["2.00 cores", "8.00 GiB"]);
  assert.deepEqual(await linesOf(page, "chart-cpu"), ["8 cores available", "CPU quota 2.00"]);
  assert.match((await legendOf(page, "chart-pressure"))["Throttled by quota"], /avg 31 %/);
  await shoot(page, "memory");
});

check("a GPU job: usage, devices in use, VRAM, each GPU", async (open) => {
  const page = await open(makePage("gpu", fixtures.gpuJob()));
  assert.equal(await textOf(page, "h1"), "finetune");
  assert.match(await textOf(page, "#tile-gpu"), /of 4 GPUs/);
  for (const id of ["chart-gpu", "chart-vram", "chart-gpus-used", "chart-gpu-devices", "chart-vram-devices"]) assert.equal(await page.locator(`#${id}`).count(), 1, id);
  assert.match((await legendOf(page, "chart-gpus-used"))["Process GPUs in use"], /peak 2$/);
  assert.equal((await legendOf(page, "chart-vram-devices"))["GPU 0"].split("peak ")[1], "19.0 GiB");
  const gpus = await rowsOf(page, "#gpus");
  assert.equal(gpus.length, 4);
  assert.deepEqual([gpus[0][1], gpus[0][4], gpus[0][5], gpus[3][4]], ["NVIDIA A10G", "100 %", "19.0 GiB", "0 %"]);
  assert.match(await textOf(page, "#findings"), /2 of 4 GPUs unused/);
  await shoot(page, "gpu");
});

check("a job that was killed for want of memory", async (open) => {
  const page = await open(makePage("oom", fixtures.oomJob()));
  assert.equal(await textOf(page, "#status"), "Failed out of memory, SIGKILL");
  const first = page.locator("#findings li").first();
  assert.equal(await first.getAttribute("data-rule"), "out_of_memory");
  assert.match(await first.innerText(), /killed assemble for want of memory[\s\S]*It held 4 GiB under a limit of 4 GiB/);
  assert.match(await textOf(page, "#tile-ask"), /6 GiB memory/);
  await shoot(page, "oom");
});

check("a run that goes on, as the Python package keeps it: pending, and no section without data", async (open) => {
  const page = await open(makePage("python", fixtures.pythonRun()));
  assert.match(await textOf(page, "#status"), /^Pending/);
  assert.equal(await page.locator("#chart-cpu").count(), 1);
  for (const id of ["processes", "phases", "measured", "cloud", "history", "gpus"]) assert.equal(await page.locator(`#${id}`).count(), 0, id);
});

check("a million rows: small, and no extreme lost", async (open) => {
  const path = makePage("million", fixtures.millionJob());
  assert.ok(statSync(path).size < 2e6, `${statSync(path).size} bytes`);
  const page = await open(path);
  assert.match(await textOf(page, "#measured"), /1,000,000 rows as .* spans .* no extreme is left out/);
  assert.match((await legendOf(page, "chart-cpu"))["Process CPU usage"], /peak 7\.75 cores/);
  const { xs, values } = await inChart(page, "chart-cpu", ({ chart }) => ({ xs: chart.group.xs, values: chart.values[0] }));
  for (const { row, cores } of [fixtures.MILLION_PEAK, fixtures.MILLION_DIP]) {
    const at = values.findIndex((value) => value !== null && Math.abs(value - cores) < 1e-3 * cores);
    assert.ok(at >= 0, `${cores} is not drawn`);
    isNear(xs[at], row + 1, 400);
  }
  await shoot(page, "million");
});

check("an hour at one row a second is under 500 kB", async () => {
  const size = statSync(makePage("hour", fixtures.hourJob())).size;
  assert.ok(size < 500e3, `${size} bytes`);
});

// ---- for every reader and screen

check("light and dark, by the system and by the button", async (open) => {
  const path = cpuPage();
  const groundOf = (/** @type {Page} */ page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await open(path);
  const dark = await open(path, { theme: "dark" });
  const [bright, dim] = [await groundOf(light), await groundOf(dark)];
  assert.notEqual(bright, dim);
  await light.getByRole("button", { name: "Light / dark" }).click();
  assert.equal(await groundOf(light), dim);
  await light.getByRole("button", { name: "Light / dark" }).click();
  assert.equal(await groundOf(light), bright);
  await dark.emulateMedia({ colorScheme: "light" });
  await dark.waitForFunction((ground) => getComputedStyle(document.body).backgroundColor === ground, bright);
  await dark.emulateMedia({ colorScheme: "dark" });
  await shoot(dark, "cpu-dark");
});

// In the page: the plot is as wide as its place.
const chartFits = () => document.querySelector("#chart-cpu .uplot")?.clientWidth === document.querySelector("#chart-cpu .plot")?.clientWidth;

check("narrow and wide", async (open) => {
  const path = cpuPage();
  for (const [width, columns] of [[360, 1], [800, 1], [1280, 2], [1900, 2]]) {
    const page = await open(path, { width });
    const overflow = await overflowOf(page);
    assert.equal(overflow, 0, `${width} pixels wide`);
    const tops = await page.locator(".chart").evaluateAll((all) => all.slice(0, 2).map((one) => one.getBoundingClientRect().top));
    assert.equal(tops[0] === tops[1] ? 2 : 1, columns);
    assert.ok(await page.evaluate(chartFits), `${width} pixels wide`);
    if (width === 360) await shoot(page, "cpu-narrow");
  }
  const page = await open(path, { width: 1280 });
  await page.setViewportSize({ width: 700, height: 900 });
  await page.waitForFunction(() => innerWidth === 700);
  await page.waitForFunction(chartFits); // the charts follow the window
});

check("figures stay within their tiles, however many there are", async (open) => {
  const page = await open(makePage("gpu", fixtures.gpuJob()));
  assert.equal(await page.locator(".tile").count(), 7);
  for (const width of [360, 700, 900, 1100, 1300, 1700]) {
    await page.setViewportSize({ width, height: 1000 });
    await page.waitForFunction((wanted) => innerWidth === wanted, width);
    const wide = await page.locator(".tile-value").evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent));
    assert.deepEqual(wide, [], `${width} pixels wide`);
  }
});

check("print: light, without buttons, with the charts", async (open) => {
  const page = await open(cpuPage(), { theme: "dark" });
  const pdf = await page.pdf({ format: "A4" });
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  assert.ok(pdf.length > 30000);
  if (pictures) writeFileSync(join(pictures, "report-cpu.pdf"), pdf);
  await page.emulateMedia({ media: "print" });
  assert.ok(await page.getByRole("button", { name: "Print" }).isHidden());
  assert.ok(await page.locator("#chart-cpu canvas").isVisible());
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
});

check("keyboard and screen readers", async (open) => {
  const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
  for (const theme of /** @type {const} */ (["light", "dark"])) {
    const page = await open(cpuPage(), { theme, bypassCSP: true });
    await page.evaluate(axe);
    await page.locator("#chart-cpu .legend-item").first().evaluate((item) => /** @type {HTMLElement} */ (item).click()); // what is hidden can be read as well
    const { violations } = await page.evaluate(() => /** @type {typeof window & { axe: typeof import("axe-core") }} */ (window).axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] }));
    assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" | ")}`), []);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "theme");
    assert.match((await page.locator("#chart-cpu .plot").getAttribute("aria-label")) ?? "", /^CPU usage\. Process CPU usage: 1\.26 cores on average, 3\.79 cores at most/);
    assert.ok((await page.locator("#chart-cpu .for-readers tbody tr").count()) >= 12);
  }
});

// ---- comparisons

/**
 * The page of a comparison of two sides of runs, whose memory differs by a factor.
 * @param {string} name
 * @param {(record: fixtures.RunRecord, side: string, run: number) => void} change
 * @param {string[]} options
 */
function comparisonPage(name, change, ...options) {
  const sides = ["base", "new"].map((side) => {
    const runs = join(folder, `${name}-${side}`);
    mkdirSync(runs);
    for (let run = 0; run < 4; run++) {
      const record = fixtures.cpuJob();
      record.metadata.run_id = `${side}-${run}`;
      change(record, side, run);
      fixtures.saveRecord(record, join(runs, `${run}.json.gz`));
    }
    return runs;
  });
  const path = join(folder, `${name}.html`);
  try {
    track("compare", ...sides, "-o", path, "--force", ...options);
  } catch (error) {
    assert.equal(/** @type {{ status: number }} */ (error).status, 1, String(error)); // a gate failed
  }
  return path;
}

/**
 * @param {fixtures.RunRecord} record
 * @param {string} side
 * @param {number} run
 */
function doubleMemory(record, side, run) {
  const factor = (side === "new" ? 2 : 1) * (1 + run / 100);
  const peak = record.totals?.peak_memory_bytes;
  for (const key of /** @type {const} */ (["value", "low", "high"])) if (peak && typeof peak[key] === "number") peak[key] *= factor;
  record.process_metrics.memory = record.process_metrics.memory.map((value) => value * factor);
}

check("a comparison: gates, figures, and both sides on one time axis", async (open) => {
  const path = comparisonPage("comparison", doubleMemory, "--fail-if", "peak_memory > base + 20%", "--fail-if", "wall_seconds > base + 20%");
  const page = await open(path);
  assert.equal(await textOf(page, "#status"), "a gate failed");
  const gates = await page.locator("#gates li").allInnerTexts();
  assert.match(gates[0], /gate 'peak_memory > base \+ 20%' failed/);
  assert.match(gates[1], /gate 'wall_seconds > base \+ 20%' passed/);
  const table = await tableOf(page, ".compared");
  assert.match(table.memory[2], /^(99|1\d\d|2\.0).* more memory, 95 % CI /);
  assert.equal(table["wall time"][2], "equal in all runs");
  assert.deepEqual(Object.keys(await legendOf(page, "chart-memory")), ["base, median of 4", "base, largest", "new, median of 4", "new, largest"]);
  const peaks = await page.locator("#chart-memory").evaluate((figure) => /** @type {Figure} */ (figure).chart.values.map((values) => Math.max(...values.map(Number))));
  assert.ok(Math.abs(peaks[2] / peaks[0] - 2) < 0.01, `the lines of both sides: ${peaks}`);
  assert.equal(await overflowOf(page), 0);
  await shoot(page, "comparison");
  await shoot(await open(path, { theme: "dark", width: 500 }), "comparison-dark");
});

check("a comparison on a narrow screen: nothing is cut, and both sides are named", async (open) => {
  const path = comparisonPage("narrow-comparison", doubleMemory);
  const page = await open(path, { width: 400 });
  assert.equal(await overflowOf(page), 0);
  const cut = await page.locator(".compared .scroll").evaluateAll((boxes) => boxes.map((box) => box.scrollWidth - box.clientWidth));
  assert.deepEqual(cut.filter((columns) => columns > 0), []);
  assert.match(await textOf(page, ".facts"), /^base: 4 runs, base-0 to base-3 · new: 4 runs, new-0 to new-3$/);
  await shoot(page, "comparison-narrow");
});

check("a comparison that can say nothing does not say that there is no difference", async (open) => {
  const one = fixtures.saveRecord(fixtures.cpuJob(), join(folder, "one.json.gz"));
  const path = join(folder, "one-each.html");
  track("compare", one, one, "-o", path, "--force");
  assert.equal(await textOf(await open(path), "#status"), "too few runs to tell differences from noise");
  track("compare", one, one, "-o", path, "--force", "--fail-if", "wall_seconds in nothing > 1s");
  assert.equal(await textOf(await open(path), "#status"), "a gate cannot be checked");
});

check("a comparison for keyboard and screen readers, with names that a job chose", async (open) => {
  const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
  const path = comparisonPage("hostile-comparison", (record) => {
    const start = fixtures.START;
    record.events = [{ name: fixtures.HOSTILE, kind: "start", timestamp: start + 1 }, { name: fixtures.HOSTILE, kind: "stop", timestamp: start + 60 }];
  });
  const page = await open(path, { bypassCSP: true });
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => /** @type {typeof window & { axe: typeof import("axe-core") }} */ (window).axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] }));
  assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" | ")}`), []);
  assert.equal(await page.evaluate(() => "harmed" in window), false);
  assert.ok((await page.locator(".compared").last().innerText()).includes("</script><script>"));
});

// ---- what must not happen

check("names that a job chose are text", async (open) => {
  const path = makePage("hostile", fixtures.hostileJob());
  const page = await open(path);
  assert.equal(await page.evaluate(() => "harmed" in window), false);
  assert.equal(await page.locator("img, iframe, object, embed, link:not([rel=icon])").count(), 0);
  assert.equal(await page.locator("script").count(), 2);
  const text = await page.evaluate(() => document.body.innerText + document.title);
  assert.ok(text.includes("</script><script>window.harmed = 1</script>"));
  assert.ok(!/[\u202a-\u202e\u2066-\u2069]/.test(text) && !text.includes("\0"), "a mark that turns the text is shown as its number");
  assert.ok(text.includes("evil\\u202egnp.exe"));
  const details = page.locator("details.command");
  await details.locator("summary").click();
  const whole = await details.locator(".whole").innerText();
  assert.ok(whole.includes("x".repeat(10240)) && whole.includes("a\\x01b\\nc\\td"));
  const overflow = await overflowOf(page);
  assert.equal(overflow, 0);
  await shoot(page, "hostile", false);
});

check("bytes that are no text, of a real run", async (open) => {
  const path = join(folder, "bytes.html");
  execFileSync("sh", ["-c", `exec "$1" -q --report "$2" --force -i 0.02 sh -c 'sleep 0.1' "$(printf 'a\\377\\376b')" "$(printf 'x\\033[31m')"`, "sh", tracker, path], { env, timeout: LIMIT_MS });
  const page = await open(path);
  assert.match(await textOf(page, ".command"), /a\ufffd\ufffdb.*x\\x1b\[31m/);
});

check("earlier runs of the command stand beside this one", async (open) => {
  for (let i = 0; i < 3; i++) track("-q", "-i", "0.02", "sleep", "0.1");
  const path = join(folder, "history.html");
  track("report", "-o", path, "--force");
  const page = await open(path);
  assert.equal((await rowsOf(page, "#history")).length, 2);
  assert.ok((await page.locator("#statistics thead").innerText()).includes("of 2 earlier"));
});
