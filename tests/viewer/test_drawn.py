"""What the page draws, by the places of its objects: handedness, Poinsot's figures, the two cameras, clocks of runs."""

import numpy as np
import pytest

import browser as browsers
import polhode as ph

EARTH = ph.planets.EARTH
TENSOR = np.array([[2.0, 0.3, -0.2], [0.3, 3.0, 0.4], [-0.2, 0.4, 4.0]])
STILL = """
for (const kind of ["Arrays", "Elements"]) {
  for (const many of ["", "Instanced"]) WebGL2RenderingContext.prototype[`draw${kind}${many}`] = () => {};
}
"""
"""Pixels of bodies take most of the time of a page, and nothing is asked of them."""
WATCHED = """(() => {
  const { Stage } = polhodeViewer.stage, show = Stage.prototype.show;
  globalThis.stages = [];
  Stage.prototype.show = function (things) { stages.push(this); show.call(this, things); };
})()"""
MESHES = """(() => {
  const found = [], stage = stages.at(-1);
  stage.scene.updateMatrixWorld(true);
  stage.things.traverse((one) => {
    if (!one.isMesh || one.isInstancedMesh || one.isLine2) return;
    const places = one.geometry.attributes.position, points = [], v = new THREE.Vector3();
    for (let i = 0; i < places.count; i += Math.max(1, Math.floor(places.count / 1500))) {
      points.push(v.fromBufferAttribute(places, i).applyMatrix4(one.matrixWorld).toArray());
    }
    const colour = [one.material].flat()[0].color.getHexString();
    const { type: kind, parameters: size } = one.geometry;
    found.push({ kind, colour, world: one.matrixWorld.elements, points, size });
  });
  return found;
})()"""


@pytest.fixture(scope="module")
def browser():
    browsers.chromium()
    with browsers.Browser() as found:
        yield found


@pytest.fixture
def opened(browser, tmp_path):
    """Opens the page of a view, whose stages are watched."""
    pages = []

    def open_(view):
        target = tmp_path / f"{len(pages)}.html"
        target.write_text(view.html(), encoding="utf-8")
        page = browser.open(target.as_uri(), (640, 480), STILL)
        page.wait("globalThis.polhodeHandle")
        page.do(WATCHED)
        pages.append(page)
        return page

    yield open_
    for page in pages:
        page.close()


def drawn(page, view, frame, in_orbit=False):
    """The meshes of a view at a frame: kind, colour, columns of the rotation in the world, points."""
    page.do(f"polhodeHandle.choose('{view}')")
    page.do(f"polhodeHandle.frame(false, {str(in_orbit).lower()}); polhodeHandle.setFrame({frame})")
    page.drawn()
    found = page.do(MESHES)
    for one in found:
        world = np.array(one["world"]).reshape(4, 4)[:3, :3]
        one["axes"] = world / np.linalg.norm(world, axis=1)[:, None]  # rows: images of x, y, z
        one["points"] = np.array(one["points"])
    return found


def one_of(meshes, colour, kind="SphereGeometry"):
    """The first mesh of a colour and kind."""
    return next(one for one in meshes if one["colour"] == colour and one["kind"] == kind)


def test_a_quarter_turn_about_z_takes_x_of_the_body_to_y_of_space(opened):
    moments = np.array([2.0, 3.0, 4.5])
    ds = ph.integrate(ph.free_body(moments), step=0.5, steps=8, angular_velocity=(0, 0, np.pi / 2))
    page = opened(ph.view(ds))
    box = next(one for one in drawn(page, "Body", 2) if one["kind"] == "BoxGeometry")
    np.testing.assert_allclose(box["axes"], [[0, 1, 0], [-1, 0, 0], [0, 0, 1]], rtol=0, atol=1e-4)
    sides = np.array([box["size"][name] for name in ("width", "height", "depth")])
    squares = 6.0 * (moments.sum() - 2.0 * moments)
    np.testing.assert_allclose(sides**2 / sides.max() ** 2, squares / squares.max(), rtol=1e-6)
    up = page.do("stages.at(-1).camera.up.toArray()")
    assert up == [0, 0, 1]


