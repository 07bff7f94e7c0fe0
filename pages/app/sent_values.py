"""Drops values from a browser that a widget cannot deserialize, and values that are outdated.

Streamlit deserializes a value when it is first read, inside Streamlit's own code. A chart selection that is not JSON,
or a text for a slider, would end the run, and the page would show a traceback. If the value is dropped, the widget
keeps its former value.

A browser sends the values of all widgets with each message. Until it has received a value that the server has set, for
example by undo, it sends the former one, which Streamlit would take for a change by the visitor. A visitor's own change
of a widget is always sent as a message of the widget's fragment. So a value that arrives only with messages of other
fragments is outdated.
"""

from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.common import WidgetMetadata, unpack_widget_state_value
from streamlit.runtime.state.session_state import Serialized, SessionState, WStates
from streamlit.runtime.uploaded_file_manager import DeletedFile

NUMBER_FIELDS = frozenset({"int_value", "double_value"})  # fields of a widget message (protobuf) that hold a number

take_value = WStates.set_widget_from_proto
register_widget = SessionState._set_widget_metadata


def leave_out_unusable_values() -> None:
    """Patches Streamlit so that every value from a browser is checked before anything else reads it."""
    WStates.set_widget_from_proto = take_current_value
    SessionState._set_widget_metadata = register_and_check


def take_current_value(states: WStates, sent: WidgetState) -> None:
    """Stores the readable part of the value that a browser sent, unless the value is outdated."""
    widget = states.widget_metadata.get(sent.id)
    if widget is None or not is_outdated(widget):
        take_readable_value(states, sent)


def is_outdated(widget: WidgetMetadata) -> bool:
    """Returns whether the messages that are being handled come only from fragments without this widget.

    Streamlit handles messages that arrived together at once. A run of the whole script may contain a change of every
    widget. The values of buttons and other triggers are sent only by the widget itself.
    """
    context = get_script_run_ctx(suppress_warning=True)
    sending = None if context is None else context.fragment_ids_this_run
    return bool(sending) and widget.fragment_id not in sending and not widget.value_type.endswith("trigger_value")


def take_readable_value(states: WStates, sent: WidgetState) -> None:
    """Stores the readable part of the value that a browser sent; a value of a widget not registered yet is stored
    unchecked.
    """
    widget = states.widget_metadata.get(sent.id)
    readable = sent if widget is None else find_readable(widget, sent)
    if readable is not None:
        take_value(states, readable)


def register_and_check(session: SessionState, widget: WidgetMetadata) -> None:
    """Registers a widget, then checks the value that the browser sent for it before."""
    register_widget(session, widget)
    states = session._new_widget_state
    waiting = states.states.get(widget.id)
    if isinstance(waiting, Serialized):
        del states.states[widget.id]
        take_readable_value(states, waiting.value)


def find_readable(widget: WidgetMetadata, sent: WidgetState) -> WidgetState | None:
    """Returns the readable part of a value from a browser; None if its type is wrong or the widget cannot deserialize
    it.

    Uploaded files that the server no longer has are removed from the value.
    """
    field = sent.WhichOneof("value")
    if field not in (None, widget.value_type) and not {field, widget.value_type} <= NUMBER_FIELDS:
        return None
    try:
        read = widget.deserializer(unpack_widget_state_value(sent))
    except Exception:  # whatever the error is, the value cannot be read
        return None
    if field == "file_uploader_state_value":
        return leave_out_lost_files(sent, read if isinstance(read, list) else [read])
    return sent


def leave_out_lost_files(sent: WidgetState, files: list) -> WidgetState | None:
    """Returns a file uploader's message with only those files that this server has; None if it has none of them."""
    given = sent.file_uploader_state_value.uploaded_file_info
    held = [info for info, file in zip(given, files, strict=False) if not isinstance(file, DeletedFile)]
    if given and not held:
        return None
    left = WidgetState(id=sent.id)
    left.file_uploader_state_value.uploaded_file_info.extend(held)
    return left
