"use strict";
// Plots over time beside the picture, with a line at the moment shown; a click goes there.
polhodeViewer.charts = (() => {
  const { numbers } = polhodeViewer, { text, units } = numbers;
  const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#aa4a8a", "#e69f00", "#56b4e9", "#7a828d", "#8c6d31"];
  const DASHES = ["", "6 3", "2 3", "8 3 2 3"];
  const WIDE = 460, TALL = 180, LEFT = 62, RIGHT = 14, TOP = 8, BOTTOM = 36, BINS = 360;
  const SVG = "http://www.w3.org/2000/svg";

  function make(name, attributes = {}, parent = null) {
    const found = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
    if (parent) parent.append(found);
    return found;
  }

  // Round numbers within a range.
  function ticks(low, high, most) {
    const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 2.5, 5, 10].find((one) => one * power >= rough * 0.999);
    const found = [];
    for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; n++) found.push(n * step);
    return found;
  }

  // Powers of ten within a range of exponents, fewer where there are many; with 2 and 5 times them where there are few.
  function decades(bottom, top) {
    const every = Math.max(1, Math.ceil((top - bottom) / 5)), found = [];
    for (let n = Math.floor(bottom); n <= top; n++) {
      const parts = top - bottom < 1.2 ? [1, 2, 5] : top - bottom < 2.2 ? [1, 3] : n % every ? [] : [1];
      for (const part of parts) found.push(n + Math.log10(part));
    }
    return found.filter((one) => one >= bottom && one <= top);
  }

  // Groups of all runs by name: one plot each. Colours tell runs apart, or lines where there is one run.
  function gather(runs) {
    const groups = new Map();
    runs.forEach((run, r) => run.series.forEach((group) => {
      if (!groups.has(group.group)) groups.set(group.group, { name: group.group, unit: group.unit, log: group.log, lines: [] });
      const found = groups.get(group.group);
      group.lines.forEach((one, l) => found.lines.push({
        label: runs.length > 1 ? (group.lines.length > 1 ? `${run.label}: ${one.label}` : run.label) : one.label,
        values: one.values, times: run.times, colour: COLOURS[(runs.length > 1 ? r : l) % COLOURS.length],
        dash: DASHES[(runs.length > 1 ? l : 0) % DASHES.length],
      }));
    }));
    return [...groups.values()];
  }

  // Points of a line: of many frames in one bin, the smallest and largest; a gap where there is no number, or the span
  // of the bin where there are gaps in each.
  function points(line, height, x, y) {
    const { values, times } = line, count = values.length, bin = Math.max(1, Math.ceil(count / BINS));
    let path = "", pen = false, before = false;
    const put = (i) => {
      const v = height(values[i]);
      if (!Number.isFinite(v)) { pen = false; return; }
      path += `${pen ? "L" : "M"}${x(times[i]).toFixed(1)} ${y(v).toFixed(1)}`;
      pen = true;
    };
    for (let i = 0; i < count; i += bin) {
      if (bin === 1) { put(i); continue; }
      let low = -1, high = -1, broken = false;
      for (let j = i; j < Math.min(count, i + bin); j++) {
        if (!Number.isFinite(values[j])) { broken = true; continue; }
        if (low < 0 || values[j] < values[low]) low = j;
        if (high < 0 || values[j] > values[high]) high = j;
      }
      if (broken) pen = false;
      if (low >= 0 && (!broken || before)) {
        put(Math.min(low, high));
        if (low !== high) put(Math.max(low, high));
      }
      if (broken) pen = false;
      before = broken;
    }
    return path;
  }

  function chart(group, span, shadow, seek) {
    const box = document.createElement("figure"), title = document.createElement("figcaption");
    box.className = "pv-chart";
    title.textContent = group.name + (group.unit ? ` (${units(group.unit)})` : "");
    const [size, unit] = numbers.timeUnit(span[1] - span[0], group.timeUnit);
    const x = (t) => LEFT + ((t - span[0]) / (span[1] - span[0] || 1)) * (WIDE - LEFT - RIGHT);
    let low = Infinity, high = -Infinity, least = Infinity;
    for (const { values } of group.lines) for (const v of values) {
      if (!Number.isFinite(v)) continue;
      if (v < low) low = v;
      if (v > high) high = v;
      if (v > 0 && v < least) least = v;
    }
    const log = group.log && high > 0;
    const floor = Math.max(least, high * 1e-14);
    const height = log ? (v) => Math.log10(Math.max(v, floor)) : (v) => v;
    let bottom = log ? Math.log10(floor) : low, top = log ? Math.log10(high) : high;
    const margin = Math.max(0.06 * (top - bottom), log ? 0.15 : 1e-9 * Math.abs(top) || 1e-300);
    if (!(top > bottom)) { bottom -= log ? 0.5 : Math.abs(bottom) || 1; top += log ? 0.5 : Math.abs(top) || 1; }
    else { bottom -= margin; top += margin; }
    const y = (v) => TOP + ((top - v) / (top - bottom)) * (TALL - TOP - BOTTOM);
    const svg = make("svg", { viewBox: `0 0 ${WIDE} ${TALL}`, role: "img", class: "pv-plot" });
    const words = `${group.name} over time, ${log ? "from " + text(floor, 3) : "from " + text(low, 3)} to ${text(high, 3)} ${group.unit || ""}`;
    svg.setAttribute("aria-label", words);
    for (const [a, b] of shadow) make("rect", { x: x(Math.max(a, span[0])), width: Math.max(0.5, x(Math.min(b, span[1])) - x(Math.max(a, span[0]))), y: TOP, height: TALL - TOP - BOTTOM, class: "pv-shadow" }, svg);
    let marks = ticks(bottom, top, 4);
    if (log) marks = decades(bottom, top);
    for (const one of marks) {
      make("line", { x1: LEFT, x2: WIDE - RIGHT, y1: y(one), y2: y(one), class: "pv-grid" }, svg);
      const label = make("text", { x: LEFT - 6, y: y(one) + 4, "text-anchor": "end" }, svg);
      label.textContent = log ? text(10 ** one, 1).replace(/^1×/, "") : text(Math.abs(one) < 1e-9 * (top - bottom) ? 0 : one, 4);
    }
    for (const one of ticks(span[0] / size, span[1] / size || 1, 5)) {
      const at = x(one * size), label = make("text", { x: at, y: TALL - BOTTOM + 14, "text-anchor": at > WIDE - 24 ? "end" : "middle" }, svg);
      label.textContent = text(one, 6);
    }
    const stamp = make("text", { x: 0.5 * (LEFT + WIDE - RIGHT), y: TALL - 6, "text-anchor": "middle" }, svg);
    stamp.textContent = unit ? `time (${unit})` : "time";
    for (const line of group.lines) {
      make("path", { d: points(line, height, x, y), class: "pv-line", stroke: line.colour, "stroke-dasharray": line.dash }, svg);
    }
    const cursor = make("line", { y1: TOP, y2: TALL - BOTTOM, x1: LEFT, x2: LEFT, class: "pv-cursor" }, svg);
    const legend = document.createElement("div");
    legend.className = "pv-legend";
    const outputs = group.lines.map((line) => {
      const item = document.createElement("span"), key = make("svg", { viewBox: "0 0 22 8", class: "pv-key", "aria-hidden": "true" }), value = document.createElement("b");
      make("line", { x1: 1, x2: 21, y1: 4, y2: 4, stroke: line.colour, "stroke-width": 2.5, "stroke-dasharray": line.dash }, key);
      item.append(key, ` ${line.label} `, value);
      legend.append(item);
      return value;
    });
    const there = (event) => {
      const frame = svg.getBoundingClientRect(), at = ((event.clientX - frame.left) / frame.width) * WIDE;
      seek(span[0] + Math.min(1, Math.max(0, (at - LEFT) / (WIDE - LEFT - RIGHT))) * (span[1] - span[0]));
    };
    svg.addEventListener("pointerdown", (event) => { if (event.pointerType !== "touch") svg.setPointerCapture(event.pointerId); there(event); });
    svg.addEventListener("pointermove", (event) => { if (svg.hasPointerCapture(event.pointerId) && event.pointerType !== "touch") there(event); });
    box.append(title, svg, legend);
    return {
      box,
      update(t) {
        const at = x(Math.min(span[1], Math.max(span[0], t)));
        cursor.setAttribute("x1", at);
        cursor.setAttribute("x2", at);
        group.lines.forEach((line, i) => { outputs[i].textContent = text(line.values[numbers.before(line.times, t)], 3); });
      },
    };
  }

  return { gather, chart };
})();
