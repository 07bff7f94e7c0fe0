"""The puzzles: for each its starting run, the matrices that may be changed, and the bounds on numbers of the run."""

from collections.abc import Mapping
from types import MappingProxyType

from attention_core.exercises.puzzle import Bound, Puzzle
from attention_core.exercises.puzzle_numbers import (
    count_changed_numbers,
    count_changed_rows,
    count_changed_sizes,
    distance_from_full_width,
    distance_from_word,
    distance_from_zero,
    largest_contribution,
    largest_number,
    largest_share,
    query_width,
    share_of_key,
    typical_share,
    typical_share_of_same,
)
from attention_core.inputs.matrix_link import read_matrix
from attention_core.inputs.matrix_values import ChangedCells

REQUIRED_SHARE = 0.7  # share of attention: more than twice that of all other words together
ANNA, FED, DOG, IT, BARKED = 0, 1, 3, 5, 6  # positions in "Anna fed the dog and it barked"

IT_EXAMPLES = MappingProxyType({"en": {"example": "en_it"}, "zh": {"example": "zh_ta"}})
COLOUR_EXAMPLES = MappingProxyType({"en": {"example": "en_colour"}, "zh": {"example": "zh_colour"}})
IT_DOG = Bound("it_dog", share_of_key(0, IT, DOG), REQUIRED_SHARE)
OPEN_W_Q_AND_W_K = MappingProxyType({"w_q": (0, 4), "w_k": (0, 4)})
SINK_EXAMPLES = MappingProxyType(  # without built vectors, Chinese words take the English words' vectors
    {
        "en": {},
        "zh": {
            "text": "<s>|小红|喂了|那只|狗|，|它|摇尾巴",
            "x": read_matrix("0,0,0,2;1,0,0,0;0,0,1,0;0,0,0,0;-1,0,0,0;0,0,0,0;0,-1,0,0;0,0,-1,0"),
        },
    }
)

PUZZLE_LIST = (
    Puzzle(
        "wake",
        twins=IT_EXAMPLES,
        open={"w_q": (0, 2), "w_k": (0, 2)},
        goal=IT_DOG,
        solution="w_q~1.0=2,w_k~0.0=2",
        bounds=(Bound("numbers", count_changed_numbers("w_q", "w_k"), 2, least=False),),
        parts={"w_q": read_matrix("~1.0=0;1.1=0"), "w_k": read_matrix("~0.0=0;0.1=0")},
        cast={"it": IT, "dog": DOG},
        asks=IT,
    ),
    Puzzle(
        "turn",
        twins=IT_EXAMPLES,
        open={"w_k": (0, 4)},
        goal=Bound("barked_it", share_of_key(1, BARKED, IT), REQUIRED_SHARE),
        solution="w_k~1.2=3",
        bounds=(
            Bound("rows", count_changed_rows("w_k"), 1, least=False),
            IT_DOG,
            Bound("fed_anna", share_of_key(1, FED, ANNA), REQUIRED_SHARE),
        ),
        heads=(1,),
        cast={"it": IT, "dog": DOG, "barked": BARKED, "fed": FED, "anna": ANNA},
        asks=BARKED,
    ),
    Puzzle(
        "even",
        twins=IT_EXAMPLES,
        open={"w_k": (0, 2)},
        goal=Bound("largest", largest_share(0), 0.15, least=False),
        solution="w_k~0.1=1",
        bounds=(Bound("not_zero", largest_number("w_k", slice(0, 2)), 1),),
        cast={"it": IT, "dog": DOG},
        asks=IT,
    ),
    Puzzle(
        "next",
        twins=COLOUR_EXAMPLES,
        open={"w_q": (0, 3)},
        goal=Bound("follower", typical_share(0, {0: 1, 1: 2, 2: 3, 3: 4}), REQUIRED_SHARE),
        solution="w_q~3.0=8",
        bounds=(
            Bound("numbers", count_changed_numbers("w_q"), 1, least=False),
            Bound("sizes", count_changed_sizes("w_q"), 0, least=False),
        ),
        flips=True,
    ),
    Puzzle(
        "mirror",
        twins=COLOUR_EXAMPLES,
        open={"w_q": (0, 3)},
        goal=Bound("mirrored", typical_share(0, {0: 4, 1: 3, 2: 2, 3: 1, 4: 0}), REQUIRED_SHARE),
        solution="w_q~3.0=0;4.0=-8",
        cast={"first": 0, "last": 4},
    ),
    Puzzle(
        "same",
        twins={
            "en": {"example": "en_it", "text": "the dog barked the dog smiled"},
            "zh": {"example": "zh_ta", "text": "那只|狗|摇尾巴|那只|狗|笑了"},
        },
        open=OPEN_W_Q_AND_W_K,
        goal=Bound("itself", typical_share_of_same, REQUIRED_SHARE),
        solution="w_q~0.0=6;2.2=6;3.3=6",
        parts={"heads": 1, "w_q": read_matrix("zeros~0.0=-3;1.1=-3;2.2=-3;3.3=-3"), "w_k": ChangedCells("identity")},
        cast={"the": 0, "dog": 1, "barked": 2},
    ),
    Puzzle(
        "copy",
        twins=IT_EXAMPLES,
        open=OPEN_W_Q_AND_W_K,
        goal=Bound("apart", distance_from_word(DOG, FED), 0.1, least=False),
        solution="w_q~0.0=-20,w_k~2.0=1.2",
        bounds=(IT_DOG, Bound("barked_dog", share_of_key(1, BARKED, DOG), REQUIRED_SHARE)),
        heads=(0, 1),
        cast={"it": IT, "dog": DOG, "fed": FED, "barked": BARKED},
        asks=DOG,
    ),
    Puzzle(
        "cancel",
        twins=IT_EXAMPLES,
        open={"w_q": (0, 4), "w_o": (0, 4)},
        goal=Bound("output", distance_from_zero, 0.05, least=False),
        solution="w_q~1.0=-3;2.0=-6",
        bounds=(Bound("first", largest_contribution(0), 0.5), Bound("second", largest_contribution(1), 0.5)),
        heads=(0, 1),
    ),
    Puzzle(
        "half",
        twins=IT_EXAMPLES,
        open={"w_q": (0, 2), "w_k": (0, 2)},
        goal=Bound("whole", distance_from_full_width, 0.01, least=False),
        solution="w_q~1.0=4.24;2.1=4.24",
        bounds=(Bound("width", query_width, 1, least=False),),
        parts={"d_k": 1},
        heads=(0, 1),
    ),
    Puzzle(
        "sink",
        twins=SINK_EXAMPLES,
        open={"w_k": (0, 2)},
        goal=Bound("sunk", typical_share(0, dict.fromkeys((0, 1, 2, 3, 4, 5, 7), 0)), REQUIRED_SHARE),
        solution="w_k~3.0=2",
        bounds=(Bound("it_dog", share_of_key(0, 6, 4), REQUIRED_SHARE),),
        parts={"example": "en_it_sink", "w_k": read_matrix("~3.0=0;3.1=0")},
        cast={"sink": 0, "it": 6, "dog": 4},
        asks=6,
    ),
)
PUZZLES: Mapping[str, Puzzle] = MappingProxyType({puzzle.name: puzzle for puzzle in PUZZLE_LIST})
