// Charts that answer to the pointer, drawn by uPlot in place of what the server drew.
"use strict";

(() => {
  const HEIGHT = 220;
  const lang = document.documentElement.lang === "en" ? "en-GB" : document.documentElement.lang; // days before months
  const digitsOf = (value) => (value && Math.abs(value) < 0.01 ? Math.min(9, Math.ceil(-Math.log10(Math.abs(value))) + 1) : 2);
  const dollars = (value, digits = digitsOf(value)) => {
    return new Intl.NumberFormat(lang, { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol", minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
  };
  const compact = new Intl.NumberFormat(lang === "en-GB" ? "en" : lang, { notation: "compact", maximumFractionDigits: 1 });
  const plain = new Intl.NumberFormat(lang, { maximumFractionDigits: 1 });
  const percent = new Intl.NumberFormat(lang, { style: "percent", maximumFractionDigits: 1 });
  const writers = {
    usd: dollars,
    count: (value) => (Math.abs(value) < 10000 ? plain : compact).format(value),
    ms: (value) => (value < 1000 ? `${plain.format(Math.round(value))} ms` : `${plain.format(value / 1000)} s`),
    share: (value) => percent.format(value),
  };

  // The numbers beside a scale. Dollars have as many places as tell one line from the next.
  function scaleOf(splits, unit) {
    if (unit !== "usd" || splits.length < 2) return splits.map((value) => writers[unit](value));
    const step = splits[1] - splits[0];
    let digits = 2;
    while (digits < 9 && Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) > 1e-6) digits += 1;
    return splits.map((value) => dollars(value, digits));
  }

  function colour(name) {
    // What light-dark() comes to for this theme is known only to an element that uses it.
    const probe = document.createElement("i");
    probe.hidden = true;
    probe.style.color = `var(${name})`;
    document.body.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  }

  // Each series with those below it added, so that bars stand on top of each other.
  function stacked(values) {
    const sums = [];
    return values.map((row) => row.map((value, place) => (sums[place] = (sums[place] || 0) + (value || 0))));
  }

  function when(seconds, step) {
    const date = new Date(seconds * 1000);
    const form = step >= 86400 ? { dateStyle: "medium", timeZone: "UTC" } : { dateStyle: "medium", timeStyle: "short" };
    return new Intl.DateTimeFormat(lang, form).format(date);
  }

  function draw(figure) {
    const data = JSON.parse(figure.dataset.chart);
    const live = figure.querySelector(".live");
    const plot = figure.querySelector("svg.plot");
    const write = writers[data.unit];
    const stack = data.kind === "stack";
    const rows = stack ? stacked(data.values) : data.values;
    const colours = data.labels.map((_, place) => colour(`--series-${Math.min(place, 7) + 1}`));
    const bars = uPlot.paths.bars({ size: [0.72, 34], radius: 0.06 });
    const series = rows.map((_, place) => ({
      label: data.labels[place],
      stroke: stack ? undefined : colours[place],
      fill: stack ? colours[place] : undefined,
      width: stack ? 0 : 1.8,
      paths: stack ? bars : uPlot.paths.linear(),
      points: stack ? { show: false } : { show: data.values[place].filter((value) => value !== null).length < 3, size: 6 },
      spanGaps: false,
    }));
    const order = stack ? [...rows.keys()].reverse() : [...rows.keys()];
    const faint = colour("--faint");
    const line = colour("--line");

    const tip = document.createElement("div");
    tip.className = "tip";
    tip.hidden = true;

    function point(chart) {
      const place = chart.cursor.idx;
      if (place === null || place === undefined || chart.cursor.left < 0) {
        tip.hidden = true;
        return;
      }
      tip.replaceChildren();
      const head = document.createElement("strong");
      head.textContent = when(data.times[place], data.step);
      const table = document.createElement("table");
      const shown = data.labels
        .map((label, row) => ({ label, value: data.values[row][place], row }))
        .filter((one) => one.value !== null && (one.value !== 0 || data.labels.length === 1));
      for (const { label, value, row } of shown.slice(0, 8)) {
        const tr = table.insertRow();
        const dot = document.createElementNS("http://www.w3.org/2000/svg", "svg");
        dot.setAttribute("width", "9");
        dot.setAttribute("height", "9");
        dot.setAttribute("class", `dot s${Math.min(row, 7) + 1}`);
        const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
        for (const [name, size] of [["width", "9"], ["height", "9"], ["rx", "3"]]) rect.setAttribute(name, size);
        dot.append(rect);
        const name = tr.insertCell();
        name.append(dot, label);
        tr.insertCell().textContent = write(value);
      }
      tip.append(head, table);
      tip.hidden = false;
      const over = chart.over.getBoundingClientRect();
      const base = live.getBoundingClientRect();
      const x = over.left - base.left + chart.cursor.left;
      const right = x + 16 + tip.offsetWidth > base.width;
      tip.style.left = `${Math.max(0, right ? x - 16 - tip.offsetWidth : x + 16)}px`;
      tip.style.top = "6px";
    }

    const chart = new uPlot(
      {
        width: figure.clientWidth,
        height: HEIGHT,
        padding: [8, 22, 0, 0],
        cursor: { y: false, points: { show: !stack }, drag: { x: false, y: false } },
        legend: { show: false },
        scales: {
          x: { time: true, range: (_u, low, high) => [low - data.step / 2, high + data.step / 2] },
          // milliseconds are written whole: on a scale of fewer than five a number would stand twice
          y: { range: (_u, _low, high) => [0, Math.max(high > 0 ? high * 1.08 : 1, data.unit === "ms" ? 5 : 0)] },
        },
        tzDate: (seconds) => (data.step >= 86400 ? uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC") : new Date(seconds * 1000)),
        axes: [
          {
            stroke: faint,
            font: "11px system-ui, sans-serif",
            grid: { show: false },
            ticks: { show: false },
            space: 70,
            size: 26,
            values: (_u, splits) => splits.map((seconds) => new Intl.DateTimeFormat(lang, data.step >= 21600
              ? { day: "numeric", month: "short", timeZone: data.step >= 86400 ? "UTC" : undefined }
              : { hour: "2-digit", minute: "2-digit" }).format(new Date(seconds * 1000))),
            incrs: data.step >= 21600 ? [1, 2, 3, 5, 7, 14, 28].map((days) => days * 86400) : [1, 2, 3, 4, 6, 12].map((hours) => hours * 3600),
          },
          {
            stroke: faint,
            font: "11px system-ui, sans-serif",
            // As wide as its longest number needs: a letter of the font is about 6 pixels.
            size: (_u, told) => Math.max(58, 14 + 6.2 * Math.max(0, ...(told || []).map((one) => String(one).length))),
            grid: { stroke: line, width: 1 },
            ticks: { show: false },
            splits: data.unit === "count" ? (_u, _axis, _low, high, step) => {
              const every = Math.max(1, step);
              return Array.from({ length: Math.floor(high / every) + 1 }, (_, place) => place * every);
            } : undefined,
            values: (_u, splits) => scaleOf(splits, data.unit),
          },
        ],
        series: [{}, ...order.map((row) => series[row])],
        hooks: { setCursor: [point] },
      },
      [data.times, ...order.map((row) => rows[row])],
      live,
    );
    live.append(tip);
    live.hidden = false;
    plot.setAttribute("hidden", "");
    const sized = new ResizeObserver(() => {
      if (figure.clientWidth) chart.setSize({ width: figure.clientWidth, height: HEIGHT });
    });
    sized.observe(figure);
    // Its colours are those of the theme it was drawn in.
    document.addEventListener("theme", () => {
      sized.disconnect();
      chart.destroy();
      tip.remove();
      draw(figure);
    }, { once: true });
  }

  for (const figure of document.querySelectorAll("figure[data-chart]")) draw(figure);
})();
