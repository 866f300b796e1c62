// Runs before the first paint, so that a theme does not flash. A classic script: modules run too late.
(() => {
  const { dataset } = document.documentElement;
  const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => {
    dataset.theme = dataset.chosenTheme ?? (systemIsDark.matches ? "dark" : "light");
  };
  try {
    const chosen = localStorage.getItem("ariel-theme");
    if (chosen === "light" || chosen === "dark") dataset.chosenTheme = chosen;
  } catch {
    // Where storage is blocked nothing is remembered: the system's theme holds.
  }
  follow();
  systemIsDark.addEventListener("change", follow);
  addEventListener("ariel-theme", follow);
})();
