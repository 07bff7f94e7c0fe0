"""The journey of a query as a moving picture: each stop frame by frame, then the whole."""

from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page

FRAMES = 14  # of a stop
FRAME_MS, HOLD_MS, END_MS = 90, 700, 3500
COLOURS = 255  # of the palette: thin lines and pale grounds keep their hues
WIDTH = 820  # px
DRAWN = """(root, progress) => new Promise((done) => {
    root.flow.journey.scrub(progress);
    requestAnimationFrame(() => requestAnimationFrame(done));
})"""


def save_journey(page: Page, path: Path) -> None:
    """Writes the journey of the query that is looked at as a GIF that repeats."""
    flow = page.locator(".flow")
    stops = flow.evaluate("root => root.flow.journey.stops.length")
    images, times = [], []
    for frame in range(stops * FRAMES + 1):
        flow.evaluate(DRAWN, frame / FRAMES)
        images.append(shrunk(flow.screenshot()))
        times.append(HOLD_MS if frame % FRAMES == 0 else FRAME_MS)
    times[-1] = END_MS
    palette = stacked(images[::FRAMES]).quantize(COLOURS, Image.Quantize.FASTOCTREE)
    first, *others = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    first.save(path, save_all=True, append_images=others, duration=times, loop=0, optimize=True)


def stacked(images: list[Image.Image]) -> Image.Image:
    """Images under each other: together they hold the colours of all stops."""
    (width, height), count = images[0].size, len(images)
    stack = Image.new("RGB", (width, height * count))
    for place, image in enumerate(images):
        stack.paste(image, (0, height * place))
    return stack


def shrunk(png: bytes) -> Image.Image:
    """A screenshot, as wide as the README shows it."""
    image = Image.open(BytesIO(png)).convert("RGB")
    return image.resize((WIDTH, round(image.height * WIDTH / image.width)), Image.Resampling.LANCZOS)


def save_frames(page: Page, folder: Path) -> None:
    """Writes what the whole screen shows at the end of each stop and halfway to it, and the map as it opens."""
    folder.mkdir(parents=True, exist_ok=True)
    flow = page.locator(".flow")
    stops = flow.evaluate("root => root.flow.journey.stops.map(({ motion }) => motion)")
    for half in range(2 * len(stops) + 1):
        flow.evaluate(DRAWN, half / 2)
        name = f"{half:02d}-{stops[half // 2] if half % 2 else 'rest'}.png"
        page.screenshot(path=folder / name)
    page.locator(".flow .views [data-kind=map]").click()
    page.wait_for_function("root => root.flow.opened > 0.4", arg=flow.element_handle())
    page.screenshot(path=folder / "map-opening.png")
    page.wait_for_function("root => root.flow.opened === 1", arg=flow.element_handle())
    page.screenshot(path=folder / "map.png")
