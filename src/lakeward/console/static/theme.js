// Light or dark: what the machine prefers, unless somebody has chosen. Runs before the page is drawn.
"use strict";
(() => {
  const KEY = "lakeward-theme";
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => {
    try { return localStorage.getItem(KEY); } catch { return null; }
  };
  const apply = () => {
    const theme = chosen();
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  };
  apply();
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme-button");
    const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
    const label = () => { button.textContent = isDark() ? "Light theme" : "Dark theme"; };
    button.addEventListener("click", () => {
      const next = isDark() ? "light" : "dark";
      try { localStorage.setItem(KEY, next); } catch { /* it then holds for this page */ }
      root.dataset.theme = next;
      label();
    });
    label();
    const menu = document.getElementById("menu-button");
    menu.addEventListener("click", () => {
      const open = menu.getAttribute("aria-expanded") !== "true";
      menu.setAttribute("aria-expanded", String(open));
      document.body.classList.toggle("menu-open", open);
    });
  });
})();
