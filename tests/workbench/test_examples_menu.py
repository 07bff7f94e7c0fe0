"""The menu of examples: a dozen in each language, a search over all, and an example that is opened by one press."""

import pytest

from attention_core.examples.examples import EXAMPLES
from pages.site.words import LANGUAGES
from pages.workbench.examples_menu import MENU, draw_example
from tests.screen.driver import Screen


def names_in(menu):
    return [example["name"] for group in menu["groups"] for example in group["examples"]]


def is_chinese(name):
    words = "".join((*EXAMPLES[name].tokens, *(EXAMPLES[name].context_tokens or ())))
    return any("\u3400" <= letter <= "\u9fff" for letter in words)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_menu_shows_a_dozen_in_the_language_of_the_session_and_finds_all(lang):
    menu = Screen(lang=lang).open_examples()
    assert [len(group["examples"]) for group in menu["groups"]] == [3, 3, 3, 3]
    others = {name for name in names_in(menu) if is_chinese(name) != (lang == "zh")}
    assert others == ({"translator"} if lang == "en" else {"source_004"})  # one reads both; one has no words
    assert sorted(entry["name"] for entry in menu["all"]) == sorted(EXAMPLES)
    found = {entry["name"]: [*entry["titles"].values(), *entry["details"].values()] for entry in menu["all"]}
    for group in menu["groups"]:
        for example in group["examples"]:  # what stands on a card finds it
            assert {example["title"], example["detail"]} <= {*found[example["name"]]}


def test_no_picture_is_computed_before_the_menu_is_opened():
    screen = Screen()
    assert not screen.parts("examples_menu")
    screen.open_examples()
    assert screen.choose_example("en_plane").setup().run.example == "en_plane"
    assert not screen.parts("examples_menu")  # the menu closes


def test_a_picture_is_the_map_of_the_selected_head_and_random_numbers_are_grey():
    it_to_dog = max(draw_example("en_it"), key=lambda cell: cell[2])
    assert it_to_dog[:3] == ("rect", "share", 0.93)
    weights = EXAMPLES["en_it"].run()["weights"][0, 0]
    assert len(draw_example("en_it")) == weights.numel()
    assert {cell[1] for cell in draw_example("eight_heads")} == {"x"}
    length = len(EXAMPLES["model_en_decoder"].tokens)
    assert len(draw_example("model_en_decoder")) == length * (length + 1) // 2  # what the causal mask leaves


def test_every_picture_of_the_menu_has_a_bounded_number_of_cells():
    for places in MENU.values():
        for by_language in places.values():
            for name in by_language.values():
                assert 0 < len(draw_example(name)) <= 400


def test_the_example_on_the_screen_is_opened_again_only_where_the_browser_showed_its_change():
    """A press that comes twice, or late, sends what was shown before: it takes no change back."""
    screen = Screen(ex="en_plane", lang="en")
    assert screen.choose_example("en_plane").setup().run.example == "en_plane"
    screen.set("temperature", 2.0)
    menu = screen.open_examples()
    assert (menu["current"], menu["changed"]) == ("en_plane", True)
    assert "changed" in menu["text"]["now"] and "changed" in screen.name()
    assert screen.choose_example("en_plane").setup().run.temperature == 2.0
    assert screen.link()["temp"] == "2.0"
    assert screen.choose_example("en_plane", again=True).setup().run.temperature == 1.0
    assert "changed" not in screen.name()
    assert screen.press("undo").setup().run.temperature == 2.0


@pytest.mark.parametrize("sent", [None, "en_it", {"name": "nonsense", "again": True}, {"name": "en_it", "again": 1}])
def test_what_no_menu_sends_opens_nothing(sent):
    screen = Screen(ex="en_plane", lang="en")
    screen.open_examples()
    assert screen.click_part("examples_menu", "chosen", sent).setup().run.example == "en_plane"
