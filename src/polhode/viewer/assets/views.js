"use strict";
// The views of a body and of many: each puts things on a stage and moves them to a moment (frame k, part of the next step).
polhodeViewer.views = (() => {
  const { numbers, shapes } = polhodeViewer, { attitude, conjugate, place, rotate, row, text } = numbers, { SHORT, ofBody } = shapes;
  const { colours } = polhodeViewer.stage;
  const MOST = 25, TRACE = 600;

  const vector = (values, k, part) => row(values, k, part, 3);

  // ------------------------------------------------------------------ a body, in space or in its own axes
  const body = {
    name: "Body",
    about: "The body turning in space",
    offered: (run) => Boolean(run.bodies.attitude) && !run.cell && !run.together && (!run.bodies.position || run.bodies.count === 1),
    frames: true,
    make(run, stage) {
      const all = new THREE.Group(), many = Math.min(run.bodies.count, MOST), across = Math.ceil(Math.sqrt(many));
      const one = (b) => run.bodies.shapes[Math.min(b, run.bodies.shapes.length - 1)];
      const pivot = run.pivot || [0, 0, 0], letters = new THREE.Group(), pointers = new THREE.Group(), traces = new THREE.Group();
      const size = 1 / (Math.max(...Array.from({ length: many }, (_, b) => shapes.reach(one(b)))) + 0.5 * Math.hypot(...pivot));
      const turning = [], apart = 2.4, down = Math.ceil(many / across);
      for (let b = 0; b < many; b++) {
        const place = new THREE.Group(), held = new THREE.Group(), solid = shapes.solid(one(b));
        place.position.set(0, apart * ((b % across) - 0.5 * (across - 1)), -apart * (Math.floor(b / across) - 0.5 * (down - 1)));
        solid.scale.setScalar(size);
        solid.position.set(...pivot.map((a) => -a * size));
        solid.userData.grip = { body: b, pivot };
        held.add(solid);
        if (many === 1) letters.add(shapes.axes(1.35, ["x", "y", "z"], 0.009));
        if (many === 1) held.add(letters);
        place.add(held);
        all.add(place);
        turning.push(held);
      }
      const arrows = many > 1 ? [] : run.vectors.map((one) => {
        const arrow = shapes.arrow(one.colour, 0.02), label = shapes.word(SHORT[one.name] || one.name, one.colour, 0.15);
        pointers.add(arrow, label);
        return { arrow, label, ...one };
      });
      const shadow = run.pivot ? shapes.shade(0.75) : null, discs = new THREE.Group(), rotors = many > 1 ? [] : rotorsOf(run, discs);
      if (rotors.length) turning[0].add(discs);
      let trace = null;
      if (many === 1) {
        all.add(pointers);
        all.add(floor(run.pivot ? 0 : -1.5, shadow));
        const q = run.bodies.attitude, axis = longest(run), tip = axis.map((a) => 1.42 * a);
        const put = (k, to, at) => rotate(attitude(q, k, 0), tip).forEach((a, j) => { to[at + j] = a; });
        if (!run.coarse) traces.add(trace = shapes.trail(put, run.live ? run.live.rows : q.rows, shapes.AXES[axis.indexOf(1)], run.live ? run.live.rows : TRACE));
        all.add(traces);
      }
      stage.show(all);
      stage.home([2.6, 1.7, 1.05], many === 1 ? (run.pivot ? 6.3 : 6.9) : 3.4 * across + 2, [0, 0, many === 1 ? (run.pivot ? 0.45 : -0.12) : 0]);
      return {
        parts: many > 1 ? {} : { Arrows: pointers, Axes: letters, ...(rotors.length ? { Rotors: discs } : {}), ...(trace ? { Trace: traces } : {}) },
        update(k, part, inBody) {
          const q0 = attitude(run.bodies.attitude, k, part);
          turning.forEach((held, b) => shapes.set(held, b ? attitude(run.bodies.attitude, k, part, b) : q0));
          shapes.set(all, inBody && many === 1 ? conjugate(q0) : [1, 0, 0, 0]);
          if (shadow) rotate(q0, pivot).slice(0, 2).forEach((a, i) => { shadow.position[i ? "y" : "x"] = -a * size; });
          light(run, stage, k, part, all);
          for (const { name, arrow, label, space } of arrows) {
            const v = vector(space, k, part), length = Math.hypot(...v), shown = name === "angular velocity" ? 1.95 : 1.65;
            shapes.point(arrow, v, shown);  // of lengths of their own, so that parallel ones are both seen
            label.visible = arrow.visible;
            if (length > 0) label.position.set(...v.map((a) => ((shown + 0.13) * a) / length));
          }
          for (const one of rotors) turnRotor(one, k, part);
          if (trace) trace.userData.show(k);
        },
        legend: many > 1 ? [] : [
          ...[...new Map(rotors.map((one) => [one.name, one.colour]))].map(([name, colour]) => [colour, `${name}, by momentum`]),
          ...run.vectors.map((one) => [one.colour, one.name + (SHORT[one.name] && SHORT[one.name].length < 2 ? ` ${SHORT[one.name]}` : "")]),
          ...(run.coarse ? [] : [[shapes.AXES[longest(run).indexOf(1)], `path of the body's ${"xyz"[longest(run).indexOf(1)]} axis`]]),
        ],
        describe(k) {
          const q = attitude(run.bodies.attitude, k, 0);
          return `the body with attitude quaternion ${q.map((a) => text(a, 3)).join(", ")} (w, x, y, z; body to space)`;
        },
      };
    },
  };

  // Wheels and gyros: a disc across the axis, outside the body, with an arrow by its momentum.
  function rotorsOf(run, group, body = 0) {
    return (run.rotors || []).filter((one) => one.body === body).map((one) => {
      const disc = new THREE.Mesh(new THREE.CylinderGeometry(0.12, 0.12, 0.035, 40).rotateX(Math.PI / 2), shapes.surface(one.colour));
      const arrow = shapes.arrow(one.colour, 0.014);
      group.add(disc, arrow);
      return { disc, arrow, ...one };
    });
  }

  function turnRotor({ disc, arrow, axis, share }, k, part) {
    const a = Array.isArray(axis) ? axis : vector(axis, k, part), [h] = row(share, k, part, 1);
    disc.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), new THREE.Vector3(...a).normalize());
    for (const one of [disc, arrow]) one.position.set(...a.map((x) => 1.12 * x));
    shapes.point(arrow, a.map((x) => (h < 0 ? -x : x)), h ? 0.14 + 0.4 * Math.abs(h) : 0);
  }

  // The axis along which the body is longest, whose tip leaves a trace; of a top its own.
  function longest(run) {
    const shape = run.bodies.shapes[0];
    const sizes = run.pivot ? run.pivot.map(Math.abs) : shape.size;
    const k = sizes ? sizes.indexOf(Math.max(...sizes)) : 2;
    return [0, 1, 2].map((i) => +(i === k));
  }

  // The Sun's light in the picture, where the run knows the Sun: none in a shadow.
  function light(run, stage, k, part, held) {
    const sun = run.vectors.find((one) => one.name === "to the Sun");
    if (!sun) return;
    stage.sun = new THREE.Vector3(...vector(sun.space, k, part)).applyQuaternion(held.quaternion);
    stage.dark = Boolean(run.orbit?.shadow?.some(([a, b]) => run.times[k] >= a && run.times[k] <= b));
  }

  // Circles below the body with the directions of space, and its soft shadow.
  function floor(height, shadow) {
    const group = new THREE.Group(), tint = colours().grid, many = 96;
    for (const radius of [0.5, 1, 1.5]) {
      const points = new Float32Array(3 * (many + 1));
      for (let i = 0; i <= many; i++) points.set([radius * Math.cos((2 * Math.PI * i) / many), radius * Math.sin((2 * Math.PI * i) / many), 0], 3 * i);
      group.add(shapes.line(points, tint, 1, 1.2));
    }
    ["X", "Y"].forEach((name, k) => {
      const end = [0, 0, 0];
      end[k] = 1.62;
      group.add(shapes.line(new Float32Array([...end.map((a) => -a), ...end]), tint, 1, 1.2));
      const label = shapes.word(name, colours().faint, 0.13);
      label.position.set(...end.map((a) => 1.07 * a));
      group.add(label);
    });
    if (shadow) group.add(shadow);
    group.position.z = height;
    return group;
  }

  // ------------------------------------------------------------------ momentum in the body: sphere, ellipsoid, polhode
  function turned(frame) {
    const f = frame || [1, 0, 0, 0, 1, 0, 0, 0, 1], group = new THREE.Group();
    group.quaternion.setFromRotationMatrix(new THREE.Matrix4().set(f[0], f[3], f[6], 0, f[1], f[4], f[7], 0, f[2], f[5], f[8], 0, 0, 0, 0, 1));
    return group;
  }

  function translucent(axes, colour, opacity) {
    const found = new THREE.Mesh(new THREE.SphereGeometry(1, 96, 64).scale(...axes), shapes.surface(colour, false, opacity));
    found.material.side = THREE.FrontSide;
    return found;
  }

  const polhode = {
    name: "Polhode",
    about: "The angular momentum in the body: on its sphere, and on the ellipsoid of energy",
    offered: (run) => Boolean(run.poinsot),
    make(run, stage) {
      const { moments, frame, energy, curve, polhode: path } = run.poinsot;
      const all = new THREE.Group(), principal = turned(frame), axes = moments.map((one) => Math.sqrt(2 * energy * one));
      const biggest = Math.max(1, ...axes), held = new THREE.Group(), sphere = new THREE.Group(), ellipsoid = new THREE.Group();
      principal.add(translucent(axes, "#e69f00", 0.38), shapes.graticule(axes, "#a86c00", 30, 0.3));
      ellipsoid.add(principal);
      sphere.add(translucent([1, 1, 1], "#56b4e9", 0.34), shapes.graticule([1, 1, 1], "#2f7fb0", 30, 0.28));
      const letters = shapes.axes(1.22 * biggest, ["mx", "my", "mz"], 0.008);
      all.add(ellipsoid, sphere, letters);
      if (curve) {
        all.add(shapes.line(lifted(curve), "#d55e00", 1, 3.2), shapes.line(lifted(curve).map((a) => -a), "#d55e00", 0.4, 2));
      }
      const trace = curve || run.coarse ? null : run.live ? shapes.way(run, path, 0, 1.008, "#d55e00", 1, 3) : shapes.trail(shapes.along(lifted(path)), path.rows, "#d55e00", TRACE, 3);
      if (trace) all.add(trace);
      const tip = new THREE.Mesh(new THREE.SphereGeometry(0.042, 32, 20), shapes.surface("#d55e00")), arrow = shapes.arrow("#0072b2", 0.014);
      all.add(tip, arrow);
      held.add(all);
      all.scale.setScalar(1 / biggest);
      stage.show(held);
      stage.home([2.2, 1.6, 1.2], 4.3);
      return {
        parts: { Sphere: sphere, Ellipsoid: ellipsoid, Axes: letters },
        update(k, part) {
          const m = vector(path, k, part);
          tip.position.set(...m.map((a) => 1.01 * a));
          shapes.point(arrow, m, Math.hypot(...m));
          if (trace) trace.userData.show(k);
          if (!run.live) return;
          // A hand, or loads, change size and energy: both surfaces are those of now.
          const now = run.poinsot.now(), twice = now.reduce((sum, one, i) => sum + (frame[3 * i] * m[0] + frame[3 * i + 1] * m[1] + frame[3 * i + 2] * m[2]) ** 2 / one, 0);
          sphere.scale.setScalar(Math.hypot(...m) || 1e-9);
          principal.scale.set(...axes.map((one, i) => Math.sqrt(twice * now[i]) / one || 1e-9));
        },
        legend: [["#0072b2", "angular momentum m in body axes"], ["#d55e00", "polhode"], ["#56b4e9", "sphere: |m| constant"], ["#e69f00", "ellipsoid: energy constant"]],
        describe: (k) => `the angular momentum in body axes over its initial size: ${vector(path, k, 0).map((a) => text(a, 3)).join(", ")}`,
      };
    },
  };

  // Points a little above the sphere, so that lines are seen.
  function lifted(values) {
    const found = new Float32Array(values.length);
    for (let i = 0; i < values.length; i++) found[i] = 1.008 * values[i];
    return found;
  }

  // ------------------------------------------------------------------ Poinsot's ellipsoid rolling on its plane
  const herpolhode = {
    name: "Herpolhode",
    about: "Poinsot: the inertia ellipsoid rolls on the invariable plane",
    offered: (run) => Boolean(run.poinsot && run.poinsot.plane && run.poinsot.herpolhode),
    make(run, stage) {
      const { moments, frame, herpolhode: tips, plane, curve } = run.poinsot;
      const all = new THREE.Group(), axes = moments.map((one) => 1 / Math.sqrt(one)), biggest = Math.max(...axes);
      const normal = new THREE.Vector3(...plane.normal), down = new THREE.Group(), rolling = new THREE.Group(), principal = turned(frame);
      const ellipsoid = new THREE.Group(), traces = new THREE.Group();
      down.quaternion.setFromUnitVectors(normal, new THREE.Vector3(0, 0, -1));
      principal.add(translucent(axes, "#56b4e9", 0.5), shapes.graticule(axes, colours().faint, 30, 0.55));
      ellipsoid.add(principal);
      rolling.add(ellipsoid);
      // The polhode on the ellipsoid: the point of contact in the body, x = w / sqrt(2 T) = J^-1 m / sqrt(2 T).
      if (curve) rolling.add(shapes.line(contacts(curve, moments, frame, run.poinsot.energy), "#d55e00", 1, 2.6));
      let wide = 0;
      for (let k = 0; k < tips.rows; k++) {
        const v = new THREE.Vector3(...vector(tips, k, 0));
        wide = Math.max(wide, v.addScaledVector(normal, -v.dot(normal)).length());
      }
      const radius = 1.2 * Math.max(wide, 0.85 * biggest);
      const disc = new THREE.Mesh(new THREE.CircleGeometry(radius, 128), shapes.surface("#9aa7b4", false, 0.3));
      disc.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
      disc.position.copy(normal).multiplyScalar(1.004 * plane.distance);
      const points = new Float32Array(tips);
      // Lines from frame to frame, or dots where nobody knows the way between them.
      if (run.coarse) traces.add(shapes.dots(points, "#009e73", 0.02 * biggest));
      else traces.add(shapes.line(points, "#009e73", 0.22, 1.2));
      const trace = run.coarse ? null : shapes.trail(shapes.along(points), tips.rows, "#009e73", 4 * TRACE, 2.8);
      if (trace) traces.add(trace);
      const tip = new THREE.Mesh(new THREE.SphereGeometry(0.035 * biggest, 24, 16), shapes.surface("#d55e00"));
      const arrow = shapes.arrow("#d55e00", 0.014 * biggest);
      down.add(rolling, disc, traces, tip, arrow);
      all.add(down);
      const size = 1 / Math.max(0.9 * biggest, 0.8 * radius);
      all.scale.setScalar(size);
      all.position.z = 0.5 * plane.distance * size;
      stage.show(all);
      stage.home([2.2, 1.5, 0.75], 4.5);
      return {
        parts: { Ellipsoid: ellipsoid, Trace: traces },
        update(k, part) {
          const w = vector(tips, k, part);
          shapes.set(rolling, attitude(run.bodies.attitude, k, part));
          tip.position.set(...w);
          shapes.point(arrow, w, Math.hypot(...w));
          if (trace) trace.userData.show(k);
        },
        legend: [["#d55e00", "angular velocity, and the polhode"], ["#009e73", "herpolhode"], ["#56b4e9", "inertia ellipsoid"], ["#9aa7b4", "invariable plane"]],
        describe: (k) => `the inertia ellipsoid on its plane; angular velocity in space, scaled: ${vector(tips, k, 0).map((a) => text(a, 3)).join(", ")}`,
      };
    },
  };

  // Points of contact on the inertia ellipsoid, in body axes, for angular momenta over their size; rows of the frame are
  // principal axes.
  function contacts(curve, moments, frame, energy) {
    const f = frame || [1, 0, 0, 0, 1, 0, 0, 0, 1], found = new Float32Array(curve.length), size = 1 / Math.sqrt(2 * energy);
    for (let i = 0; i < curve.length; i += 3) {
      for (let a = 0; a < 3; a++) {
        const along = (f[3 * a] * curve[i] + f[3 * a + 1] * curve[i + 1] + f[3 * a + 2] * curve[i + 2]) * (size / moments[a]);
        for (let j = 0; j < 3; j++) found[i + j] += along * f[3 * a + j];
      }
    }
    return found;
  }

  // ------------------------------------------------------------------ bodies that act on each other
  const LEAST = 0.17;

  const together = {
    name: "Together",
    about: "Bodies with tethers and joints",
    offered: (run) => Boolean(run.together),
    make(run, stage) {
      const { position, attitude: q, links, joints, local } = run.together, many = run.bodies.count, all = new THREE.Group();
      const [low, high] = limits(position), middle = low.map((a, i) => 0.5 * (a + high[i])), far = 0.5 * Math.hypot(...high.map((a, i) => a - low[i]));
      const shape = (b) => run.bodies.shapes[Math.min(b, run.bodies.shapes.length - 1)];
      const largest = Math.max(...Array.from({ length: many }, (_, b) => shapes.reach(shape(b))));
      const extent = joints.length ? Math.max(far, largest) : far, size = 1 / extent, magnified = joints.length ? 1 : Math.max(1, (LEAST * extent) / largest);
      const names = run.bodies.names || [], paths = new THREE.Group(), discs = new THREE.Group(), turning = [], rotors = [];
      const movers = Array.from({ length: many }, (_, b) => {
        const place = new THREE.Group(), held = new THREE.Group(), solid = shapes.solid(shape(b)), near = size * magnified * shapes.reach(shape(b));
        solid.scale.setScalar(size * magnified);
        held.add(solid);
        if (joints.length) solid.traverse((one) => one.material && [one.material].flat().forEach((look) => Object.assign(look, { transparent: true, opacity: 0.5 })));
        const carried = new THREE.Group();
        carried.scale.setScalar(near);
        rotors.push(...rotorsOf(run, carried, b));
        held.add(carried);
        held.userData.grip = { body: b, size };
        turning.push(held);
        place.add(held);
        if (names[b]) {
          const label = shapes.word(names[b], ofBody(b), 0.11);
          label.position.z = (local ? -1 : 1) * ((joints.length ? 0.4 : 1) * near + 0.07);
          place.add(label);
        }
        paths.add(shapes.way(run, position, b, size, ofBody(b), 0.45, 1.4, 0.005));
        all.add(place);
        return place;
      });
      all.add((turning[-1] = movers[-1] = new THREE.Group()));
      joints.forEach((one) => fasten(one, extent, turning));
      // A tether is pale while it is slack; other loads are thin lines between the bodies.
      const lines = [...links, ...joints.filter((one) => one.kind === "rod")].filter((one) => one.at || !links.some((other) => other.at && String(other.bodies) === String(one.bodies))).map((one) => {
        const thick = one.at ? 0.009 : 0.0025, line = new THREE.Mesh(new THREE.CylinderGeometry(thick, thick, 1, 10).rotateX(Math.PI / 2), shapes.surface(one.at ? TETHER : colours().faint));
        line.material.transparent = true;
        all.add(line);
        return { line, ...one };
      });
      const letters = shapes.axes(0.3, ["x", "y", "z"], 0.012);
      all.add(paths, letters);
      if (local) all.quaternion.set(1, 0, 0, 0);  // z, to the centre, is shown below
      stage.show(all);
      stage.home([-1.9, 2.2, 0.9], 4.1, middle.map((a, i) => (local && i ? -size : size) * a));
      const end = (b, at, k, part) => new THREE.Vector3(...(at || [0, 0, 0])).multiplyScalar(size * magnified).applyQuaternion(turning[b].quaternion).add(movers[b].position);
      return {
        parts: { Paths: paths, Axes: letters },
        update(k, part) {
          for (const one of paths.children) one.userData.show?.(k);
          for (let b = 0; b < many; b++) {
            movers[b].position.set(...place(position, run.times, k, part, 3 * b).map((a) => size * a));
            if (q) shapes.set(turning[b], attitude(q, k, part, b));
          }
          for (const one of rotors) turnRotor(one, k, part);
          for (const { line, bodies: [a, b], at, length } of lines) {
            const from = end(a, at && at[0]), to = end(b, at && at[1]), along = to.clone().sub(from), whole = along.length();
            line.position.copy(from).add(to).multiplyScalar(0.5);
            if (whole > 0) line.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), along.clone().divideScalar(whole));
            line.scale.z = Math.max(1e-6, whole);
            line.material.opacity = at && length && !taut(run, k, part, [a, b], at, length) ? 0.3 : 1;
          }
        },
        legend: [
          ...(many <= 12 ? names.map((name, b) => [ofBody(b), name]) : []),
          ...(joints.length ? [[JOINT, "joints"]] : []),
          ...(links.some((one) => one.at) ? [[TETHER, "tether, pale while it is slack"]] : []),
          ...[...new Map(rotors.map((one) => [one.name, one.colour]))].map(([name, colour]) => [colour, `${name}, by momentum`]),
        ],
        describe(k) {
          if (!links.length) return "";
          const [a, b] = links[0].bodies, apart = row(position, k, 0, 3, 3 * b).map((x, i) => x - row(position, k, 0, 3, 3 * a)[i]);
          return `${names[b] || "the second body"} is ${text(Math.hypot(...apart), 5)} from ${names[a] || "the first"}`;
        },
      };
    },
  };
  const TETHER = "#3d3d3d", JOINT = "#b2182b";

  // A joint: a ball, a pin, a block on its rail, with struts from the middles of its bodies or a foot on the ground; of
  // a weld the struts alone.
  function fasten({ kind, bodies, at, axes, span }, extent, holders) {
    const d = 0.016, V = THREE.Vector3, [u, w] = at.map((x) => new V(...x).divideScalar(extent)), [m, n] = axes.map((x) => new V(...x)), pale = colours().faint;
    const add = (i, form, place, colour = JOINT) => {
      const found = new THREE.Mesh(form, shapes.surface(colour));
      found.position.copy(place);
      holders[bodies[i]].add(found);
      return found;
    };
    const bar = (i, thick, place, axis, a, b, colour) => add(i, new THREE.CylinderGeometry(thick, thick, b - a), place.clone().addScaledVector(axis, 0.5 * (a + b)), colour).quaternion.setFromUnitVectors(new V(0, 1, 0), axis);
    const ball = (i, place) => add(i, new THREE.SphereGeometry(0.024), place);
    [u, w].forEach((x, i) => (bodies[i] < 0 ? add(i, new THREE.BoxGeometry(0.03, 0.03, 0.03), x, pale) : bar(i, 0.005, new V(), x.clone().normalize(), 0, x.length(), pale)));
    if (kind === "slider") bar(1, 0.01, w, n, span[0] / extent - 0.1, span[1] / extent + 0.1, pale);
    if (m.length()) bar(0, d, u, m, -3 * d, 3 * d);
    else if (kind !== "weld") ball(0, u);
    if (kind === "rod") ball(1, w);
  }

  // Whether the ends of a tether, at their true places, are as far apart as it is long.
  function taut(run, k, part, bodies, at, length) {
    const { position, attitude: q } = run.together;
    const [one, two] = bodies.map((b, i) => {
      const arm = q ? rotate(attitude(q, k, part, b), at[i]) : at[i];
      return row(position, k, part, 3, 3 * b).map((x, j) => x + arm[j]);
    });
    return Math.hypot(...two.map((x, j) => x - one[j])) >= length;
  }

  // ------------------------------------------------------------------ many bodies in their box
  const cell = {
    name: "Cell",
    about: "Bodies in their box",
    offered: (run) => Boolean(run.bodies.position) && (Boolean(run.cell) || (Boolean(run.bodies.attitude) && run.bodies.count > 1)),
    make(run, stage) {
      const { bodies } = run, many = bodies.count, all = new THREE.Group();
      const [low, box] = bounds(run), size = 2 / Math.max(...box);
      const parts = [];
      const kinds = bodies.shapes.length === 1 ? [[bodies.shapes[0], [...Array(many).keys()]]] : bodies.shapes.map((one, b) => [one, [b]]);
      for (const [shape, members] of kinds) {
        const pieces = shape.kind === "atoms" ? shape.atoms : [{ at: [0, 0, 0], radius: 1, colour: colours().body, shape }];
        for (const piece of pieces) {
          const form = piece.shape ? shapes.geometry(piece.shape) : new THREE.SphereGeometry(piece.radius, many > 300 ? 14 : 24, many > 300 ? 10 : 16);
          const mesh = new THREE.InstancedMesh(form, shapes.surface(piece.colour, Boolean(piece.shape && piece.shape.kind === "box")), members.length);
          mesh.frustumCulled = false;
          all.add(mesh);
          parts.push({ mesh, members, at: piece.at });
        }
      }
      const edges = new THREE.LineSegments(new THREE.EdgesGeometry(new THREE.BoxGeometry(...box)), new THREE.LineBasicMaterial({ color: colours().faint }));
      edges.position.set(...box.map((a, i) => low[i] + 0.5 * a));
      all.add(edges);
      all.scale.setScalar(size);
      all.position.set(...box.map((a, i) => -size * (low[i] + 0.5 * a)));
      stage.show(all);
      stage.home([2.4, 1.5, 1.0], 2.35 * Math.hypot(...box) * size);
      return {
        update(k, part) {
          for (const { mesh, members, at } of parts) {
            poses(mesh.instanceMatrix.array, bodies, members, at, k, part, run.cell);
            mesh.instanceMatrix.needsUpdate = true;
          }
        },
        describe: () => `${many.toLocaleString("en")} bodies${run.cell ? " in their periodic box" : ""}`,
      };
    },
  };

  // Least and largest coordinates of places.
  function limits(r) {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (let i = 0; i < r.length; i++) {
      if (r[i] < low[i % 3]) low[i % 3] = r[i];
      if (r[i] > high[i % 3]) high[i % 3] = r[i];
    }
    return [low, high];
  }

  function bounds(run) {
    if (run.cell) return [[0, 0, 0], run.cell];
    const [low, high] = limits(run.bodies.position);
    const margin = Math.max(...run.bodies.shapes.map(shapes.reach));
    const least = 0.05 * Math.max(...high.map((a, i) => a - low[i])) + margin;
    return [low.map((a) => a - least), high.map((a, i) => a - low[i] + 2 * least)];
  }

  // Columns of 4 x 4 matrices: attitude and place of each body, at a point of its own axes.
  function poses(matrices, bodies, members, at, k, part, cell) {
    const r = bodies.position, q = bodies.attitude, many = bodies.count;
    for (let i = 0; i < members.length; i++) {
      const b = members[i], from = 3 * (k * many + b), to = 16 * i;
      let w = 1, x = 0, y = 0, z = 0;
      if (q) {
        const a = 4 * (k * many + b);
        w = q[a]; x = q[a + 1]; y = q[a + 2]; z = q[a + 3];
        if (part > 0) {
          const c = a + 4 * many, sign = w * q[c] + x * q[c + 1] + y * q[c + 2] + z * q[c + 3] < 0 ? -part : part;
          w = (1 - part) * w + sign * q[c]; x = (1 - part) * x + sign * q[c + 1];
          y = (1 - part) * y + sign * q[c + 2]; z = (1 - part) * z + sign * q[c + 3];
        }
        const size = 1 / (Math.sqrt(w * w + x * x + y * y + z * z) || 1);
        w *= size; x *= size; y *= size; z *= size;
      }
      const m = matrices;
      m[to] = 1 - 2 * (y * y + z * z); m[to + 1] = 2 * (x * y + w * z); m[to + 2] = 2 * (x * z - w * y); m[to + 3] = 0;
      m[to + 4] = 2 * (x * y - w * z); m[to + 5] = 1 - 2 * (x * x + z * z); m[to + 6] = 2 * (y * z + w * x); m[to + 7] = 0;
      m[to + 8] = 2 * (x * z + w * y); m[to + 9] = 2 * (y * z - w * x); m[to + 10] = 1 - 2 * (x * x + y * y); m[to + 11] = 0;
      for (let j = 0; j < 3; j++) {
        let place = r[from + j];
        if (part > 0) {
          let step = r[from + 3 * many + j] - place;
          if (cell) step -= cell[j] * Math.round(step / cell[j]);
          place += part * step;
        }
        m[to + 12 + j] = place + m[to + j] * at[0] + m[to + 4 + j] * at[1] + m[to + 8 + j] * at[2];
      }
      m[to + 15] = 1;
    }
  }

  return { light, body, together, polhode, herpolhode, cell, poses };
})();
