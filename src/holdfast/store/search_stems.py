"""What is left of a word once its ending is taken away, and which words say nothing.

Snowball's English stemmer does the regular endings; verbs and nouns that change inside are listed here.
"""

from __future__ import annotations

from functools import cache

import tantivy

_LONGEST = 24
LONGEST_NUMBER = 4

_SAYING_NOTHING = """
a about all also am an and any are aren as at be because been being but by can cannot could couldn d did didn do
does doesn doing don done each either for from had hadn has hasn have haven having he her here hers herself him
himself his how i if in into is isn it its itself just ll m may me might mine more most must my myself no nor not
of on only or other our ours ourselves out over own please re s same shall she should shouldn so some such t than
that the their theirs them themselves then there these they this those though through to too up us ve very was
wasn we were weren what when where whether which while who whom whose why will with won would wouldn yes yet you
your yours yourself yourselves
"""
STOP_WORDS = frozenset(_SAYING_NOTHING.split())
QUESTION_WORDS = frozenset({"what", "when", "where", "who", "whose", "whom", "which", "why", "how"})

_CHANGED = """
arise arose arisen; bear bore born borne; become became; begin began begun; bend bent; bet; bind bound; bite bit bitten;
bleed bled; blow blew blown; break broke broken; breed bred; bring brought; build built; burn burnt; buy bought;
catch caught; choose chose chosen; cling clung; come came; creep crept; deal dealt; dig dug; draw drew drawn;
dream dreamt; drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt;
fight fought; find found; flee fled; fly flew flown; forbid forbade forbidden; forget forgot forgotten;
forgive forgave forgiven; freeze froze frozen; get got gotten; give gave given; go goes went gone; grind ground;
grow grew grown; hang hung; hear heard; hide hid hidden; hold held; keep kept; kneel knelt; know knew known;
lay laid; lead led; lean leant; leap leapt; learn learnt; leave left; lend lent; light lit; lose lost; make made;
mean meant; meet met; overcome overcame; pay paid; prove proven; ride rode ridden; ring rang rung; rise rose risen;
run ran; say said; see saw seen; seek sought; sell sold; send sent; sew sewn; shake shook shaken; shine shone;
shoot shot; show shown; shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat; sleep slept; slide slid;
speak spoke spoken; speed sped; spend spent; spin spun; spring sprang sprung; stand stood; steal stole stolen;
stick stuck; sting stung; strike struck; swear swore sworn; sweep swept; swim swam swum; swing swung;
take took taken; teach taught; tear tore torn; tell told; think thought; throw threw thrown;
understand understood; wake woke woken; wear wore worn; weave wove woven; weep wept; win won; write wrote written;
child children; person people; man men; woman women; foot feet; tooth teeth; mouse mice; goose geese; life lives;
wife wives; knife knives; shelf shelves; leaf leaves; half halves; index indices; vertex vertices;
matrix matrices; datum data; good better best; bad worse worst
"""


@cache
def _base_forms() -> dict[str, str]:
    lines = [line.split() for line in _CHANGED.replace("\n", " ").split(";")]
    return {form: base for base, *forms in lines for form in forms}


@cache
def _stemmer() -> tantivy.TextAnalyzer:
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).filter(tantivy.Filter.stemmer("english")).build()


def stem_of(word: str) -> str:
    """The stem of a folded word; empty for words that say nothing and for what is no word."""
    if word in STOP_WORDS or len(word) > _LONGEST:
        return ""
    if word.isdigit():
        return word if len(word) <= LONGEST_NUMBER else ""
    if not word.isalpha() or len(word) < 2:
        return ""
    word = _base_forms().get(word, word)
    return _stemmer().analyze(word)[0] if word.isascii() else word