def test_the_cuboid_of_an_oblique_tensor_has_that_tensor(opened):
    ds = ph.integrate(ph.free_body(TENSOR), step=0.05, steps=4, angular_velocity=(0.3, 1.0, 0.2))
    corners = next(one for one in drawn(opened(ph.view(ds)), "Body", 0) if one["kind"] == "BoxGeometry")["points"]
    spread = corners.T @ corners / len(corners)
    own = np.trace(spread) * np.eye(3) - spread
    np.testing.assert_allclose(own / np.trace(own), TENSOR / np.trace(TENSOR), rtol=0, atol=1e-5)


def test_poinsot_is_drawn_to_scale(opened):
    ds = ph.integrate(ph.free_body(TENSOR), step=0.05, steps=100, angular_velocity=(0.3, 1.0, 0.2))
    page, inverse = opened(ph.view(ds)), np.linalg.inv(TENSOR)
    m, w = ds.angular_momentum.values, ds.angular_velocity.values
    meshes = drawn(page, "Polhode", 60)
    radius = np.linalg.norm(one_of(meshes, "56b4e9")["points"], axis=1).mean()
    ellipsoid = one_of(meshes, "e69f00")["points"] / radius
    level = np.einsum("ni,ij,nj->n", ellipsoid, inverse, ellipsoid)
    np.testing.assert_allclose(level, m[0] @ w[0] / (m[0] @ m[0]), rtol=1e-5)
    tip = one_of(meshes, "d55e00")["points"].mean(axis=0)
    np.testing.assert_allclose(tip / np.linalg.norm(tip), m[60] / np.linalg.norm(m[60]), rtol=0, atol=2e-2)
    for frame in (0, 60, 97):  # the ellipsoid stands on its plane, at the tip of the angular velocity
        meshes = drawn(page, "Herpolhode", frame)
        ellipsoid, disc = one_of(meshes, "56b4e9"), one_of(meshes, "9aa7b4", "CircleGeometry")
        lowest, ground = ellipsoid["points"][:, 2].min(), disc["points"][:, 2]
        height = ellipsoid["points"][:, 2].max() - lowest
        assert np.ptp(ground) < 1e-6 and abs(lowest - ground.mean()) < 0.01 * height


