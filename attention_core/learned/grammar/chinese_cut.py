"""Segments Chinese text into words: first by a given vocabulary, then by a corrected list of words with frequencies.

The list is that of the library rjieba, with added words of the grammar and of everyday speech (everyday_words.txt),
because the library's words came from newspapers. The library returns the segmentation with the largest product of word
frequencies. It is called without its character model (hmm), which joins characters that are adjacent by chance. The
result is then corrected, because the list has few names, and contains phrases: a number with its measure word, a verb
with 了, an adverb with the word that it modifies.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from threading import Lock
from types import ModuleType

from attention_core.learned.grammar.vocabulary import known_words

HAN = "\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # ranges of Chinese characters, for a regex
HAN_RUN = re.compile(f"[{HAN}]+")
SPACE_INSIDE = re.compile(f"(?<=[{HAN}])\\s+(?=[{HAN}])")
LONGEST_WORD = 40  # most characters of a word
LONGEST_PARTED = 4  # mean length up to which parts between spaces count as words; lines of verse are longer


def cut_chinese(
    text: str, words: frozenset[str] = frozenset(), is_parted: Callable[[Sequence[str]], bool] | None = None
) -> tuple[str, ...]:
    """Split adjacent Chinese characters into words: those of `words` (a vocabulary) first, then those of the library's
    list.

    text: only ideographs. If words of the vocabulary spell the whole text, it is split into the longest of them.
    Otherwise the word list is used, with two exceptions: neighbours are joined if together they spell a word of the
    vocabulary, and a word is split if words of the vocabulary spell it. is_parted: a function that decides whether a
    word of the list is split into these parts; None splits every such word.

    >>> cut_chinese("南京市长江大桥"), cut_chinese("那只狗咬了小红")
    (('南京市', '长江大桥'), ('那', '只', '狗', '咬', '了', '小红'))
    >>> cut_chinese("它喂了红烧肉", frozenset({"喂了", "它"}))
    ('它', '喂了', '红烧肉')
    """
    own = longest_words(text, words)
    if words.issuperset(own):
        return own if is_parted is None else tuple(join_kept(own, cut_by_library(text), is_parted))
    found: list[str] = []
    for word in join_known(cut_by_library(text), words):
        parts = (word,) if word in words else longest_words(word, words)
        may_part = words.issuperset(parts) and (is_parted is None or len(parts) == 1 or is_parted(parts))
        found += parts if may_part else (word,)
    return tuple(found)


def join_kept(own: Sequence[str], listed: Sequence[str], is_parted: Callable[[Sequence[str]], bool]) -> Iterator[str]:
    """Yield the words of the segmentation `own`, in which neighbours are joined that the segmentation `listed` has as
    one word.

    is_parted: a function of the neighbours; if it returns True, they stay separate.
    """
    begins = list(accumulate(map(len, own), initial=0))
    ends_of_listed = dict(pairwise(accumulate(map(len, listed), initial=0)))
    at = 0
    while at < len(own):
        end = ends_of_listed.get(begins[at], -1)
        last = begins.index(end) if end in begins else at + 1
        if last > at + 1 and is_parted(own[at:last]):
            last = at + 1
        yield "".join(own[at:last])
        at = last


def is_parted_by_hand(text: str) -> bool:
    """Return whether the user separated the words of a text by spaces.

    The result is True if spaces separate Chinese characters, and the parts are as short as words.

    >>> is_parted_by_hand("我 女朋友 养了 猫"), is_parted_by_hand("我在 Google 工作")
    (True, False)
    >>> is_parted_by_hand("床前明月光 疑是地上霜")
    False
    """
    if SPACE_INSIDE.search(text) is None:
        return False
    runs = HAN_RUN.findall(text)
    return sum(map(len, runs)) <= LONGEST_PARTED * len(runs)


def longest_words(text: str, words: frozenset[str]) -> tuple[str, ...]:
    """Split a text from left to right into the longest words of a vocabulary; a character that begins no word becomes
    one part."""
    longest = longest_length(words)
    found = []
    at = 0
    while at < len(text):
        ends = range(min(len(text), at + longest), at, -1)
        end = next((end for end in ends if text[at:end] in words), at + 1)
        found.append(text[at:end])
        at = end
    return tuple(found)


@lru_cache(maxsize=64)
def longest_length(words: frozenset[str]) -> int:
    """Return the length of the longest word, at most LONGEST_WORD; 0 if there are no words."""
    return min(max(map(len, words), default=0), LONGEST_WORD)


def join_known(pieces: Sequence[str], words: frozenset[str]) -> Iterator[str]:
    """Return the parts of a text, with neighbours joined that together spell a word of `words`, as many as possible."""
    longest = longest_length(words)
    at = 0
    while at < len(pieces):
        word, last = pieces[at], at
        joined = word
        for reach in range(at + 1, len(pieces)):
            joined += pieces[reach]
            if len(joined) > longest:
                break
            if joined in words:
                word, last = joined, reach
        yield word
        at = last + 1


@lru_cache(maxsize=256)  # cached, because each rerun of a page splits the same texts
def cut_by_library(text: str) -> tuple[str, ...]:
    """Split a text by the library's word list, to which everyday words are added, and correct the result."""
    return tuple(mend(cut_by_list(text)))


