// Light or dark: the system's choice until the reader makes one. Paper is white.

const KEY = "resource-tracker-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
let chosen = null; // by the reader
let printing = false;

function stored() {
  try {
    const theme = localStorage.getItem(KEY);
    return theme === "light" || theme === "dark" ? theme : null;
  } catch {
    return null; // a page from a file may have no storage
  }
}

function store(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // kept for this page alone
  }
}

const wanted = () => (printing ? "light" : chosen ?? (system.matches ? "dark" : "light"));

function apply(onChange) {
  document.documentElement.dataset.theme = wanted();
  onChange(); // canvases have their colours drawn in
}

export function startTheme(onChange) {
  chosen = stored();
  apply(onChange);
  system.addEventListener("change", () => apply(onChange));
  for (const [event, value] of [["beforeprint", true], ["afterprint", false]])
    addEventListener(event, () => {
      printing = value;
      apply(onChange);
    });
}

export function toggleTheme(onChange) {
  chosen = wanted() === "dark" ? "light" : "dark";
  store(chosen);
  apply(onChange);
}
