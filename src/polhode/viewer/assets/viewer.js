"use strict";
// The viewer: pictures of all runs at one moment, a clock, plots, and what there is to know of the runs.
polhodeViewer.mount = (() => {
  const { numbers, views, orbit, charts } = polhodeViewer, { text, units } = numbers;
  const VIEWS = [views.body, views.together, orbit.space, views.cell, views.polhode, views.herpolhode, orbit.track];
  const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 10];
  const SECONDS = 12;  // in which a run plays at speed 1
  const ALIKE = 1e-12;  // times that differ by less, as a part of the span, are one moment
  const MOST_FRAMES = 30;  // a second at speed 1, so that few frames play quickly

  function element(name, attributes = {}, ...inside) {
    const found = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key in found && key !== "list") found[key] = value; else found.setAttribute(key, value);
    }
    found.append(...inside);
    return found;
  }

  function button(words, act, attributes = {}) {
    const found = element("button", { type: "button", textContent: words, ...attributes });
    found.addEventListener("click", act);
    return found;
  }

  function group(label, ...inside) {
    const found = element("div", { role: "group" }, ...inside);
    found.setAttribute("aria-label", label);
    return found;
  }

  class Viewer {
    constructor(root, scene, buffer, kernel = null) {
      this.root = root;
      this.kernel = kernel;
      root.classList.add("pv-root");
      this.time = 0;
      this.playing = false;
      this.speed = 1;
      this.inBody = false;
      this.inOrbit = false;
      this.hidden = new Set();
      this.asked = 0;
      this.draws = { count: 0, milliseconds: 0 };
      this.dark = matchMedia("(prefers-color-scheme: dark)");
      this.recolour = () => this.choose(this.view);
      this.dark.addEventListener("change", this.recolour);
      this.keys = (event) => this.key(event);
      root.addEventListener("keydown", this.keys);
      // In a page of its own keys work before anything has the focus.
      this.loose = (event) => { if (event.target === document.body && root.id === "polhode-view") this.key(event, true); };
      document.addEventListener("keydown", this.loose);
      this.resized = new ResizeObserver(() => this.resize());
      this.load(scene, buffer);
    }

    // ---------------------------------------------------------------- what is shown
    load(scene, buffer) {
      this.scene = scene;
      this.runs = this.read(scene, buffer);
      const least = Math.min(...this.runs.map((run) => run.times[0])), most = Math.max(...this.runs.map((run) => run.times[run.times.length - 1]));
      this.span = [least, most];
      // The slider goes by the frames of the run that has most of them, and before and after it by those of the others.
      this.master = this.runs.reduce((a, b) => (b.times.length > a.times.length ? b : a));
      this.alike = ALIKE * (most - least);
      this.ticks = this.instants(this.master.times);
      [this.unitSize, this.unit] = numbers.timeUnit(most - least, this.master.clock.unit);
      if (!this.loaded) this.time = this.ticks[0];
      this.offered = VIEWS.filter((one) => this.runs.some((run) => one.offered(run)));
      this.build();
      this.loaded = true;
      this.choose(this.offered.includes(this.view) ? this.view : this.offered[0]);
    }

    read(scene, buffer) {
      return numbers.unpack(scene.runs, buffer).map((run) => ({ ...run, times: run.clock.values }));
    }

    instants(times) {
      const first = times[0] - this.alike, last = times[times.length - 1] + this.alike;
      const others = this.runs.flatMap((run) => Array.from(run.times)).filter((t) => t < first || t > last).sort((a, b) => a - b);
      const apart = others.filter((t, i) => !i || t > others[i - 1] + this.alike);
      return [...apart.filter((t) => t < first), ...times, ...apart.filter((t) => t > last)];
    }

    build() {
      this.clean();
      const { scene } = this;
      const box = element("section", { className: "pv" });
      box.setAttribute("aria-label", scene.title);
      box.append(element("header", {}, element("h1", { textContent: scene.title }), element("p", { textContent: scene.subtitle || "" })));
      const left = element("div", { className: "pv-left" }, this.pictures(), this.clock());
      const main = element("div", { className: this.runs.length > 1 ? "pv-main pv-many" : "pv-main" }, left, this.plots());
      box.append(this.bar(), main, this.facts());
      this.root.replaceChildren(box);
      this.resized.observe(box);
    }

    bar() {
      this.tabs = this.offered.map((view) => button(view.name, () => this.choose(view), { title: view.about }));
      const frame = (words, act) => button(words, () => { act(); this.marks(); this.draw(); });
      this.frames = {
        space: frame("Space frame", () => { this.inBody = false; }), body: frame("Body frame", () => { this.inBody = true; }),
        inertial: frame("Inertial camera", () => { this.inOrbit = false; }), lvlh: frame("LVLH camera", () => { this.inOrbit = true; }),
      };
      const tabs = group("View", ...this.tabs), frames = group("Frame of reference", ...Object.values(this.frames));
      this.parts = group("Shown");
      this.home = button("Reset camera", () => this.panels.forEach((one) => one.stage?.reset()));
      return element("div", { className: "pv-bar" }, tabs, frames, this.parts, this.home);
    }

    pictures() {
      const all = element("div", { className: "pv-runs" });
      this.panels = this.runs.map((run) => {
        const holder = element("div", { className: "pv-stage" }), values = element("dl", { className: "pv-values" });
        const shown = run.invariants.map((one) => {
          const value = element("dd");
          values.append(element("div", {}, element("dt", { textContent: one.name }), value));
          return { ...one, value };
        });
        const figure = element("figure", { className: "pv-run" });
        const caption = this.runs.length > 1 ? element("figcaption", { textContent: run.label }) : null;
        if (caption) figure.append(caption);
        const legend = element("ul", { className: "pv-names" });
        figure.append(holder, legend, values);
        all.append(figure);
        return { run, holder, shown, legend, caption, stage: null, picture: null, canvas: null };
      });
      return all;
    }

    clock() {
      this.play_ = button("▶ Play", () => (this.playing ? this.pause() : this.play()));
      this.slider = element("input", { type: "range", min: 0, max: this.ticks.length - 1, step: 1, value: 0 });
      this.slider.setAttribute("aria-label", "Time");
      this.slider.addEventListener("input", () => { this.pause(); this.setFrame(Number(this.slider.value)); });
      const speed = element("select");
      speed.setAttribute("aria-label", "Speed");
      for (const one of SPEEDS) speed.append(element("option", { value: one, textContent: `${one} ×`, selected: one === this.speed }));
      speed.addEventListener("change", () => { this.speed = Number(speed.value); });
      this.stamp = element("output");
      return element("div", { className: "pv-clock" }, this.play_, this.slider, speed, this.stamp);
    }

    plots() {
      const all = element("div", { className: "pv-charts" });
      const shadow = this.runs.flatMap((run) => (run.orbit && run.orbit.shadow) || []);
      this.charts = charts.gather(this.runs).map((group) => {
        group.timeUnit = this.master.clock.unit;
        const found = charts.chart(group, this.span, shadow, (t) => { this.pause(); this.setTime(this.ticks[numbers.before(this.ticks, t)]); });
        all.append(found.box);
        return found;
      });
      return all;
    }

    facts() {
      const all = element("div", { className: "pv-facts" });
      for (const run of this.runs) {
        const table = element("table");
        if (this.runs.length > 1) table.append(element("caption", { textContent: run.label }));
        for (const [name, words] of run.facts) {
          const head = element("th", { textContent: name });
          head.setAttribute("scope", "row");
          table.append(element("tr", {}, head, element("td", { textContent: words })));
        }
        all.append(element("div", {}, table));
      }
      const open = !this.closed && matchMedia("(min-width: 700px)").matches;
      return element("details", { open }, element("summary", { textContent: this.runs.length > 1 ? "About these runs" : "About this run" }), all,
        element("p", { className: "pv-help", textContent: `${this.help()} ${this.scene.generator}.` }));
    }

    help() {
      return "Keys: space plays and stops; comma and full stop, or arrows, step by a frame; Home and End go to the ends. On a picture arrows turn the camera, + and − come nearer and go away, 0 resets it; with a mouse or by touch: drag, wheel, pinch. On a plot: click or drag to a moment.";
    }

    // ---------------------------------------------------------------- views
    choose(view) {
      this.view = view;
      for (const panel of this.panels) {
        this.strip(panel);
        if (!view) continue;
        if (!view.offered(panel.run)) {
          panel.holder.append(element("p", { textContent: `This run has no view "${view.name}".` }));
          continue;
        }
        if (!view.flat && !polhodeViewer.stage.possible()) {
          panel.holder.append(element("p", { role: "alert", textContent: "This browser cannot draw in three dimensions: it has no WebGL 2. The plots and numbers below are shown all the same." }));
          continue;
        }
        const canvas = element("canvas", { tabIndex: 0, role: "img" });
        panel.canvas = canvas;
        panel.holder.append(canvas);
        if (view.flat) panel.picture = view.make(panel.run, canvas);
        else {
          panel.stage = new polhodeViewer.stage.Stage(canvas, (moved) => this.together(moved));
          panel.picture = view.make(panel.run, panel.stage);
          if (view.lvlh) panel.stage.draw = () => this.place(panel);
        }
        for (const [colour, words] of panel.picture.legend || []) {
          const key = element("span", { className: "pv-dot" });
          key.style.backgroundColor = colour;
          key.setAttribute("aria-hidden", "true");
          panel.legend.append(element("li", {}, key, words));
        }
      }
      this.switches();
      this.marks();
      this.draw();
    }

    // Buttons for the parts of a picture that can be left out.
    switches() {
      const names = new Set(this.panels.flatMap(({ picture }) => Object.keys(picture?.parts || {})));
      this.parts.replaceChildren(...[...names].map((name) => {
        const part = button(name, () => { if (!this.hidden.delete(name)) this.hidden.add(name); show(); }, { className: "pv-part" });
        const show = () => {
          part.setAttribute("aria-pressed", String(!this.hidden.has(name)));
          for (const { picture, stage } of this.panels) {
            if (picture?.parts?.[name]) picture.parts[name].visible = !this.hidden.has(name);
            stage?.ask();
          }
        };
        show();
        return part;
      }));
    }

    // All pictures are seen from the same side.
    together(moved) {
      if (this.moving) return;
      this.moving = true;
      for (const { stage } of this.panels) {
        if (!stage || stage === moved) continue;
        stage.camera.position.copy(moved.camera.position);
        stage.controls.target.copy(moved.controls.target);
        stage.controls.update();
        stage.ask();
      }
      this.moving = false;
    }

    marks() {
      this.tabs.forEach((tab, i) => tab.setAttribute("aria-pressed", String(this.offered[i] === this.view)));
      const turning = Boolean(this.view && this.view.frames), local = Boolean(this.view && this.view.lvlh && this.runs.some((run) => run.orbit && this.view.lvlh(run)));
      for (const [name, shown, pressed] of [["space", turning, !this.inBody], ["body", turning, this.inBody], ["inertial", local, !this.inOrbit], ["lvlh", local, this.inOrbit]]) {
        this.frames[name].hidden = !shown;
        this.frames[name].setAttribute("aria-pressed", String(pressed));
      }
      this.home.hidden = !this.view || Boolean(this.view.flat);
    }

    place({ run, picture }) {
      const [k, part] = this.moments(run);
      picture.update(k, part, this.inBody, this.inOrbit && Boolean(run.orbit && run.orbit.lvlh));
    }

    moments(run) {
      const [k, part] = numbers.moment(run.times, this.time + this.alike);
      return this.playing ? [k, part] : [k, 0];
    }

    // What is said of a run that has no rows at this moment: its nearest row is shown.
    beyond({ times }) {
      const last = times[times.length - 1], words = (t) => `${text(t / this.unitSize, 6)} ${this.unit}`.trim();
      if (this.time > last + this.alike) return ` (ended at t = ${words(last)})`;
      return this.time < times[0] - this.alike ? ` (begins at t = ${words(times[0])})` : "";
    }

    draw() {
      const begun = performance.now();
      for (const panel of this.panels) {
        const [k] = this.moments(panel.run);
        if (panel.picture) {
          this.place(panel);
          panel.stage?.ask();
        }
        if (panel.caption) panel.caption.textContent = panel.run.label + this.beyond(panel.run);
        for (const one of panel.shown) one.value.textContent = `${text(one.values[k], 8)} ${units(one.unit)}`.trim();
      }
      for (const one of this.charts) one.update(this.time + this.alike);
      const frame = numbers.before(this.ticks, this.time), count = this.ticks.length;
      const words = `${text(this.time / this.unitSize, 6)} ${this.unit}`.trim();
      this.slider.value = frame;
      this.slider.setAttribute("aria-valuetext", `time ${words}, frame ${frame + 1} of ${count}`);
      this.stamp.textContent = `t = ${words}  ·  frame ${(frame + 1).toLocaleString("en")} of ${count.toLocaleString("en")}`;
      if (!this.playing) {
        for (const { canvas, picture, run } of this.panels) {
          if (picture) canvas.setAttribute("aria-label", `${this.view.name}: ${picture.describe(this.moments(run)[0])}`);
        }
      }
      this.draws.count++;
      this.draws.milliseconds += performance.now() - begun;
    }

    resize() {
      for (const panel of this.panels) {
        if (panel.stage) panel.stage.ask();
        else if (panel.picture) this.place(panel);
      }
    }

    // ---------------------------------------------------------------- the clock
    setTime(t) {
      this.time = Math.min(this.span[1], Math.max(this.span[0], t));
      this.draw();
    }

    setFrame(k) {
      this.setTime(this.ticks[Math.min(this.ticks.length - 1, Math.max(0, Math.round(k)))]);
    }

    play() {
      if (this.playing) return;
      if (this.time >= this.span[1]) this.time = this.span[0];
      this.playing = true;
      this.play_.textContent = "❚❚ Pause";
      let last = null;
      const seconds = Math.min(SECONDS, Math.max(2, this.ticks.length / MOST_FRAMES));
      const tick = (now) => {
        if (!this.playing) return;
        if (last !== null) {
          this.time += ((Math.min(now - last, 100) / 1000) * this.speed * (this.span[1] - this.span[0])) / seconds;
          if (this.time >= this.span[1]) { this.time = this.span[1]; this.pause(); return; }
          this.draw();
        }
        last = now;
        this.asked = requestAnimationFrame(tick);
      };
      this.asked = requestAnimationFrame(tick);
    }

    // Stop at the frame before; what is shown then are rows of the run.
    pause() {
      cancelAnimationFrame(this.asked);
      if (!this.playing) return;
      this.playing = false;
      this.play_.textContent = "▶ Play";
      this.setTime(this.ticks[numbers.before(this.ticks, this.time)]);
    }

    key(event, loose = false) {
      if (event.ctrlKey || event.altKey || event.metaKey || event.target.tagName === "SELECT") return;
      const frame = numbers.before(this.ticks, this.time), slider = event.target === this.slider;
      if (event.key === " " && !["BUTTON", "SUMMARY"].includes(event.target.tagName)) this.playing ? this.pause() : this.play();
      else if (event.key === "." || event.key === ",") { this.pause(); this.setFrame(frame + (event.key === "." ? 1 : -1)); }
      else if (loose && (event.key === "ArrowLeft" || event.key === "ArrowRight")) { this.pause(); this.setFrame(frame + (event.key === "ArrowRight" ? 1 : -1)); }
      else if (event.key === "Home" && !slider) { this.pause(); this.setFrame(0); }
      else if (event.key === "End" && !slider) { this.pause(); this.setTime(this.span[1]); }
      else return;
      event.preventDefault();
    }

    // ---------------------------------------------------------------- the outside
    append(scene, buffer) {
      const end = this.time >= this.span[1], cameras = this.panels.map(({ stage }) => stage && stage.camera.position.clone());
      const { playing } = this;
      this.pause();
      this.closed = !this.root.querySelector("details")?.open;
      this.load(scene, buffer);
      this.panels.forEach(({ stage }, i) => {
        if (stage && cameras[i]) { stage.camera.position.copy(cameras[i]); stage.controls.update(); }
      });
      if (end) this.setTime(this.span[1]); else this.setTime(this.time);
      if (playing && !end) this.play();
    }

    state() {
      return {
        frame: numbers.before(this.ticks, this.time), frames: this.ticks.length, time: this.time, playing: this.playing,
        view: this.view ? this.view.name : null, views: this.offered.map((one) => one.name), inBody: this.inBody, inOrbit: this.inOrbit,
        runs: this.panels.map(({ run, shown, stage }) => {
          const [k] = this.moments(run);
          return {
            label: run.label, frame: k, time: run.times[k],
            invariants: Object.fromEntries(shown.map((one) => [one.name, one.values[k]])),
            quaternion: run.bodies.attitude ? numbers.attitude(run.bodies.attitude, k, 0) : null,
            camera: stage ? { position: stage.camera.position.toArray(), target: stage.controls.target.toArray() } : null,
          };
        }),
        draws: { ...this.draws },
      };
    }

    strip(panel) {
      panel.stage?.show(new THREE.Group());
      panel.stage?.destroy();
      panel.stage = panel.picture = panel.canvas = null;
      panel.legend.replaceChildren();
      panel.holder.replaceChildren();
    }

    clean() {
      this.resized.disconnect();
      for (const panel of this.panels || []) this.strip(panel);
    }

    destroy() {
      this.pause();
      this.clean();
      this.dark.removeEventListener("change", this.recolour);
      document.removeEventListener("keydown", this.loose);
      this.root.removeEventListener("keydown", this.keys);
      this.root.replaceChildren();
    }
  }

  // What the outside has of a viewer.
  function handleOf(viewer) {
    const handle = {};
    for (const name of ["setTime", "setFrame", "play", "pause", "append", "state", "destroy"]) handle[name] = viewer[name].bind(viewer);
    handle.choose = (name) => viewer.choose(viewer.offered.find((one) => one.name === name) || viewer.view);
    handle.frame = (inBody, inOrbit) => { viewer.inBody = inBody; viewer.inOrbit = inOrbit; viewer.marks(); viewer.draw(); };
    return handle;
  }

  Object.assign(polhodeViewer, { Viewer, handleOf, element, button, group });
  return (root, scene, buffer) => handleOf(new Viewer(root, scene, buffer));
})();
