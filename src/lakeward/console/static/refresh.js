// Figures that stay fresh: asks for this very page again, and takes over the parts marked data-live.
// A part that somebody is in with the keyboard is left alone, and what they have opened stays open.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const PAUSE_MS = 3000;
  const LONGEST_MS = 30000;
  let pause = PAUSE_MS;
  let told = new Date();
  const said = document.createElement("p");
  said.className = "hint";
  said.setAttribute("role", "status");
  document.getElementById("main").append(said);

  const take = (fresh) => {
    for (const old of document.querySelectorAll("[data-live][id]")) {
      const part = fresh.getElementById(old.id);
      if (part === null || part.isEqualNode(old) || old.contains(document.activeElement)) continue;
      for (const open of old.querySelectorAll("details[id][open]")) {
        const same = part.querySelector(`details[id="${CSS.escape(open.id)}"]`);
        if (same !== null) same.open = true;
      }
      old.replaceWith(document.adoptNode(part));
    }
  };
  const refresh = async () => {
    if (!document.hidden) {
      try {
        const answer = await fetch(location.href, { headers: { "X-Refresh": "1" }, redirect: "error" });
        if (!answer.ok) throw new Error(String(answer.status));
        take(new DOMParser().parseFromString(await answer.text(), "text/html"));
        said.textContent = "";
        pause = PAUSE_MS;
        told = new Date();
      } catch {
        pause = Math.min(pause * 2, LONGEST_MS);
        said.textContent = `The figures are those of ${told.toLocaleTimeString()}: there is no newer answer yet.`;
      }
    }
    setTimeout(refresh, pause);
  };
  setTimeout(refresh, pause);
});
