// Live tail: rows are put on top as they come, the page keeps the last few hundred, and a pause forgets nothing: what
// was read last is remembered as a position, from which the server goes on.
"use strict";
(() => {
  const KEPT = 500;
  const AGAIN_MS = 1000;
  const section = document.getElementById("tail");
  if (!section) return;
  const head = section.querySelector("thead tr");
  const body = section.querySelector("tbody");
  const pause = document.getElementById("tail-pause");
  const status = document.getElementById("tail-status");
  const failure = document.getElementById("tail-failure");
  const number = new Intl.NumberFormat("en");
  let columns = [];
  let source = null;
  let position = "";
  let since = 0; // where there are too many buckets for a position
  let seen = 0;
  let shown = 0;
  let leftOut = 0;
  let isPaused = false;
  let again = 0;
  let told = 0;

  const address = () => {
    const asked = new URLSearchParams(location.search);
    asked.set("table", new URLSearchParams(section.dataset.events.split("?")[1]).get("table"));
    if (position) asked.set("after", position);
    else if (since) asked.set("since", since);
    return `/live/events?${asked}`;
  };

  const say = (text) => { status.textContent = text; };

  const count = () => {
    const parts = [`${number.format(seen)} rows have come`, `${number.format(shown)} shown`];
    if (leftOut) parts.push(`${number.format(leftOut)} left out, because they came faster than a page can show`);
    return parts.join(", ");
  };

  // Those who listen are told now and then, not of each row.
  const report = () => {
    if (isPaused || told) return;
    say(`Live. ${count()}.`);
    told = setTimeout(() => { told = 0; if (!isPaused && source) say(`Live. ${count()}.`); }, 2000);
  };

  const showRows = (rows) => {
    for (const old of body.querySelectorAll("tr.fresh")) old.classList.remove("fresh");
    const fresh = document.createDocumentFragment();
    for (const row of rows.slice(-KEPT).reverse()) {
      const tr = cells.element("tr", "fresh");
      row.forEach((value, at) => tr.append(cells.cell(value, columns[at].is_number)));
      fresh.append(tr);
    }
    body.prepend(fresh);
    while (body.rows.length > KEPT) body.deleteRow(-1);
  };

  const take = (document_) => {
    if (document_.columns) {
      columns = document_.columns;
      head.replaceChildren(...columns.map(cells.head));
    }
    if (document_.position) position = document_.position;
    if (document_.now_ms) since = document_.now_ms;
    if (document_.rows) {
      seen += document_.seen;
      shown += document_.rows.length;
      leftOut += document_.left_out;
      if (document_.rows.length) showRows(document_.rows);
    }
    report();
  };

  const stop = () => {
    clearTimeout(again);
    if (source) source.close();
    source = null;
  };

  const fail = (text) => {
    stop();
    failure.textContent = text;
    failure.hidden = false;
    say(`Stopped. ${count()}.`);
    isPaused = true;
    pause.textContent = "Try again";
  };

  const start = () => {
    stop();
    failure.hidden = true;
    source = new EventSource(address());
    source.onmessage = (event) => take(JSON.parse(event.data));
    source.addEventListener("failure", (event) => fail(JSON.parse(event.data).message));
    source.onerror = () => {
      const isRefused = source && source.readyState === EventSource.CLOSED;
      stop();
      if (isRefused) { fail("The console does not answer this page. Load it again; you may have to log in."); return; }
      say("The connection is lost; trying again …");
      again = setTimeout(start, AGAIN_MS);
    };
  };

  pause.addEventListener("click", () => {
    isPaused = !isPaused;
    pause.textContent = isPaused ? "Resume" : "Pause";
    if (isPaused) { stop(); say(`Paused. ${count()}. What comes meanwhile is shown when you resume.`); } else { say("Going on …"); start(); }
  });
  document.getElementById("tail-clear").addEventListener("click", () => {
    body.replaceChildren();
    seen = shown = leftOut = 0;
    report();
  });
  addEventListener("pagehide", stop);
  addEventListener("pageshow", (event) => { if (event.persisted && !isPaused) start(); });
  start();
})();