# ---- the word list ---------------------------------------------------------------------------------------------------
EVERYDAY_WORDS = Path(__file__).with_name("everyday_words.txt")
EVERYDAY_COUNT = 500  # least frequency that an added word gets in the library's list
LOADING = Lock()


def cut_by_list(text: str) -> tuple[str, ...]:
    """Split a run of Chinese characters into words of the library's list."""
    return tuple(load_library().cut(text, hmm=False))


def load_library() -> ModuleType:
    """Load the word segmentation library with the added words, and return it; a lock lets only one thread load it.

    Later calls of any session return the same library.
    """
    with LOADING:
        return load_once()


@cache
def load_once() -> ModuleType:
    """Load the word segmentation library, and add the grammar's words and everyday words to its list.

    Only this function changes the library's list.
    """
    import rjieba

    for word in our_words():
        if count_of(word, rjieba) < EVERYDAY_COUNT:
            rjieba.add_word(word, EVERYDAY_COUNT, None)
    return rjieba


@cache
def our_words() -> frozenset[str]:
    """Return the words that are added to the library: the grammar's words of several characters, and everyday words."""
    names = (word for word in known_words("zh") if len(word) > 1)
    return frozenset((*names, *EVERYDAY_WORDS.read_text(encoding="utf-8").split()))


def count_of(word: str, library: ModuleType) -> int:
    """Return the frequency of a word in a loaded library's list; 0 if the list lacks the word."""
    return library.suggest_freq(word) - 1 if library.has_word(word) else 0


@lru_cache(maxsize=4096)
def word_count(word: str) -> int:
    """Return the frequency of a word in the library's list; 0 if the list lacks the word."""
    return count_of(word, load_library())


@lru_cache(maxsize=4096)
def word_class(word: str) -> str:
    """Return the word class as a letter of the library: n noun, v verb, a adjective, d adverb, ...; "" if unknown."""
    tagged = load_library().tag(word, hmm=False)
    return tagged[0][1] if len(tagged) == 1 else ""


# ---- corrections of the cut for phrases, numbers and names -----------------------------------------------------------
LONGEST_PHRASE = 40  # longest entry, in characters, that may be a phrase to be split
RARE_COUNT = 5  # up to this frequency an entry is seldom a real word
COMMON_COUNT = 100  # from this frequency on an entry is certainly a word
COMMON_CHARACTER_COUNT = 1000  # from this frequency on a single character is certainly a word

