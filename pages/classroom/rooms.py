"""Keeps the open rooms of this process: a lecture as one page, and the place at which its lecturer stands.

A room is forgotten when its lecturer ends it, or has not been heard of for a while. Nothing of it is stored on a disk.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from hmac import compare_digest
from threading import Lock, Timer
from time import monotonic

LETTERS = "ACDEFGHJKMNPQRTUVWXY34679"  # without letters and digits that look alike: B 8, I L 1, O 0, S 5, Z 2
CODE_LENGTH = 6
SECRET_BYTES = 24  # random bytes of a secret, which nobody can guess
MAX_ROOMS = 20
MAX_FOLLOWERS = 400  # most browsers that follow one room
QUESTION_STEP = "question"  # the step of a scene that shows its question, as in pages/lectures/script.py
MAX_CHOICES = 16  # most choices of a poll
MAX_POLLS = 60  # most scenes of a room whose polls are answered
EXERCISES = ("check", "puzzles")  # slugs of the pages on which a class works, and is counted
MAX_PAGE_BYTES = 4_000_000  # bytes of a lecture's compressed page
ABSENCE = 20 * 60.0  # seconds without a message from the lecturer after which a room ends
HEARTBEAT = 15.0  # seconds after which a follower is told that the connection stands, if nothing else is sent
LEAST_PAUSE = 0.05  # seconds between two messages to one follower; places in between are left out


class RoomRefused(ValueError):
    """Raised if a room cannot be opened or followed.

    code: which bound is reached, a key of the words "present.room.refused". values: the numbers in that sentence.
    """

    def __init__(self, code: str, **values: float):
        super().__init__(f"{code}: {values}")
        self.code = code
        self.values = values


@dataclass(frozen=True)
class Key:
    """What its lecturer knows of a room: the code, which the audience gets, and the secret, which nobody else gets."""

    code: str
    secret: str


@dataclass(frozen=True)
class RoomPage:
    """The page that followers of a room get.

    data: the HTML page, compressed by gzip. digest: a text that tells this lecture from another.
    """

    data: bytes
    digest: str


@dataclass(frozen=True)
class Place:
    """Where a lecturer stands.

    text: the whole place as a text for the followers. scene: the number of the scene. step: the step that it shows.
    stop: the keyframe of its animation; None if none is shown.
    """

    text: str
    scene: int
    step: str
    stop: float | None = None

    @property
    def asks(self) -> bool:
        """Whether the question of the scene is shown, so that its poll is open."""
        return self.step == QUESTION_STEP

    def is_at(self, other: Place | None) -> bool:
        """Returns whether this is the other place, as far as its keyframe is known."""
        if other is None or (self.scene, self.step) != (other.scene, other.step):
            return False
        return None in (self.stop, other.stop) or self.stop == other.stop


@dataclass(frozen=True)
class Audience:
    """What a lecturer hears of the audience.

    followers: the number of browsers that follow. answers: how many answers each choice of the scene's poll has.
    """

    followers: int
    answers: tuple[int, ...]


@dataclass(frozen=True)
class Told:
    """What a follower is told.

    page: the digest of the room's page. place: the text of the lecturer's place; "" before the first. answers: how many
    answers each choice of the scene's poll has; () while its question is shown, and without a poll.
    """

    page: str
    place: str
    answers: tuple[int, ...]


@dataclass(frozen=True, order=True)
class Reached:
    """How far a browser has got with an exercise.

    done: how many of its parts are right. total: how many parts the exercise has.
    """

    done: int
    total: int

    @property
    def share(self) -> float:
        """The share of the parts that are right, from 0 to 1."""
        return self.done / self.total


@dataclass
class Room:
    """An open room.

    place: where the lecturer stands; None before the first message. revealed: the place right after a
    question, at which the answers are shown; None before. answers: {number of a scene: {name of a browser:
    the choice in the scene's poll}}. followers: the number of browsers that follow. progress: {exercise: {name of a
    browser: how far it has got}}. heard: when the lecturer was last heard of, in seconds of the store's clock. signals:
    what wakes the followers, one for each event loop in which some wait.
    """

    secret: str
    page: RoomPage
    heard: float
    place: Place | None = None
    revealed: Place | None = None
    answers: dict[int, dict[str, int]] = field(default_factory=dict)
    followers: int = 0
    progress: dict[str, dict[str, Reached]] = field(default_factory=dict)
    has_ended: bool = False
    signals: dict[asyncio.AbstractEventLoop, asyncio.Event] = field(default_factory=dict)


class RoomStore:
    """The open rooms. Threads of visitors and the server's event loop may call it at the same time.

    absence: seconds without a message from its lecturer after which a room ends. clock: returns the time in seconds.
    """

    def __init__(self, absence: float = ABSENCE, clock: Callable[[], float] = monotonic):
        self.absence = absence
        self.clock = clock
        self.rooms: dict[str, Room] = {}
        self.lock = Lock()
        self.is_watched = False  # whether a timer is set that looks for deserted rooms

    # ---- the lecturer ------------------------------------------------------------------------------------------------
    def open(self, page: RoomPage) -> Key:
        """Opens a room with a page, and returns its key.

        Raises RoomRefused: rooms if MAX_ROOMS are open, page for a page above MAX_PAGE_BYTES.
        """
        check_page(page)
        self.end_deserted()
        with self.lock:
            if len(self.rooms) >= MAX_ROOMS:
                raise RoomRefused("rooms", limit=MAX_ROOMS)
            code = make_code()
            while code in self.rooms:
                code = make_code()
            key = Key(code, os.urandom(SECRET_BYTES).hex())
            self.rooms[code] = Room(key.secret, page, self.clock())
        self.watch()
        return key

    def replace(self, key: Key, page: RoomPage) -> None:
        """Gives a room another page, which its followers then load; does nothing for a wrong key.

        Raises RoomRefused: page for a page above MAX_PAGE_BYTES.
        """
        check_page(page)
        room = self.find_own(key)
        if room is not None:
            room.page, room.place, room.revealed, room.answers = page, None, None, {}
            wake(room)

    def find_page(self, key: Key) -> RoomPage | None:
        """Returns the page of a lecturer's room; None if the room has ended, or if the key is wrong."""
        room = self.find_own(key)
        return room and room.page

    def move(self, key: Key, place: Place | None) -> Audience | None:
        """Tells a room's followers where its lecturer stands; returns what the lecturer hears of them.

        Returns None if the room has ended, or if the key is wrong. place: None if the lecturer has not moved, and is
        only present.
        """
        room = self.find_own(key)
        if room is None:
            return None
        if place is not None and place != room.place:
            room.revealed = find_revealed(room, place)
            room.place = place
            wake(room)
        return Audience(room.followers, count_answers(room))

    def count_progress(self, key: Key) -> dict[str, Counter[Reached]]:
        """Returns, for each exercise that a browser has opened, how many browsers have got how far.

        Returns {} if the room has ended, or if the key is wrong.
        """
        room = self.find_own(key)
        if room is None:
            return {}
        with self.lock:
            return {exercise: Counter(reached.values()) for exercise, reached in room.progress.items()}

    def end(self, key: Key) -> None:
        """Ends a room, and tells its followers; does nothing for a wrong key."""
        if self.find_own(key) is not None:
            self.forget(key.code)

    def find_own(self, key: Key) -> Room | None:
        """Returns the room of a lecturer, who has been heard of now; None for a wrong key."""
        room = self.find(key.code)
        if room is None or not compare_digest(room.secret.encode(), key.secret.encode()):
            return None
        room.heard = self.clock()
        return room

    # ---- the audience ------------------------------------------------------------------------------------------------
    def find(self, code: str) -> Room | None:
        """Returns an open room by its code; None if there is none."""
        room = self.rooms.get(read_code(code))
        if room is not None and self.is_deserted(room):
            self.end_deserted()
            return None
        return room

    def answer(self, code: str, scene: int, browser: str, choice: int) -> bool:
        """Notes a browser's answer to the poll of a scene, in place of its former one; returns whether it was taken.

        It is taken while the scene's question is shown. browser: a random name, by which a browser has one answer.
        """
        room = self.find(code)
        if room is None or room.place is None or not room.place.asks or room.place.scene != scene:
            return False
        with self.lock:
            if scene not in room.answers and len(room.answers) >= MAX_POLLS:
                return False
            answers = room.answers.setdefault(scene, {})
            if browser not in answers and len(answers) >= MAX_FOLLOWERS:
                return False
            answers[browser] = choice
        return True

    def report(self, code: str, exercise: str, browser: str, reached: Reached) -> bool:
        """Notes how far a browser has got with one of EXERCISES; returns whether there is such a room.

        The farthest counts: who begins another exercise is not set back. browser: a random name, by which a browser is
        counted once. Of more than MAX_FOLLOWERS browsers, the first are counted.
        """
        room = self.find(code)
        if room is None:
            return False
        with self.lock:
            known = room.progress.setdefault(exercise, {})
            if browser in known or len(known) < MAX_FOLLOWERS:
                known[browser] = max(reached, known.get(browser, reached), key=lambda each: each.share)
        return True

    async def follow(self, code: str) -> AsyncIterator[Told | None]:
        """Yields what a follower is told, at once and after each change, until the room ends.

        Yields None every HEARTBEAT seconds without a change. A follower who reads slowly gets the latest place, and not
        those before. Yields nothing if there is no such room.

        Raises RoomRefused: followers if MAX_FOLLOWERS follow.
        """
        room = self.find(code)
        if room is None:
            return
        if room.followers >= MAX_FOLLOWERS:
            raise RoomRefused("followers", limit=MAX_FOLLOWERS)
        loop = asyncio.get_running_loop()
        room.followers += 1
        told = None
        try:
            while True:
                signal = room.signals.setdefault(loop, asyncio.Event())  # before what it tells of is read
                if room.has_ended:
                    return
                latest = tell(room)
                if latest != told:
                    yield latest
                    told = latest
                    await asyncio.sleep(LEAST_PAUSE)
                    continue
                try:
                    async with asyncio.timeout(HEARTBEAT):
                        await signal.wait()
                except TimeoutError:
                    yield None
        finally:
            room.followers -= 1

    # ---- the end -----------------------------------------------------------------------------------------------------
    def is_deserted(self, room: Room) -> bool:
        """Returns whether a room's lecturer has been absent for too long."""
        return self.clock() - room.heard > self.absence

    def forget(self, code: str) -> None:
        """Ends a room, and wakes its followers, who are then told."""
        with self.lock:
            room = self.rooms.pop(read_code(code), None)
        if room is not None:
            room.has_ended = True
            wake(room)

    def end_deserted(self) -> None:
        """Ends the rooms whose lecturers have been absent for too long."""
        for code, room in list(self.rooms.items()):
            if self.is_deserted(room):
                self.forget(code)

    def watch(self) -> None:
        """Looks for deserted rooms again after `absence` seconds, as long as a room is open."""

        def look() -> None:
            self.is_watched = False
            self.end_deserted()
            if self.rooms:
                self.watch()

        if self.is_watched:
            return
        self.is_watched = True
        timer = Timer(self.absence, look)
        timer.daemon = True
        timer.start()