def test_cameras_of_an_orbit(opened):
    """Seen from the orbit the centre is below and the motion along x; the planet turns with its ground track."""
    system = ph.spacecraft([2.0, 3.0, 4.5], EARTH.mu, 10.0)
    r, v = ph.kepler.state(EARTH.mu, semi_major_axis=7.0e6, inclination=1.1, node=0.4)
    ds = ph.integrate(system, step=20.0, steps=300, position=r, velocity=v, angular_velocity=(1e-3, 0, 2e-3),
                      settings={"units": "SI", "epoch": "2026-03-01T05:06:07 UTC"})  # fmt: skip
    page, k = opened(ph.view(ds)), 170
    track = ds.polhode.ground_track()
    r, v = ds.position.values[k], ds.velocity.values[k]
    planet = one_of(drawn(page, "Orbit", k), "3f7cb8")
    greenwich = np.arctan2(*planet["axes"][0][[1, 0]])
    assert abs(np.angle(np.exp(1j * (np.arctan2(r[1], r[0]) - greenwich - float(track.longitude[k]))))) < 1e-3
    coast = np.array(
        page.do("""(() => {
      let found = [];
      stages.at(-1).things.traverse((one) => {
        const places = one.isLineSegments && one.geometry.attributes.position;
        if (places && places.count > 5000) found = Array.from({ length: places.count }, (_, i) =>
          new THREE.Vector3().fromBufferAttribute(places, i).applyMatrix4(one.matrixWorld).toArray());
      });
      return found;
    })()""")
    )
    turned = np.degrees(np.arctan2(coast[:, 1], coast[:, 0]) - greenwich)
    up = np.degrees(np.arcsin(coast[:, 2] / np.linalg.norm(coast, axis=1)))
    good_hope = np.hypot(np.angle(np.exp(1j * np.radians(turned - 18.4)), deg=True), up + 34.1)
    assert good_hope.min() < 1.0 and not (np.abs(up) < 20.0)[np.abs(turned % 360.0 - 200.0) < 3.0].any(), "the Pacific"
    radius, far = np.ptp(planet["points"][:, 2]) / 2, np.linalg.norm(ds.position.values, axis=1).max()
    assert radius == pytest.approx(EARTH.radius / far, rel=5e-3)
    boxes = [one for one in drawn(page, "Orbit", k) if one["kind"] == "BoxGeometry"]
    middle = boxes[0]["points"].mean(axis=0)
    np.testing.assert_allclose(middle, r / far, rtol=0, atol=1e-4)
    np.testing.assert_allclose(
        boxes[0]["axes"], ph.rotation.matrix_from_quaternion(ds.attitude.values[k]).T, rtol=0, atol=1e-4
    )
    meshes = drawn(page, "Orbit", k, in_orbit=True)
    box = next(one for one in meshes if one["kind"] == "BoxGeometry")
    planet = one_of(meshes, "3f7cb8")["points"]
    np.testing.assert_allclose(box["points"].mean(axis=0), 0.0, rtol=0, atol=1e-6)
    below = (planet.min(axis=0) + planet.max(axis=0)) / 2
    np.testing.assert_allclose(below, [0, 0, -np.linalg.norm(r) / far], rtol=0, atol=2e-3)
    seen = np.stack([v / np.linalg.norm(v), np.cross(r, v) / np.linalg.norm(np.cross(r, v)), r / np.linalg.norm(r)])
    attitude = ph.rotation.matrix_from_quaternion(ds.attitude.values[k])
    np.testing.assert_allclose(box["axes"], (seen @ attitude).T, rtol=0, atol=1e-3)


def test_a_clock_of_runs_of_different_spans(opened):
    """A run of many frames that ends early does not cut off the others; what has ended, or not begun, is told."""
    body = ph.free_body([2.0, 3.0, 4.5])
    fast = ph.integrate(body, step=0.01, steps=200, angular_velocity=(0.1, 1.0, 0.2))
    slow = ph.integrate(body, step=0.3, steps=20, angular_velocity=(0.1, 1.0, 0.2))
    page = opened(ph.view(fast, slow, labels=["fine", "coarse"]))
    now = page.do("polhodeHandle.state()")
    assert now["frames"] == 201 + int((slow.time.values > 2.0).sum())
    end = int(page.do("document.querySelector('input[type=range]').max"))
    page.do(f"polhodeHandle.setFrame({end})")
    now = page.do("polhodeHandle.state()")
    assert now["time"] == slow.time.values[-1] and now["frame"] == end
    assert [run["frame"] for run in now["runs"]] == [200, 20]
    words = page.do("[...document.querySelectorAll('.pv-run figcaption')].map((one) => one.textContent)")
    assert words == ["fine (ended at t = 2)", "coarse"]
    for k in range(0, 181, 30):  # 0.01 k and 0.3 j are the same moment, though not always the same number
        page.do(f"polhodeHandle.setFrame({k})")
        assert page.do("polhodeHandle.state().runs[1].frame") == k // 30
    words = page.do("[...document.querySelectorAll('.pv-run figcaption')].map((one) => one.textContent)")
    assert words == ["fine", "coarse"]


