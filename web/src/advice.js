// What to ask for next time: levels with risk and reasons, ready to paste; what it costs.
import { h, visible } from "./dom.js";
import { bytes, count, duration, known, money, number, percent, positive, roundBytes } from "./format.js";

/** @import { Advice, Level, LevelName, Rent, Run, Server } from "./run_model.js" */

/** @type {LevelName[]} */
const LEVELS = ["lean", "balanced", "safe"];
/** @type {Record<string, string>} */
const FORMS = {
  slurm: "Slurm", kubernetes: "Kubernetes", metaflow: "Metaflow", nextflow: "Nextflow", snakemake: "Snakemake", docker: "Docker",
  "aws-batch": "AWS Batch",
};

/** @type {Record<string, number>} */
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** @param {Level["memory"]} mib */
const memoryWords = (mib) => (positive(mib) ? roundBytes(mib * 1048576) : "–");

/**
 * @param {string} text
 * @param {HTMLElement} source
 */
async function copyText(text, source) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A page from a file may have no clipboard: then the old way.
    const range = document.createRange();
    range.selectNodeContents(source);
    const selection = getSelection();
    selection?.removeAllRanges();
    selection?.addRange(range);
    return document.execCommand("copy");
  }
}

/**
 * One of several, as buttons: arrows move, the chosen one is in the tab order.
 * @template {string} Value
 * @param {string} label
 * @param {[value: Value, words: string][]} options
 * @param {Value} chosen
 * @param {(value: Value) => void} onChoose
 */
function choice(label, options, chosen, onChoose) {
  const buttons = options.map(([value, words]) =>
    h("button", { type: "button", role: "radio", "data-value": value, "aria-checked": String(value === chosen), tabindex: value === chosen ? 0 : -1 }, words),
  );
  const choose = (/** @type {number} */ index) => {
    buttons.forEach((button, i) => {
      button.setAttribute("aria-checked", String(i === index));
      button.tabIndex = i === index ? 0 : -1;
    });
    onChoose(options[index][0]);
  };
  buttons.forEach((button, index) => {
    button.addEventListener("click", () => choose(index));
    button.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      if (!step) return;
      event.preventDefault();
      const next = (index + step + buttons.length) % buttons.length;
      buttons[next].focus();
      choose(next);
    });
  });
  return h("div", { class: "choice", role: "radiogroup", "aria-label": label }, buttons);
}

/** @param {Advice} advice */
function levelTable(advice) {
  /** @type {[name: string, level: Level][]} */
  const columns = [...LEVELS.map((name) => /** @type {[string, Level]} */ ([name, advice.levels?.[name] ?? {}])), ["classic", { ...advice.classic, risk: null, slowdown: null }]];
  const gpus = columns.some(([, level]) => positive(level.gpu));
  /**
   * @param {string} name
   * @param {(level: Level) => string} words
   */
  const row = (name, words) => h("tr", null, h("th", { scope: "row" }, name), columns.map(([key, level]) => h("td", { "data-level": key }, words(level))));
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { class: "levels figures" },
      h("caption", { class: "for-readers" }, "Recommended resources by level"),
      h("thead", null, h("tr", null, h("td"), columns.map(([key]) => h("th", { scope: "col", "data-level": key }, key)))),
      h(
        "tbody",
        null,
        row("Memory", (level) => memoryWords(level.memory)),
        row("Risk of too little", (level) => percent(level.risk)),
        row("Cores", (level) => count(level.cpu)),
        row("Longer by", (level) => percent(level.slowdown)),
        gpus && row("GPUs", (level) => count(level.gpu)),
        gpus && row("VRAM of each", (level) => memoryWords(level.vram)),
      ),
    ),
  );
}

/** @param {Level | undefined} level */
function reasonsOf(level) {
  return [["Memory", level?.reasons?.memory], ["Cores", level?.reasons?.cpu], ["GPUs", positive(level?.gpu) && level.reasons?.gpu]]
    .filter(([, why]) => why)
    .map(([name, why]) => h("li", null, h("strong", null, `${name}: `), visible(why)));
}

