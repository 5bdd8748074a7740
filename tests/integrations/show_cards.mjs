// What a browser shows of pages: node show_cards.mjs FOLDER PAGE... prints a JSON array, one object a page; pictures go
// to FOLDER.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { launch } from "../../web/tests/chromium.mjs";

const textOf = async (page, selector) => ((await page.locator(selector).count()) ? (await page.locator(selector).first().innerText()).replace(/\s+/g, " ").trim() : null);

// A canvas counts as drawn when something on it is not empty.
const isDrawn = (canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return data.some((value, i) => i % 4 === 3 && value > 0);
};

async function show(browser, folder, path, number) {
  const page = await browser.newPage({ viewport: { width: 1100, height: 900 } });
  const troubles = [];
  page.on("console", (message) => troubles.push(message.text()));
  page.on("pageerror", (error) => troubles.push(error.message));
  page.on("request", (request) => !/^(file|data):/.test(request.url()) && troubles.push(request.url()));
  await page.goto(`file://${path}`);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))); // it draws itself while it is loaded
  await page.screenshot({ path: join(folder, `metaflow-card-${number}.png`), fullPage: true });
  const drawn = await page.locator("canvas").evaluateAll((all, source) => all.filter(new Function(`return ${source}`)()).length, isDrawn.toString());
  const shown = {
    troubles, drawn_charts: drawn, brand: await textOf(page, ".brand"), title: await textOf(page, "h1"), status: await textOf(page, "#status"),
    paste: await textOf(page, "#paste"), statistics: await textOf(page, "#statistics"), text: await textOf(page, "body"),
    servers: await page.locator("#cost .servers tbody tr").evaluateAll((rows) => rows.map((row) => row.innerText.replace(/\s+/g, " "))),
  };
  await page.close();
  return shown;
}

const [, , folder, ...paths] = process.argv;
mkdirSync(folder, { recursive: true });
const browser = await launch();
const shown = [];
for (const [number, path] of paths.entries()) shown.push(await show(browser, folder, path, number));
await browser.close();
console.log(JSON.stringify(shown));
