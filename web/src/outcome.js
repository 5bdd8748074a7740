// How the run ended, in a word and a reason.

import { positive } from "./format.js";

/** @import { Figure, Run } from "./run_model.js" */

/** @type {Record<number, string>} */
const SIGNALS = {
  1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 10: "SIGUSR1",
  11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 24: "SIGXCPU", 25: "SIGXFSZ",
};

/** @param {number} number */
export const signalName = (number) => SIGNALS[number] ?? `signal ${number}`;

/** @param {Run} run */
export const wasOutOfMemory = (run) => (run.totals?.oom_kills?.value ?? 0) > 0;

/** @param {{ exit_code?: Figure, signal?: Figure }} ended */
export function exitWords({ exit_code: code, signal }) {
  if (signal) return signalName(signal);
  return code === null || code === undefined ? "" : `exit ${code}`;
}

/** @param {Run} run */
export function outcomeOf(run) {
  const data = run.metadata ?? {};
  const words = exitWords(data);
  const failed = run.status_failed || data.signal || positive(data.exit_code);
  if (data.interrupted) return { status: "Interrupted", tone: "warn", reason: "the tracker was killed; rows up to then are here" };
  if (failed && wasOutOfMemory(run)) return { status: "Failed", tone: "bad", reason: words ? `out of memory, ${words}` : "out of memory" };
  if (failed) return { status: "Failed", tone: "bad", reason: words };
  if (data.stop_time === null || data.stop_time === undefined) return { status: "Pending", tone: "warn", reason: "still running when this page was made" };
  return { status: "Finished", tone: "good", reason: words };
}
