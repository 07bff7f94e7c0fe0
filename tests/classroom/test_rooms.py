"""The rooms of a lecture: who may move one, what followers get, and how a room ends and what bounds it has."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing

import pytest

from pages.classroom import rooms
from pages.classroom.rooms import (
    Audience,
    Key,
    Place,
    Reached,
    RoomPage,
    RoomRefused,
    RoomStore,
    Told,
    make_code,
    read_code,
)

PAGE = RoomPage(b"the page", "5f")
OTHER_PAGE = RoomPage(b"another page", "6a")


def at(text, step="map", scene=1, stop=None):
    """A place of a lecturer."""
    return Place(text, scene, step, stop)


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self):
        return self.now


def run(test):
    """Runs a coroutine in a loop of its own: a browser test may have left one running in this thread."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(asyncio.run, asyncio.wait_for(test, 30)).result()


async def take(places, count):
    """The next so many places that a follower gets."""
    return [await anext(places) for _ in range(count)]


# ---- the code --------------------------------------------------------------------------------------------------------
def test_a_code_has_six_signs_none_of_which_looks_like_another():
    codes = {make_code() for _ in range(2000)}
    assert len(codes) > 1990 and {len(code) for code in codes} == {6}
    seen = set("".join(codes))
    assert not seen & set("B8IL1O0S5Z2") and len(seen) == 25


@pytest.mark.parametrize("typed", ["K7QFEM", " k7q-fem ", "k 7 q\tf e m\n", "K7Q–FEM".replace("–", "-")])
def test_a_code_is_read_as_people_type_it(typed):
    assert read_code(typed) == "K7QFEM"


def test_a_guessed_an_empty_and_a_very_long_code_find_nothing():
    store = RoomStore()
    key = store.open(PAGE)
    assert store.find(key.code.lower()) is store.find(key.code) is not None
    for code in ("", "AAAAAA", key.code[:-1], key.code + "A", "A" * 10**6, "'; --", "\x00"):
        assert store.find(code) is None


# ---- following -------------------------------------------------------------------------------------------------------
def test_a_follower_gets_the_place_at_once_and_each_later_one_also_from_another_thread():
    async def follow():
        store = RoomStore()
        key = store.open(PAGE)
        assert store.move(key, at("one")) == Audience(0, ())
        async with aclosing(store.follow(key.code)) as places:
            assert await take(places, 1) == [Told("5f", "one", ())]
            later = asyncio.create_task(take(places, 1))
            await asyncio.sleep(rooms.LEAST_PAUSE + 0.02)  # the follower waits now
            assert await asyncio.to_thread(store.move, key, at("two")) == Audience(1, ())
            assert await later == [Told("5f", "two", ())]
        assert store.move(key, at("three")) == Audience(0, ())  # who has left is counted no more

    run(follow())


def test_a_follower_who_was_away_gets_the_latest_place_alone():
    async def follow():
        store = RoomStore()
        key = store.open(PAGE)
        async with aclosing(store.follow(key.code)) as places:
            assert await take(places, 1) == [Told("5f", "", ())]
            for number in range(500):  # while the network is gone
                store.move(key, at(str(number)))
            assert await take(places, 1) == [Told("5f", "499", ())]
        async with aclosing(store.follow(key.code)) as places:  # the browser connects again
            assert await take(places, 1) == [Told("5f", "499", ())]

    run(follow())


def test_a_follower_is_told_that_the_connection_stands(monkeypatch):
    monkeypatch.setattr(rooms, "HEARTBEAT", 0.01)

    async def follow():
        store = RoomStore()
        key = store.open(PAGE)
        async with aclosing(store.follow(key.code)) as places:
            assert await take(places, 3) == [Told("5f", "", ()), None, None]

    run(follow())


def test_another_page_reaches_the_followers_without_the_place_of_the_former():
    async def follow():
        store = RoomStore()
        key = store.open(PAGE)
        store.move(key, at("one"))
        async with aclosing(store.follow(key.code)) as places:
            await take(places, 1)
            store.replace(key, OTHER_PAGE)
            assert await take(places, 1) == [Told("6a", "", ())]

    run(follow())


