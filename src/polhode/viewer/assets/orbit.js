"use strict";
// The views of an orbit: in space about its centre to scale, seen from the orbit, and the track on the ground.
polhodeViewer.orbit = (() => {
  const { numbers, shapes } = polhodeViewer, { attitude, place, row, text } = numbers, { SHORT, ofBody } = shapes;
  const { colours } = polhodeViewer.stage;
  const SHOWN = 0.045;  // size of a body, which is not to scale, over its distance from the camera

  const space = {
    name: "Orbit",
    about: "The orbit to scale; the body itself is magnified",
    offered: (run) => Boolean(run.orbit && run.bodies.position),
    lvlh: (run) => Boolean(run.orbit.lvlh),
    make(run, stage) {
      const { bodies, orbit } = run, many = bodies.count, path = run.orbit.path || run.bodies.position, all = new THREE.Group(), scene = new THREE.Group();
      let extent = orbit.central ? orbit.central.radius : 0;
      for (let i = 0; i < path.length; i += 3) extent = Math.max(extent, Math.hypot(path[i], path[i + 1], path[i + 2]));
      const size = 1 / (extent || 1);
      let planet = null;
      if (orbit.central) {
        const r = orbit.central.radius * size, ball = new THREE.Mesh(new THREE.SphereGeometry(r, 256, 128), shapes.surface("#3f7cb8"));
        planet = new THREE.Group();
        planet.add(ball, shapes.graticule([r, r, r], "#eaf2fa", 15, 0.3), equator(r));
        if (orbit.coast) planet.add(coasts(orbit.coast, r));
        scene.add(planet, shapes.halo(r, "#56b4e9"));
      }
      const ways = Array.from({ length: many }, (_, b) => shapes.way(run, path, b, size, orbit.central && many === 1 ? "#e69f00" : ofBody(b), many > 12 ? 0.5 : 0.9, many > 12 ? 1.4 : 2.2));
      scene.add(...ways);
      for (const dark of shaded(run, size)) scene.add(shapes.line(dark, "#5a3d00", 1, 3.4));
      const largest = Math.max(...bodies.shapes.map(shapes.reach)), names = orbit.names && orbit.names.length ? orbit.names : [];
      const movers = Array.from({ length: many }, (_, b) => {
        const group = new THREE.Group(), shape = bodies.shapes[Math.min(b, bodies.shapes.length - 1)];
        if (bodies.attitude) {
          const solid = shapes.solid(shape);
          solid.scale.setScalar(1 / shapes.reach(shape));
          group.add(solid, shapes.axes(2.1, ["x", "y", "z"], 0.03, false));
        } else group.add(new THREE.Mesh(new THREE.SphereGeometry((0.35 * shape.radius) / largest, 32, 20), shapes.surface(ofBody(b))));
        if (names[b] && many <= 12) {
          const label = shapes.word(names[b], colours().ink, 0.8);
          label.position.z = 0.9;
          group.add(label);
        }
        group.userData.grip = { body: b, size };
        scene.add(group);
        return group;
      });
      const arrows = many > 1 || !bodies.attitude ? [] : run.vectors.filter((one) => one.name !== "to the centre").map((one) => {
        const arrow = shapes.arrow(one.colour, 0.03), label = shapes.word(SHORT[one.name] || one.name, one.colour, 0.36, false);
        movers[0].parent.add(arrow, label);
        return { ...one, arrow, label };
      });
      if (!orbit.central || many > 1) scene.add(shapes.axes(0.25, ["x", "y", "z"], 0.008));
      all.add(scene);
      stage.show(all);
      let local = false;
      // From outside: above the place of the start. Along the orbit: from behind, aside and above.
      const start = new THREE.Vector3(path[0], path[1], path[2]).normalize(), later = 3 * many * Math.max(1, Math.floor(path.rows / 16));
      const normal = new THREE.Vector3(path[0], path[1], path[2]).cross(new THREE.Vector3(path[later], path[later + 1], path[later + 2])).normalize();
      const side = start.clone().addScaledVector(normal, normal.z < 0 ? -0.75 : 0.75);
      if (normal.length() < 0.5 || many > 1) side.set(2.2, 1.5, 1.6);
      const view = () => (local ? stage.home([-1.6, 1.3, 0.8], 0.36) : stage.home(side.toArray(), 3.9));
      view();
      const where = new THREE.Vector3();
      return {
        legend: [
          ...arrows.map((one) => [one.colour, one.name]),
          ...(many > 1 && names.length && many <= 12 ? names.map((name, b) => [ofBody(b), name]) : []),
          ...(orbit.central && many === 1 ? [["#e69f00", "orbit, to scale"]] : []),
          ...(orbit.shadow && orbit.shadow.length && orbit.central ? [["#5a3d00", "in shadow"]] : []),
        ],
        update(k, part, inBody, inOrbit) {
          if (inOrbit !== local) {
            local = inOrbit;
            view();
          }
          const t = run.times[k] + (part > 0 ? part * (run.times[k + 1] - run.times[k]) : 0);
          if (planet && orbit.central.rotation_rate) planet.rotation.z = ((orbit.central.rotation_at_zero || 0) + orbit.central.rotation_rate * t) % (2 * Math.PI);
          for (const one of ways) one.userData.show?.(k);
          for (let b = 0; b < many; b++) {
            movers[b].position.set(...place(bodies.position, run.times, k, part, 3 * b).map((a) => a * size));
            if (bodies.attitude) shapes.set(movers[b], attitude(bodies.attitude, k, part, b));
          }
          // Seen from the orbit, the local axes stand still: x along the motion, y against the orbit's normal, z down.
          scene.quaternion.identity();
          scene.position.set(0, 0, 0);
          if (local) {
            const q = attitude(orbit.lvlh, k, part);
            shapes.set(scene, [q[0], -q[1], -q[2], -q[3]]);
            scene.quaternion.premultiply(DOWN);
            scene.position.copy(movers[0].position).applyQuaternion(scene.quaternion).negate();
          }
          scene.updateMatrixWorld(true);
          polhodeViewer.views.light(run, stage, k, part, scene);
          for (const mover of movers) mover.scale.setScalar(SHOWN * mover.getWorldPosition(where).distanceTo(stage.camera.position));
          for (const { arrow, label, space: values } of arrows) {
            const v = row(values, k, part, 3), length = Math.hypot(...v), unit = movers[0].scale.x;
            for (const one of [arrow, label]) one.position.copy(movers[0].position);
            arrow.scale.setScalar(unit);
            shapes.point(arrow, v, 2.7);
            label.visible = arrow.visible;
            label.scale.set(...[0.36 * label.material.map.image.width / 64, 0.36, 1].map((a) => a * unit));
            if (length > 0) label.position.addScaledVector(new THREE.Vector3(...v), (2.95 * unit) / length);
          }
        },
        describe(k) {
          const r = row(bodies.position, k, 0, 3), shade = inShadow(run, run.times[k]) ? ", in shadow" : "";
          return `${many > 1 ? `${many} bodies; the first` : "the body"} at ${r.map((a) => text(a, 4)).join(", ")}${shade}`;
        },
      };
    },
  };
  // A heavier line around a planet's middle, and one along its first meridian.
  function equator(r) {
    const group = new THREE.Group(), round = [], half = [];
    for (let i = 0; i <= 180; i++) {
      const a = (i * Math.PI) / 90;
      round.push(1.004 * r * Math.cos(a), 1.004 * r * Math.sin(a), 0);
      if (i <= 90) half.push(1.004 * r * Math.sin(a), 0, 1.004 * r * Math.cos(a));
    }
    group.add(shapes.line(new Float32Array(round), "#eaf2fa", 0.75, 1.4), shapes.line(new Float32Array(half), "#eaf2fa", 0.75, 1.4));
    return group;
  }

  // The coasts on a ball; a longitude beyond a turn stands between pieces.
  function coasts(points, r) {
    const corners = [], corner = (k) => new THREE.Vector3().setFromSphericalCoords(1.003 * r, ((90 - points[2 * k + 1]) * Math.PI) / 180, (points[2 * k] * Math.PI) / 180);
    for (let k = 1; k < points.rows; k++) if (points[2 * k] < 200 && points[2 * k - 2] < 200) corners.push(corner(k - 1), corner(k));
    const found = new THREE.LineSegments(new THREE.BufferGeometry().setFromPoints(corners), new THREE.LineBasicMaterial({ color: "#dfeaf4", transparent: true, opacity: 0.8 }));
    found.quaternion.set(0.5, 0.5, 0.5, 0.5);  // from y, z, x of three.js to x, y, z
    return found;
  }

  // Pieces of the path of the first body that lie in shadow.
  function shaded(run, size) {
    const pieces = [], { position, count } = run.bodies;
    if (!run.orbit.central) return pieces;
    let piece = [];
    for (let k = 0; k <= run.times.length; k++) {
      if (k < run.times.length && inShadow(run, run.times[k])) {
        for (let j = 0; j < 3; j++) piece.push(size * position[3 * k * count + j]);
      } else if (piece.length) {
        if (piece.length >= 6) pieces.push(new Float32Array(piece));
        piece = [];
      }
    }
    return pieces;
  }

  const DOWN = new THREE.Quaternion(1, 0, 0, 0);  // half a turn about x: the centre, along z of the orbit, is shown below

  const inShadow = (run, t) => Boolean(run.orbit && run.orbit.shadow && run.orbit.shadow.some(([a, b]) => t >= a && t <= b));

  // ------------------------------------------------------------------ ground track, in two dimensions
  const track = {
    name: "Ground track",
    about: "The point below the body: longitude and latitude",
    offered: (run) => Boolean(run.orbit && run.orbit.ground_track),
    flat: true,
    make(run, canvas) {
      const points = run.orbit.ground_track, context = canvas.getContext("2d");
      return {
        update(k, part) {
          const ratio = Math.min(2, devicePixelRatio || 1), width = canvas.clientWidth, height = canvas.clientHeight;
          if (!width || !height) return;
          canvas.width = width * ratio;
          canvas.height = height * ratio;
          context.setTransform(ratio, 0, 0, ratio, 0, 0);
          const tint = colours(), wide = Math.min(width - 52, 2 * (height - 40)), tall = wide / 2;
          const left = 38 + Math.max(0, 0.5 * (width - 52 - wide)), top = 10 + Math.max(0, 0.5 * (height - 40 - tall));
          const x = (lon) => left + ((((lon + 180) % 360) + 360) % 360 / 360) * wide, y = (lat) => top + ((90 - lat) / 180) * tall;
          context.clearRect(0, 0, width, height);
          context.fillStyle = tint.sea;
          context.fillRect(left, top, wide, tall);
          context.font = "11px system-ui, sans-serif";
          context.lineWidth = 1;
          for (let lon = -180; lon <= 180; lon += 30) {
            const at = left + ((lon + 180) / 360) * wide;
            stroke([[at, top], [at, top + tall]], tint.grid);
            context.fillStyle = tint.faint;
            context.textAlign = "center";
            if (lon % (wide > 500 ? 30 : 90) === 0) context.fillText(degrees(lon, "E", "W"), at, top + tall + 16);
          }
          for (let lat = -90; lat <= 90; lat += 30) {
            stroke([[left, y(lat)], [left + wide, y(lat)]], lat ? tint.grid : tint.faint);
            context.textAlign = "right";
            if (lat % (tall > 140 ? 30 : 90) === 0) context.fillText(degrees(lat, "N", "S"), left - 6, y(lat) + 4);
          }
          if (run.orbit.coast) for (const one of pieces(run.orbit.coast, x, y, wide, (lon) => lon < 200)) stroke(one, tint.faint);
          const parts = pieces(points, x, y, wide), dark = pieces(points, x, y, wide, (lon, k) => inShadow(run, run.times[k]));
          context.lineWidth = 1.8;
          context.lineJoin = "round";
          if (run.coarse) for (const at of parts.flat()) dot(at, 2.2, "#e69f00");
          else for (const one of parts) stroke(one, "#e69f00");
          context.lineWidth = 3.4;
          if (!run.coarse) for (const one of dark.filter((at) => at.length > 1)) stroke(one, "#5a3d00");
          const here = [x(points[2 * k]), y(points[2 * k + 1])];
          if (part > 0) {
            const next = [x(points[2 * k + 2]), y(points[2 * k + 3])];
            if (Math.abs(next[0] - here[0]) < 0.5 * wide) here.forEach((a, i) => { here[i] = a + part * (next[i] - a); });
          }
          context.beginPath();
          context.arc(...here, 7, 0, 2 * Math.PI);
          context.fillStyle = inShadow(run, run.times[k]) ? "#5a3d00" : "#d55e00";
          context.fill();
          context.strokeStyle = "#ffffff";
          context.lineWidth = 2;
          context.stroke();
        },
        legend: [["#e69f00", "ground track"], ...(run.orbit.shadow && run.orbit.shadow.length ? [["#5a3d00", "in shadow"]] : [])],
        describe: (k) => `below the body: longitude ${text(points[2 * k], 4)}°, latitude ${text(points[2 * k + 1], 4)}°`,
      };
      // The track through some points, cut where it leaves the map or a point is left out.
      function pieces(points, x, y, wide, kept = () => true) {
        const found = [[]];
        for (let k = 0; k < points.rows; k++) {
          const last = found[found.length - 1];
          if (!kept(points[2 * k], k)) { if (last.length) found.push([]); continue; }
          const at = [x(points[2 * k]), y(points[2 * k + 1])];
          if (last.length && Math.abs(at[0] - last[last.length - 1][0]) > 0.5 * wide) found.push([at]); else last.push(at);
        }
        return found;
      }
      function dot(at, radius, colour) {
        context.beginPath();
        context.arc(...at, radius, 0, 2 * Math.PI);
        context.fillStyle = colour;
        context.fill();
      }
      function stroke(line, colour) {
        context.beginPath();
        line.forEach((one, i) => (i ? context.lineTo(...one) : context.moveTo(...one)));
        context.strokeStyle = colour;
        context.stroke();
      }
    },
  };

  const degrees = (angle, above, below) => `${Math.abs(angle)}°${angle > 0 && angle < 180 ? above : angle < 0 && angle > -180 ? below : ""}`;

  return { space, track };
})();
