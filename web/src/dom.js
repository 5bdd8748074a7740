// Elements without markup: text goes in as text, whoever wrote it.

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Node | string | number | boolean | null | undefined | Child[]} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>} Attributes */

/**
 * @param {Element} element
 * @param {Child[]} children
 */
function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/**
 * @template {Element} Made
 * @param {Made} element
 * @param {Attributes | null | undefined} attributes
 * @param {Child[]} children
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value); // onclick
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes | null} [attributes]
 * @param {Child[]} children
 */
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes | null} [attributes]
 * @param {Child[]} children
 */
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// What would steer the eye instead of being read: controls, line ends and the marks that turn the direction of text.
// eslint-disable-next-line no-control-regex -- those are what it is for
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** @param {unknown} text */
export function visible(text) {
  return String(text).replace(UNSEEN, (mark) => {
    const code = mark.charCodeAt(0);
    if (mark === "\n") return "\\n";
    if (mark === "\t") return "\\t";
    return code < 0x100 ? "\\x" + code.toString(16).padStart(2, "0") : "\\u" + code.toString(16).padStart(4, "0");
  });
}

/**
 * A text that a job chose: isolated, so that it can't change the direction of what stands beside it.
 * @param {unknown} text
 */
export function foreign(text) {
  return h("bdi", null, visible(text));
}
