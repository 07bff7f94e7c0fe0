"""What a change changed glows for a moment, with its old and new number in one text, which covers nothing."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

# What each frame shows of a change; of one, once all has arrived, which texts lie on others.
RECORD = """root => {
    const { flow } = root, draw = flow.drawAt.bind(flow);
    const seen = window.seen = { strengths: [], old: {}, rows: [], over: null };
    const box = (element) => element.getBoundingClientRect();
    const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3; // boxes are higher than their letters
    flow.drawAt = (now) => {
        draw(now);
        const { made, round } = flow.picture.shapes;
        const shown = [...made].filter(([, shape]) => shape.round === round);
        const glows = shown.filter(([key]) => key.startsWith("marks glow "));
        if (!glows.length) return;
        seen.strengths.push(glows[0][1].attributes.opacity);
        seen.rows = glows.map(([key]) => key.slice("marks glow ".length));
        const old = shown.filter(([key, { attributes }]) =>
            /^texts (old|before) /.test(key) || (key.startsWith("texts percent ") && attributes.text.includes("→")));
        for (const [key, { attributes }] of old)
            seen.old[key.slice("texts ".length)] = [attributes.text, attributes["font-size"]];
        if (flow.before || seen.over) return;
        // Cells that are drawn together have the box of their strip.
        const isSolid = ([key, { attributes, element }]) =>
            /^(texts|cells (?!look)|shares |marks glow )/.test(key) && attributes.opacity !== 0 && element;
        const solid = shown.filter(isSolid);
        seen.over = old.flatMap(([key, { element }]) => solid
            .filter(([other, shape]) => other !== key && meet(box(element), box(shape.element)))
            .map(([other]) => [key, other]));
    };
}"""


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
@pytest.mark.parametrize("width", [1280, 390])
def test_a_change_glows_with_its_old_numbers_and_covers_nothing(screen, motion, width):
    opened = screen("?ex=en_it&lang=en&temp=2", reduced_motion=motion, viewport={"width": width, "height": 844})
    opened.page.locator(".flow").evaluate(RECORD)
    with opened.answered():
        opened.page.locator(".live input").evaluate(  # T = 1
            "input => { window[Symbol.for('attention')].heldSlider = null; input.value = 0.5; input.onchange(); }"
        )
    opened.page.wait_for_function("() => window.seen.strengths.length")
    expect(opened.page.locator(".flow .glow:visible")).to_have_count(0)
    seen = opened.page.evaluate("seen")
    assert {"weights 3", "scaled_scores 3", "output 0"} <= set(seen["rows"])
    assert not {"x 3", "v 3", "scores 3"} & set(seen["rows"])
    assert seen["old"]["before 3"][0] == "before: 62 %"  # inside the ribbon, below 93 %
    others = [text for name, (text, _) in seen["old"].items() if name != "before 3"]
    assert "7 % → 1 %" in others and [text for text in others if not re.fullmatch(r"\S.* → \S.*", text)] == []
    if width > 640:
        assert seen["old"]["old scaled_scores 3"][0] == "2.12 → 4.24"  # 6 / (2 √2), 6 / √2
    assert all(size >= 12 for _, size in seen["old"].values())
    assert seen["over"] == []
    strengths = seen["strengths"]
    assert set(strengths) == {1} if motion == "reduce" else strengths[-1] < strengths[0]