/** @param {Advice} advice */
function basisWords(advice) {
  const runs = advice.runs_used;
  if (!known(runs)) return null;
  return `from ${count(runs)} ${runs === 1 ? "run" : "runs"} of this command`;
}

/**
 * @param {Run} run
 * @param {Advice} advice
 */
function adviceBody(run, advice) {
  /** @type {LevelName} */
  let level = "balanced";
  let form = run.integration === "metaflow" ? "metaflow" : "slurm";
  const forms = Object.keys(run.paste?.[level] ?? {});
  const reasons = h("ul", { class: "reasons" });
  const text = h("pre", { id: "paste", tabindex: 0 });
  const copied = h("span", { class: "copied", role: "status" });
  const copy = h("button", { type: "button", class: "copy no-print" }, "Copy");
  copy.addEventListener("click", async () => {
    copied.textContent = (await copyText(text.textContent ?? "", text)) ? "Copied" : "Press Ctrl-C";
    setTimeout(() => copied.replaceChildren(), 2000);
  });
  const table = levelTable(advice);
  const update = () => {
    reasons.replaceChildren(...reasonsOf(advice.levels?.[level]));
    text.textContent = run.paste?.[level]?.[form] ?? "";
    for (const cell of table.querySelectorAll("[data-level]")) cell.classList.toggle("chosen", cell.getAttribute("data-level") === level);
  };
  update();
  const chooseLevel = (/** @type {LevelName} */ value) => {
    level = value;
    update();
  };
  const chooseForm = (/** @type {string} */ value) => {
    form = value;
    update();
  };
  return [
    h("div", { class: "no-print" }, choice("Level", LEVELS.map((name) => [name, name]), level, chooseLevel)),
    table,
    reasons,
    forms.length > 0 && [
      h("div", { class: "paste-head" }, choice("Form", forms.map((name) => [name, FORMS[name] ?? name]), form, chooseForm)),
      h("div", { class: "paste" }, text, copy, copied),
    ],
  ];
}

/**
 * Why there is no advice, and the peaks that its words speak of.
 * @param {Run} run
 * @param {Advice} advice
 */
function refusalBody(run, { refusal, peaks }) {
  const memory = run.totals?.peak_memory_bytes?.value ?? (peaks?.memory ?? NaN) * 1048576;
  const cores = run.stats("process_cpu")?.max ?? peaks?.cpu;
  const words = [known(memory) && `${bytes(memory)} of memory`, known(cores) && `${number(cores)} cores`].filter(Boolean);
  return [h("p", { class: "muted" }, visible(refusal)), words.length > 0 && h("p", { id: "peaks" }, `Peaks: ${words.join(", ")}`)];
}

/**
 * For lack of better: what the simple rule says, in the words of the workflow.
 * @param {NonNullable<Run["classic_need"]>} need
 */
