// Light or dark: the system's choice until the reader makes one.

const KEY = "resource-tracker-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function stored() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // a page from a file may have no storage
  }
}

export function currentTheme() {
  return document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light");
}

export function startTheme(onChange) {
  const kept = stored();
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
  system.addEventListener("change", onChange);
  // Paper is white: the canvases are drawn anew for it.
  let before;
  addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
    onChange();
  });
  addEventListener("afterprint", () => {
    if (before) document.documentElement.dataset.theme = before;
    else delete document.documentElement.dataset.theme;
    onChange();
  });
}

export function toggleTheme(onChange) {
  const next = currentTheme() === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // kept for this page alone
  }
  onChange();
}
