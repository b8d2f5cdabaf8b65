// What makes the guide nicer where scripts run: the reader's key in samples, tabs that stay chosen,
// search, and the heading in view. Copying and themes are the console's script.
"use strict";

const kept = {
  get(store, name) { try { return store.getItem(name) ?? ""; } catch { return ""; } },
  set(store, name, value) {
    try { if (value) store.setItem(name, value); else store.removeItem(name); } catch { /* private */ }
  },
};

// The reader's key: it stands in this tab's samples and storage, and goes nowhere else.
const KEY = "zurelay_reader_key";
const field = document.getElementById("reader-key");
for (const slot of document.querySelectorAll("[data-key]")) slot.dataset.written = slot.textContent;

function fill(key) {
  for (const slot of document.querySelectorAll("[data-key]")) {
    slot.classList.toggle("filled", Boolean(key));
    slot.textContent = !key ? slot.dataset.written : slot.dataset.key === "quoted" ? `"${key}"` : key;
  }
}

if (field) {
  const hint = document.getElementById("reader-key-hint");
  const said = hint.textContent;
  const taken = () => {
    const key = field.value.trim();
    const good = /^[\w.-]{8,200}$/.test(key);
    const wrong = key !== "" && !good;
    fill(good ? key : "");
    kept.set(sessionStorage, KEY, good ? key : "");
    field.setAttribute("aria-invalid", String(wrong));
    hint.classList.toggle("fault", wrong);
    hint.textContent = wrong ? field.dataset.wrong : said;
  };
  field.value = kept.get(sessionStorage, KEY);
  field.addEventListener("input", taken);
  if (field.value) taken();
} else {
  fill(kept.get(sessionStorage, KEY));
}

// Tabs: a choice holds for all samples that have that language, here and on other pages.
const TAB = "zurelay_docs_tab";
function choose(tab) {
  for (const input of document.querySelectorAll(".tabbed > input")) {
    if (input.value === tab) input.checked = true;
  }
}
choose(kept.get(localStorage, TAB));
document.addEventListener("change", (event) => {
  if (!event.target.matches(".tabbed > input")) return;
  const before = event.target.getBoundingClientRect().top;
  choose(event.target.value);
  kept.set(localStorage, TAB, event.target.value);
  scrollBy(0, event.target.getBoundingClientRect().top - before); // what was clicked stays in place
});

// A whole page as Markdown, into the clipboard.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy-page]");
  if (!button) return;
  const { local } = document.documentElement.dataset; // the address in its samples is the reader's, too
  const text = fetch(button.dataset.copyPage)
    .then((answer) => answer.text())
    .then((page) => (local ? page.replaceAll(local, location.origin) : page));
  try {
    if (window.ClipboardItem) {
      const blob = text.then((got) => new Blob([got], { type: "text/plain" }));
      await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
    } else {
      await navigator.clipboard.writeText(await text);
    }
  } catch {
    location.href = button.dataset.copyPage;
    return;
  }
  const label = button.querySelector("span");
  const before = label.textContent;
  if (before === button.dataset.done) return;
  label.textContent = button.dataset.done;
  setTimeout(() => { label.textContent = before; }, 1600);
});

// The heading in view, in the list beside the page.
const links = new Map();
for (const link of document.querySelectorAll(".contents a")) links.set(decodeURIComponent(link.hash.slice(1)), link);
if (links.size) {
  const headings = [...document.querySelectorAll(".prose :is(h2, h3)")].filter((one) => links.has(one.id));
  let current = null;
  const mark = () => {
    let found = null;
    for (const heading of headings) {
      if (heading.getBoundingClientRect().top > 120) break;
      found = heading;
    }
    const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 4;
    if (atEnd && scrollY > 0) found = headings[headings.length - 1];
    if (found === current) return;
    if (current) links.get(current.id).removeAttribute("aria-current");
    current = found;
    if (!current) return;
    const link = links.get(current.id);
    link.setAttribute("aria-current", "true");
    const rail = link.closest(".rail");
    const far = link.offsetTop - rail.clientHeight / 2;
    if (rail.scrollHeight > rail.clientHeight) rail.scrollTop = far;
  };
  // Another language shows the same part: headings are the same in number and order.
  const PLACE = "zurelay_docs_place";
  const page = document.querySelector("form.prefer [name=page]").value;
  const [left, place] = kept.get(sessionStorage, PLACE).split(" ");
  kept.set(sessionStorage, PLACE, "");
  if (left === page) headings[Number(place)]?.scrollIntoView();
  document.addEventListener("submit", (event) => {
    if (event.submitter?.name !== "language" || !current) return;
    kept.set(sessionStorage, PLACE, `${page} ${headings.indexOf(current)}`);
  });

  let waiting = false;
  document.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; mark(); });
  }, { passive: true });
  mark();
}

// On a phone the list of contents closes once something was chosen.
document.addEventListener("click", (event) => {
  const link = event.target.closest(".contents-small a");
  if (link) link.closest("details").open = false;
});

// A long menu shows where one is; on a phone once it opens.
const side = document.getElementById("nav");
const here = side.querySelector(".side-list [aria-current]");
function showHere() {
  if (!here) return;
  const low = here.offsetTop + here.offsetHeight - side.clientHeight + 160;
  if (low > 0) side.scrollTop = low;
}
side.addEventListener("toggle", showHere);
showHere();

// Tables of models: a part of a name leaves those that have it.
document.addEventListener("input", (event) => {
  if (!event.target.matches("[data-filter]")) return;
  const wanted = event.target.value.trim().toLowerCase();
  for (const group of event.target.closest("[data-filtered]").querySelectorAll("details")) {
    let left = 0;
    for (const row of group.querySelectorAll("[data-name]")) {
      row.hidden = !row.dataset.name.includes(wanted);
      left += !row.hidden;
    }
    group.hidden = left === 0;
    if (wanted) group.open = true;
  }
});

