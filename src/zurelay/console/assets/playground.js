// The playground: asks through the console's own endpoint and shows what comes back, as it comes.
// Everything a model wrote becomes text nodes, never markup.
"use strict";

(() => {
  const form = document.getElementById("playground");
  if (!form) return;
  const words = document.getElementById("words").dataset;
  const field = (name) => form.elements[name];
  const byId = (id) => document.getElementById(id);
  const number = new Intl.NumberFormat(document.documentElement.lang);
  const MOST_FILES = 20 * 1024 * 1024;
  const MOST_RAW = 100_000;
  const panes = ["a", "b"].map((letter) => ({
    letter, messages: [], box: byId(`pane-${letter}`),
    turns: byId(`pane-${letter}`).querySelector(".turns"),
    name: byId(`pane-${letter}`).querySelector(".pane-name"),
  }));
  let files = [];
  let running = [];

  function make(tag, className, text) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }
  const seconds = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${number.format(Math.round(ms / 100) / 10)} s`);
  const active = () => (field("compare").checked ? panes : panes.slice(0, 1));

  // The request.

  function json(name) {
    const text = field(name).value.trim();
    const fault = byId(`${name}-fault`);
    fault.hidden = true;
    if (!text) return undefined;
    try {
      return JSON.parse(text);
    } catch {
      fault.textContent = words.wrong;
      fault.hidden = false;
      fault.closest("details").open = true;
      return null;
    }
  }

  function payload(pane, messages) {
    const body = { model: field(`model-${pane.letter}`).value.trim() };
    const system = field("system").value.trim();
    body.messages = system ? [{ role: "system", content: system }, ...messages] : messages;
    const effort = field(`effort-${pane.letter}`).value;
    if (effort) body.reasoning_effort = effort;
    const most = Number(field("most").value);
    if (most > 0) body.max_completion_tokens = most;
    const tools = json("tools");
    if (tools) body.tools = Array.isArray(tools) ? tools : [tools];
    const schema = json("schema");
    if (schema) body.response_format = { type: "json_schema", json_schema: { name: "answer", schema } };
    if (field("stream").checked) Object.assign(body, { stream: true, stream_options: { include_usage: true } });
    return tools === null || schema === null ? null : body;
  }

  function question() {
    const text = field("text").value;
    if (!files.length) return { role: "user", content: text };
    const parts = files.map((file) => file.type === "application/pdf"
      ? { type: "file", file: { filename: file.name, file_data: file.url } }
      : { type: "image_url", image_url: { url: file.url } });
    if (text) parts.push({ type: "text", text });
    return { role: "user", content: parts };
  }

  // What is shown.

  function showQuestion(pane, message, attached) {
    const turn = make("div", "turn user");
    turn.append(make("p", "who", words.you));
    const text = typeof message.content === "string" ? message.content
      : message.content.filter((part) => part.type === "text").map((part) => part.text).join("\n");
    if (text) turn.append(make("div", "said", text));
    for (const file of attached) turn.append(attachment(file));
    pane.turns.append(turn);
  }

  function attachment(file) {
    if (file.type === "application/pdf") return make("span", "badge", file.name);
    const image = make("img", "shown-image");
    image.src = file.url;
    image.alt = file.name;
    return image;
  }

  function showAnswer(pane, model) {
    const turn = make("div", "turn answer");
    const who = make("p", "who", model);
    const waiting = make("p", "soft waiting", words.waiting);
    const thinking = make("details", "thinking");
    thinking.hidden = true;
    thinking.append(make("summary", "", words.thinking), make("div", "said"));
    const said = make("div", "said");
    const calls = make("div", "calls");
    const facts = make("p", "facts-line small soft");
    const raw = make("details", "raw");
    raw.append(make("summary", "small", words.raw), make("pre", "wrap small"));
    turn.append(who, waiting, thinking, said, calls, facts, raw);
    pane.turns.append(turn);
    return { turn, who, waiting, thinking, said, calls, facts, raw };
  }

  function fault(shown, text) {
    const note = make("p", "note bad problem", text);
    note.setAttribute("role", "alert");
    shown.facts.before(note);
  }

  // The answer.

  function fresh() {
    return { content: "", reasoning: "", refusal: "", calls: [], details: [], usage: null, error: null, done: false, cut: false, first: 0, finish: "" };
  }

  function take(answer, delta) {
    if (delta.content) answer.content += delta.content;
    if (delta.reasoning_content) answer.reasoning += delta.reasoning_content;
    if (delta.refusal) answer.refusal += delta.refusal;
    if (delta.reasoning_details) answer.details.push(...delta.reasoning_details);
    for (const call of delta.tool_calls || []) {
      const known = answer.calls[call.index ?? answer.calls.length] ??= { id: "", type: "function", function: { name: "", arguments: "" } };
      if (call.id) known.id = call.id;
      known.function.name += call.function?.name || "";
      known.function.arguments += call.function?.arguments || "";
    }
  }

  function draw(shown, answer) {
    if (answer.reasoning) {
      shown.thinking.hidden = false;
      if (!answer.content && !answer.done) shown.thinking.open = true;
      else if (!shown.thinking.dataset.shut) { shown.thinking.open = false; shown.thinking.dataset.shut = "1"; }
      shown.thinking.lastChild.textContent = answer.reasoning;
    }
    shown.said.textContent = answer.content || (answer.refusal ? `${words.refused}: ${answer.refusal}` : "");
    shown.waiting.hidden = Boolean(answer.content || answer.reasoning || answer.refusal || answer.calls.length || answer.done);
    shown.calls.replaceChildren(...answer.calls.filter(Boolean).map((call) => {
      const box = make("div", "call");
      box.append(make("p", "small", `${words.call} `), make("pre", "wrap small", call.function.arguments));
      box.firstChild.append(make("code", "", call.function.name));
      return box;
    }));
  }

  function event(answer, text, began) {
    const data = text.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart()).join("\n");
    if (/^: cut$/m.test(text)) answer.cut = true;
    if (!data) return;
    if (data === "[DONE]") { answer.ended = true; return; }
    const chunk = JSON.parse(data);
    if (chunk.error) { answer.error = chunk.error; return; }
    if (chunk.usage) answer.usage = chunk.usage;
    for (const choice of chunk.choices || []) {
      if (!answer.first && Object.keys(choice.delta || {}).some((key) => key !== "role" && choice.delta[key])) answer.first = performance.now() - began;
      take(answer, choice.delta || {});
      if (choice.finish_reason) answer.finish = choice.finish_reason;
    }
  }

  async function read(response, answer, shown, began) {
    const decoder = new TextDecoder();
    const reader = response.body.getReader();
    const stream = (response.headers.get("content-type") || "").startsWith("text/event-stream");
    let rest = "";
    let raw = "";
    let due = false;
    for (;;) {
      const { done, value } = await reader.read();
      const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
      if (raw.length < MOST_RAW) raw += text;
      rest += text;
      if (stream) {
        const events = rest.split("\n\n");
        rest = events.pop();
        for (const one of events) event(answer, one, began);
        if (!due) {
          due = true;
          requestAnimationFrame(() => { due = false; draw(shown, answer); });
        }
      }
      shown.raw.dataset.body = raw.slice(0, MOST_RAW);
      if (done) break;
    }
    if (!stream) whole(answer, rest, response.ok);
    else if (!answer.ended && !answer.error) answer.cut = true;
  }

  function whole(answer, text, good) {
    let body;
    try {
      body = JSON.parse(text);
    } catch {
      answer.error = { message: text.slice(0, 500) };
      return;
    }
    if (!good || body.error) { answer.error = body.error || { message: text.slice(0, 500) }; return; }
    answer.usage = body.usage;
    const choice = body.choices?.[0];
    if (choice) { take(answer, choice.message); answer.finish = choice.finish_reason; }
  }

  function client(shown, response) {
    const head = [`HTTP/1.1 ${response.status}`];
    for (const [name, value] of response.headers) {
      if (/^(x-request-id|x-(?!content|frame).*|retry-after|server-timing|content-type)$/.test(name)) head.push(`${name}: ${value}`);
    }
    return () => { shown.raw.lastChild.textContent = `${head.join("\n")}\n\n${shown.raw.dataset.body || ""}`; };
  }

  function header(response, end) {
    for (const [name, value] of response.headers) if (name.startsWith("x-") && name.endsWith(end)) return value;
    return "";
  }

  async function ask(pane) {
    const body = payload(pane, pane.messages);
    if (!body) return;
    const shown = showAnswer(pane, body.model);
    const answer = fresh();
    const stopper = new AbortController();
    running.push(stopper);
    busy();
    pane.turns.setAttribute("aria-busy", "true");
    shown.turn.scrollIntoView({ block: "nearest" });
    const began = performance.now();
    let response = null;
    try {
      response = await fetch(form.dataset.ask, {
        method: "POST",
        headers: { "content-type": "application/json", "x-csrf-token": field("token").value },
        body: JSON.stringify(body),
        signal: stopper.signal,
      });
      const see = client(shown, response);
      shown.raw.addEventListener("toggle", see);
      await read(response, answer, shown, began);
      see();
    } catch (error) {
      if (error.name === "AbortError") answer.error = { message: words.stopped };
      else if (response) answer.cut = true;
      else answer.error = { message: words.unreached };
    }
    answer.done = true;
    const took = performance.now() - began;
    running = running.filter((one) => one !== stopper);
    busy();
    pane.turns.setAttribute("aria-busy", "false");
    draw(shown, answer);
    end(pane, shown, answer, response, took);
  }

  function end(pane, shown, answer, response, took) {
    if (answer.error) {
      const about = answer.error.code ? ` (${answer.error.code})` : "";
      fault(shown, `${response && !response.ok ? `${response.status}: ` : ""}${answer.error.message || ""}${about}`);
      shown.raw.open = Boolean(response);
    } else if (answer.cut) {
      fault(shown, words.cut);
      shown.raw.open = true;
    }
    if (response && response.ok) {
      const model = header(response, "-model");
      if (model) shown.who.textContent = model;
    }
    const told = [];
    if (response) {
      const effort = header(response, "-reasoning-effort");
      const dropped = header(response, "-dropped-params");
      if (effort) told.push(`${words.effort} ${effort}`);
      if (dropped) told.push(`${words.leftOut}: ${dropped}`);
    }
    if (answer.first) told.push(`${words.first} ${seconds(answer.first)}`);
    told.push(`${words.whole} ${seconds(took)}`);
    const usage = answer.usage;
    if (usage) {
      const cached = usage.prompt_tokens_details?.cached_tokens;
      const thought = usage.completion_tokens_details?.reasoning_tokens;
      told.push(`${words.input} ${number.format(usage.prompt_tokens)}${cached ? ` (${words.cached} ${number.format(cached)})` : ""}`);
      told.push(`${words.output} ${number.format(usage.completion_tokens)}${thought ? ` (${words.thought} ${number.format(thought)})` : ""}`);
    }
    shown.facts.textContent = told.join(" · ");
    const id = response?.headers.get("x-request-id");
    if (id) cost(shown, id, 0);
    if (answer.error && !answer.content) {
      const last = pane.messages.at(-1);
      if (last?.role === "user") pane.messages.pop(); // it can be asked again
      return;
    }
    remember(pane, answer);
    if (answer.calls.length) results(pane, shown, answer.calls.filter(Boolean));
  }

  function remember(pane, answer) {
    const message = { role: "assistant", content: answer.content || null };
    if (answer.reasoning) message.reasoning_content = answer.reasoning;
    if (answer.details.length) message.reasoning_details = answer.details;
    if (answer.refusal) message.refusal = answer.refusal;
    const calls = answer.calls.filter(Boolean);
    if (calls.length) message.tool_calls = calls;
    pane.messages.push(message);
    code();
  }

  async function cost(shown, id, tries) {
    let found = null;
    try {
      const response = tries < 6 ? await fetch(form.dataset.requests + id) : null;
      found = response && response.ok ? await response.json() : null;
      if (found && !found.cost) found = null; // not logged yet
    } catch { /* it is shown without */ }
    if (!found && tries < 6) {
      setTimeout(() => cost(shown, id, tries + 1), 300 * 2 ** tries);
      return;
    }
    if (found) shown.facts.append(` · ${found.cost}`);
    const link = make("a", "", words.request);
    link.href = `/console/requests/${encodeURIComponent(id)}`;
    shown.facts.append(" · ", link);
  }

  function results(pane, shown, calls) {
    const box = make("div", "results");
    const inputs = calls.map((call) => {
      const input = make("textarea", "mono");
      input.rows = 2;
      input.setAttribute("aria-label", `${words.result}: ${call.function.name}`);
      input.placeholder = `${words.result}: ${call.function.name}`;
      box.append(input);
      return input;
    });
    const button = make("button", "button small", words.results);
    button.type = "button";
    button.addEventListener("click", () => {
      calls.forEach((call, at) => pane.messages.push({ role: "tool", tool_call_id: call.id, content: inputs[at].value }));
      for (const input of inputs) input.readOnly = true;
      button.remove();
      ask(pane);
    });
    box.append(button);
    shown.calls.after(box);
  }

  // The request as code.

  function code() {
    const pane = panes[0];
    const asked = [...pane.messages, question()];
    if (!field("text").value && !files.length) { // what was asked last
      asked.pop();
      while (asked.at(-1)?.role === "assistant") asked.pop();
    }
    const body = payload(pane, asked.length ? asked : [{ role: "user", content: "Hello" }]);
    if (!body) return;
    const shown = byId("code").querySelectorAll("pre code");
    requestAsCode(body, form.dataset.base).forEach((text, at) => { shown[at].textContent = text; });
  }

  // The controls.

  function levels(letter) {
    const id = field(`model-${letter}`).value.trim().split("?")[0];
    const known = [...byId("known").options].find((one) => one.value === id);
    const select = field(`effort-${letter}`);
    const before = select.value;
    const offered = known ? known.dataset.levels.split(" ").filter(Boolean) : null;
    for (const option of select.options) if (option.value) option.hidden = option.disabled = Boolean(offered) && !offered.includes(option.value);
    select.options[0].textContent = known?.dataset.default ? `${words.default} (${known.dataset.default})` : words.default;
    if (offered && before && !offered.includes(before)) select.value = "";
    select.disabled = offered !== null && !offered.length;
    panes.find((pane) => pane.letter === letter).name.textContent = field(`model-${letter}`).value;
  }

  function busy() {
    byId("stop").hidden = !running.length;
    byId("send").hidden = running.length > 0;
  }

  function compare() {
    const two = field("compare").checked;
    byId("second").hidden = panes[1].box.hidden = !two;
    field("model-b").disabled = !two; // a hidden field must not hold up the form
    form.classList.toggle("two", two);
    if (!two) { panes[1].messages = []; panes[1].turns.replaceChildren(); }
  }

  function drawFiles() {
    byId("files").replaceChildren(...files.map((file) => {
      const item = make("li", "badge", file.name);
      const button = make("button", "quiet", "×");
      button.type = "button";
      button.setAttribute("aria-label", `${words.remove}: ${file.name}`);
      button.addEventListener("click", () => { files = files.filter((one) => one !== file); drawFiles(); });
      item.append(button);
      return item;
    }));
    code();
  }

  function add(list) {
    const told = byId("files-fault");
    told.hidden = true;
    const complain = (text) => { told.textContent = text; told.hidden = false; };
    for (const file of list) {
      if (!file.type.startsWith("image/") && file.type !== "application/pdf") { complain(words.kind); continue; }
      const size = files.reduce((sum, one) => sum + one.size, file.size);
      if (size > MOST_FILES) { complain(words.large); continue; }
      const reader = new FileReader();
      reader.addEventListener("load", () => {
        files.push({ name: file.name, type: file.type, size: file.size, url: reader.result });
        drawFiles();
      });
      reader.readAsDataURL(file);
    }
  }

  form.addEventListener("submit", (submitted) => {
    submitted.preventDefault();
    if (running.length || byId("send").disabled) return;
    if (!field("text").value.trim() && !files.length) { field("text").focus(); return; }
    if (json("tools") === null || json("schema") === null) return;
    const message = question();
    for (const pane of active()) {
      pane.messages.push(message);
      showQuestion(pane, message, files);
      ask(pane);
    }
    field("text").value = "";
    files = [];
    drawFiles();
  });
  field("text").addEventListener("keydown", (key) => {
    if (key.key === "Enter" && (key.ctrlKey || key.metaKey)) { key.preventDefault(); form.requestSubmit(); }
  });
  byId("stop").addEventListener("click", () => { for (const one of running) one.abort(); });
  byId("anew").addEventListener("click", () => {
    for (const one of running) one.abort();
    for (const pane of panes) { pane.messages = []; pane.turns.replaceChildren(); }
    code();
    field("text").focus();
  });
  field("compare").addEventListener("change", compare);
  for (const letter of ["a", "b"]) field(`model-${letter}`).addEventListener("input", () => levels(letter));
  form.addEventListener("input", code);
  byId("f-files").addEventListener("change", (changed) => { add(changed.target.files); changed.target.value = ""; });
  const composer = byId("composer");
  for (const name of ["dragenter", "dragover"]) composer.addEventListener(name, (drag) => { drag.preventDefault(); composer.classList.add("over"); });
  for (const name of ["dragleave", "drop"]) composer.addEventListener(name, (drag) => { drag.preventDefault(); composer.classList.remove("over"); });
  composer.addEventListener("drop", (drop) => add(drop.dataTransfer.files));
  field("text").addEventListener("paste", (paste) => { if (paste.clipboardData.files.length) { paste.preventDefault(); add(paste.clipboardData.files); } });

  const EXAMPLES = {
    tools: [{ type: "function", function: { name: "get_weather", description: "The weather in a city", parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } } }],
    schema: { type: "object", properties: { city: { type: "string" }, country: { type: "string" } }, required: ["city", "country"], additionalProperties: false },
  };
  for (const button of form.querySelectorAll("[data-fill]")) {
    button.addEventListener("click", () => { field(button.dataset.fill).value = JSON.stringify(EXAMPLES[button.dataset.fill], null, 2); code(); });
  }
  // A list offers only what fits the field's text: its arrow empties the field, so that all show.
  for (const input of form.querySelectorAll("[list]")) {
    input.addEventListener("pointerdown", (press) => {
      if (press.offsetX < input.clientWidth - 40 || !input.value) return;
      input.placeholder = input.value;
      input.value = "";
    });
    input.addEventListener("blur", () => { if (!input.value) { input.value = input.placeholder; levels(input.name.slice(-1)); code(); } });
  }
  for (const button of form.querySelectorAll("[data-break]")) {
    button.addEventListener("click", () => {
      field("model-a").value = button.dataset.break;
      levels("a");
      if (!field("text").value) field("text").value = "Hello";
      code();
      form.requestSubmit();
    });
  }

  levels("a");
  levels("b");
  compare();
  code();
})();
