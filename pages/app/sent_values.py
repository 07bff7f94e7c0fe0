"""What a browser sends of a widget may be anything: what the widget cannot read is left out where all of it arrives.

Streamlit reads a value when it is asked for, inside its own code: a selection of a chart that is no JSON, or a text for
a slider, would end the run, and the page would show a traceback. Left out, the widget keeps the value that it had.
"""

from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.common import WidgetMetadata, unpack_widget_state_value
from streamlit.runtime.state.session_state import Serialized, SessionState, WStates
from streamlit.runtime.uploaded_file_manager import DeletedFile

NUMBER_FIELDS = frozenset({"int_value", "double_value"})  # a number is sent in either

take_value = WStates.set_widget_from_proto
register_widget = SessionState._set_widget_metadata


def leave_out_unreadable_values() -> None:
    """Asks of every value that a browser sends whether its widget can read it, before anything else reads it."""
    WStates.set_widget_from_proto = take_readable_value
    SessionState._set_widget_metadata = register_and_check


def take_readable_value(states: WStates, sent: WidgetState) -> None:
    """Takes what a widget can read of a value; that of an unknown widget waits until there is one."""
    widget = states.widget_metadata.get(sent.id)
    readable = sent if widget is None else find_readable(widget, sent)
    if readable is not None:
        take_value(states, readable)


def register_and_check(session: SessionState, widget: WidgetMetadata) -> None:
    """Registers a widget; of a value that waited for it, it gets what it can read."""
    register_widget(session, widget)
    states = session._new_widget_state
    waiting = states.states.get(widget.id)
    if isinstance(waiting, Serialized):
        del states.states[widget.id]
        take_readable_value(states, waiting.value)


def find_readable(widget: WidgetMetadata, sent: WidgetState) -> WidgetState | None:
    """What a widget can read of a value; None where that is nothing: it is of another kind, or raises."""
    field = sent.WhichOneof("value")
    if field not in (None, widget.value_type) and not {field, widget.value_type} <= NUMBER_FIELDS:
        return None
    try:
        read = widget.deserializer(unpack_widget_state_value(sent))
    except Exception:  # whatever it is, the value cannot be read
        return None
    if field == "file_uploader_state_value":
        return leave_out_lost_files(sent, read if isinstance(read, list) else [read])
    return sent


def leave_out_lost_files(sent: WidgetState, files: list) -> WidgetState | None:
    """The files of a message that this server holds; None where it names files and holds none of them."""
    given = sent.file_uploader_state_value.uploaded_file_info
    held = [info for info, file in zip(given, files, strict=False) if not isinstance(file, DeletedFile)]
    if given and not held:
        return None
    left = WidgetState(id=sent.id)
    left.file_uploader_state_value.uploaded_file_info.extend(held)
    return left
