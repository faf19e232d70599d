// The first page: where there is WebGL, a button puts the view of the moving body in the place of its animation.
document.addEventListener("DOMContentLoaded", () => {
  for (const hero of document.querySelectorAll(".hero[data-view]")) {
    const button = hero.querySelector("button");
    const drawn = document.createElement("canvas");
    if (!button || !hero.dataset.view || !(drawn.getContext("webgl2") || drawn.getContext("webgl"))) continue;
    button.hidden = false;
    button.addEventListener("click", () => {
      const frame = document.createElement("iframe");
      frame.title = "The moving body: an interactive view";
      frame.loading = "lazy";
      frame.setAttribute("sandbox", "allow-scripts");
      frame.src = hero.dataset.view;
      hero.querySelector("picture").replaceWith(frame);
      button.remove();
      frame.focus();
    });
  }
});