NUMBER = re.compile("[零〇一二三四五六七八九十百千万亿两]+")
COUNT = re.compile("[零〇一二三四五六七八九十百千万亿两半几]+")
MEASURES = frozenset(
    "个只本张条位头匹棵朵座辆把支枝块片颗粒件套双对副份封篇首幅部台架艘间所家扇门场次遍趟顿口句段层页册盏枚根顶道则名"
    "届岁杯瓶碗盘盒箱包袋桶壶盆勺串束群批堆滴天年周秒分元毛斤克米里吨种类节课站步声眼脚拳针跤圈"
)
POINTERS = frozenset("这那哪每某")
POINTED_AT = frozenset("个种次位天年周")  # measure words that form one word with 这 (这个, but 这 只)
DENIALS = frozenset("不没别")
DEGREES = frozenset("很太")
HEADS = DENIALS | DEGREES | frozenset("又再也都就还更最才真我你他她它和跟同与把被给在从对向比是有年小大老新")
PLACES = frozenset("上下里中")
TAILS = frozenset("了里上下在到给完掉坏好走开住们吗吧呢的得")
BETWEEN = frozenset("不得")  # characters between a verb and its result, as in 看不懂
UNDONE = frozenset({"不了", "不着"})  # endings of verbs whose action cannot be completed
CONJOINED = ("c", "d", "p", "r", "df")  # word classes of entries that are not split, such as 不如, 不再 and 不要
STANDALONE = {"不": 4, "没": 10, "别": 10, "很": 5, "太": 10}
SURNAMES = frozenset(
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪"
    "田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙段雷钱汤尹黎武乔贺赖龚"
)
GIVEN_NAME_CHARACTERS = frozenset(
    "伟芳娜敏静丽强磊军洋勇艳杰娟涛明超秀霞刚桂兰英华玉萍红玲芬燕鹏辉飞鑫波斌宇浩凯健俊帆雪梅琳婷雷欣怡佳倩颖莉娇慧巧"
    "美雅芝萱子轩梓涵晨阳博文昊然思诗雨嘉晓峰建国志平林云龙海山东亮成琪瑶晶洁莹媛琴春菊凤"
)
NICKNAMES = frozenset("小老阿")
COLOURS = frozenset("白黄")  # surnames that are also colours: 小白狗 is a small white dog, not a dog named 小白


def mend(pieces: Sequence[str]) -> list[str]:
    """Return a corrected segmentation of a text: numbers and names are joined, and phrases that the list has as words
    are split."""
    moved = move_ends(join_numbers(pieces))
    parted = [part for piece in moved for part in part_phrase(piece)]
    return list(join_names(parted))


def move_ends(pieces: Iterable[str]) -> list[str]:
    """Return a segmentation with corrected word ends: 操|场上 becomes 操场|上, and a measure word is separated from its
    noun."""
    moved: list[str] = []
    for piece in pieces:
        before = moved[-1] if moved else ""
        if before and is_place(piece) and word_count(before + piece[:-1]):
            moved[-1:] = (before + piece[:-1], piece[-1])
        elif (COUNT.fullmatch(before) or before in POINTERS) and is_measured(piece):
            moved += (piece[0], piece[1:])
        else:
            moved.append(piece)
    return moved


def is_place(word: str) -> bool:
    """Return whether a word is a noun followed by 上, 下, 里 or 中."""
    return len(word) > 1 and word[-1] in PLACES and word_class(word).startswith(("s", "f"))


def is_measured(word: str) -> bool:
    """Return whether an entry of the list, found after a number, is really a measure word and a noun, such as 本书."""
    if len(word) == 1:
        return False
    is_noun = word_class(word).startswith("n") and word_count(word) > 2 * COMMON_COUNT
    return word[0] in MEASURES and not is_noun and word_class(word[1:]).startswith("n")


def join_numbers(pieces: Sequence[str]) -> Iterator[str]:
    """Yield the words of a text, in which digits that begin a word are moved to the number before it: 九十|五分
    becomes 九十五|分.
    """
    number = ""
    for piece in pieces:
        digits = NUMBER.match(piece)
        if digits is None or (not number and digits.group() != piece):
            yield from filter(None, (number, piece))
            number = ""
            continue
        number += digits.group()
        if rest := piece[digits.end() :]:
            yield from (number, rest)
            number = ""
    if number:
        yield number


@lru_cache(maxsize=4096)
def part_phrase(word: str) -> tuple[str, ...]:
    """Return the words of a list entry that is a phrase, such as 三|篇, 这|杯, 不|吃, 太|大, 亏|了, 放|在, 今年|夏天.

    Examples: 三|篇, 这|杯, 不|吃, 太|大, 亏|了, 放|在, 今年|夏天.
    """
    if len(word) == 1 or len(word) > LONGEST_PHRASE or word in our_words():
        return (word,)
    if "了" in word[1:-1] and not word_class(word).startswith("i"):
        at = word.index("了", 1)
        return (*part_phrase(word[:at]), "了", *part_phrase(word[at + 1 :]))
    if is_counted(word) or is_denied(word) or is_finished(word):
        at = 1 if is_denied(word) else len(word) - 1
        return (*part_phrase(word[:at]), *part_phrase(word[at:]))
    return part_rare(word) if word_count(word) <= RARE_COUNT else (word,)


def is_counted(word: str) -> bool:
    """Return whether a list entry is a number, 这 or 那 with a measure word, which are two words."""
    number, measure = word[:-1], word[-1]
    if number in POINTERS:
        return measure in MEASURES - POINTED_AT
    if measure not in MEASURES or COUNT.fullmatch(number) is None:
        return False
    return len(word) > 2 or word_class(word).startswith("m")