// Search: every word must be found, or where no part has them all, some; titles and headings weigh
// more than text.
const dialog = document.getElementById("search");
const asked = document.getElementById("search-field");
const list = document.getElementById("search-found");
const state = dialog.querySelector(".search-state");
let index = null;
let chosen = -1;

const folded = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

async function load() {
  if (index) return index;
  const answer = await fetch(dialog.dataset.index);
  if (!answer.ok) throw new Error(answer.status);
  const titles = {};
  index = (await answer.json()).map(([page, anchor, heading, text]) => {
    titles[page] ??= heading;
    return { page, anchor, heading, text, title: titles[page], head: folded(heading), of: folded(titles[page]), body: folded(text) };
  });
  return index;
}

// Who asks for "tools" wants the page on "Tool calling" too.
const forms = (word) => (word.length > 3 && word.endsWith("s") ? [word, word.slice(0, -1)] : [word]);

function weight(entry, words) {
  let sum = 0;
  for (const word of words) {
    let best = 0;
    for (const [text, worth] of [[entry.head, 10], [entry.of, entry.anchor ? 3 : 12], [entry.body, 1]]) {
      for (const form of forms(word)) {
        const at = text.indexOf(form);
        if (at < 0) continue;
        const begins = at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1]);
        const whole = begins && !/[\p{L}\p{N}]/u.test(text[at + form.length] ?? " ");
        best = Math.max(best, worth * (whole ? 3 : begins ? 2 : 1));
      }
    }
    if (!best) return 0;
    sum += best;
  }
  return sum + (entry.anchor ? 0 : 1);
}

function marked(into, text, words) {
  // Folding may change lengths; where it does, nothing is marked.
  const low = folded(text);
  let at = 0;
  while (low.length === text.length && at < text.length) {
    let next = -1;
    let size = 0;
    for (const word of words) {
      const found = low.indexOf(word, at);
      if (found >= 0 && (next < 0 || found < next)) { next = found; size = word.length; }
    }
    if (next < 0) break;
    into.append(text.slice(at, next));
    const mark = document.createElement("mark");
    mark.textContent = text.slice(next, next + size);
    into.append(mark);
    at = next + size;
  }
  into.append(text.slice(at));
}

function snippet(entry, words) {
  const found = words.map((word) => entry.body.indexOf(word)).filter((at) => at >= 0);
  const at = found.length ? Math.min(...found) : 0;
  const from = at > 60 ? entry.text.indexOf(" ", at - 60) + 1 : 0;
  const rest = entry.text.slice(from, from + 150);
  const cut = from + 150 < entry.text.length;
  return (from ? "… " : "") + (cut ? `${rest.slice(0, rest.lastIndexOf(" "))} …` : rest);
}

function pick(place) {
  const options = list.children;
  if (!options.length) return;
  chosen = (place + options.length) % options.length;
  [...options].forEach((option, at) => option.setAttribute("aria-selected", String(at === chosen)));
  options[chosen].scrollIntoView({ block: "nearest" });
  asked.setAttribute("aria-activedescendant", options[chosen].id);
}

function show(found, words) {
  list.replaceChildren(...found.map((entry, at) => {
    const option = document.createElement("a");
    option.id = `found-${at}`;
    option.setAttribute("role", "option");
    option.href = dialog.dataset.pages + entry.page + (entry.anchor ? `#${entry.anchor}` : "");
    option.tabIndex = -1;
    const strong = document.createElement("strong");
    marked(strong, entry.heading, words);
    if (entry.anchor) {
      const small = document.createElement("small");
      small.textContent = ` · ${entry.title}`;
      strong.append(small);
    }
    const span = document.createElement("span");
    marked(span, snippet(entry, words), words);
    option.append(strong, span);
    option.addEventListener("mousemove", () => { if (chosen !== at) pick(at); });
    return option;
  }));
  asked.setAttribute("aria-expanded", String(found.length > 0));
  asked.removeAttribute("aria-activedescendant");
  chosen = -1;
  if (found.length) pick(0);
}

function best(worth) {
  return index
    .map((entry) => [worth(entry), entry])
    .filter(([sum]) => sum > 0)
    .sort(([one], [other]) => other - one)
    .slice(0, 12)
    .map(([, entry]) => entry);
}

async function search() {
  const words = folded(asked.value).split(/\s+/).filter(Boolean);
  if (!words.length) { show([], words); state.textContent = ""; return; }
  try {
    await load();
  } catch {
    state.textContent = dialog.dataset.failed;
    return;
  }
  const every = best((entry) => weight(entry, words));
  const found = every.length ? every : best((entry) => words.reduce((sum, word) => sum + weight(entry, [word]), 0));
  show(found, words);
  const { none, one, many } = dialog.dataset;
  if (!found.length) state.textContent = none.replace("Q", () => asked.value.trim());
  else state.textContent = found.length === 1 ? one : many.replace("N", found.length);
}

function open() {
  if (dialog.open) return;
  if (side.matches(":popover-open")) side.hidePopover();
  dialog.showModal();
  asked.select();
  load().catch(() => {});
}

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-search]")) open();
  if (event.target === dialog) dialog.close();
  if (event.target.closest("#search-found a")) dialog.close();
});
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  const slash = event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey;
  const k = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
  if (slash || k) { event.preventDefault(); open(); }
});
asked.addEventListener("input", search);
asked.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    pick(chosen + (event.key === "ArrowDown" ? 1 : -1));
  }
  if (event.key === "Enter") {
    event.preventDefault();
    list.children[chosen]?.click();
  }
});
