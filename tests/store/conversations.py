"""Long conversations made up by a generator, with questions in other words than the turns that answer them.

Two people talk over many sessions. A fact is told in one turn, the other asks on, and the details follow in a turn that
shares hardly a word with any question about it. Whatever the facts are about comes up again and again afterwards,
mostly with the other's name, as it does among friends: by its words alone a question finds those turns first.

Nothing here was used to tune the ranker. It shows that the ranker's ideas carry over to texts it was not made for, not
how people talk: it was written by somebody who knew them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

START = 1_650_000_000.0
_DAY = 86_400.0

_NAMES = ["Maren", "Tobias", "Priya", "Oskar", "Leila", "Jonas", "Keiko", "Andre", "Sofia", "Malik", "Ingrid", "Pedro"]
_WHEN = ["yesterday", "last week", "two days ago", "last Friday", "a month ago", "on Sunday", "last spring", "in March"]


@dataclass(frozen=True, slots=True)
class Fact:
    """`{x}` is what it is about, `{name}` who tells it, `{when}` a time."""

    about: tuple[str, ...]
    told: tuple[str, ...]
    asked_on: tuple[str, ...]
    details: tuple[str, ...]
    questions: tuple[str, ...]
    """About the turn that tells it."""
    on_details: tuple[str, ...]
    again: tuple[str, ...]
    """Idle talk later on; `{you}` is the other's name."""


_FACTS = (
    Fact(
        ("Lisbon", "Kyoto", "Krakow", "Hanoi"),
        ("I travelled to {x} {when}, finally!", "We flew to {x} {when} and I am still smiling."),
        ("How long did you stay?", "Oh nice! Who came along?"),
        ("A whole week, with my sister and her kids.", "Nine days, the choir came as well."),
        ("When was {name} travelling to {x}?", "When did {name} fly to {x}?"),
        ("How long did {name} stay in {x}?", "Who came along to {x} with {name}?"),
        ("{you}, have you ever thought about {x}?", "{x} is all over the news, {you}.", "I miss {x}, do you, {you}?"),
    ),
    Fact(
        ("parrot", "greyhound", "tortoise", "hedgehog"),
        ("We adopted a {x} {when}!", "I brought a {x} home from the shelter {when}."),
        ("What did the children say?", "Does it have a name yet?"),
        ("They were over the moon and call it Biscuit.", "Biscuit, because of the colour. They adore it."),
        ("When did {name} adopt the {x}?", "Where does the {x} of {name} come from?"),
        ("What did the children say to {name} about the {x}?", "What is the name of the {x} that {name} adopted?"),
        ("{you}, how is the {x}?", "My aunt had a {x} once, {you}.", "I dreamt of a {x}, {you}, can you believe it?"),
    ),
    Fact(
        ("cello", "kayak", "telescope", "typewriter"),
        ("I bought a {x} {when} with my savings.", "Guess who got herself a {x} {when}."),
        ("Was it expensive?", "Where on earth do you put it?"),
        ("Four hundred, and worth every cent.", "Under the stairs, next to the shoes. It barely fits."),
        ("When was the {x} bought by {name}?", "How did {name} pay for buying the {x}?"),
        ("Was the {x} of {name} expensive?", "Where does {name} put the {x}?"),
        ("{you}, show me the {x} one day!", "A {x} is a lot of work, {you}.", "My boss has a {x} too, {you}."),
    ),
    Fact(
        ("pottery", "archery", "salsa", "beekeeping"),
        ("I started taking {x} classes {when}.", "They teach {x} next door now, so I signed up {when}."),
        ("Is the teacher any good?", "How often do you go?"),
        ("Twice each week, and he is very patient with me.", "She is strict. Every Tuesday my arms hurt."),
        ("When did {name} begin to take {x} classes?", "Since when is {name} signed up for {x}?"),
        ("How is the {x} teacher of {name}?", "How often does {name} go to {x}?"),
        ("{you}, {x} would not be for me.", "I saw {x} on television, {you}!", "Does {x} make you tired, {you}?"),
    ),
    Fact(
        ("checkout", "login", "export", "billing"),
        ("The {x} service broke {when} and I had to mend it.", "I repaired {x} {when}, all night long."),
        ("What was the reason?", "Did anybody find out why?"),
        ("A stale cache that nobody had cleared for years.", "The certificate had run out, as simple as that."),
        ("When did {x} break for {name}?", "When was {name} repairing {x}?"),
        ("What was the reason why {x} broke for {name}?", "Why did {name} have to mend {x}?"),
        ("{you}, {x} is slow again.", "Nobody likes {x}, {you}.", "Is {x} your job now, {you}?"),
    ),
    Fact(
        ("dumplings", "lentils", "walnuts", "beetroot"),
        ("I cooked {x} for the whole family {when}.", "Everybody came {when} and I made {x}."),
        ("Did they like it?", "Where does the recipe come from?"),
        ("They asked for more, even the little ones.", "From my grandmother, she wrote it on a napkin."),
        ("When was {name} cooking {x}?", "For whom did {name} cook {x}?"),
        ("Did the family of {name} like the {x}?", "Where does the recipe of {name} for {x} come from?"),
        ("{you}, I am out of {x}.", "Too much {x} lately, {you}.", "Do you eat {x} raw, {you}?"),
    ),
)
_CHATTER = (
    *("Good to hear from you, {you}!", "Same here, it has been a long week.", "Oh really? Tell me more!"),
    *("That sounds great, {you}.", "I need some coffee first.", "The weather makes me sleepy today."),
    *("Work is busy, but people are kind.", "Wow, I had no idea, {you}!", "We should meet again next week."),
    *("I went for a walk and thought about what you said.", "Thanks for telling me, {you}, I needed that."),
    *("My phone died, sorry for the late answer.", "Did you see the news yesterday?", "Do you remember our teacher?"),
)


