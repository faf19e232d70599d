"use strict";
// Numbers of a scene: arrays, quaternions (w, x, y, z; body to space), times and their texts.
globalThis.polhodeViewer = globalThis.polhodeViewer || {};
polhodeViewer.numbers = (() => {
  const KINDS = { float32: Float32Array, float64: Float64Array, int16: Int16Array, uint32: Uint32Array };

  // The numbers behind a reference, with its scale applied; null stays null.
  function read(reference, buffer) {
    if (!reference) return null;
    const count = reference.shape.reduce((a, b) => a * b, 1);
    const raw = new KINDS[reference.type](buffer, reference.at, count);
    if (reference.scale === undefined || reference.scale === 1) return raw;
    const scaled = new Float32Array(count);
    for (let i = 0; i < count; i++) scaled[i] = raw[i] * reference.scale;
    return scaled;
  }

  // Every reference of a scene replaced by its numbers; `shape` stays beside them.
  function unpack(value, buffer) {
    if (Array.isArray(value)) return value.map((one) => unpack(one, buffer));
    if (value === null || typeof value !== "object") return value;
    if ("at" in value && "shape" in value && "type" in value) {
      const found = read(value, buffer);
      found.rows = value.shape[0];
      found.columns = value.shape.slice(1).reduce((a, b) => a * b, 1);
      return found;
    }
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, unpack(one, buffer)]));
  }

  // Index of the last time that is not after t; times increase.
  function before(times, t) {
    let low = 0, high = times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle] <= t) low = middle; else high = middle - 1;
    }
    return low;
  }

  // Frame and fraction of the way to the next one at time t.
  function moment(times, t) {
    const k = before(times, t);
    if (k + 1 >= times.length || t <= times[k]) return [k, 0];
    return [k, (t - times[k]) / (times[k + 1] - times[k])];
  }

  // Row `k` of an array, or between it and the next one.
  function row(values, k, part, width, offset = 0) {
    const at = k * values.columns + offset, found = new Array(width);
    for (let i = 0; i < width; i++) {
      found[i] = values[at + i];
      if (part > 0) found[i] += part * (values[at + values.columns + i] - values[at + i]);
    }
    return found;
  }

  // Three numbers of a row, or between two of them along the cubic whose slopes at each row are those from the row before
  // it to the one behind it.
  function place(values, times, k, part, offset = 0) {
    const a = row(values, k, 0, 3, offset);
    if (!(part > 0)) return a;
    const b = row(values, k + 1, 0, 3, offset), step = times[k + 1] - times[k], last = values.rows - 1;
    const slope = (i) => {
      const from = Math.max(0, i - 1), to = Math.min(last, i + 1), u = row(values, from, 0, 3, offset), v = row(values, to, 0, 3, offset);
      return u.map((x, j) => ((v[j] - x) * step) / (times[to] - times[from] || 1));
    };
    const s = slope(k), e = slope(k + 1), p = part;
    return a.map((x, j) => x + p * p * (3 - 2 * p) * (b[j] - x) + p * (1 - p) * ((1 - p) * s[j] - p * e[j]));
  }

  // Unit quaternion at a frame, or on the shortest way to the next one; quarter turns and more are not filled in.
  function attitude(values, k, part, body = 0) {
    const a = row(values, k, 0, 4, 4 * body);
    if (part > 0) {
      const b = row(values, k + 1, 0, 4, 4 * body);
      let cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
      const sign = cosine < 0 ? -1 : 1;
      cosine = Math.min(1, Math.abs(cosine));
      if (cosine > 0.7071) {
        const angle = Math.acos(cosine), sine = Math.sin(angle);
        const f = sine < 1e-4 ? 1 - part : Math.sin((1 - part) * angle) / sine;
        const g = sign * (sine < 1e-4 ? part : Math.sin(part * angle) / sine);
        for (let i = 0; i < 4; i++) a[i] = f * a[i] + g * b[i];
      } else if (part >= 0.5) b.forEach((one, i) => { a[i] = one; });
    }
    const size = Math.hypot(...a) || 1;
    return a.map((one) => one / size);
  }

  const conjugate = (q) => [q[0], -q[1], -q[2], -q[3]];
  const multiply = (a, b) => [
    a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
    a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
  ];

  // A vector of the body in space.
  function rotate([w, x, y, z], v) {
    const a = 2 * (y * v[2] - z * v[1]), b = 2 * (z * v[0] - x * v[2]), c = 2 * (x * v[1] - y * v[0]);
    return [v[0] + w * a + y * c - z * b, v[1] + w * b + z * a - x * c, v[2] + w * c + x * b - y * a];
  }

  const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const raised = (n) => (n < 0 ? "⁻" : "") + [...String(Math.abs(n))].map((d) => SUPERSCRIPTS[+d]).join("");

  // A number as people write it: 12.3, 4.57×10⁻⁹.
  function text(value, digits = 4) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e-3 && size < 1e6) {
      const plain = Number(value.toPrecision(digits));
      const whole = size >= 10 ** (digits - 1) ? Math.round(value).toString() : plain.toString();
      return whole.replace("-", "−");
    }
    const [mantissa, power] = value.toExponential(digits - 1).split("e");
    return String(Number(mantissa)).replace("-", "−") + "×10" + raised(Number(power));
  }

  // Units with raised powers: kg m2 s-1 becomes kg m² s⁻¹.
  const units = (words) => (words || "").replace(/([A-Za-z])(-?\d+)/g, (_, letter, n) => letter + raised(Number(n)));

  const LONG = [[31557600, "years", 2], [86400, "days", 2], [3600, "h", 2], [60, "min", 10]];

  // The unit in which times of a span in seconds are shown, and what it counts of them.
  function timeUnit(span, unit) {
    if (unit === "s") for (const [size, name, least] of LONG) if (span >= least * size) return [size, name];
    return [1, unit || ""];
  }

  return { unpack, before, moment, row, place, attitude, conjugate, multiply, rotate, text, units, timeUnit };
})();
