"use strict";
// Plots over time beside the picture, with a line at the moment shown; a click goes there.
polhodeViewer.charts = (() => {
  const { numbers } = polhodeViewer, { text, units } = numbers;
  const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#aa4a8a", "#e69f00", "#56b4e9", "#7a828d", "#8c6d31"];
  const DASHES = ["", "6 3", "2 3", "8 3 2 3"];
  const WIDE = 460, TALL = 180, LEFT = 62, RIGHT = 14, TOP = 8, BOTTOM = 36, BINS = 360, NEAR = 15;
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

  // The path of a line, of many frames in one bin the smallest and largest, with a gap where there is no number; and
  // what is shaded: the range where it turns in half of the bins about; there the line, if it has no gaps, is the mean.
  function points(line, height, x, y) {
    const values = Array.from(line.values, height), { times } = line, count = values.length, bin = Math.max(1, Math.ceil(count / BINS));
    const known = values.filter(Number.isFinite), least = known.reduce((a, b) => Math.min(a, b), Infinity), most = known.reduce((a, b) => Math.max(a, b), -Infinity);
    const many = Math.ceil(count / bin), turned = new Array(many).fill(0), swing = Math.max(0.05 * (most - least), 1e-9 * Math.abs(most));
    for (let i = 0, up = true, last = NaN; i < count; i++) {
      if (!Number.isFinite(values[i])) continue;
      if (!(Math.abs(values[i] - last) > swing) || up === values[i] > last) last = up ? Math.max(last, values[i]) || values[i] : Math.min(last, values[i]);
      else { turned[Math.floor(i / bin)] = 1; up = !up; last = values[i]; }
    }
    let on = false;  // from half of the bins on, and until few turn, so that no line is in shreds
    const dense = turned.map((_, b) => {
      const about = turned.slice(Math.max(0, b - NEAR), b + NEAR + 1), share = (about.reduce((sum, one) => sum + one, 0) * many) / (about.length * BINS);
      on = share >= 0.5 || (on && share >= 0.3);
      return on;
    });
    const bins = dense.map((_, b) => {
      const inside = values.slice(b * bin, (b + 1) * bin), good = inside.filter(Number.isFinite);
      const low = Math.min(...good), high = Math.max(...good);
      return {
        low, high, mean: good.reduce((sum, v) => sum + v, 0) / good.length, broken: good.length < inside.length, first: inside.indexOf(low), second: inside.indexOf(high),
        busy: good.length > 0 && dense[b],
      };
    });
    let path = "", band = "", pen = false, before = false;
    const at = (i, v) => `${x(times[Math.min(i, count - 1)]).toFixed(1)} ${y(v).toFixed(1)}`;
    const put = (i, v) => { path += (pen ? "L" : "M") + at(i, v); pen = true; };
    for (let b = 0; b < many; b++) {
      const one = bins[b], from = b * bin;
      if (one.busy) {
        let end = b;
        while (end < many && bins[end].busy) end++;
        const some = bins.slice(b, end), about = (k) => some.slice(Math.max(0, k - 2), k + 3), middle = (k) => Math.floor((b + k + 0.5) * bin);
        const above = some.map((_, k) => at(middle(k), Math.max(...about(k).map((v) => v.high)))), below = some.map((_, k) => at(middle(k), Math.min(...about(k).map((v) => v.low))));
        band += `M${[...above, ...below.reverse()].join("L")}Z`;
        pen = false;
        if (!some.some((v) => v.broken)) some.forEach((_, k) => put(middle(k), about(k).reduce((sum, v) => sum + v.mean, 0) / about(k).length));
        pen = before = false;
        b = end - 1;
        continue;
      }
      if (one.broken) pen = false;
      if (one.first >= 0 && (!one.broken || before)) {
        const places = [[one.first, one.low], [one.second, one.high]].sort((m, n) => m[0] - n[0]);
        for (const [i, v] of one.first === one.second ? places.slice(1) : places) put(from + i, v);
      }
      if (one.broken) pen = false;
      before = one.broken;
    }
    return [path, band];
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
    if (!(top - bottom > (log ? 0 : 1e-9 * Math.abs(top)))) {
      const room = log ? 0.5 : 1e-3 * Math.abs(top) || 1;
      [bottom, top] = [bottom - room, top + room];
    } else { bottom -= margin; top += margin; }
    const y = (v) => TOP + ((top - v) / (top - bottom)) * (TALL - TOP - BOTTOM);
    const svg = make("svg", { viewBox: `0 0 ${WIDE} ${TALL}`, role: "img", class: "pv-plot" });
    const words = `${group.name} over time, ${log ? "from " + text(floor, 3) : "from " + text(low, 3)} to ${text(high, 3)} ${group.unit || ""}`;
    svg.setAttribute("aria-label", words);
    for (const [a, b] of shadow) make("rect", { x: x(Math.max(a, span[0])), width: Math.max(0.5, x(Math.min(b, span[1])) - x(Math.max(a, span[0]))), y: TOP, height: TALL - TOP - BOTTOM, class: "pv-shadow" }, svg);
    let marks = group.unit === "deg" && top - bottom > 200 ? ticks(bottom / 90, top / 90, 4).map((one) => 90 * one) : ticks(bottom, top, 4);
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
      const [path, band] = points(line, height, x, y);
      if (band) make("path", { d: band, class: "pv-band", fill: line.colour }, svg);
      make("path", { d: path, class: "pv-line", stroke: line.colour, "stroke-dasharray": line.dash }, svg);
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
