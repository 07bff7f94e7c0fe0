"""Prints texts sampled from the grammar: with the arguments `en 20`, 20 English texts of each kind; with `zh 20
because`, 20 Chinese texts of the kind "because".
"""

import sys
from random import Random

from attention_core.learned.grammar import SORTS, draw_scene

language, count, *chosen = sys.argv[1:] or ("en", "3")
rng = Random(1)
for sort in chosen or SORTS:
    print(f"-- {sort}")
    for _ in range(int(count)):
        scene = draw_scene(rng, sort)
        texts = [scene.say(each) for each in ("en", "zh")] if language == "both" else [scene.say(language)]
        for text in texts:
            print(" ".join(text.words))
