// Runs before the first paint, so that a chosen theme does not flash. A classic script: modules run too late.
(() => {
  const chosen = localStorage.getItem("ariel-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
