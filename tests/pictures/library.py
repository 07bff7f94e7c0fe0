"""The picture of the lecture of forty-five minutes: query, key and value as in a library; drawn, not computed."""

import base64
import json
from io import BytesIO

from PIL import Image
from playwright.sync_api import Browser

from attention_core.drawing.palette import LIGHT_PALETTE
from pages.site.words import CONTENT_FOLDER

LECTURE = "lectures/forty_five_minutes.json"
WIDTH, HEIGHT = 1600, 780  # px
COLOURS = 64  # of the file: flat ones, and the edges of letters
BOOK_WIDTH, BOOKS_AT = 170, (560, 760, 960)  # px
LINES = (3, 3, 20)  # px: the third spine fits
WORDS = {
    "en": {
        "query": ("query q", "what I look for"),
        "asked": "Who is “it”?",
        "weight": ("weights", "how well each spine fits"),
        "key": ("key k", "what stands on the spine"),
        "spines": ("a person", "a deed", "an animal"),
        "value": ("value v", "what is in the book"),
        "pages": ("Anna", "fed", "dog"),
        "output": ("output", "of every book its share"),
        "answer": "mostly “dog”",
    },
    "zh": {
        "query": ("查询 q", "我要找什么"),
        "asked": "“它”指谁？",
        "weight": ("权重", "书脊与问题有多相符"),
        "key": ("键 k", "书脊上写着什么"),
        "spines": ("一个人", "一件事", "一只动物"),
        "value": ("值 v", "书里有什么"),
        "pages": ("小红", "喂了", "狗"),
        "output": ("输出", "每本书各取一份"),
        "answer": "主要是“狗”",
    },
}


def put_library_into_lectures(browser: Browser) -> None:
    """Draws the picture in each language, and puts it into the lecture's file."""
    for language, words in WORDS.items():
        path = CONTENT_FOLDER / language / LECTURE
        lecture = json.loads(path.read_text(encoding="utf-8"))
        (scene,) = (scene for scene in lecture["scenes"] if scene.get("kind") == "picture")
        scene["picture"] = base64.b64encode(take_library(browser, words)).decode()
        path.write_text(json.dumps(lecture, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def take_library(browser: Browser, words: dict) -> bytes:
    """The picture as a PNG of few colours."""
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    page.set_content(f'<body style="margin: 0">{draw_library(words)}')
    image = Image.open(BytesIO(page.screenshot())).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    file = BytesIO()
    image.save(file, "PNG", optimize=True)
    return file.getvalue()


def draw_library(words: dict) -> str:
    """The picture as SVG: the question goes to every spine, above; what is in the books comes back, below."""
    colours = LIGHT_PALETTE
    parts = [
        label(40, 48, colours.q, *words["query"], below=290),
        label(1170, 150, colours.share, *words["weight"]),
        label(1170, 300, colours.k, *words["key"]),
        label(1170, 490, colours.v, *words["value"]),
        label(40, 498, colours.ink, *words["output"], below=740),
    ]
    for place, (left, spine, page) in enumerate(zip(BOOKS_AT, words["spines"], words["pages"], strict=True)):
        middle, far = left + BOOK_WIDTH / 2, 45 * place  # what leads farther lies farther out
        asked = f"M 350 {200 - far} C 460 {110 - far}, {middle} {90 - far}, {middle} 198"
        handed = f"M {middle} 592 C {middle} {690 + far}, 460 {680 + far}, 350 {560 + far}"
        parts += [thread(asked, colours.share, LINES[place]), thread(handed, colours.v, LINES[place])]
        parts += book(left, spine, page)
    parts += [card(40, 70, colours.q, words["asked"]), card(40, 520, colours.v, words["answer"])]
    parts.append(f'<rect x="530" y="592" width="630" height="8" fill="{colours.x}"/>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-size="35"'
        f' font-family="Liberation Sans, Noto Sans CJK SC, sans-serif" fill="{colours.ink}">{"".join(parts)}</svg>'
    )


def book(left: int, spine: str, page: str) -> list[str]:
    """A book that stands on the shelf: its key on the spine, its value in it."""
    middle = left + BOOK_WIDTH / 2
    places = ((200, 180, LIGHT_PALETTE.k, spine), (382, 210, LIGHT_PALETTE.v, page))
    parts = []
    for top, height, colour, word in places:
        parts.append(
            f'<rect x="{left}" y="{top}" width="{BOOK_WIDTH}" height="{height}" rx="6" style="{paint(colour)}"/>'
        )
        parts.append(f'<text x="{middle}" y="{top + height / 2 + 13}" text-anchor="middle">{word}</text>')
    return parts


def card(left: int, top: int, colour: str, word: str) -> str:
    """A slip with a word on it."""
    return (
        f'<rect x="{left}" y="{top}" width="320" height="170" rx="14" style="{paint(colour)}"/>'
        f'<text x="{left + 160}" y="{top + 98}" text-anchor="middle" font-size="42">{word}</text>'
    )


def paint(colour: str) -> str:
    """How a surface is painted: pale, in an outline."""
    return f"fill: color-mix(in srgb, {colour} 10%, white); stroke: {colour}; stroke-width: 4"


def label(left: int, top: int, colour: str, name: str, meaning: str, below: int | None = None) -> str:
    """What something is, in its colour; what that means stands under it, or below at a height."""
    return (
        f'<text x="{left}" y="{top}" fill="{colour}" font-weight="700">{name}</text>'
        f'<text x="{left}" y="{below or top + 48}">{meaning}</text>'
    )


def thread(path: str, colour: str, width: int) -> str:
    """A line, as thick as a share."""
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>'
