// What makes pages nicer where scripts run. Nothing here is needed to use the console.
"use strict";

const lang = document.documentElement.lang === "en" ? "en-GB" : document.documentElement.lang; // days before months
document.documentElement.classList.add("scripted");

// Copy buttons: the code beside them, or what `data-copy` points at.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const wanted = button.dataset.copy;
  const source = wanted ? document.querySelector(wanted) : button.parentElement.querySelector("code");
  const text = source.value ?? source.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const range = document.createRange();
    range.selectNodeContents(source);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    document.execCommand("copy");
  }
  const label = button.querySelector("span");
  if (label && !button.classList.contains("done")) {
    const before = label.textContent;
    label.textContent = button.dataset.done || before;
    button.classList.add("done");
    setTimeout(() => { label.textContent = before; button.classList.remove("done"); }, 1600);
  }
});

// Menus close when one clicks elsewhere or presses Escape.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.drop[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.drop[open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

// Another theme shows at once; the server is told, so that its next page comes in it.
document.addEventListener("click", (event) => {
  const chosen = event.target.closest('button[name="theme"]');
  if (!chosen || !chosen.form) return;
  event.preventDefault();
  document.documentElement.dataset.theme = chosen.value;
  for (const one of document.querySelectorAll('button[name="theme"]')) {
    one.setAttribute("aria-pressed", String(one.value === chosen.value));
  }
  document.dispatchEvent(new Event("theme"));
  const asked = { method: "POST", body: new URLSearchParams(new FormData(chosen.form, chosen)), redirect: "manual" };
  fetch(chosen.form.action, asked)
    .then((answer) => { if (answer.type !== "opaqueredirect") throw new Error(answer.status); })
    .catch(() => chosen.form.requestSubmit(chosen));
});

// Actions that cannot be undone ask first.
document.addEventListener("submit", (event) => {
  const question = event.target.dataset.sure;
  if (question && !confirm(question)) event.preventDefault();
}, true);

// Forms that filter go at once when a choice changes.
document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-at-once]");
  if (form && !window.htmx) form.requestSubmit();
});

// Times in the reader's own zone.
const moments = new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "short" });
const days = new Intl.DateTimeFormat(lang, { dateStyle: "medium" });
function localTimes(within) {
  for (const time of within.querySelectorAll("time[data-form]")) {
    const when = new Date(time.dateTime);
    if (Number.isNaN(when.valueOf())) continue;
    time.title = moments.format(when);
    if (time.dataset.form === "moment") time.textContent = moments.format(when);
    if (time.dataset.form === "date" && time.dateTime.length > 10) time.textContent = days.format(when);
  }
}
localTimes(document);
document.addEventListener("htmx:load", (event) => localTimes(event.detail.elt));

// What goes wrong behind htmx is said where one looks.
document.addEventListener("htmx:beforeSwap", (event) => {
  // Forms with faults come back with 4xx and are shown like any other answer.
  if ([400, 409, 422].includes(event.detail.xhr.status)) {
    event.detail.shouldSwap = true;
    event.detail.isError = false;
  }
});
