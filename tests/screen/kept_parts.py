"""A session in which it is seen whether what a browser keeps of a page is what a whole new page would show."""

from streamlit.proto.GapSize_pb2 import GapSize
from streamlit.testing.v1.element_tree import Block

from tests.screen.driver import Screen, unpack, walk

USUAL_GAP = GapSize.SMALL
KNOWN = ("value", "raw_value", "raw_values", "set_value", "deferred_file_id")  # to the browser already, or to nobody
KNOWN += ("js_content", "css_content", "html_content")  # the same in every run


class KeptPartsScreen(Screen):
    """After every run, a part that says it shows the same must have drawn the same: a browser keeps it as it is."""

    drawn = None

    def ran(self, act, *args):
        super().ran(act, *args)
        super().ran(self.at.run)  # all of it: an AppTest puts parts that are drawn alone behind the others
        before, self.drawn = self.drawn or {}, self.parts_drawn()
        for name, (shows, drawn) in self.drawn.items():
            if name != "show_run" and before.get(name, (None,))[0] == shows:
                assert before[name][1] == drawn, name
        return self

    def parts_drawn(self):
        """What each part of the page says that it shows, and all that it drew."""
        # The first shows nothing and lets a page come back; the last keeps the lecture in the browser.
        _, _, page, kept, *_ = self.at._tree.children[0].children.values()
        shown = self.at.session_state["drawn"]
        return {
            name: (shows, [drawn_by(node) for node in walk(block)])
            for (name, shows), block in zip(shown.items(), [*part_blocks(page), kept], strict=True)
        }


def drawn_by(node):
    """An element as the browser has it: what it is, and what stands in it."""
    if node.proto is None:
        return node.type
    proto = type(node.proto).FromString(node.proto.SerializeToString())
    if node.type == "bidi_component" and proto.id.endswith("-flow"):  # the look in it is where a browser begins
        head, found = unpack(proto.bytes)
        proto.bytes = repr([name_and_value for name_and_value in head.items() if name_and_value[0] != "look"]).encode()
        proto.bytes += b"".join(found.values())
    for field in {*KNOWN} & {*getattr(proto.DESCRIPTOR, "fields_by_name", ())}:
        proto.ClearField(field)
    there = node.type in ("button", "file_uploader")  # a moment's value, and what the browser itself holds
    return node.type, str(proto), None if there else repr(getattr(node, "value", None))


def part_blocks(node):
    """The parts of a page in order, through the columns and boxes that they stand in."""
    for child in node.children.values():
        if not isinstance(child, Block):
            continue
        if is_part(child):
            yield child
        else:
            yield from part_blocks(child)


def is_part(block):
    """Whether a block was made by a part: Streamlit gives it a plain one of the usual gap."""
    proto = block.proto
    is_plain = block.type == "flex_container" and not proto.allow_empty and not proto.id
    return is_plain and proto.flex_container.gap_config.gap_size == USUAL_GAP