function classicBody({ cpu, memory, gpu, vram }) {
  const words = [["cpu", cpu], ["memory", memory], ["gpu", positive(gpu) ? gpu : null]].filter(([, value]) => known(value)).map(([name, value]) => `${name}=${value}`);
  return [
    h("p", null, "Until then the classic rule, mean CPU and the memory's peak with a fifth more:"),
    h("pre", { id: "paste", tabindex: 0 }, `@resources(${words.join(", ")})${positive(gpu) && positive(vram) ? `  # ${roundBytes(vram * 1048576)} of VRAM` : ""}`),
  ];
}

/** @param {Run} run */
export function adviceCard(run) {
  const { advice } = run;
  if (!advice) return null;
  const enough = advice.levels && Object.keys(advice.levels).length > 0;
  if (!enough && !advice.refusal) return null;
  return h(
    "section",
    { class: "card advice", id: "advice", "aria-labelledby": "advice-title" },
    h("div", { class: "card-head" }, h("h2", { id: "advice-title" }, "What to ask for next time"), enough && h("span", { class: "muted" }, basisWords(advice))),
    enough ? adviceBody(run, advice) : refusalBody(run, advice),
    !enough && run.classic_need && classicBody(run.classic_need),
  );
}

// ---- cost

/** @param {Server} server */
const nameOf = (server) => `${visible(server.vendor_id ?? "")} ${visible(server.server_id ?? server.api_reference ?? "")}`.trim();

/** @param {Server} server */
function sizeOf(server) {
  const gpus = positive(server.gpu_count) ? `, ${count(server.gpu_count)} × ${visible(server.gpu_model ?? "GPU")}` : "";
  // A program for x86_64 does not run on every machine, and a price is that of a region.
  const processor = server.cpu_architecture && server.cpu_architecture !== "x86_64" ? `, ${visible(server.cpu_architecture)}` : "";
  const region = server.region ? `, ${visible(server.region)}` : "";
  return `${count(server.vcpus)} ${server.vcpus === 1 ? "vCPU" : "vCPUs"}, ${roundBytes((server.memory_amount ?? NaN) * 1048576)}${gpus}${processor}${region}`;
}

/**
 * The cheapest of a few vendors, that of the run among them.
 * @param {Rent} rent
 */
function offers(rent) {
  const VENDORS = 3; // and that of the run
  const all = rent.by_vendor?.length ? rent.by_vendor : rent.servers ?? [];
  const own = all.findIndex((server) => server.vendor_id === rent.run?.vendor_id);
  return own >= VENDORS ? [...all.slice(0, VENDORS), all[own]] : all.slice(0, VENDORS);
}

/** @param {Rent} rent */
function offerTable(rent) {
  const servers = offers(rent);
  if (!servers.length) return null;
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { class: "figures servers" },
      h("caption", { class: "muted" }, "The cheapest that fit what to ask for"),
      h("thead", null, h("tr", null, ["Server", "An hour", "This run"].map((name) => h("th", { scope: "col" }, name)))),
      h(
        "tbody",
        null,
        servers.map((server) =>
          h("tr", null, h("th", { scope: "row" }, nameOf(server), h("small", null, sizeOf(server))), h("td", null, money(server.min_price_ondemand, rent.currency)), h("td", null, money(server.best_ondemand_price_duration, rent.currency))),
        ),
      ),
    ),
  );
}

/**
 * A more expensive machine that ends sooner may cost less in all.
 * @param {Rent} rent
 */
function finishTable(rent) {
  const rows = (rent.finish ?? []).filter((one) => known(one.cost));
  if (rows.length < 2) return null;
  return h(
    "details",
    { class: "finish" },
    h("summary", null, "Cheapest to finish, by cores"),
    h(
      "table",
      { class: "figures" },
      h("caption", { class: "for-readers" }, "Cheapest to finish"),
      h("thead", null, h("tr", null, ["Server", "Takes at least", "Costs"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", null, rows.map((one) => h("tr", { class: one.cheapest ? "chosen" : "" }, h("th", { scope: "row" }, nameOf(one), h("small", null, sizeOf(one))), h("td", null, duration(one.seconds)), h("td", null, money(one.cost, rent.currency))))),
    ),
  );
}

/**
 * What the run cost where it ran, and what the recommended level would cost elsewhere.
 * @param {Run} run
 */
export function costCard(run) {
  const { rent } = run;
  const paid = rent?.run;
  const best = rent?.servers?.[0];
  if (!rent || (!best && !known(paid?.run_costs))) return null;
  const saving = best?.cost_savings;
  const elsewhere = paid?.price_is_of_region === false ? ` (the price of ${visible(paid.price_region || "its cheapest region")})` : "";
  const guessed = paid?.server_id_inferred ? " (by its size)" : "";
  return h(
    "section",
    { class: "card", id: "cost", "aria-labelledby": "cost-title" },
    h("h2", { id: "cost-title" }, "What it costs"),
    known(paid?.run_costs) && h("p", { class: "cost-run" }, h("strong", null, money(paid.run_costs, rent.currency)), ` for this run on ${nameOf(paid)}${guessed}, at ${money(paid.price, rent.currency)} an hour${elsewhere}`),
    offerTable(rent),
    best && positive(saving?.amount) && h("p", { class: "saving" }, `${nameOf(best)} would save ${money(saving.amount, rent.currency)}, ${percent((saving.percent ?? NaN) / 100)} of this run.`),
    finishTable(rent),
    h("p", { class: "muted note" }, visible(rent.credit ?? `Prices of ${rent.date}`)),
  );
}
