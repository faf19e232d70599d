"use strict";
// Things on a stage: solids, arrows, lines, axes and words.
polhodeViewer.shapes = (() => {
  const { colours } = polhodeViewer.stage;
  const AXES = ["#d55e00", "#009e73", "#0072b2"];  // x, y, z
  const FACES = ["#e69f00", "#56b4e9", "#b9cbe0"];  // of a box, across x, y, z
  const LINES = ["#0072b2", "#d55e00", "#009e73", "#aa4a8a", "#e69f00", "#56b4e9", "#7a828d"];  // of several bodies
  const SHORT = { "angular momentum": "L", "angular velocity": "ω", "to the centre": "centre", "to the Sun": "Sun", "magnetic field": "B", "dipole of the torquers": "m" };
  const rgb = (text) => new THREE.Color(text), ofBody = (b) => LINES[b % LINES.length];

  function geometry(shape) {
    if (shape.kind === "box") return new THREE.BoxGeometry(...shape.size);
    if (shape.kind === "sphere") return new THREE.SphereGeometry(shape.radius, 32, 24);
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
    if (shape.kind === "sphere") return shape.radius;
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
    const material = shape.kind === "box" ? [0, 0, 1, 1, 2, 2].map((k) => surface(FACES[k])) : surface(colours().body, !ball);
    if (shape.kind === "mesh") paint(form, material);
    group.add(new THREE.Mesh(form, material));
    if (ball) group.add(graticule(Array(3).fill(shape.radius)));
    else if (shape.kind === "box" || shape.faces.length < 30000) {
      group.add(new THREE.LineSegments(new THREE.EdgesGeometry(form, 20), new THREE.LineBasicMaterial({ color: colours().edge })));
    }
    return group;
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

  // Points, as small balls.
  function dots(points, colour, radius) {
    const count = points.length / 3, found = new THREE.InstancedMesh(new THREE.SphereGeometry(radius, 8, 6), surface(colour), count);
    const place = new THREE.Matrix4();
    for (let k = 0; k < count; k++) found.setMatrixAt(k, place.makeTranslation(points[3 * k], points[3 * k + 1], points[3 * k + 2]));
    found.frustumCulled = false;
    return found;
  }

  // The last points up to one of them, newest first, which fade into the ground: `show(k)` of the object in userData.
  function trail(points, colour, most, width = 2.4) {
    const count = points.length / 3, many = Math.max(1, Math.min(most, count - 1)), tints = new Float32Array(3 * (many + 1));
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
      for (let i = 0; i < shown; i++) {
        const at = 3 * (k - i);
        for (let j = 0; j < 3; j++) {
          data.array[6 * i + j] = points[at + j];
          data.array[6 * i + 3 + j] = points[at - 3 + j];
        }
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

  return { AXES, FACES, SHORT, ofBody, geometry, reach, solid, surface, line, dots, trail, halo, graticule, arrow, point, word, axes, set };
})();
