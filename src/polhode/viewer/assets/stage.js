"use strict";
// A stage: a canvas with a camera that mouse, touch and keys turn; it draws when something has changed.
polhodeViewer.stage = (() => {
  const UP = [0, 0, 1];
  const TURN = 0.12, NEARER = 1.15;

  function colours() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    return dark
      ? { background: "#14181e", grid: "#3a424d", ink: "#e8e8e8", faint: "#77808c", body: "#9db7d1", edge: "#0f1216", sea: "#16283a" }
      : { background: "#f6f7f9", grid: "#c9cfd8", ink: "#262626", faint: "#7a828d", body: "#b9cbe0", edge: "#34495e", sea: "#e4eef7" };
  }

  class Stage {
    constructor(canvas, changed) {
      this.canvas = canvas;
      this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true });
      this.renderer.setPixelRatio(Math.min(2, devicePixelRatio || 1));
      this.scene = new THREE.Scene();
      this.camera = new THREE.PerspectiveCamera(35, 1, 0.01, 200);
      this.camera.up.set(...UP);
      this.lamp = new THREE.DirectionalLight(0xffffff, 2.3);
      this.sky = new THREE.HemisphereLight(0xffffff, 0x667788, 1.35);
      this.sun = null;  // direction to it in the picture
      this.scene.add(this.sky, this.camera, this.lamp);
      this.controls = new THREE.OrbitControls(this.camera, canvas);
      this.controls.enablePan = false;
      this.controls.addEventListener("change", () => { this.ask(); changed(this); });
      canvas.addEventListener("keydown", (event) => this.key(event));
      this.waiting = 0;
      this.draw = () => {};
      this.home([2.6, 1.7, 1.5], 3.4);
    }

    // Put the camera in a direction, at a distance from the middle at which it looks; `reset` returns there.
    home(direction, distance, middle = [0, 0, 0]) {
      this.start = { direction, distance, middle };
      this.controls.minDistance = 0.15 * distance;
      this.controls.maxDistance = 12 * distance;
      this.camera.near = 0.01 * distance;
      this.camera.far = 60 * distance;
      this.reset();
    }

    reset() {
      const { direction, distance, middle } = this.start, size = Math.hypot(...direction);
      this.camera.position.set(...direction.map((one, i) => (one * distance) / size + middle[i]));
      this.controls.target.set(...middle);
      this.camera.updateProjectionMatrix();
      this.controls.update();
      this.ask();
    }

    key(event) {
      const offset = this.camera.position.clone().sub(this.controls.target);
      const length = offset.length();
      let around = Math.atan2(offset.y, offset.x), above = Math.asin(offset.z / length), distance = length;
      if (event.key === "ArrowLeft") around -= TURN;
      else if (event.key === "ArrowRight") around += TURN;
      else if (event.key === "ArrowUp") above = Math.min(1.5, above + TURN);
      else if (event.key === "ArrowDown") above = Math.max(-1.5, above - TURN);
      else if (event.key === "+" || event.key === "=") distance = Math.max(length / NEARER, this.controls.minDistance);
      else if (event.key === "-") distance = Math.min(length * NEARER, this.controls.maxDistance);
      else if (event.key === "0") { this.reset(); event.preventDefault(); return; }
      else return;
      event.preventDefault();
      event.stopPropagation();
      offset.set(Math.cos(around) * Math.cos(above), Math.sin(around) * Math.cos(above), Math.sin(above));
      this.camera.position.copy(this.controls.target).addScaledVector(offset, distance);
      this.controls.update();
      this.ask();
    }

    // Draw with the next picture of the screen.
    ask() {
      if (!this.waiting) this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.now(); });
    }

    now() {
      const { clientWidth: width, clientHeight: height } = this.canvas;
      if (!width || !height) return;
      const ratio = this.renderer.getPixelRatio();
      if (this.canvas.width !== Math.floor(width * ratio) || this.canvas.height !== Math.floor(height * ratio)) {
        this.renderer.setSize(width, height, false);
        this.camera.aspect = width / height;
        // A narrow picture shows as much to its sides as a square one.
        this.camera.fov = 2 * Math.atan(Math.tan((35 / 360) * Math.PI) / Math.min(1, width / height)) * (180 / Math.PI);
        this.camera.updateProjectionMatrix();
      }
      this.draw(this);
      // Light comes from the Sun where it is known, else over the left shoulder of who looks, so that sides of a body differ.
      if (this.sun) this.lamp.position.copy(this.sun);
      else this.lamp.position.set(-0.7, 0.9, 1.0).applyQuaternion(this.camera.quaternion);
      this.lamp.intensity = this.sun && this.dark ? 0.15 : this.sun ? 3.2 : 2.3;
      this.sky.intensity = this.sun ? 0.6 : 1.6;
      this.renderer.render(this.scene, this.camera);
    }

    // Take everything off and put these things on.
    show(things) {
      if (this.things) {
        this.scene.remove(this.things);
        this.things.traverse((one) => {
          one.geometry?.dispose();
          for (const material of [one.material ?? []].flat()) {
            material.map?.dispose();
            material.dispose();
          }
        });
      }
      this.things = things;
      this.scene.add(things);
      this.ask();
    }

    destroy() {
      cancelAnimationFrame(this.waiting);
      this.controls.dispose();
      this.renderer.dispose();
      this.renderer.forceContextLoss();
    }
  }

  function possible() {
    try {
      return Boolean(document.createElement("canvas").getContext("webgl2"));
    } catch {
      return false;
    }
  }

  return { Stage, colours, possible };
})();
