"use strict";
// Things on a stage: solids, arrows, lines, axes and words.
polhodeViewer.shapes = (() => {
  const { colours } = polhodeViewer.stage;
  const AXES = ["#d55e00", "#009e73", "#0072b2"];  // x, y, z
  const FACES = ["#ecae48", "#40a0be", "#de6452"];  // of a box, across x, y, z
  const STEEL = "#c3c9d2", CREAM = "#f0e6d2", FOIL = "#d8a646", CELLS = "#24457f", WHITE = "#e9ecf0", ROCK = "#a89b8c";
  const LINES = ["#0072b2", "#d55e00", "#009e73", "#aa4a8a", "#e69f00", "#56b4e9", "#7a828d"];  // of several bodies
  const SHORT = { "angular momentum": "L", "angular velocity": "ω", "to the centre": "centre", "to the Sun": "Sun", "magnetic field": "B", "dipole of the torquers": "m" };
  const rgb = (text) => new THREE.Color(text), ofBody = (b) => LINES[b % LINES.length];

  function geometry(shape) {
    const { frame: f } = shape, turned = (form) => (f ? form.applyQuaternion(new THREE.Quaternion(f[1], f[2], f[3], f[0])) : form);
    if (shape.kind === "box" || shape.kind === "craft") return turned(new THREE.BoxGeometry(...shape.size));
    if (shape.kind === "sphere") return new THREE.SphereGeometry(shape.radius, 32, 24);
    if (shape.kind === "ellipsoid") return turned(new THREE.SphereGeometry(1, 64, 48).scale(...shape.axes));
    if (shape.kind === "top") return topOf(shape);
    const found = new THREE.BufferGeometry();  // each triangle with corners of its own, so that it is flat
    const corners = new Float32Array(3 * shape.faces.length);
    shape.faces.forEach((v, i) => corners.set(shape.vertices.subarray(3 * v, 3 * v + 3), 3 * i));
    found.setAttribute("position", new THREE.BufferAttribute(corners, 3));
    found.computeVertexNormals();
    return found;
  }

  // Half of the largest extent of a shape.
  function reach(shape) {
    if (shape.kind === "box") return 0.5 * Math.hypot(...shape.size);
    if (shape.kind === "craft") return shape.panels ? 0.9 * Math.max(...shape.size) + 0.35 * Math.min(...shape.size) : 0.55 * Math.hypot(...shape.size);
    if (shape.kind === "sphere") return shape.radius;
    if (shape.kind === "ellipsoid") return Math.max(...shape.axes);
    if (shape.kind === "top") return Math.max(0.6 * shape.height, shape.radius);
    if (shape.kind === "atoms") return Math.max(...shape.atoms.map((one) => Math.hypot(...one.at) + one.radius));
    let found = 0;
    for (let i = 0; i < shape.vertices.length; i += 3) found = Math.max(found, Math.hypot(...shape.vertices.subarray(i, i + 3)));
    return found;
  }

  // A body in its own axes, with its edges; box faces have the colours of their axes, so that a turn is seen.
  function solid(shape) {
    const group = new THREE.Group();
    if (shape.kind === "atoms") {
      for (const atom of shape.atoms) {
        const ball = new THREE.Mesh(new THREE.SphereGeometry(atom.radius, 32, 24), surface(atom.colour));
        ball.position.set(...atom.at);
        group.add(ball);
      }
      return group;
    }
    const form = geometry(shape), ball = shape.kind === "sphere";
    if (shape.kind === "top") return group.add(new THREE.Mesh(form, tinted(0.4)));
    if (shape.kind === "ellipsoid") return group.add(new THREE.Mesh(mottled(form), tinted(0.95)));
    if (shape.kind === "craft") return craft(group, form, shape);
    const material = shape.kind === "box" ? [0, 0, 1, 1, 2, 2].map((k) => surface(FACES[k])) : surface(colours().body, !ball);
    if (shape.kind === "mesh") paint(form, material);
    group.add(new THREE.Mesh(form, material));
    if (ball) group.add(graticule(Array(3).fill(shape.radius)));
    else if (shape.kind === "box" || shape.faces.length < 30000) {
      group.add(new THREE.LineSegments(new THREE.EdgesGeometry(form, 20), new THREE.LineBasicMaterial({ color: colours().edge })));
    }
    return group;
  }

  // A surface whose colours are those of its corners.
  function tinted(roughness) {
    const found = surface("#ffffff");
    return Object.assign(found, { vertexColors: true, roughness });
  }

  // A solid of revolution about z of smooth pieces [[r, z], ...], with a colour for each piece and part of the turn.
  function lathe(pieces, colour, many = 96) {
    const places = [], normals = [], tints = [], ways = Array.from({ length: many + 1 }, (_, i) => [Math.cos((2 * Math.PI * i) / many), Math.sin((2 * Math.PI * i) / many)]);
    pieces.forEach((piece, p) => {
      const slopes = piece.map((_, j) => {
        const [r0, z0] = piece[Math.max(0, j - 1)], [r1, z1] = piece[Math.min(piece.length - 1, j + 1)], size = Math.hypot(r1 - r0, z1 - z0) || 1;
        return [(z1 - z0) / size, (r0 - r1) / size];
      });
      for (let i = 0; i < many; i++) {
        const one = rgb(colour(p, i / many));
        for (let j = 0; j + 1 < piece.length; j++) for (const [k, m] of [[j, i], [j, i + 1], [j + 1, i + 1], [j, i], [j + 1, i + 1], [j + 1, i]]) {
          const [c, s] = ways[m], [r, z] = piece[k], [outward, up] = slopes[k];
          places.push(r * c, r * s, z);
          normals.push(outward * c, outward * s, up);
          tints.push(one.r, one.g, one.b);
        }
      }
    });
    const found = new THREE.BufferGeometry();
    for (const [name, values] of [["position", places], ["normal", normals], ["color", tints]]) found.setAttribute(name, new THREE.BufferAttribute(new Float32Array(values), 3));
    return found;
  }

  // Points of a curve from one place to another that leaves along the one and arrives along the other of its sides.
  const bend = ([r0, z0], [r1, z1], first) => Array.from({ length: 9 }, (_, i) => {
    const a = (0.5 * Math.PI * i) / 8, out = 1 - Math.cos(a), along = Math.sin(a);
    return first === "z" ? [r0 + out * (r1 - r0), z0 + along * (z1 - z0)] : [r0 + along * (r1 - r0), z0 + out * (z1 - z0)];
  });

  // A disc on a stem, relative to its centre of mass: sectors in turns of colour, one of them marked, show that it spins.
  function topOf({ axis, height, radius, thick }) {
    const stem = Math.min(0.05 * height, 0.12 * radius), low = height - 0.5 * thick, high = height + 0.5 * thick, edge = radius - 0.5 * thick;
    const hub = Math.min(0.34 * radius, 0.5 * low), end = 1.62 * height, knob = 2.1 * stem;
    const rim = Array.from({ length: 13 }, (_, i) => [edge + 0.5 * thick * Math.sin((Math.PI * i) / 12), height - 0.5 * thick * Math.cos((Math.PI * i) / 12)]);
    const ball = Array.from({ length: 13 }, (_, i) => [knob * Math.sin(0.5 + (2.64 * i) / 12), end - knob * Math.cos(0.5 + (2.64 * i) / 12)]);
    const pieces = [
      [[0, 0], [stem, 3 * stem]], [[stem, 3 * stem], [stem, low - hub]], bend([stem, low - hub], [hub + stem, low], "z"), [[hub + stem, low], [edge, low]], rim,
      [[edge, high], [0.5 * hub + stem, high]], bend([0.5 * hub + stem, high], [stem, high + 0.5 * hub], "r"), [[stem, high + 0.5 * hub], [stem, end]], ball,
    ];
    const disc = (turn) => (turn < 1 / 12 ? FACES[2] : Math.floor(12 * turn) % 2 ? CREAM : FACES[1]);
    const form = lathe(pieces, (p, turn) => (p > 2 && p < 6 ? disc(turn) : p === 8 ? FACES[0] : STEEL));
    form.translate(0, 0, -height);
    return form.applyQuaternion(new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), new THREE.Vector3(...axis)));
  }

  // A bus in foil with two panels of solar cells, which have no mass, and a dish at the end of its longest side.
  function craft(group, form, { size, frame: f, panels }) {
    const inside = new THREE.Group(), put = (what, material, at) => { const one = new THREE.Mesh(what, material); one.position.set(...at); inside.add(one); return one; };
    const order = [0, 1, 2].sort((a, b) => size[b] - size[a]), [long, wide] = order, vector = (k, a) => [0, 1, 2].map((i) => (i === k ? a : 0));
    const foil = surface(FOIL), ends = surface(WHITE);
    foil.metalness = 0.35;
    group.add(new THREE.Mesh(form, [0, 0, 1, 1, 2, 2].map((k) => (k === long ? ends : foil))));
    group.add(new THREE.LineSegments(new THREE.EdgesGeometry(form, 20), new THREE.LineBasicMaterial({ color: colours().edge, transparent: true, opacity: 0.5 })));
    const bowl = Array.from({ length: 9 }, (_, i) => [0.3 * size[wide] * (i / 8), 0.11 * size[wide] * (i / 8) ** 2]), dish = lathe([bowl], () => WHITE, 48);
    dish.applyQuaternion(new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), new THREE.Vector3(...vector(long, 1))));
    put(dish, tinted(0.5), vector(long, 0.53 * size[long]));
    for (const side of panels ? [-1, 1] : []) {
      const span = 0.9 * size[long], chord = 0.62 * size[long], thin = 0.02 * size[long], gap = 0.14 * size[wide], from = 0.5 * size[wide] + gap;
      const box = [0, 1, 2].map((k) => (k === wide ? span : k === long ? chord : thin));
      const middle = vector(wide, side * (from + 0.5 * span)), cells = surface(CELLS);
      Object.assign(cells, { roughness: 0.3, metalness: 0.3 });
      put(new THREE.BoxGeometry(...box), cells, middle);
      const lines = [], thinnest = order[2];
      for (const up of [-0.52, 0.52]) {
        const line = (a, b) => lines.push(...[a, b].flatMap(([u, v]) => [0, 1, 2].map((k) => (k === thinnest ? up * thin : k === wide ? middle[wide] + (u - 0.5) * span : (v - 0.5) * chord))));
        for (let i = 0; i <= 6; i++) line([i / 6, 0], [i / 6, 1]);
        for (let i = 0; i <= 3; i++) line([0, i / 3], [1, i / 3]);
      }
      const net = new THREE.BufferGeometry();
      net.setAttribute("position", new THREE.BufferAttribute(new Float32Array(lines), 3));
      inside.add(new THREE.LineSegments(net, new THREE.LineBasicMaterial({ color: "#9fb6d8" })));
      put(new THREE.BoxGeometry(...[0, 1, 2].map((k) => (k === wide ? gap : 1.5 * thin))), ends, vector(wide, side * (0.5 * size[wide] + 0.5 * gap)));
    }
    if (f) inside.quaternion.set(f[1], f[2], f[3], f[0]);
    return group.add(inside);
  }

  // Rock, lighter and darker by some waves, so that its turn is seen.
  function mottled(form) {
    const at = form.getAttribute("position"), normal = form.getAttribute("normal"), tints = new Float32Array(3 * at.count), base = rgb(ROCK), dark = rgb("#5f564d");
    for (let i = 0; i < at.count; i++) {
      const [x, y, z] = [normal.getX(i), normal.getY(i), normal.getZ(i)], one = base.clone();
      const wave = Math.sin(5 * x + 3 * y) * Math.sin(4 * y - 6 * z + 1) + 0.6 * Math.sin(11 * x - 9 * z) * Math.sin(13 * y + 2) + 0.3 * Math.sin(23 * x + 17 * y) * Math.sin(21 * z);
      one.lerp(dark, Math.min(0.9, Math.max(0, 0.28 + 0.4 * wave)));
      tints.set([one.r, one.g, one.b], 3 * i);
    }
    form.setAttribute("color", new THREE.BufferAttribute(tints, 3));
    return form;
  }

  // A soft shadow on the floor.
  function shade(radius) {
    const canvas = document.createElement("canvas"), context = canvas.getContext("2d"), dark = context.createRadialGradient(64, 64, 0, 64, 64, 64);
    canvas.width = canvas.height = 128;
    for (const [at, alpha] of [[0, 0.34], [0.45, 0.2], [1, 0]]) dark.addColorStop(at, `rgba(10, 20, 36, ${alpha})`);
    context.fillStyle = dark;
    context.fillRect(0, 0, 128, 128);
    return new THREE.Mesh(new THREE.CircleGeometry(radius, 48), new THREE.MeshBasicMaterial({ map: new THREE.CanvasTexture(canvas), transparent: true, depthWrite: false }));
  }

  // Faces of a mesh coloured by the direction in which they look, so that its turn is seen.
  function paint(form, material) {
    const normals = form.getAttribute("normal"), tints = new Float32Array(3 * normals.count);
    const base = rgb(colours().body), parts = FACES.map(rgb);
    for (let i = 0; i < normals.count; i++) {
      const n = [normals.getX(i), normals.getY(i), normals.getZ(i)], one = base.clone();
      one.lerp(parts[0], 0.75 * Math.max(0, n[0]) ** 2).lerp(parts[1], 0.75 * Math.max(0, n[1]) ** 2);
      tints.set([one.r, one.g, one.b], 3 * i);
    }
    form.setAttribute("color", new THREE.BufferAttribute(tints, 3));
    material.vertexColors = true;
    material.color = rgb("#ffffff");
  }

  function surface(colour, flat = false, opacity = 1) {
    return new THREE.MeshStandardMaterial({
      color: colour, roughness: 0.55, metalness: 0.06, flatShading: flat, side: THREE.DoubleSide,
      transparent: opacity < 1, opacity, depthWrite: opacity === 1, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1,
    });
  }

  // A line through points, so many pixels wide.
  function line(points, colour, opacity = 1, width = 2) {
    const form = new THREE.LineGeometry();
    form.setPositions(points.length >= 6 ? points : [...points, ...points]);
    const found = new THREE.Line2(form, new THREE.LineMaterial({ color: colour, transparent: opacity < 1, opacity, linewidth: width }));
    found.frustumCulled = false;
    return found;
  }

  // The way of a body, of positions (rows, bodies, 3) times a size: a line, or dots of a radius where rows are far apart;
  // behind a body that is moving now a trail.
  function way(run, positions, b, size, colour, opacity, width, radius = 0) {
    const put = (k, to, at) => { for (let j = 0; j < 3; j++) to[at + j] = size * positions[k * positions.columns + 3 * b + j]; };
    if (run.live) return trail(put, run.live.rows, colour, run.live.rows, width);
    const points = new Float32Array(3 * positions.rows);
    for (let k = 0; k < positions.rows; k++) put(k, points, 3 * k);
    return radius && run.coarse ? dots(points, colour, radius) : line(points, colour, opacity, width);
  }

  // Points, as small balls.
  function dots(points, colour, radius) {
    const count = points.length / 3, found = new THREE.InstancedMesh(new THREE.SphereGeometry(radius, 8, 6), surface(colour), count);
    const place = new THREE.Matrix4();
    for (let k = 0; k < count; k++) found.setMatrixAt(k, place.makeTranslation(points[3 * k], points[3 * k + 1], points[3 * k + 2]));
    found.frustumCulled = false;
    return found;
  }

  // What a trail takes of points (rows, 3).
  const along = (points) => (k, to, at) => { for (let j = 0; j < 3; j++) to[at + j] = points[3 * k + j]; };

  // The last points up to one of them, newest first, which fade into the ground: `show(k)` of the object in userData;
  // `put(k, to, at)` writes point k, one of `count`.
  function trail(put, count, colour, most, width = 2.4) {
    const many = Math.max(1, Math.min(most, count - 1)), tints = new Float32Array(3 * (many + 1));
    const ground = rgb(colours().background), ink = rgb(colour);
    for (let i = 0; i <= many; i++) {
      const one = ink.clone().lerp(ground, 0.9 * (i / (many + 1)) ** 1.5);
      tints.set([one.r, one.g, one.b], 3 * i);
    }
    const form = new THREE.LineGeometry();
    form.setPositions(new Float32Array(3 * (many + 1)));
    form.setColors(tints);
    const found = new THREE.Line2(form, new THREE.LineMaterial({ vertexColors: true, linewidth: width })), { data } = form.attributes.instanceStart;
    found.frustumCulled = false;
    found.userData.show = (k) => {
      const shown = Math.min(k, many);
      put(k, data.array, 0);
      for (let i = 0; i < shown; i++) {
        put(k - i - 1, data.array, 6 * i + 3);
        if (i + 1 < shown) data.array.copyWithin(6 * i + 6, 6 * i + 3, 6 * i + 6);
      }
      form.instanceCount = shown;
      found.visible = shown > 0;
      data.needsUpdate = true;
    };
    found.userData.show(0);
    return found;
  }

  // A soft light around a ball of this radius.
  function halo(radius, colour, reach = 1.22) {
    const canvas = document.createElement("canvas"), size = 256;
    canvas.width = canvas.height = size;
    const context = canvas.getContext("2d"), inside = 1 / reach;
    const shade = context.createRadialGradient(size / 2, size / 2, 0, size / 2, size / 2, size / 2);
    shade.addColorStop(0, colour + "00");
    shade.addColorStop(inside * 0.97, colour + "90");
    shade.addColorStop(inside + 0.35 * (1 - inside), colour + "30");
    shade.addColorStop(1, colour + "00");
    context.fillStyle = shade;
    context.fillRect(0, 0, size, size);
    const texture = new THREE.CanvasTexture(canvas);
    texture.colorSpace = THREE.SRGBColorSpace;
    const sprite = new THREE.Sprite(new THREE.SpriteMaterial({ map: texture, transparent: true, depthWrite: false }));
    sprite.scale.setScalar(2 * radius * reach);
    return sprite;
  }

  // Circles of latitude and longitude on an ellipsoid.
  function graticule(axes, colour = colours().edge, every = 30, opacity = 0.45) {
    const points = [], rad = Math.PI / 180, lift = 1.003;
    const at = (lon, lat) => points.push(
      lift * axes[0] * Math.cos(lat * rad) * Math.cos(lon * rad), lift * axes[1] * Math.cos(lat * rad) * Math.sin(lon * rad),
      lift * axes[2] * Math.sin(lat * rad));
    for (let lon = 0; lon < 360; lon += every) for (let lat = -90; lat < 90; lat += 3) { at(lon, lat); at(lon, lat + 3); }
    for (let lat = -90 + every; lat < 90; lat += every) for (let lon = 0; lon < 360; lon += 3) { at(lon, lat); at(lon + 3, lat); }
    const form = new THREE.BufferGeometry();
    form.setAttribute("position", new THREE.BufferAttribute(new Float32Array(points), 3));
    return new THREE.LineSegments(form, new THREE.LineBasicMaterial({ color: colour, transparent: true, opacity }));
  }

  // An arrow of length 1 along z, to be turned and scaled by `point`.
  function arrow(colour, thickness = 0.018) {
    const group = new THREE.Group(), material = surface(colour);
    const shaft = new THREE.Mesh(new THREE.CylinderGeometry(thickness, thickness, 1, 16).rotateX(Math.PI / 2), material);
    const head = new THREE.Mesh(new THREE.ConeGeometry(3.2 * thickness, 9 * thickness, 24).rotateX(Math.PI / 2), material);
    group.add(shaft, head);
    group.userData = { shaft, head, size: 9 * thickness };
    return group;
  }

  function point(group, vector, length) {
    const { shaft, head, size } = group.userData, whole = Math.hypot(...vector);
    group.visible = whole > 0 && length > 0 && Number.isFinite(whole);
    if (!group.visible) return;
    group.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), new THREE.Vector3(...vector).multiplyScalar(1 / whole));
    shaft.scale.z = Math.max(1e-6, length - size);
    shaft.position.z = 0.5 * (length - size);
    head.position.z = length - 0.5 * size;
  }

  // A word that faces the camera, about so high.
  function word(text, colour, height = 0.1, above = true) {
    const canvas = document.createElement("canvas"), context = canvas.getContext("2d"), font = "600 48px system-ui, sans-serif";
    context.font = font;
    canvas.width = Math.ceil(context.measureText(text).width) + 12;
    canvas.height = 64;
    context.font = font;
    context.textBaseline = "middle";
    context.fillStyle = colour;
    context.fillText(text, 6, 34);
    const texture = new THREE.CanvasTexture(canvas);
    texture.colorSpace = THREE.SRGBColorSpace;
    const sprite = new THREE.Sprite(new THREE.SpriteMaterial({ map: texture, depthTest: !above, transparent: true }));
    sprite.scale.set((height * canvas.width) / canvas.height, height, 1);
    sprite.renderOrder = 10;
    return sprite;
  }

  // Three axes with their letters.
  function axes(length, names, thickness = 0.01, above = true) {
    const group = new THREE.Group();
    names.forEach((name, k) => {
      const one = arrow(AXES[k], thickness * length), direction = [0, 0, 0];
      direction[k] = 1;
      point(one, direction, length);
      const label = word(name, AXES[k], 0.085 * length, above);
      label.position.set(...direction.map((a) => 1.1 * a * length));
      group.add(one, label);
    });
    return group;
  }

  const set = (thing, q) => thing.quaternion.set(q[1], q[2], q[3], q[0]);

  return { AXES, FACES, SHORT, ofBody, geometry, reach, solid, surface, line, way, dots, along, trail, shade, halo, graticule, arrow, point, word, axes, set };
})();