def test_no_line_joins_frames_between_which_nobody_knows_the_way(opened):
    lines = "(() => { let n = 0; stages.at(-1).things.traverse((one) => { n += Boolean(one.isLine2); }); return n; })()"
    body = ph.free_body([2.0, 3.0, 4.5])
    found = {}
    for step in (0.05, 2.0):
        ds = ph.integrate(body, "exact", step=step, steps=40, angular_velocity=(0.1, 1.0, 0.2))
        page = opened(ph.view(ds))
        for view in ("Body", "Herpolhode"):
            drawn(page, view, 30)
            parts = page.do("[...document.querySelectorAll('.pv-part')].map((one) => one.textContent)")
            found[view, step] = page.do(lines), "Trace" in parts
    assert found["Body", 0.05][0] == found["Body", 2.0][0] + 1 and found["Body", 0.05][1] and not found["Body", 2.0][1]
    assert found["Herpolhode", 0.05][0] == found["Herpolhode", 2.0][0] + 2
    orbit = ph.orbit(EARTH.mu)
    r, v = ph.kepler.state(EARTH.mu, semi_major_axis=7.0e6, inclination=1.1)
    ds = ph.integrate(orbit, step=2500.0, steps=40, position=r, velocity=v, settings={"units": "SI"})
    page = opened(ph.view(ds))
    page.do("polhodeHandle.choose('Ground track')")
    page.drawn()
    orange = np.abs(page.pixels() - np.array([0xE6, 0x9F, 0x00])).max(axis=2) < 30
    assert 100 < orange.sum() < 1200, orange.sum()  # dots


