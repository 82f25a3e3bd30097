// SQL: the question is sent and its answer put into the page, so that it can be stopped meanwhile: a request that is
// broken off stops the question. Without scripts the form does the same by loading a page.
"use strict";
(() => {
  const form = document.getElementById("question");
  const text = document.getElementById("sql");
  const run = document.getElementById("run");
  const cancel = document.getElementById("cancel");
  const progress = document.getElementById("progress");
  let running = null;

  const take = (html) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    for (const id of ["question-error", "answer"]) {
      const found = page.getElementById(id);
      if (!found) { location.reload(); return; }
      document.getElementById(id).replaceWith(document.adoptNode(found));
    }
    const isWrong = document.querySelector("#question-error .error") !== null;
    if (isWrong) text.setAttribute("aria-invalid", "true"); else text.removeAttribute("aria-invalid");
    const title = document.getElementById("answer-title");
    progress.textContent = isWrong ? "" : `Answered: ${title ? title.textContent : ""}.`;
    drawChart();
  };

  const finish = () => {
    running = null;
    run.disabled = false;
    cancel.hidden = true;
  };

  form.addEventListener("submit", async (event) => {
    if (event.submitter && event.submitter.id === "csv") return;
    event.preventDefault();
    if (running) return;
    running = new AbortController();
    run.disabled = true;
    cancel.hidden = false;
    progress.textContent = "Asking …";
    try {
      const answer = await fetch("/sql", { method: "POST", body: new URLSearchParams(new FormData(form)), signal: running.signal });
      take(await answer.text());
    } catch (wrong) {
      progress.textContent = wrong.name === "AbortError" ? "Stopped." : "The console does not answer; is it still running?";
    }
    finish();
  });
  cancel.addEventListener("click", () => { if (running) running.abort(); text.focus(); });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit(run);
    }
  });
  drawChart();
})();