def check_page(page: RoomPage) -> None:
    """Raises RoomRefused (page) for a page of more than MAX_PAGE_BYTES."""
    if len(page.data) > MAX_PAGE_BYTES:
        raise RoomRefused("page", limit=MAX_PAGE_BYTES // 1_000_000, given=len(page.data) / 1_000_000)


def find_revealed(room: Room, place: Place) -> Place | None:
    """Returns the place at which the answers to the last question are shown, when the lecturer goes to a place.

    It is the first place after the question of its scene, with the first keyframe that is told there.
    """
    before = room.place
    comes_from_question = before is not None and before.asks and before.scene == place.scene
    is_first_keyframe = place.is_at(room.revealed) and room.revealed.stop is None
    if place.asks:
        return None
    return place if comes_from_question or is_first_keyframe else room.revealed


def tell(room: Room) -> Told:
    """Returns what the followers of a room are told now; the answers to a poll only right after its question."""
    if room.place is None:
        return Told(room.page.digest, "", ())
    return Told(room.page.digest, room.place.text, () if room.place.asks else count_answers(room))


def count_answers(room: Room) -> tuple[int, ...]:
    """Returns how many browsers have chosen each choice in the poll of the scene at which the lecturer stands.

    Returns () once the lecturer has gone on from the place right after the question.
    """
    if room.place is None or not (room.place.asks or room.place.is_at(room.revealed)):
        return ()
    chosen = Counter(room.answers.get(room.place.scene, {}).copy().values())
    return tuple(chosen[choice] for choice in range(max(chosen, default=-1) + 1))


def wake(room: Room) -> None:
    """Wakes the followers of a room, in the event loops in which they wait."""
    signals, room.signals = room.signals, {}
    for loop, signal in list(signals.items()):
        if not loop.is_closed():
            loop.call_soon_threadsafe(signal.set)


def make_code() -> str:
    """Returns a random code of a room: one of 244 million."""
    number = int.from_bytes(os.urandom(SECRET_BYTES), "big")
    code = ""
    for _ in range(CODE_LENGTH):
        number, place = divmod(number, len(LETTERS))
        code += LETTERS[place]
    return code


def read_code(text: str) -> str:
    """Returns a code as somebody typed it in the form in which it is kept: capitals, without spaces and hyphens.

    >>> read_code(" k7q-fem ")
    'K7QFEM'
    """
    return "".join(text[: 4 * CODE_LENGTH].upper().replace("-", " ").split())


ROOMS = RoomStore()  # the rooms of this process
