// Light or dark: the system's choice until the reader makes one. Paper is white.

const KEY = "resource-tracker-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
/** @type {string | null} */
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

/** @param {string} theme */
function store(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // kept for this page alone
  }
}

const wanted = () => (printing ? "light" : chosen ?? (system.matches ? "dark" : "light"));

/** @param {() => void} onChange */
function apply(onChange) {
  document.documentElement.dataset.theme = wanted();
  onChange(); // canvases have their colours drawn in
}

/** @param {() => void} onChange */
export function startTheme(onChange) {
  chosen = stored();
  apply(onChange);
  system.addEventListener("change", () => apply(onChange));
  for (const event of ["beforeprint", "afterprint"]) {
    addEventListener(event, () => {
      printing = event === "beforeprint";
      apply(onChange);
    });
  }
}

/** @param {() => void} onChange */
export function toggleTheme(onChange) {
  chosen = wanted() === "dark" ? "light" : "dark";
  store(chosen);
  apply(onChange);
}