# ---- polls -----------------------------------------------------------------------------------------------------------
def test_answers_are_counted_while_the_question_is_shown_and_told_right_after_it():
    store = RoomStore()
    key = store.open(PAGE)
    assert not store.answer(key.code, 1, "a", 2)  # no lecturer stands anywhere yet
    store.move(key, at("asked", "question"))
    for browser, choice in (("a", 0), ("b", 2), ("c", 2), ("a", 2), ("d", 1)):  # a thinks again
        assert store.answer(key.code.lower(), 1, browser, choice)
    assert store.move(key, None).answers == (0, 1, 3)  # the lecturer hears of them at once
    assert rooms.tell(store.find(key.code)) == Told("5f", "asked", ())  # the audience does not yet
    assert not store.answer(key.code, 2, "e", 0) and not store.answer("AAAAAA", 1, "e", 0)

    assert store.move(key, at("journey", "journey")).answers == (0, 1, 3)  # the animation is not drawn yet
    assert store.move(key, at("drawn", "journey", stop=0)).answers == (0, 1, 3)
    assert rooms.tell(store.find(key.code)) == Told("5f", "drawn", (0, 1, 3))
    assert not store.answer(key.code, 1, "e", 0)  # too late
    assert store.move(key, at("next", "journey", stop=1)).answers == ()
    assert store.move(key, at("map", "map", stop=8)).answers == ()
    assert store.move(key, at("other", "map", scene=2)).answers == ()

    store.move(key, at("asked", "question"))  # the question again: the answers are still there, and may change
    assert store.answer(key.code, 1, "d", 2) and store.move(key, None).answers == (0, 0, 4)
    store.replace(key, OTHER_PAGE)
    store.move(key, at("asked", "question"))
    assert store.move(key, None).answers == ()  # another lecture


def test_answers_have_bounds(monkeypatch):
    monkeypatch.setattr(rooms, "MAX_FOLLOWERS", 3)
    monkeypatch.setattr(rooms, "MAX_POLLS", 2)
    store = RoomStore()
    key = store.open(PAGE)
    for scene, is_taken in ((1, True), (2, True), (3, False)):
        store.move(key, at("", "question", scene))
        taken = [store.answer(key.code, scene, str(browser), 1) for browser in range(5)]
        assert taken == [is_taken and browser < 3 for browser in range(5)]
    store.move(key, at("", "question", 2))
    assert store.answer(key.code, 2, "1", 0)  # who has answered may still change the answer


# ---- who may ---------------------------------------------------------------------------------------------------------
def test_without_the_secret_nobody_moves_replaces_or_ends_a_room():
    store = RoomStore()
    key, other = store.open(PAGE), store.open(OTHER_PAGE)
    store.move(key, at("one"))
    for wrong in (Key(key.code, ""), Key(key.code, other.secret), Key("AAAAAA", key.secret), Key(key.code, "é" * 99)):
        assert store.move(wrong, at("two")) is None and store.find_page(wrong) is None
        store.replace(wrong, OTHER_PAGE)
        store.end(wrong)
    room = store.find(key.code)
    assert (room.place, room.page) == (at("one"), PAGE)


def test_two_lecturers_lead_their_own_rooms():
    async def follow():
        store = RoomStore()
        one, two = store.open(PAGE), store.open(OTHER_PAGE)
        async with aclosing(store.follow(one.code)) as of_one, aclosing(store.follow(two.code)) as of_two:
            assert await take(of_one, 1) + await take(of_two, 1) == [Told("5f", "", ()), Told("6a", "", ())]
            store.move(two, at("there"))
            store.move(one, at("here"))
            assert await take(of_one, 1) + await take(of_two, 1) == [Told("5f", "here", ()), Told("6a", "there", ())]
            store.end(one)
            assert [each async for each in of_one] == []
            assert store.move(two, at("on")) == Audience(1, ())

    run(follow())


