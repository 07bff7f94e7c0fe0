"""The routes of a room: the page that a code opens, its events, and who may say where the lecture stands."""

import asyncio
import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser

import pytest
from starlette.applications import Starlette

from pages.app import document_head, room_routes, security
from pages.classroom import rooms
from pages.classroom.rooms import RoomPage, RoomStore
from pages.site.words import load_app_texts

HTML = "<!doctype html><title>Lecture</title><body>one</body>"
PAGE = RoomPage(gzip.compress(HTML.encode(), mtime=0), "5f")
PLACE = {"scene": 2, "step": "journey", "look": None, "link": ""}
LOOK = {"head": 1, "query": 3, "view": "map", "step": "weights", "stop": 5, "cell": {"row": 3, "column": 2}}
HOST = {"host": "lecture.example"}


@pytest.fixture
def store(monkeypatch):
    store = RoomStore()
    monkeypatch.setattr(room_routes, "ROOMS", store)
    return store


class Answer:
    """An answer of the app with its middleware, and how much of the request's body it has read."""

    def __init__(self):
        self.status, self.headers, self.body, self.read = None, {}, b"", 0


def ask(method, path, query="", headers=HOST, body=(), until=None):
    """The app's answer to a request; until: a text after which the browser closes the connection."""
    app = Starlette(routes=room_routes.routes, middleware=[security.make_guard("", ""), document_head.completed])
    answer, parts = Answer(), iter(body)
    raw = [(name.encode(), text.encode()) for name, text in headers.items()]
    scope = {"type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": raw}
    scope |= {"http_version": "1.1", "scheme": "http", "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80)}

    async def talk():
        has_left = asyncio.Event()
        has_body = True

        async def receive():
            nonlocal has_body
            if has_body:
                part = next(parts, b"")
                has_body = part != b""
                answer.read += len(part)
                return {"type": "http.request", "body": part, "more_body": has_body}
            await has_left.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            if message["type"] == "http.response.start":
                answer.status = message["status"]
                answer.headers = [(name.decode(), text.decode()) for name, text in message["headers"]]
            else:
                answer.body += message.get("body", b"")
                if until is not None and until in answer.body.decode():
                    has_left.set()

        await asyncio.wait_for(app(scope, receive, send), 30)

    with ThreadPoolExecutor(max_workers=1) as thread:
        thread.submit(asyncio.run, talk()).result()
    return answer


def post(key, body, secret=None, **headers):
    """The answer to a lecturer's browser."""
    headers = {**HOST, "origin": "https://lecture.example", "x-room-secret": secret or key.secret, **headers}
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    return ask("POST", "/room/place", f"room={key.code}", headers, [text])


def events(text):
    return [event.split("\n") for event in text.decode().split("\n\n") if event]


class Texts(HTMLParser):
    """The elements of a page, and its texts."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data.strip())


# ---- the page --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("base", ["", "/attention/lab"])
def test_a_code_opens_the_lecture_as_it_is_under_a_policy_of_its_own(store, base):
    code = store.open(PAGE).code
    browser = {**HOST, "accept": "text/html", "accept-encoding": "gzip, br"}
    answer = ask("GET", f"{base}/room", f"room={code.lower()}", browser)
    assert answer.status == 200 and gzip.decompress(answer.body).decode() == HTML  # nothing is inserted
    headers = dict(answer.headers)
    assert headers["content-encoding"] == "gzip" and headers["cache-control"] == "no-store"
    policies = [text for name, text in answer.headers if name == "content-security-policy"]
    assert policies == ["frame-ancestors 'self'"] and headers["x-frame-options"] == "SAMEORIGIN"
    plain = ask("GET", f"{base}/room", f"room={code}", {**HOST, "accept-encoding": "identity"})
    assert plain.body.decode() == HTML


@pytest.mark.parametrize("browser, language", [("zh-CN,zh;q=0.9", "zh"), ("de,zh;q=0.5", "en"), ("", "en")])
def test_without_a_code_or_with_an_unknown_one_the_page_asks_for_it(store, browser, language):
    words = load_app_texts(language)
    asked = ask("GET", "/room", "", {**HOST, "accept": "text/html", "accept-language": browser})
    assert asked.status == 200 and words["present.room.title"] in asked.body.decode()
    assert not {"script", "link"} & {*Texts(asked.body.decode()).tags}  # nothing is inserted into it
    missed = ask("GET", "/room", "room=AAAAAA", {**HOST, "accept-language": browser})
    assert missed.status == 404
    assert words["present.room.unknown"].format(code="AAAAAA") in Texts(missed.body.decode()).texts


def test_a_hostile_code_is_text(store):
    missed = ask("GET", "/room", "room=%3Cscript%3E%00%E2%80%AE")
    page = Texts(missed.body.decode())
    assert "script" not in page.tags and page.tags.count("input") == 1
    assert any("<script>" in text for text in page.texts)
    assert b"\xe2\x80\xae" not in missed.body and b"\x00" not in missed.body
    assert len(ask("GET", "/room", f"room={'A' * 60_000}").body) < 3000


# ---- the events ------------------------------------------------------------------------------------------------------
def test_events_say_where_the_lecture_stands_and_that_it_has_ended(store):
    key = store.open(PAGE)
    assert post(key, {**PLACE, "look": LOOK}).status == 200
    answer = ask("GET", "/room/events", f"room={key.code}", until="\n\n")
    assert answer.status == 200 and dict(answer.headers)["content-type"].startswith("text/event-stream")
    ((line,),) = events(answer.body)
    assert json.loads(line.removeprefix("data: ")) == {
        "page": "5f",
        "place": {**PLACE, "look": LOOK},
        "answers": [],
    }
    assert store.find(key.code).followers == 0  # the browser has left
    store.end(key)
    ended = ask("GET", "/room/events", f"room={key.code}")
    assert events(ended.body) == [["event: end", "data:"]]


def test_before_the_first_place_there_is_none_and_a_full_room_is_refused(store, monkeypatch):
    key = store.open(PAGE)
    answer = ask("GET", "/room/events", f"room={key.code}", until="\n\n")
    assert events(answer.body) == [['data: {"page": "5f", "place": null, "answers": []}']]
    monkeypatch.setattr(rooms, "MAX_FOLLOWERS", 0)
    assert ask("GET", "/room/events", f"room={key.code}").status == 503


# ---- the lecturer ----------------------------------------------------------------------------------------------------
def test_a_place_is_taken_from_the_lecturer_alone(store):
    key = store.open(PAGE)
    other = store.open(PAGE)
    answer = post(key, PLACE)
    assert (answer.status, json.loads(answer.body)) == (200, {"followers": 0, "answers": []})
    assert json.loads(store.find(key.code).place.text) == PLACE
    assert post(key, {**PLACE, "scene": 3}, secret=other.secret).status == 404
    assert json.loads(store.find(key.code).place.text) == PLACE
    store.end(key)
    assert post(key, PLACE).status == 404


def test_a_message_without_a_body_says_that_the_lecturer_is_there(store):
    key = store.open(PAGE)
    post(key, PLACE)
    assert post(key, b"").status == 200
    assert json.loads(store.find(key.code).place.text) == PLACE


def test_a_page_of_another_site_moves_no_lecture(store):
    key = store.open(PAGE)
    for origin in ("https://evil.example", "null", "https://lecture.example.evil.example", "http://[::1"):
        assert post(key, PLACE, origin=origin).status == 403
    assert store.find(key.code).place is None


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"\xff\xfe",
        b"[" * 15_000,
        b'{"scene": NaN}',
        {},
        {**PLACE, "scene": 0},
        {**PLACE, "scene": True},
        {**PLACE, "scene": 2**30},
        {**PLACE, "step": "a" * 21},
        {**PLACE, "link": "a" * 6001},
        {**PLACE, "more": 1},
        {**PLACE, "look": {**LOOK, "view": "<b>"}},
        {**PLACE, "look": {**LOOK, "stop": "5"}},
        {**PLACE, "look": {**LOOK, "cell": {"row": -1, "column": 0}}},
    ],
)
def test_a_place_of_another_form_is_refused(store, body):
    key = store.open(PAGE)
    assert post(key, body).status == 422
    assert store.find(key.code).place is None


def test_hostile_text_in_a_place_stays_one_event(store):
    key = store.open(PAGE)
    hostile = "x\n\nevent: end\ndata: \u2028</script>"
    assert post(key, {**PLACE, "link": hostile}).status == 200
    answer = ask("GET", "/room/events", f"room={key.code}", until="\n\n")
    ((line,),) = events(answer.body)
    assert json.loads(line.removeprefix("data: "))["place"]["link"] == hostile


def test_of_a_body_that_is_too_large_no_more_is_read(store):
    key = store.open(PAGE)
    headers = {**HOST, "x-room-secret": key.secret}
    endless = (b"a" * 1000 for _ in range(10**6))
    answer = ask("POST", "/room/place", f"room={key.code}", headers, endless)
    assert answer.status == 413 and answer.read == 17_000


# ---- polls -----------------------------------------------------------------------------------------------------------
ANSWER = {"scene": 2, "choice": 1, "browser": "0f"}


def answer(key, body, **headers):
    """The answer to a reader's browser."""
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {**HOST, "origin": "https://lecture.example", **headers}
    return ask("POST", "/room/answer", f"room={key.code}", headers, [text]).status


def test_answers_are_taken_with_the_question_and_come_back_as_counts(store):
    key = store.open(PAGE)
    assert answer(key, ANSWER) == 409
    post(key, {**PLACE, "step": "question"})
    assert answer(key, ANSWER) == answer(key, {**ANSWER, "browser": "1e"}) == 204
    assert json.loads(post(key, b"").body) == {"followers": 0, "answers": [0, 2]}
    post(key, {**PLACE, "look": {**LOOK, "stop": 0}})
    ((line,),) = events(ask("GET", "/room/events", f"room={key.code}", until="\n\n").body)
    assert json.loads(line.removeprefix("data: "))["answers"] == [0, 2]
    post(key, {**PLACE, "look": {**LOOK, "stop": 1}})
    assert json.loads(post(key, b"").body)["answers"] == [] and answer(key, ANSWER) == 409


def test_hostile_answers_and_those_of_another_site_are_refused(store):
    key = store.open(PAGE)
    post(key, {**PLACE, "step": "question"})
    assert answer(key, ANSWER, origin="https://evil.example") == 403
    assert answer(key, b"") == 409 and answer(key, b"a" * 20_000) == 413
    for part in ({"choice": 16}, {"choice": -1}, {"choice": "1"}, {"scene": 0}, {"browser": "a" * 33}, {"name": "A"}):
        assert answer(key, {**ANSWER, **part}) == 422
    assert store.find(key.code).answers == {}
