"""A browser tab without a browser: speaks Streamlit's protocol over its WebSocket, and keeps what a tab keeps."""

import asyncio
import json
import re
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import perf_counter

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Block_pb2 import Block
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect

TRIGGERED = "$$STREAMLIT_INTERNAL_KEY_"
TRIGGERS = TRIGGERED + "{}__events"  # where a component's events go
KEYED = re.compile(r"\$\$ID-\w+-(.+)")


class Failed(Exception):
    """The script ended with an exception."""


@dataclass(frozen=True)
class Run:
    """One run of the script as a visitor met it: seconds from asking to the last message, and the bytes that came."""

    seconds: float
    bytes: int


@dataclass
class Visitor:
    """One session: which widgets are on its screen, and which large messages it has kept (as a browser does)."""

    socket: ClientConnection
    query: str = ""
    page: str = ""
    widgets: dict[str, str] = field(default_factory=dict)
    parts: dict[str, str] = field(default_factory=dict)  # the part of the page that each of them stands in
    kept: dict[str, None] = field(default_factory=dict)
    page_name: str = ""  # the page that is asked for first, such as "explanation"; "" for the workbench
    session: str = ""  # its name, which the server gives
    files: dict[str, str] = field(default_factory=dict)  # key of a download button -> the file that is made when asked

    # ---- what a visitor does -----------------------------------------------------------------------------------------
    async def look_at(self, query: int) -> Run:
        """Another word asks: the browser has drawn it, and the server hears of it."""
        return await self.trigger("look", "looked", {"query": query, "head": 0, "step": None, "stop": None})

    async def click_cell(self, head: int, query: int, key: int) -> Run:
        """A weight is opened."""
        return await self.trigger("look", "opened", {"step": "weights", "index": [0, head, query, key]})

    async def switch_causal(self, is_on: bool) -> Run:
        """The causal mask is switched on or off."""
        return await self.run(self.state("c_causal", bool_value=is_on))

    async def move_temperature(self, value: float) -> Run:
        """The slider is let go."""
        return await self.trigger("c_temperature", "released", value)

    async def type_sentence(self, text: str) -> Run:
        """Another sentence."""
        return await self.run(self.state("c_text", string_value=text))

    async def press(self, name: str) -> Run:
        """A button."""
        return await self.run(self.state(name, trigger_value=True))

    async def open_drawer(self, name: str) -> Run:
        """A drawer, or a popover, that shows nothing while it is closed."""
        return await self.run(self.state(name, bool_value=True))

    async def redraw(self, name: str) -> Run:
        """The part of the page that has this widget, drawn again as it draws itself again while something runs."""
        return await self.run(part=self.parts[self.widgets[name]])

    async def download(self, name: str) -> str:
        """A file that is made when its button is pressed: where it can be fetched."""
        request = BackMsg()
        request.backend_operation_request.request_id = name
        request.backend_operation_request.session_id = self.session
        request.backend_operation_request.deferred_file.file_id = self.files[name]
        await self.socket.send(request.SerializeToString())
        async for data in self.socket:
            message = ForwardMsg.FromString(data)
            if message.WhichOneof("type") == "backend_operation_response":
                answer = message.backend_operation_response
                if answer.error_msg:
                    raise Failed(answer.error_msg)
                return answer.deferred_file.url
        raise ConnectionError("the server closed the connection")

    async def upload(self, address: str, name: str, file: str, content: bytes) -> Run:
        """A file is chosen in a box."""
        request = BackMsg()
        request.file_urls_request.request_id = name
        request.file_urls_request.session_id = self.session
        request.file_urls_request.file_names.append(file)
        await self.socket.send(request.SerializeToString())
        async for data in self.socket:
            message = ForwardMsg.FromString(data)
            if message.WhichOneof("type") == "file_urls_response":
                (urls,) = message.file_urls_response.file_urls
                break
        await asyncio.to_thread(put_file, f"{address}{urls.upload_url}", file, content)
        chosen = WidgetState(id=self.widgets[name])
        chosen.file_uploader_state_value.uploaded_file_info.add(
            name=file, size=len(content), file_id=urls.file_id, file_urls=urls
        )
        return await self.run(chosen)

    async def trigger(self, name: str, event: str, value: object) -> Run:
        """An event of a component."""
        payload = json.dumps([{"event": event, "value": value}])
        return await self.run(WidgetState(id=TRIGGERS.format(self.widgets[name]), json_trigger_value=payload))

    def state(self, name: str, **value) -> WidgetState:
        """What a widget of this key is set to."""
        return WidgetState(id=self.widgets[name], **value)

    # ---- the protocol ------------------------------------------------------------------------------------------------
    async def run(self, *changed: WidgetState, part: str = "") -> Run:
        """Asks for a run of the script, with the widgets that changed (the server remembers the others).

        part: the part of the page that is drawn again; "" for that of the first widget, or for all."""
        asked = ClientState(query_string=self.query, page_script_hash=self.page, cached_message_hashes=list(self.kept))
        asked.widget_states.widgets.extend(changed)
        if not self.page:
            asked.page_name = self.page_name
        if changed:
            part = part or self.parts[changed[0].id.removesuffix("__events").removeprefix(TRIGGERED)]
        asked.fragment_id = part
        asked.context_info.locale = "en"
        start = perf_counter()
        await self.socket.send(BackMsg(rerun_script=asked).SerializeToString())
        return await self.finished(start)

    async def finished(self, start: float) -> Run:
        """Reads until the script has finished."""
        received = 0
        async for data in self.socket:
            received += len(data)
            message = ForwardMsg.FromString(data)
            kind = message.WhichOneof("type")
            if kind == "new_session":
                self.session = message.new_session.initialize.session_id
            elif kind == "navigation":
                self.page = message.navigation.page_script_hash
            elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                self.sees(message)
            elif kind == "delta" and message.delta.WhichOneof("type") == "add_block":
                self.note(message.delta.add_block, message.delta.fragment_id)
            elif kind == "page_info_changed":
                self.query = message.page_info_changed.query_string
            elif kind == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                return Run(perf_counter() - start, received)
        raise ConnectionError("the server closed the connection")

    def sees(self, message: ForwardMsg) -> None:
        """Notes a widget by its key, and keeps a large element for when it is only referred to."""
        if message.metadata.cacheable:
            self.kept[message.hash] = None
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "exception":
            raise Failed(element.exception.message)
        name = self.note(element, message.delta.fragment_id)
        if kind == "download_button":
            self.files[name] = element.download_button.deferred_file_id

    def note(self, shown: Element | Block, part: str) -> str:
        """Notes a widget, or a drawer, by its key, and returns the key; "" if it has none."""
        keyed = KEYED.fullmatch(getattr(getattr(shown, shown.WhichOneof("type") or "", None), "id", ""))
        if not keyed:
            return ""
        self.widgets[keyed[1]] = keyed[0]
        self.parts[keyed[0]] = part
        return keyed[1]


