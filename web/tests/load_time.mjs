// How long pages take to be drawn: node load_time.mjs ROUNDS PAGE...; in turns, ms until the second frame, as JSON. With
// --records FOLDER it writes the records of an hour and of a million rows there instead.
import { join } from "node:path";
import { launch } from "./chromium.mjs";
import { hourJob, millionJob, saveRecord } from "./fixtures.mjs";

/** @import { Browser } from "playwright-core" */

const [, , first, ...rest] = process.argv;

/**
 * @param {Browser} browser
 * @param {string} path
 */
async function drawn(browser, path) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
  await page.goto(`file://${path}`);
  const ms = await page.evaluate(() => new Promise((/** @type {(ms: number) => void} */ done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))));
  await page.close();
  return +ms.toFixed(1);
}

/**
 * @param {number} rounds
 * @param {string[]} paths
 */
async function measure(rounds, paths) {
  const browser = await launch();
  /** @type {Record<string, number[]>} */
  const times = Object.fromEntries(paths.map((path) => [path, []]));
  for (const path of paths) await drawn(browser, path); // once for the browser's own caches
  for (let i = 0; i < rounds; i++) for (const path of paths) times[path].push(await drawn(browser, path));
  await browser.close();
  return times;
}

if (first === "--records") {
  saveRecord(hourJob(), join(rest[0], "hour.json.gz"));
  saveRecord(millionJob(), join(rest[0], "million.json.gz"));
} else {
  console.log(JSON.stringify(await measure(Number(first), rest)));
}
