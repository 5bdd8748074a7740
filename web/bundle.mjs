// Bundles the page into one file: node bundle.mjs OUTPUT. Scripts and styles stand inside; nothing is fetched.
import { build } from "esbuild";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2];

/** @param {string} entry */
async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["es2020"],
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
  });
  return result.outputFiles[0].text.trim();
}

const [page, script, style, licence] = await Promise.all([
  readFile(join(here, "src/page.html"), "utf8"),
  bundle("src/main.js"),
  bundle("src/page.css"),
  readFile(join(here, "node_modules/uplot/LICENSE"), "utf8"),
]);
if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style)) throw new Error("the bundle would end its own element");

// Functions, because a string's $& and the like would be taken for patterns.
const filled = page
  .replace("@STYLE@", () => style)
  .replace("@SCRIPT@", () => script)
  .replace("@LICENCE@", () => licence.trim().replaceAll("--", "- -"));
await writeFile(output, filled);