def is_denied(word: str) -> bool:
    """Return whether a list entry is an adverb (不, 没, 别, 很 or 太) with a word that is far more frequent alone."""
    adverb, rest = word[0], word[1:]
    if adverb not in STANDALONE or word_class(word).startswith(CONJOINED):
        return False
    classes = ("a", "m") if adverb in DEGREES else ("a", "v")
    return word_class(rest).startswith(classes) and word_count(rest) >= STANDALONE[adverb] * word_count(word)


def is_finished(word: str) -> bool:
    """Return whether a list entry is a verb with 了 or 在, which are two words."""
    verb, tail = word[:-1], word[-1]
    if word in UNDONE:
        return True
    if not word_class(word).startswith("v"):
        return False
    if tail == "了":
        return word_count(word) < COMMON_CHARACTER_COUNT
    return tail == "在" and word_count(verb) > 2 * word_count(word)


def part_rare(word: str) -> tuple[str, ...]:
    """Return the common words, one of them a function word or a verb, into which a rare list entry can be split; else
    (word,).
    """
    best = (word,)
    for at in range(len(word) - 1, 0, -1):
        head, rest = word[:at], word[at:]
        if not (can_part_behind(head, rest) and can_part_before(rest, head)):
            continue
        parts = tuple(part for piece in (head, rest) for part in part_unknown(piece))
        if all(map(is_common, parts)) and (best == (word,) or rank(parts) > rank(best)):
            best = parts
        if best[1:] and rest in PLACES:
            break
    return best


def part_unknown(piece: str) -> tuple[str, ...]:
    """Return the words of one part of a rare entry; the part may be missing from the library's list."""
    if word_count(piece) > RARE_COUNT or len(piece) == 1:
        return part_phrase(piece)
    found = cut_by_list(piece)
    if len(found) == 1 and not BETWEEN.isdisjoint(piece):
        return tuple(piece)
    return found


def rank(parts: tuple[str, ...]) -> tuple[int, int]:
    """Return the rank of a way to split a word: fewer parts are better, then a more frequent rarest part."""
    return -len(parts), min(map(word_count, parts))


def can_part_behind(head: str, rest: str) -> bool:
    """Return whether a word may be split after its first part `head`, judged by the word class of `head`.

    A head of one character must be a function word or, if `rest` is longer than one character, a verb, adverb,
    preposition, conjunction or pronoun. If `rest` is a particle in TAILS, any head is allowed.
    """
    if len(head) > 1 or head in HEADS or rest in TAILS:
        return True
    return len(rest) > 1 and word_class(head).startswith(("v", "d", "p", "c", "r"))


def can_part_before(rest: str, head: str) -> bool:
    """Return whether a word may be split before its last part `rest`, judged by `rest` and by the part before it.

    This is allowed if `rest` has several characters or is a particle in TAILS, or if `head` is a negation or a degree.
    """
    return len(rest) > 1 or rest in TAILS or head in DENIALS | DEGREES


def join_names(pieces: Sequence[str]) -> Iterator[str]:
    """Return the words with names joined: a surname with a given name, or 小, 老 or 阿 with a surname."""
    at = 0
    while at < len(pieces):
        count = name_length(pieces, at)
        yield "".join(pieces[at : at + count])
        at += count


def name_length(pieces: Sequence[str], at: int) -> int:
    """Return how many words form the name that begins at index `at`; 1 if no name begins there."""
    first, *behind = pieces[at : at + 3]
    if not behind:
        return 1
    if first in NICKNAMES and behind[0] in SURNAMES - COLOURS:
        return 2
    if first not in SURNAMES:
        return 1
    if len(behind) == 2 and all(each in GIVEN_NAME_CHARACTERS for each in behind):
        return 3
    return 2 if is_given_name(behind[0]) else 1


def is_given_name(word: str) -> bool:
    """Return whether a word consists of one or two characters of given names, or of 小 and one such character."""
    return len(word) <= 2 and GIVEN_NAME_CHARACTERS.issuperset(word.removeprefix("小") or "小")


def is_common(word: str) -> bool:
    """Return whether an entry of the library's list is so frequent that it is surely a word."""
    least = COMMON_COUNT if len(word) > 1 else COMMON_CHARACTER_COUNT
    return word_count(word) >= least
