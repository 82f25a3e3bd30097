// A simple chart of the rows that the page shows: bars or a line, one column across and one up. The table is its text.
"use strict";
const drawChart = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const WIDTH = 720;
  const HEIGHT = 300;
  const LEFT = 70;
  const BOTTOM = 48;
  const TOP = 12;
  const POINTS = 200;
  const number = new Intl.NumberFormat("en", { maximumSignificantDigits: 4, notation: "compact" });

  const shape = (name, attributes, text) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const cellText = (cell) => {
    const full = cell.querySelector(".full");
    return cell.querySelector(".null") ? "" : (full || cell).textContent.trim();
  };
  const option = (name, at) => { const made = document.createElement("option"); made.value = String(at); made.textContent = name; return made; };

  const draw = (table, kind, x, y, names) => {
    const rows = [...table.tBodies[0].rows];
    const points = rows.slice(0, POINTS)
      .map((row) => ({ label: cellText(row.cells[x]), value: cellText(row.cells[y]) }))
      .filter((point) => point.value !== "" && Number.isFinite(Number(point.value)))
      .map((point) => ({ label: point.label, value: Number(point.value) }));
    const low = Math.min(0, ...points.map((point) => point.value));
    const high = Math.max(0, ...points.map((point) => point.value)) || (low < 0 ? 0 : 1);
    const up = (value) => TOP + (HEIGHT - BOTTOM - TOP) * (1 - (value - low) / (high - low || 1));
    const step = (WIDTH - LEFT - 8) / Math.max(points.length, 1);
    const svg = shape("svg", {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img",
      "aria-label": `${kind === "bar" ? "Bars" : "Line"} of ${names[y]} by ${names[x]}: ${points.length} points, from ${number.format(Math.min(...points.map((p) => p.value)))} to ${number.format(Math.max(...points.map((p) => p.value)))}`,
    });
    for (let line = 0; line <= 4; line += 1) {
      const value = low + (high - low) * line / 4;
      svg.append(shape("line", { class: "chart-grid", x1: LEFT, x2: WIDTH - 8, y1: up(value), y2: up(value) }));
      svg.append(shape("text", { class: "chart-text", x: LEFT - 6, y: up(value) + 4, "text-anchor": "end" }, number.format(value)));
    }
    const every = Math.ceil(points.length / 8);
    const middle = (at) => LEFT + step * (at + 0.5);
    if (kind === "line") {
      svg.append(shape("polyline", { class: "chart-line", points: points.map((point, at) => `${middle(at)},${up(point.value)}`).join(" ") }));
    }
    points.forEach((point, at) => {
      const mark = kind === "line"
        ? shape("circle", { class: "chart-dot", cx: middle(at), cy: up(point.value), r: Math.min(4, step / 2) })
        : shape("rect", { class: "chart-bar", x: middle(at) - step * 0.4, width: step * 0.8, y: Math.min(up(point.value), up(0)), height: Math.abs(up(point.value) - up(0)) });
      mark.append(shape("title", {}, `${point.label}: ${point.value}`));
      svg.append(mark);
      if (at % every === 0) {
        const label = point.label.length > 14 ? `${point.label.slice(0, 13)}…` : point.label;
        svg.append(shape("text", { class: "chart-text", x: middle(at), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }, label));
      }
    });
    svg.append(shape("line", { class: "chart-axis", x1: LEFT, x2: WIDTH - 8, y1: up(0), y2: up(0) }));
    const left = rows.length - points.length;
    return { svg, note: left ? `${left} of ${rows.length} rows are not drawn: they have no number here, or are more than ${POINTS}.` : "" };
  };

  return () => {
    const section = document.getElementById("chart");
    const table = document.getElementById("answer-rows");
    if (!section || !table) return;
    const heads = [...table.tHead.rows[0].cells];
    const names = heads.map((head) => head.querySelector(".column-name").textContent);
    const numbers = heads.flatMap((head, at) => (head.dataset.number ? [at] : []));
    if (!numbers.length) return;
    const [kind, x, y] = ["chart-kind", "chart-x", "chart-y"].map((id) => document.getElementById(id));
    x.replaceChildren(...names.map(option));
    y.replaceChildren(...numbers.map((at) => option(names[at], at)));
    const other = heads.findIndex((head) => !head.dataset.number);
    x.value = String(other < 0 ? 0 : other);
    y.value = String(numbers.find((at) => String(at) !== x.value) ?? numbers[0]);
    const show = () => {
      const drawn = draw(table, kind.value, Number(x.value), Number(y.value), names);
      document.getElementById("chart-drawing").replaceChildren(drawn.svg);
      document.getElementById("chart-note").textContent = drawn.note;
    };
    for (const choice of [kind, x, y]) choice.addEventListener("change", show);
    section.hidden = false;
    show();
  };
})();
