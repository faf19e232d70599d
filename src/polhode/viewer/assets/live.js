"use strict";
// An interactive page: the kernel of the system, as WebAssembly, takes the steps; the viewer's pictures and plots follow.
globalThis.polhodeLive = (() => {
  const { Viewer, handleOf, element, button, group, numbers, charts, shapes } = polhodeViewer;
  const { conjugate, multiply, rotate, text, units } = numbers;
  const BODY = 13, MOMENTUM = 3, ATTITUDE = 6, ANGULAR = 10;  // slots of a body in the state
  const CONSTANTS = 8, INVERSE_MASS = 4, INVERSE_INERTIA = 5;  // and in its constants
  const ROWS = 960, ROWS_A_SECOND = 240;  // that trails show, and that come in a second of the clock; of orbits half as many
  const BUDGET = 10;  // milliseconds of a picture for steps
  const SAMPLES = 1024;  // most points of a plot
  const STIFF = 4, PUSH = 0.8;  // rate at which a pulled point would swing, and change of rate by a push; rad in a second of the clock
  const NEAR = 16;  // pixels from its middle at which a small body is taken hold of
  const PULL = "#aa4a8a";
  const SAID = new Set(["system", "method", "order", "conserves", "units", "epoch", "shape", "bodies", "centre", "positions", "wheels", "together", "conventions", "made by"]);

  const SHOWN = /^energy$|^energy error$|momentum/;  // what a recorded run shows in words, and this one, too

  const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const floats = (base64) => new Float64Array(bytesOf(base64).buffer);
  const size = (v) => Math.hypot(...v), minus = (a, b) => a.map((x, i) => x - b[i]), times = (c, v) => v.map((x) => c * x);
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const three = (y, at) => [y[at], y[at + 1], y[at + 2]];

  // ------------------------------------------------------------------ the kernel, and its memory
  class Kernel {
    static async start(live) {
      const begun = performance.now(), stream = new Blob([bytesOf(live.module)]).stream().pipeThrough(new DecompressionStream("gzip"));
      const { instance } = await WebAssembly.instantiate(await new Response(stream).arrayBuffer(), {});
      const found = new Kernel(live, instance.exports);
      found.check();
      found.started = performance.now() - begun;
      return found;
    }

    constructor(live, code) {
      const there = (at, n) => new Float64Array(code.memory.buffer, at, n), { at, width } = live;
      this.live = live;
      this.code = code;
      this.start = floats(live.begin);
      this.numbers = there(at.begin, this.start.length);
      this.y = this.numbers.subarray(0, width);
      this.constants = this.numbers.subarray(width, width + CONSTANTS * live.bodies);
      this.progress = there(at.progress, 2);
      this.observed = there(at.observed, live.observed.length);
      this.pushed = there(at.push, 6);
      this.rows = there(at.rows, live.rows * width);
      this.cost = 0;  // milliseconds of a step, of those last measured
      this.least = Infinity;
      this.measured = [0, 0];
    }

    // Slots of the start with these values of the knobs.
    set(values, knobs = null) {
      const fresh = this.start.slice();
      for (const { name, value, slots } of this.live.knobs) for (const [k, slope] of slots) fresh[k] += slope * (values[name] - value);
      if (!knobs) this.numbers.set(fresh);
      else for (const { slots } of knobs) for (const [k] of slots) this.numbers[k] = fresh[k];
    }

    // n steps of h from step `first` of those that began at t0: [status, steps done]; rows are kept of every so many.
    march(first, n, every, t0, h) {
      const begun = performance.now();
      this.code.march(first, n, every, t0, h);
      const [status, done] = this.progress, spent = performance.now() - begun;
      this.measured = this.measured.map((one, i) => one + [spent, done][i]);
      if (this.measured[0] > 4 || !this.cost) {  // clocks of browsers are coarse
        this.cost = Math.max(1e-5, this.measured[0] / Math.max(1, this.measured[1]));
        this.measured = [0, 0];
        this.least = Math.min(this.least, this.cost);
      }
      return [status, done];
    }

    observe(t) {
      this.code.observe(t);
      const of = (name) => this.observed[this.live.observed.indexOf(name)] || 0, vector = (name) => ["x", "y", "z"].map((x) => of(`${name}_${x}`));
      const kinetic = of("kinetic_energy"), potential = of("potential_energy");
      return { energy: kinetic + potential, less: kinetic + potential - of("work"), scale: Math.abs(kinetic) + Math.abs(potential), angular: vector("angular_momentum"), momentum: vector("momentum") };
    }

    push(body, arm, impulse) {
      this.pushed.set([...arm, ...impulse]);
      this.code.push(body);
    }

    // Whether the first steps are, bit for bit, those of the machine that made the page.
    check() {
      const { checked, time, step, end, knobs } = this.live;
      this.set(Object.fromEntries(knobs.map((one) => [one.name, one.value])));
      const before = this.observe(time).angular;
      const [status] = this.march(0, checked, checked, time, step), there = floats(end);
      const here = new BigUint64Array(this.y.slice().buffer), bits = new BigUint64Array(there.buffer);
      this.same = !status && here.every((one, i) => one === bits[i]);
      this.keeps = size(minus(this.observe(time + checked * step).angular, before)) < 1e-10 * size(before);
      this.apart = this.y.reduce((most, one, i) => Math.max(most, Math.abs(one - there[i])), 0);
      if (this.cost * checked < 50) {  // once more, now that the browser has compiled it well, to see how long a step takes
        this.cost = 0;
        this.march(0, checked, checked, time, step);
      }
    }
  }

  // ------------------------------------------------------------------ a recorded run as one that goes on
  // What views read are windows of rows, filled at first with those recorded; `put` adds one of a state.
  function going(run, kernel) {
    const { constants, live } = kernel, many = live.bodies, windows = [], { bodies } = run, bs = [...Array(many).keys()];
    const open = (recorded, read) => {
      if (!recorded) return null;
      const { columns } = recorded, values = new Float64Array(ROWS * columns);
      for (let k = 0; k < ROWS; k++) {
        const from = columns * Math.min(k, recorded.rows - 1);
        values.set(recorded.subarray(from, from + columns), k * columns);
      }
      windows.push({ values, read });
      return Object.assign(values, { rows: ROWS, columns });
    };
    const pinned = bs.map((b) => constants[CONSTANTS * b + INVERSE_MASS] === 0), mass = bs.map((b) => constants[CONSTANTS * b]);
    const quaternion = (y, b) => [...y.subarray(BODY * b + ATTITUDE, BODY * b + ATTITUDE + 4)], spin = (y, b) => three(y, BODY * b + ANGULAR);
    const attitude = (y, b) => multiply(quaternion(y, b), conjugate(live.frames[b]));
    const place = (y, b) => (pinned[b] ? (bodies.position ? three(bodies.position, 3 * b) : [0, 0, 0]) : three(y, BODY * b));
    const velocity = (y, b) => times(constants[CONSTANTS * b + INVERSE_MASS], three(y, BODY * b + MOMENTUM));
    const rate = (y, b) => spin(y, b).map((m, i) => m * constants[CONSTANTS * b + INVERSE_INERTIA + i]);
    const centre = (y) => {
      const found = [0, 0, 0];
      let all = 0;
      for (const b of bs) if (Number.isFinite(mass[b])) { all += mass[b]; place(y, b).forEach((x, i) => { found[i] += mass[b] * x; }); }
      return times(1 / (all || 1), found);
    };
    const lvlh = (y) => {
      const r = place(y, 0), h = cross(r, velocity(y, 0)), z = times(-1 / size(r), r), n = times(-1 / size(h), h);
      const [X, Y, Z] = [cross(n, z), n, z].map((v) => new THREE.Vector3(...v));
      const q = new THREE.Quaternion().setFromRotationMatrix(new THREE.Matrix4().makeBasis(X, Y, Z));
      return [q.w, q.x, q.y, q.z];
    };
    const positions = (y) => {
      const from = bodies.barycentric ? centre(y) : [0, 0, 0];
      return bs.flatMap((b) => minus(place(y, b), from));
    };
    const pointers = {
      "angular momentum": (y) => rotate(quaternion(y, 0), spin(y, 0)), "angular velocity": (y) => rotate(quaternion(y, 0), rate(y, 0)),
      "to the centre": bodies.position ? (y) => times(-1 / size(place(y, 0)), place(y, 0)) : () => [0, 0, 1],
    };
    const begun = size(spin(kernel.start, 0)), polhode = (y) => times(1 / begun, rotate(live.frames[0], spin(y, 0)));
    const found = {
      ...run, live: { rows: ROWS }, coarse: false, series: [],
      poinsot: run.poinsot && { ...run.poinsot, curve: null, herpolhode: null, polhode: open(run.poinsot.polhode, polhode), now: () => AXES.map((_, i) => 1 / constants[INVERSE_INERTIA + i]) },
      facts: run.facts.filter(([name]) => SAID.has(name)), invariants: run.invariants.filter(({ name }) => SHOWN.test(name)), vectors: run.vectors.filter((one) => pointers[one.name]).map((one) => ({ ...one, space: open(one.space, pointers[one.name]) })),
      bodies: { ...bodies, attitude: open(bodies.attitude, (y) => bs.flatMap((b) => attitude(y, b))), position: open(bodies.position, positions) },
      times: open(Object.assign(Float64Array.of(live.time), { rows: 1, columns: 1 }), (y, t) => [t]),
    };
    const wheels = live.wheels || [], held = wheels.map((slot) => kernel.start[slot]), rotors = run.rotors || [];
    const most = (values) => Math.max(0, ...values.map(Math.abs)), longest = most(held) / (most(rotors.map((one) => one.share[0])) || 1) || 1;
    found.rotors = rotors.slice(0, wheels.length).map((one, k) => ({ ...one, share: open(one.share, (y) => [y[wheels[k]] / longest]) }));
    if (run.orbit) {
      const { central } = run.orbit, turn = central && central.rotation_rate;
      const below = (y, t) => {
        const [x, north, up] = place(y, 0), far = Math.hypot(x, north), lon = (Math.atan2(north, x) - (central.rotation_at_zero || 0) - turn * t) * (180 / Math.PI);
        return [((((lon + 180) % 360) + 360) % 360) - 180, Math.atan2(up, far) * (180 / Math.PI)];
      };
      found.orbit = { ...run.orbit, path: null, shadow: [], lvlh: open(run.orbit.lvlh, lvlh), ground_track: open(run.orbit.ground_track, below) };
    }
    if (run.together) {
      const { local } = run.together, frame = (y) => (local ? conjugate(lvlh(y)) : [1, 0, 0, 0]);
      const seen = (y) => {
        const from = local ? place(y, 0) : centre(y), q = frame(y);
        return bs.flatMap((b) => rotate(q, minus(place(y, b), from)));
      };
      const turned = (y) => { const q = frame(y); return bs.flatMap((b) => multiply(q, attitude(y, b))); };
      found.together = { ...run.together, position: open(run.together.position, seen), attitude: open(run.together.attitude, turned) };
    }
    let count = 0;
    return Object.assign(found, {
      put(y, t) {
        if (count === ROWS) for (const { values } of windows) values.copyWithin(0, values.columns);
        else count++;
        for (const { values, read } of windows) {
          values.set(read(y, t), (count - 1) * values.columns);
          values.rows = count;
        }
      },
      clear() { count = 0; },
      last: () => count - 1,
      // Of a body: its attitude, velocity of turning, and what a push at an arm (in its axes) moves, as a mass.
      attitude, rate, lvlh, mass: (b, arm) => {
        const inverse = constants.subarray(CONSTANTS * b, CONSTANTS * (b + 1)), turning = three(inverse, INVERSE_INERTIA);
        return 1 / (inverse[INVERSE_MASS] + (dot(arm, arm) * (turning[0] + turning[1] + turning[2])) / 3 || Infinity);
      },
      place, velocity,
      axial: (y) => (run.pivot ? dot(rotate(live.frames[0], spin(y, 0)), times(-1 / (size(run.pivot) || 1), run.pivot)) : 0),
    });
  }

  // Errors since a moment by their names, each over its size there.
  const angular = (now) => now.angular, AXES = ["x", "y", "z"];
  const MOMENTA = {
    vertical_angular_momentum: (now) => [now.angular[2]], axial_angular_momentum: (now) => [now.axial], total_momentum: (now) => now.momentum,
    momentum: (now) => now.momentum, total_angular_momentum: angular, angular_momentum_space: angular,
  };

  // Round numbers 1, 2, 5, 10, ...
  const round = (x) => { const p = 10 ** Math.floor(Math.log10(x)); return p * [1, 2, 5, 10].find((one) => one * p >= 0.8 * x); };

  class Live extends Viewer {
    read(scene, buffer) {
      const [run] = super.read(scene, buffer), { kernel } = this;
      this.given = scene.live;
      this.recorded = run;
      this.run = going(run, kernel);
      this.values = Object.fromEntries(this.given.knobs.map((one) => [one.name, one.value]));
      this.h = this.given.step;
      this.balanced = run.series.some((one) => one.group === "Energy error");
      this.momenta = this.given.conserves.filter((name) => MOMENTA[name] && (name !== "axial_angular_momentum" || run.pivot));
      if (kernel.keeps && !this.momenta.some((name) => MOMENTA[name] === MOMENTA.total_angular_momentum)) this.momenta.push("total_angular_momentum");
      this.scene = { ...scene, subtitle: `${this.given.method}  ·  this page takes the steps itself` };
      this.owed = this.every = this.part = 0;
      this.drag = null;
      this.begin();
      this.pace = this.usual();
      return [this.run];
    }

    // So many seconds of the motion in one of the clock that a body turns once, or an orbit in eight; no more than is easy.
    usual() {
      const { y } = this.kernel, { run } = this, spins = run.bodies.attitude ? size(run.rate(y, 0)) / (2 * Math.PI) : 0;
      const around = run.orbit ? Math.max(0, ...Array.from({ length: this.given.bodies }, (_, b) => size(run.velocity(y, b)) / (size(run.place(y, b)) || Infinity))) * (4 / Math.PI) : 0;
      const span = this.recorded.times[this.recorded.times.length - 1] - this.recorded.times[0];
      return round(Math.min(1 / (Math.max(spins, around) || 1 / Math.max(span, 20 * this.h)), (200 * this.h) / this.kernel.cost));
    }

    begin() {
      this.kernel.set(this.values);
      this.t = this.t0 = this.given.time;
      this.first = this.steps = this.owed = 0;
      this.failed = "";
      this.run.clear();
      this.run.put(this.kernel.y, this.t);
      this.history = { times: [], energy: [], x: [], y: [], z: [], ...Object.fromEntries(this.momenta.map((name) => [name, []])) };
      this.compare();
    }

    observe() {
      const { y } = this.kernel;
      return { ...this.kernel.observe(this.t), axial: this.run.axial(y), rate: rotate(this.given.frames[0], this.run.rate(y, 0)) };
    }

    // Errors count from here: somebody has changed the motion.
    compare() {
      this.reference = this.observe();
      this.sample(true);
    }

    sample(gap = false) {
      const now = this.observe(), from = this.reference, { history } = this, turning = size(from.angular);
      history.times.push(this.t);
      history.energy.push(gap ? NaN : Math.abs(now.less - from.less) / (Math.abs(from.less) > 1e-3 * from.scale ? Math.abs(from.less) : from.scale || 1));
      for (const name of this.momenta) {
        const a = MOMENTA[name](from), whole = name.endsWith("momentum") && !name.includes("angular") ? this.speeds() : turning, least = size(a) > 1e-12 * whole ? size(a) : whole;
        history[name].push(gap ? NaN : size(minus(MOMENTA[name](now), a)) / (least || 1));
      }
      AXES.forEach((name, i) => history[name].push(gap ? NaN : now.rate[i]));
      this.now = now;
      if (history.times.length > SAMPLES) for (const [name, values] of Object.entries(history)) {
        history[name] = values.flatMap((one, i) => (i % 2 ? [] : [name === "times" || AXES.includes(name) ? values[i + 1] ?? one : Math.max(one, values[i + 1] ?? one)]));
      }
    }

    speeds() {
      const { y, live } = this.kernel;
      return Array.from({ length: live.bodies }, (_, b) => size(three(y, BODY * b + MOMENTUM))).reduce((a, b) => a + b, 0);
    }

    // ---------------------------------------------------------------- what there is on the page
    clock() {
      this.play_ = button("Pause", () => (this.playing ? this.pause() : this.play()));
      const again = button("Start again", () => { this.begin(); this.refresh(); this.play(); });
      const given = button("Values as given", () => { for (const one of this.sliders) one.put(one.value); this.begin(); this.refresh(); });
      const push = button("Push", () => this.shove(), { title: "A push from the side, without a mouse" });
      this.stamp = element("output");
      this.slider = null;
      this.alert = element("p", { role: "alert", className: "pv-alert" });
      return element("div", { className: "pv-clock pv-live-clock" }, group("Motion", this.play_, again, given, push), this.stamp, this.alert);
    }

    plots() {
      const { given, kernel } = this, unit = given.unit || "", settled = kernel.same
        ? `The same bits as on the machine that made this page: ${given.checked.toLocaleString("en")} steps.`
        : `After ${given.checked.toLocaleString("en")} steps the state differs by ${text(kernel.apart, 2)} from that of the machine that made this page.`;
      const changed = (one, v) => {
        this.values[one.name] = v;
        if (one.restarts) this.begin(); else { kernel.set(this.values, [one]); this.compare(); }
        this.refresh();
      };
      this.sliders = given.knobs.map((one) => this.knob(one.label || one.name, one.low, one.high, one.value, one.unit, (v) => changed(one, v)));
      this.sliders.push(
        this.knob("step", ...given.steps, given.step, unit, (v) => { this.t0 = this.t; this.first = 0; this.h = v; this.compare(); }, true),
        this.knob("pace", this.pace / 50, 50 * this.pace, this.pace, `${unit} a second`, (v) => { this.pace = v; this.owed = 0; }, true));
      this.holder = element("div", { className: "pv-charts" });
      this.told = element("p", { className: "pv-help" });
      this.charts = [];
      const knobs = group("Values", ...this.sliders.map((one) => one.row));
      return element("div", {}, element("p", { className: "pv-same", role: "status", textContent: settled }), knobs, this.holder, this.told);
    }

    knob(label, low, high, value, unit, put, log = false) {
      const MOST = 1000, input = element("input", { type: "range", min: 0, max: MOST, step: 1 }), said = element("output");
      const row = element("label", { className: "pv-knob" }, element("span", { textContent: label }), input, said);
      const show = (v) => { said.textContent = `${text(v, 4)} ${units(unit).trim()}`.trim(); input.setAttribute("aria-valuetext", said.textContent); };
      const at = (v) => MOST * (log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low));
      input.addEventListener("input", () => { const s = input.value / MOST, v = log ? low * (high / low) ** s : low + s * (high - low); show(v); put(v); });
      input.value = at(value);
      show(value);
      return { row, value, put: (v) => { input.value = at(v); show(v); put(v); } };
    }

    help() {
      return "Drag the body to throw it, drag beside it to turn the view; Push does so without a mouse. Keys: space stops and goes on; on the picture arrows turn the camera, + and − come nearer and go away, 0 resets it.";
    }

    // The plots anew, with what has come since.
    chart() {
      const { history, recorded } = this, series = [], words = (name) => name.replace(/_space$/, ", space").replaceAll("_", " ");
      if (this.balanced) series.push({ group: "Energy error", unit: "", log: true, lines: [{ label: "energy", values: history.energy }] });
      if (this.momenta.length) series.push({ group: "Momentum errors", unit: "", log: true, lines: this.momenta.map((name) => ({ label: words(name), values: history[name] })) });
      const turning = recorded.series.find((one) => one.group.startsWith("Angular velocity"));
      if (turning) series.push({ ...turning, lines: AXES.map((name) => ({ label: name, values: history[name] })) });
      const span = [history.times[0], Math.max(this.t, history.times[0] + 10 * this.h)];
      this.charts = charts.gather([{ series, times: history.times }]).map((one) => charts.chart({ ...one, timeUnit: this.given.unit }, span, [], () => {}));
      this.holder.replaceChildren(...this.charts.map((one) => one.box));
      for (const one of this.charts) one.update(this.t);
    }

    choose(view) {
      this.drag = null;
      super.choose(view);
      const places = this.places();
      this.far = places ? 1.3 * places.reduce((most, x) => Math.max(most, Math.abs(x)), 0) : Infinity;
      for (const { canvas, holder } of this.panels) if (canvas) this.grasp(canvas, holder);
      if (!this.asked && this.view && !this.stopped && !matchMedia("(prefers-reduced-motion: reduce)").matches) this.play();
    }

    // Positions of the picture, if it has some.
    places() {
      return this.view?.name === "Together" ? this.run.together.position : this.view?.name === "Orbit" ? this.run.bodies.position : null;
    }

    // The same picture anew, of what has gone far beyond it, seen from the same side.
    widen() {
      const places = this.places(), last = this.run.last();
      if (!places || this.drag || !places.subarray(last * places.columns, (last + 1) * places.columns).some((x) => Math.abs(x) > this.far)) return;
      const cameras = this.panels.map(({ stage }) => stage?.camera.position.clone());
      this.choose(this.view);
      this.panels.forEach(({ stage }, i) => { if (stage && cameras[i]) { stage.camera.position.copy(cameras[i]); stage.controls.update(); } });
    }

    moments() {
      const last = this.run.last();
      return this.playing && last > 0 ? [last - 1, this.part] : [last, 0];
    }

    draw() {
      const begun = performance.now(), { now } = this;
      for (const panel of this.panels) if (panel.picture) { this.place(panel); this.point(panel); panel.stage?.now(); }
      const error = this.history.energy[this.history.energy.length - 1];
      const values = { energy: now.energy, "energy error": error, "vertical angular momentum": now.angular[2], "axial angular momentum": now.axial };
      for (const { name, unit, value } of this.panels[0].shown) {
        const v = name in values ? values[name] : name.includes("angular momentum") ? size(now.angular) : name === "length of total momentum" ? size(now.momentum) : NaN;
        value.textContent = `${text(v, 8)} ${units(unit)}`.trim();
      }
      const [length, unit] = numbers.timeUnit(this.t, this.given.unit);
      this.stamp.textContent = `t = ${(this.t / length).toPrecision(5)} ${unit}`.trim() + `  ·  step ${this.steps.toLocaleString("en")}`;
      this.alert.textContent = this.failed || (this.late ? `Slower than asked: steps and pictures take all the time there is (${text(this.reached, 2)} of ${text(this.pace, 2)}).` : "");
      if (!this.playing) this.name();
      this.draws.count++;
      this.draws.milliseconds += performance.now() - begun;
    }

    name() {
      for (const { canvas, picture } of this.panels) if (picture) canvas.setAttribute("aria-label", `${this.view.name}: ${picture.describe(this.run.last())}; drag the body to throw it`);
    }

    refresh() {
      this.chart();
      if (!this.playing) this.draw();
    }

    // ---------------------------------------------------------------- the motion
    play() {
      if (this.playing || this.failed) return;
      this.playing = true;
      this.stopped = false;
      this.play_.textContent = "Pause";
      let last = performance.now(), charted = 0;
      const counted = { since: last, pictures: 0, t: this.t, pace: this.pace };
      const tick = (at) => {
        if (!this.playing) return;
        this.asked = requestAnimationFrame(tick);
        this.advance(Math.min(0.1, Math.max(0, at - last) / 1000));
        last = at;
        if (!this.playing) return;
        this.draw();
        counted.pictures++;
        if (at - charted > 160) { charted = at; this.chart(); }
        if (at - counted.since < 1000) return;
        this.widen();
        const seconds = (at - counted.since) / 1000;
        this.fps = counted.pictures / seconds;
        this.reached = Math.max(0, this.t - counted.t) / seconds;
        this.late = counted.pace === this.pace && seconds < 2 && this.reached + this.h < 0.85 * this.pace;
        this.told.textContent = `${Math.round(this.fps)} pictures a second. A step takes ${text(1000 * this.kernel.least, 2)} µs here; the kernel is ${(this.given.bytes / 1000).toFixed(1)} kB of WebAssembly and began in ${text(this.kernel.started, 2)} ms.`;
        Object.assign(counted, { since: at, pictures: 0, t: this.t, pace: this.pace });
      };
      this.asked = requestAnimationFrame(tick);
    }

    pause() {
      cancelAnimationFrame(this.asked);
      if (!this.playing) return;
      this.playing = false;
      this.stopped = true;
      this.asked = 0;
      this.play_.textContent = "Go on";
      this.refresh();
    }

    // Steps for so many seconds of the clock, at most those for which there is time, in whole rows.
    advance(seconds) {
      const { kernel, run } = this, room = Math.max(1, Math.floor(BUDGET / (kernel.cost || 1e-3)));
      this.owed += (seconds * this.pace) / this.h;
      const late = this.owed > room + 1;
      let n = Math.min(Math.floor(this.owed), room), every = Math.max(1, Math.ceil(this.pace / this.h / (run.orbit ? 0.5 : 1) / ROWS_A_SECOND));
      const over = (this.first + n) % every;
      if (over < n) n -= over; else every = 1;
      if (n > 0) {
        if (this.drag) this.pull(n * this.h);
        const [status, done] = kernel.march(this.first, n, every, this.t0, this.h), rows = Math.floor((this.first + done) / every) - Math.floor(this.first / every);
        const before = this.first - (this.first % every);
        for (let r = 0; r < rows; r++) run.put(kernel.rows.subarray(r * this.given.width, (r + 1) * this.given.width), this.t0 + this.h * (before + every * (r + 1)));
        this.first += done;
        this.steps += done;
        this.t = this.t0 + this.first * this.h;
        this.owed = late ? 0 : this.owed - n;
        this.every = every;
        if (status) this.fail(status);
        else if (this.drag) this.now = this.observe();
        else this.sample();
      }
      this.part = Math.min(1, this.owed / (this.every || 1));
    }

    // The state so many steps after the start, at rest.
    setFrame(k) {
      this.pause();
      this.begin();
      const n = Math.max(0, Math.round(k)), [status, done] = n ? this.kernel.march(0, n, n, this.t0, this.h) : [0, 0];
      this.first = this.steps = done;
      this.t = this.t0 + done * this.h;
      this.run.put(this.kernel.y, this.t);
      this.sample();
      if (status) this.fail(status);
      this.refresh();
    }

    setTime(t) {
      this.setFrame((t - this.given.time) / this.h);
    }

    fail(status) {
      const why = this.given.statuses[String(status)] || `the step failed (status ${status})`;
      this.failed = `Ended at t = ${text(this.t, 5)} ${this.given.unit}: ${why.replace(/\.$/, "")}. Start again, with a shorter step.`.replace(" :", ":");
      this.pause();
    }

    // ---------------------------------------------------------------- hands
    grips({ stage }) {
      const found = [];
      stage?.things?.traverse((one) => { if (one.userData.grip) found.push(one); });
      return found;
    }

    // A ray from the camera through a place on the canvas.
    ray({ canvas, stage }, [x, y]) {
      const box = canvas.getBoundingClientRect(), origin = stage.camera.position.clone();
      const through = new THREE.Vector3((2 * (x - box.left)) / box.width - 1, 1 - (2 * (y - box.top)) / box.height, 0.5).unproject(stage.camera);
      return { origin, direction: through.sub(origin).normalize() };
    }

    // The body at a place on the canvas, and the point of it.
    hit(panel, at) {
      const ray = this.ray(panel, at), caster = { ray, near: 0, far: Infinity }, box = panel.canvas.getBoundingClientRect();
      let found = null, nearest = Infinity;
      for (const grip of this.grips(panel)) {
        const hits = [], middle = grip.getWorldPosition(new THREE.Vector3()), seen = middle.clone().project(panel.stage.camera);
        grip.traverse((one) => { if (one.isMesh && !one.isLine2) one.raycast(caster, hits); });
        const off = Math.hypot(box.left + 0.5 * (1 + seen.x) * box.width - at[0], box.top + 0.5 * (1 - seen.y) * box.height - at[1]);
        if (!hits.length && grip.userData.grip.size && off < NEAR) hits.push({ distance: middle.distanceTo(ray.origin), point: middle });
        for (const { distance, point } of hits) if (distance < nearest) { nearest = distance; found = { panel, grip, point: grip.userData.grip.size ? new THREE.Vector3() : grip.worldToLocal(point.clone()) }; }
      }
      return found;
    }

    grasp(canvas, holder) {
      const panel = this.panels.find((one) => one.canvas === canvas), at = (event) => [event.clientX, event.clientY];
      if (!panel.stage || holder.dataset.held) return;
      holder.dataset.held = "yes";
      const now = () => this.panels.find((one) => one.holder === holder);
      holder.addEventListener("pointerdown", (event) => {
        if (!this.playing || event.button || !now().stage) return;
        const found = this.hit(now(), at(event));
        if (!found) return;
        this.drag = { ...found, at: at(event) };
        event.stopPropagation();
        event.preventDefault();
        holder.setPointerCapture(event.pointerId);
      }, true);
      holder.addEventListener("pointermove", (event) => {
        if (this.drag) { this.drag.at = at(event); event.stopPropagation(); }
        else if (event.pointerType === "mouse" && now().stage) holder.classList.toggle("pv-held", Boolean(this.playing && this.hit(now(), at(event))));
      }, true);
      for (const end of ["pointerup", "pointercancel"]) holder.addEventListener(end, () => {
        if (!this.drag) return;
        this.drag = null;
        this.compare();
      }, true);
    }

    // Where the hand holds the body, how far it pulls, both in the world of the picture.
    pulling() {
      const { panel, grip, point, at } = this.drag, from = grip.localToWorld(point.clone()), { origin, direction } = this.ray(panel, at);
      const ahead = panel.stage.camera.getWorldDirection(new THREE.Vector3());
      return [from, direction.multiplyScalar(from.clone().sub(origin).dot(ahead) / direction.dot(ahead)).add(origin).sub(from)];
    }

    pull(dt) {
      const { grip, point } = this.drag, { body, pivot, size: unit } = grip.userData.grip, { run, kernel } = this;
      const [, by] = this.pulling(), q = grip.getWorldQuaternion(new THREE.Quaternion()), own = run.bodies.attitude ? run.attitude(kernel.y, body) : run.together?.local && this.view.name === "Together" ? run.lvlh(kernel.y) : [1, 0, 0, 0];
      const way = rotate(multiply(own, [q.w, -q.x, -q.y, -q.z]), by.toArray()), length = unit || grip.getWorldScale(new THREE.Vector3()).x;
      const arm = unit ? [0, 0, 0] : minus(point.toArray(), pivot || [0, 0, 0]);
      const stiff = run.mass(body, arm) * ((unit ? 0.3 * STIFF : STIFF) / this.pace) ** 2;
      kernel.push(body, rotate(own, arm), times((stiff * dt) / length, way));
    }

    // A push from the side, at the end of the body; of several it is the last one that is pushed.
    shove() {
      const panel = this.panels[0], grip = this.grips(panel).at(-1), { run, kernel } = this;
      if (!grip || this.failed) return;
      const { body, pivot, size: unit } = grip.userData.grip, held = pivot && size(pivot) > 0;
      const arm = unit ? [0, 0, 0] : held ? times(-1.3, pivot) : [0, 0, shapes.reach(run.bodies.shapes[0])], own = run.bodies.attitude ? run.attitude(kernel.y, body) : [1, 0, 0, 0];
      const at = rotate(own, arm), side = cross([0, 0, 1], at), way = size(side) > 1e-6 * size(at) ? times(1 / size(side), side) : [1, 0, 0];
      const far = unit ? 0.1 / unit : size(arm);
      kernel.push(body, at, times(run.mass(body, arm) * (PUSH / this.pace) * far, way));
      this.compare();
      if (!this.playing) { run.put(kernel.y, this.t); this.refresh(); }
    }

    // The pull as an arrow.
    point(panel) {
      if (!panel.stage) return;
      if (panel.arrow?.parent !== panel.stage.things) panel.stage.things.add(panel.arrow = shapes.arrow(PULL, 0.014));
      panel.arrow.visible = false;
      if (this.drag?.panel !== panel) return;
      const [from, by] = this.pulling();
      panel.arrow.position.copy(from);
      shapes.point(panel.arrow, by.toArray(), by.length());
    }

    key(event) {
      if (event.ctrlKey || event.altKey || event.metaKey || event.key !== " " || ["BUTTON", "SUMMARY", "SELECT"].includes(event.target.tagName)) return;
      this.playing ? this.pause() : this.play();
      event.preventDefault();
    }

    state() {
      const { history } = this, errors = Object.fromEntries(Object.entries(history).filter(([name]) => name === "energy" || MOMENTA[name]).map(([name, values]) => [name, Math.max(0, ...values.filter(Number.isFinite))]));
      return {
        ...super.state(), t: this.t, steps: this.steps, same: this.kernel.same, values: this.values, step: this.h, pace: this.pace, late: this.late, fps: this.fps,
        state: [...this.kernel.y.subarray(0, BODY * this.given.bodies)], microseconds: 1000 * this.kernel.least, errors, failed: this.failed,
      };
    }
  }

  async function mount(root, scene, buffer) {
    let why = globalThis.WebAssembly ? "" : "This browser has no WebAssembly";
    if (!why) {
      try {
        return handleOf(new Live(root, scene, buffer, await Kernel.start(scene.live)));
      } catch (problem) {
        if (!(problem instanceof WebAssembly.CompileError || problem instanceof EvalError)) throw problem;
        why = "A policy refuses WebAssembly here";
      }
    }
    const handle = polhodeViewer.mount(root, scene, buffer);
    root.querySelector("header").append(element("p", { role: "status", className: "pv-same", textContent: `${why}, so this page does not take steps itself: it shows the run that was recorded.` }));
    return handle;
  }

  return { mount };
})();
