// The overview's figures, live: one event a second, its texts into the page, its numbers into small lines.
"use strict";
(() => {
  const POINTS = 60;
  const SUMMARY_EVERY = 15;
  const lines = new Map();
  let events = 0;

  const setText = (element, text) => { if (element && element.textContent !== text) element.textContent = text; };

  const draw = (name, value) => {
    const svg = document.querySelector(`[data-line="${name}"]`);
    if (!svg) return;
    const points = lines.get(name) || [];
    points.push(value);
    if (points.length > POINTS) points.shift();
    lines.set(name, points);
    const top = Math.max(...points, 1e-9);
    const at = (value, index) => `${(120 * (index + POINTS - points.length) / (POINTS - 1)).toFixed(1)},${(30 - 28 * value / top).toFixed(1)}`;
    const path = points.map(at).join(" ");
    const first = (120 * (POINTS - points.length) / (POINTS - 1)).toFixed(1);
    const area = document.createElementNS("http://www.w3.org/2000/svg", "polygon");
    area.setAttribute("points", `${first},32 ${path} 120,32`);
    const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
    line.setAttribute("points", path);
    svg.replaceChildren(area, line);
  };

  const show = (event) => {
    for (const [name, text] of Object.entries(event.texts)) {
      setText(document.querySelector(`[data-figure="${name}"]`), text);
    }
    for (const [name, value] of Object.entries(event.points)) draw(name, value);
    const word = document.getElementById("health-word");
    setText(word, event.health.word);
    word.className = `badge ${event.health.level}`;
    setText(document.getElementById("health-sentence"), event.health.sentence);
    if (events % SUMMARY_EVERY === 1) setText(document.getElementById("summary"), event.summary);
    events += 1;
  };

  const state = (word, text) => {
    document.getElementById("live").dataset.state = word;
    setText(document.getElementById("live-text"), text);
  };

  const source = new EventSource("/overview/events");
  source.onopen = () => state("live", "live");
  source.onmessage = (message) => { state("live", "live"); show(JSON.parse(message.data)); };
  source.onerror = () => state("lost", "the console does not answer; trying again …");
  source.addEventListener("failure", (message) => { source.close(); state("lost", JSON.parse(message.data).message); });
  addEventListener("pagehide", () => source.close());

  const findings = document.getElementById("findings");
  if (findings.dataset.from) {
    fetch(findings.dataset.from, { headers: { Accept: "text/html" } })
      .then(async (answer) => {
        if (!answer.ok) throw new Error(String(answer.status));
        findings.innerHTML = await answer.text();
      })
      .catch(() => { findings.textContent = "The checks could not be made now; `lakeward doctor` makes them, too."; })
      .finally(() => findings.setAttribute("aria-busy", "false"));
  }
})();
