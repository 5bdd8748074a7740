// Figures as a person reads them: three digits, always with the unit.

/** @import { Figure } from "./run_model.js" */

/**
 * @param {unknown} value
 * @returns {value is number}
 */
export const known = (value) => typeof value === "number" && Number.isFinite(value);

/**
 * @param {unknown} value
 * @returns {value is number}
 */
export const positive = (value) => known(value) && value > 0;

/** @param {number} value */
function decimals(value) {
  const size = Math.abs(value);
  return size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
}

/** @param {Figure} value */
export function number(value) {
  if (!known(value)) return "–";
  if (value > 0 && value < 0.005) return "<0.01";
  return value.toFixed(decimals(value));
}

/** @param {Figure} value */
export function count(value) {
  return known(value) ? Math.round(value).toLocaleString("en") : "–";
}

const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/** @param {number} largest */
export function byteUnit(largest) {
  let unit = 0;
  while (largest / 1024 ** unit >= 1023.5 && unit < BYTE_UNITS.length - 1) unit++;
  return { name: BYTE_UNITS[unit], size: 1024 ** unit };
}

/** @param {Figure} value */
export function bytes(value) {
  if (!known(value)) return "–";
  const unit = byteUnit(value);
  const inUnit = value / unit.size;
  return `${inUnit.toFixed(unit.size === 1 ? 0 : decimals(inUnit))} ${unit.name}`;
}

/**
 * Requests are round figures: 8 GiB, not 8.00 GiB.
 * @param {Figure} value
 */
export function roundBytes(value) {
  if (!known(value)) return "–";
  const unit = byteUnit(value);
  const inUnit = value / unit.size;
  return `${Number.isInteger(inUnit) ? inUnit : inUnit.toFixed(decimals(inUnit)).replace(/\.?0+$/, "")} ${unit.name}`;
}

/** @param {Figure} value */
export const rate = (value) => (known(value) ? `${bytes(value)}/s` : "–");

/** @param {Figure} ratio */
export function percent(ratio) {
  if (!known(ratio)) return "–";
  const value = ratio * 100;
  return `${value > 0 && value < 9.95 ? value.toFixed(1) : value.toFixed(0)} %`;
}

/** @param {number} value */
const pad = (value) => String(value).padStart(2, "0");

/**
 * "5.20 ms", "12.3 s", "3 min 12 s", "2 h 05 min", "3 d 04 h"
 * @param {Figure} seconds
 */
export function duration(seconds) {
  if (!known(seconds)) return "–";
  if (seconds < 0.9995 && seconds > 0) return `${(seconds * 1000).toFixed(decimals(seconds * 1000))} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(seconds ? decimals(seconds) : 0)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${pad(whole % 60)} s`;
  if (whole < 86400) return `${Math.floor(whole / 3600)} h ${pad(Math.floor((whole % 3600) / 60))} min`;
  return `${Math.floor(whole / 86400)} d ${pad(Math.floor((whole % 86400) / 3600))} h`;
}

/**
 * On an axis: as many parts as the step needs.
 * @param {number} seconds
 * @param {number} step
 */
export function elapsed(seconds, step) {
  const sign = seconds < 0 ? "−" : "";
  const s = Math.abs(seconds);
  if (step < 1 && s < 60) return `${sign}${s.toFixed(step < 0.01 ? 3 : step < 0.1 ? 2 : 1)} s`;
  if (s < 60 && step < 60) return `${sign}${Number(s.toFixed(1))} s`;
  if (s < 3600) return `${sign}${Math.floor(s / 60)}:${pad(Math.round(s % 60))}`;
  if (s < 86400 || step < 3600) return `${sign}${Math.floor(s / 3600)}:${pad(Math.floor((s % 3600) / 60))}:${pad(Math.round(s % 60))}`;
  return `${sign}${Math.floor(s / 86400)}d ${pad(Math.floor((s % 86400) / 3600))}h`;
}

/** @param {Figure} epoch */
export function dateTime(epoch) {
  if (!known(epoch)) return "–";
  const at = new Date(epoch * 1000);
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())} ${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
}

/**
 * @param {number} epoch
 * @param {number} step
 */
export function clock(epoch, step) {
  const at = new Date(epoch * 1000);
  const minutes = `${pad(at.getHours())}:${pad(at.getMinutes())}`;
  if (step >= 86400) return `${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  if (step >= 60) return minutes;
  if (step >= 1) return `${minutes}:${pad(at.getSeconds())}`;
  return `${minutes}:${pad(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, "0").slice(0, step < 0.01 ? 3 : 2)}`;
}

/**
 * Whole dollars with cents; fractions of a cent with their first digits.
 * @param {Figure} amount
 * @param {string} [currency]
 */
export function money(amount, currency = "USD") {
  if (!known(amount)) return "–";
  const sign = currency === "USD" ? "$" : `${currency} `;
  if (amount === 0) return `${sign}0`;
  if (amount >= 0.995) return sign + amount.toFixed(2);
  return sign + amount.toFixed(Math.min(8, 2 - Math.floor(Math.log10(amount) + 1e-9))).replace(/0+$/, "");
}
