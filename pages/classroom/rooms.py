"""Keeps the open rooms of this process: a lecture as one page, and the place at which its lecturer stands.

A room is forgotten when its lecturer ends it, or has not been heard of for a while. Nothing of it is stored on a disk.
"""

import asyncio
import os
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


@dataclass
class Room:
    """An open room.

    place: the text of the place at which the lecturer stands; "" before the first. followers: the number of browsers
    that follow. heard: when the lecturer was last heard of, in seconds of the store's clock. signals: what wakes the
    followers, one for each event loop in which some wait.
    """

    secret: str
    page: RoomPage
    heard: float
    place: str = ""
    followers: int = 0
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
            room.page, room.place = page, ""
            wake(room)

    def find_page(self, key: Key) -> RoomPage | None:
        """Returns the page of a lecturer's room; None if the room has ended, or if the key is wrong."""
        room = self.find_own(key)
        return room and room.page

    def move(self, key: Key, place: str | None) -> int | None:
        """Tells a room's followers where its lecturer stands; returns how many follow.

        Returns None if the room has ended, or if the key is wrong. place: the text of the place; None if the lecturer
        has not moved, and is only present.
        """
        room = self.find_own(key)
        if room is None:
            return None
        if place is not None and place != room.place:
            room.place = place
            wake(room)
        return room.followers

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

    async def follow(self, code: str) -> AsyncIterator[tuple[str, str] | None]:
        """Yields (digest of the page, place of the lecturer), at once and after each change, until the room ends.

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
                latest = (room.page.digest, room.place)
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