# ---- a class that works on an exercise ------------------------------------------------------------------------------
def test_the_farthest_of_each_browser_is_counted_for_its_lecturer_alone():
    store = RoomStore()
    key, other = store.open(PAGE), store.open(PAGE)
    reports = [("a", 1, 7), ("a", 2, 3), ("a", 3, 7), ("b", 2, 5), ("c", 3, 7)]
    for browser, done, total in reports:
        assert store.report(key.code, "check", browser, Reached(done, total))
    assert store.count_progress(key) == {"check": {Reached(2, 3): 1, Reached(2, 5): 1, Reached(3, 7): 1}}
    assert store.count_progress(other) == {} == store.count_progress(Key(key.code, other.secret))
    store.end(key)
    assert store.count_progress(key) == {} and not store.report(key.code, "check", "a", Reached(7, 7))


def test_of_more_browsers_than_may_follow_the_first_are_counted(monkeypatch):
    monkeypatch.setattr(rooms, "MAX_FOLLOWERS", 3)
    store = RoomStore()
    key = store.open(PAGE)
    for browser in "abcde":
        store.report(key.code, "check", browser, Reached(0, 5))
    store.report(key.code, "check", "c", Reached(5, 5))
    assert store.count_progress(key) == {"check": {Reached(0, 5): 2, Reached(5, 5): 1}}


# ---- the end ---------------------------------------------------------------------------------------------------------
def test_a_room_ends_without_its_lecturer_and_not_before():
    clock = Clock()
    store = RoomStore(absence=600, clock=clock)
    key = store.open(PAGE)
    clock.now = 599
    assert store.move(key, None) == Audience(0, ())  # the lecturer is there, and has not moved
    clock.now = 1198
    assert store.find(key.code).place is None
    clock.now = 1200
    assert store.find(key.code) is None and store.move(key, at("late")) is None and not store.rooms


def test_nothing_of_a_room_is_kept_when_nobody_asks_for_it_any_more():
    async def follow():
        store = RoomStore(absence=0.05)
        key = store.open(PAGE)
        seen = [each async for each in store.follow(key.code)]  # ends by itself, although nobody calls the store
        assert seen == [Told("5f", "", ())] and not store.rooms

    run(follow())


def test_the_end_reaches_who_waits():
    async def follow():
        store = RoomStore()
        key = store.open(PAGE)
        async with aclosing(store.follow(key.code)) as places:
            await take(places, 1)
            rest = asyncio.create_task(anext(places, "ended"))
            await asyncio.sleep(rooms.LEAST_PAUSE + 0.02)
            await asyncio.to_thread(store.end, key)
            assert await rest == "ended"
        assert [each async for each in store.follow(key.code)] == []

    run(follow())


# ---- the bounds ------------------------------------------------------------------------------------------------------
def test_rooms_followers_and_pages_have_bounds(monkeypatch):
    monkeypatch.setattr(rooms, "MAX_ROOMS", 3)
    monkeypatch.setattr(rooms, "MAX_FOLLOWERS", 2)
    monkeypatch.setattr(rooms, "MAX_PAGE_BYTES", 11)

    async def follow():
        store = RoomStore()
        keys = [store.open(PAGE) for _ in range(3)]
        with pytest.raises(RoomRefused, match="rooms"):
            store.open(PAGE)
        store.end(keys[0])
        store.open(PAGE)
        for refused in (lambda: store.open(OTHER_PAGE), lambda: store.replace(keys[1], OTHER_PAGE)):
            with pytest.raises(RoomRefused, match="page"):
                refused()
        follow = [store.follow(keys[1].code) for _ in range(3)]
        async with aclosing(follow[0]), aclosing(follow[1]):
            await anext(follow[0])
            await anext(follow[1])
            with pytest.raises(RoomRefused, match="followers"):
                await anext(follow[2])
        assert await anext(store.follow(keys[1].code)) == Told("5f", "", ())

    run(follow())