def test_angles_that_go_around_are_not_joined_across_the_plot(opened):
    page = opened(ph.view(ph.integrate(ph.free_body([2.0, 3.0, 4.5]), step=0.1, steps=5, angular_velocity=(0, 0, 1))))
    teeth = pieces_of_angles(page, 5.3)  # a few, none of which goes back
    assert len([piece for piece in teeth if len(piece) > 2]) == 6
    assert max(np.abs(np.diff(piece[:, 1])).max() for piece in teeth if len(piece) > 1) < 20.0
    assert pieces_of_angles(page, 1000.3) == [], "no mean of an angle that goes round"
    (band,) = pieces_of_angles(page, 1000.3, "band")
    assert np.ptp(band[:, 0]) > 370.0
    upper, lower = band[: len(band) // 2], band[: len(band) // 2 - 1 : -1]
    assert (lower[2:-2, 1] - upper[2:-2, 1] > 60.0).all()


def test_a_chart_shades_what_turns_faster_than_its_pixels_and_loses_no_spike(opened):
    page = opened(ph.view(ph.integrate(ph.free_body([2.0, 3.0, 4.5]), step=0.1, steps=5, angular_velocity=(0, 0, 1))))
    swing = "(k < 50000 ? Math.sin(k) : Math.sin(k / 5000)) + (k === 1234 ? 9 : 0)"
    (band,) = pieces_of(page, "band", swing, 100_000)
    assert band[:, 1].min() == pytest.approx(pieces_of(page, "band", swing, 100_000, 10.0)[0][:, 1].min(), abs=0.2)
    assert np.ptp(band[:, 0]) == pytest.approx(0.5 * 384, abs=8.0)
    line = np.concatenate(pieces_of(page, "line", swing, 100_000))
    calm = line[line[:, 0] < 62 + 0.45 * 384]
    assert np.ptp(calm[:, 1]) < 8.0 < 0.25 * np.ptp(band[:, 1]), "the line is the mean"
    assert len(line[line[:, 0] > 62 + 0.55 * 384]) > 150
    noise = "(k > 50000) + 1e-12 * Math.sin(k)"
    assert pieces_of(page, "band", noise, 100_000) == []


def pieces_of_angles(page, turns, which="line"):
    """The pieces of the line of an angle that goes around so many times."""
    page.do(f"""(() => {{
      globalThis.values = Float32Array.from({{length: 4001}}, (_, k) => ((k / 4000 * {turns} * 360 + 180) % 360) - 180);
      const whole = values.slice();
      for (let k = 1; k < 4001; k++) if (Math.abs(whole[k] - whole[k - 1]) > 180) values[k] = NaN;
    }})()""")
    return pieces_of(page, which)


def pieces_of(page, which, swing="", many=4001, top=0.0):
    """The pieces of a path of a chart: of what is drawn, or shaded; a last number keeps the scale."""
    if swing:
        page.do(f"globalThis.values = Float64Array.from({{length: {many}}}, (_, k) => {swing})")
        page.do(f"{top} && (values[1234] = {top})")
    path = page.do(f"""(() => {{
      const times = Float64Array.from(values, (_, k) => k), colour = "#0072b2", unit = {"''" if swing else "'deg'"};
      const group = {{name: "yaw", unit, log: false, lines: [{{label: "yaw", values, times, colour, dash: ""}}]}};
      const box = polhodeViewer.charts.chart(group, [0, {many - 1}], [], () => {{}}).box;
      return box.querySelector(".pv-{which}")?.getAttribute("d") || "";
    }})()""")
    pieces = path.replace("Z", "").split("M")[1:]
    return [np.array([one.split() for one in piece.split("L")], dtype=float) for piece in pieces]


def test_wheels_are_discs_across_their_axes(opened):
    """They turn with the body, and the arrow shows the sign of the momentum."""
    wheels = ph.reaction_wheels([(1, 0, 0), (0, 0, 1)], 0.01, speed=(50.0, -25.0))
    ds = ph.integrate(ph.rigid_body((2.0, 3.0, 4.5), wheels=wheels), "exact", step=0.5, steps=8,
                      angular_velocity=(0, 0, np.pi / 2))  # fmt: skip
    page = opened(ph.view(ds))
    meshes = [one for one in drawn(page, "Body", 1) if one["colour"] == "9467bd"]
    discs = [one for one in meshes if one["kind"] == "CylinderGeometry" and one["size"]["radiusTop"] == 0.12]
    cones = [one for one in meshes if one["kind"] == "ConeGeometry"]
    assert len(discs) == len(cones) == 2
    for disc, cone, axis, sign in zip(discs, cones, np.eye(3)[[0, 2]], (1.0, -1.0), strict=True):
        a = ph.rotation.rotate(ds.attitude.values[1], axis)
        middle = 0.5 * (disc["points"].max(axis=0) + disc["points"].min(axis=0))
        assert np.abs(middle - 1.12 * a).max() < 0.02
        along = (disc["points"] - 1.12 * a) @ a
        assert np.abs(along).max() < 0.03 < 0.1 < np.linalg.norm(disc["points"] - 1.12 * a, axis=1).max()
        assert sign * ((cone["points"].mean(axis=0) - middle) @ a) > 0.05


def test_a_tether_is_drawn_from_body_to_body_and_pale_while_it_is_slack(opened):
    pair = ph.system(ph.body("a", 100.0, (20, 30, 25)), ph.body("b", 10.0), ph.loads.central(EARTH.mu),
                     ph.loads.tether(5.0, 100.0).on("a", "b"))  # fmt: skip
    start = {
        name: {"position": (7e6 + x, y, 0), "velocity": (0, 7546.0, 0)} for name, x, y in (("a", 0, 0), ("b", 101, 30))
    }
    ds = ph.integrate(pair, step=0.5, t_end=600.0, every=20, settings={"units": "SI"}, start=start)
    page, seen = opened(ph.view(ds)), ds.polhode.relative("a", "b", frame="lvlh")
    slack = (seen.distance < 100.0).values
    for k in (int(slack.argmax()), int((~slack[5:]).argmax() + 5)):
        line = one_of(drawn(page, "Together", k), "3d3d3d", "CylinderGeometry")
        shown = seen.position.values[k] * (1, -1, -1)  # z, to the centre, is below
        np.testing.assert_allclose(line["axes"][2], shown / np.linalg.norm(shown), rtol=0, atol=1e-4)
        pale = page.do("""(() => {
          let found;
          stages.at(-1).things.traverse((one) => {
            if (one.isMesh && one.material.color?.getHexString() === "3d3d3d") found = one.material.opacity;
          });
          return found;
        })()""")
        assert (pale < 0.5) == slack[k]
    assert slack.any() and not slack[5:].all()