@dataclass(frozen=True, slots=True)
class Turn:
    session: int
    speaker: str
    text: str
    at: float

    @property
    def said(self) -> str:
        return f"{self.speaker}: {self.text}"


@dataclass(slots=True)
class Conversation:
    turns: list[Turn] = field(default_factory=list)
    questions: list[tuple[str, int]] = field(default_factory=list)
    """A question, and the place of the turn that answers it."""


def make_conversation(seed: int, sessions: int = 16) -> Conversation:
    chance = random.Random(seed)
    people = chance.sample(_NAMES, 2)
    told = [(fact, about, chance.choice(people)) for fact in _FACTS for about in fact.about]
    chance.shuffle(told)
    made = Conversation()
    known: list[tuple[Fact, str]] = []
    for session in range(sessions):

        def say(speaker: str, text: str, session: int = session) -> int:
            at = START + session * 9 * _DAY + 30 * len(made.turns)
            made.turns.append(Turn(session, speaker, text[0].upper() + text[1:], at))
            return len(made.turns) - 1

        def chat(say=say) -> None:
            speaker, you = chance.sample(people, 2)
            if known and chance.random() < 0.6:
                fact, about = chance.choice(known)
                say(speaker, chance.choice(fact.again).format(x=about, you=you))
            else:
                say(speaker, chance.choice(_CHATTER).format(you=you))

        for fact, about, name in told[session::sessions]:
            for _ in range(chance.randint(6, 14)):
                chat()
            words = {"x": about, "name": name, "when": chance.choice(_WHEN)}
            first = say(name, chance.choice(fact.told).format(**words))
            way = chance.randrange(2)
            say(next(other for other in people if other != name), fact.asked_on[way])
            second = say(name, fact.details[way])
            made.questions.append((chance.choice(fact.questions).format(**words), first))
            made.questions.append((fact.on_details[way].format(**words), second))
            known.append((fact, about))
        for _ in range(chance.randint(4, 10)):
            chat()
    return made
