"""Where the texts of a figure are: those that would really be drawn, and which of them meet or leave the figure."""

from matplotlib.text import Text


def drawn_texts(figure):
    """(text, box in pixels) of every text that a figure would draw: ticks out of view and hidden axes draw none."""
    found, original = [], Text.draw

    def draw(self, renderer):
        if self.get_visible() and self.get_text().strip():
            found.append((self.get_text(), self.get_window_extent(renderer)))
        original(self, renderer)

    Text.draw = draw
    try:
        figure.draw_without_rendering()
    finally:
        Text.draw = original
    return [(text, box) for text, box in found if box.width > 0.0 and box.height > 0.0]


def misplaced(figure, slack=2.0):
    """What is wrong: texts beyond the edges of a figure, and pairs that overlap by more than ``slack`` points."""
    texts = drawn_texts(figure)
    slack *= figure.dpi / 72.0
    wrong = [
        f"outside: {text!r}" for text, box in texts
        if box.x0 < 0.0 or box.y0 < 0.0 or box.x1 > figure.bbox.width or box.y1 > figure.bbox.height
    ]  # fmt: skip
    for i, (text, a) in enumerate(texts):
        for other, b in texts[i + 1 :]:
            if min(a.x1, b.x1) - max(a.x0, b.x0) > slack and min(a.y1, b.y1) - max(a.y0, b.y0) > slack:
                wrong.append(f"overlap: {text!r} and {other!r}")
    return wrong
