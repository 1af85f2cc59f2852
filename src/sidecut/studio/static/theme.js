// Light or dark: as the system says, until a person chooses.

export function followTheme(root, onChange) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  system.addEventListener("change", onChange);
  return {
    isDark,
    toggle() {
      root.dataset.theme = isDark() ? "light" : "dark";
      onChange();
    },
  };
}