def put_file(address: str, name: str, content: bytes) -> None:
    """Sends a file as a browser does, with the token that shows that the page is the server's own."""
    token, mark = f"2|{0:08x}|{1:032x}|{0}", "a-line-between-parts"
    head = f'--{mark}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}"\r\n\r\n'
    headers = {"Cookie": f"_streamlit_xsrf={token}", "X-Xsrftoken": token}
    headers["Content-Type"] = f"multipart/form-data; boundary={mark}"
    body = head.encode() + content + f"\r\n--{mark}--\r\n".encode()
    urllib.request.urlopen(urllib.request.Request(address, body, headers, method="PUT")).close()


@asynccontextmanager
async def visiting(address: str, link: str = "", page: str = "") -> AsyncIterator[Visitor]:
    """Opens a page, waits until it is there, and leaves in the end. What follows the picture is asked for as a browser
    does that has drawn it. page: its name; "" for the workbench."""
    place = address.replace("http://", "ws://") + "/_stcore/stream"
    async with connect(place, subprotocols=["streamlit"], max_size=None, compression=None) as socket:
        visitor = Visitor(socket, query=link.removeprefix("?"), page_name=page)
        await visitor.run()
        if "rest" in visitor.widgets:
            await visitor.trigger("rest", "drawn", True)
        yield visitor
