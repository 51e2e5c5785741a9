"""The full-text index and how a query is put to it.

It is derived: the store is the only truth, and the index can be thrown away at any time. It holds no text, only terms
and numbers; every hit is read from the store again. One document is not an event but the index's own state, replaced
in each commit, so that what is covered and what is indexed can never disagree, wherever a process dies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import tantivy

from holdfast.core.messages import Phrase as Sentence
from holdfast.store.search_document import SCHEMA, STATE_MARK, Card, IndexState, Scored, state_of
from holdfast.store.search_filters import Sieve
from holdfast.store.search_query import AllOf, AnyOf, Node, Phrase, Prefix, SearchError, Term

_MOST_EXPANDED = 64
_TOO_MANY = Sentence(
    "search.too_many",
    "too many words begin with {start}: give more of it than {prefix}*",
    "以 {start} 开头的词太多：请给出比 {prefix}* 更长的开头",
)


class Snapshot:
    """The index at one moment: what it covers, and questions to it."""

    def __init__(self, index: tantivy.Index) -> None:
        self.searcher = index.searcher()
        self.state = self._read_state()

    def _read_state(self) -> IndexState:
        found = self.searcher.search(_term("mark", STATE_MARK), 1, count=False).hits
        if not found:
            return IndexState()
        return state_of(self.searcher.doc(found[0][1]))

    # questions

    def best(self, query: tantivy.Query, limit: int) -> list[Scored]:
        """By score, the best first."""
        hits = self.searcher.search(query, limit, count=False).hits
        return list(zip([float(score) for score, _ in hits], self._cards(hits), strict=True))

    def newest(self, query: tantivy.Query, limit: int, before: int) -> list[int]:
        """Numbers of the newest hits below `before`, newest first."""
        bounded = _all_of([query, _range("seq", tantivy.FieldType.Unsigned, None, before)])
        hits = self.searcher.search(bounded, limit, count=False, order_by_field="seq").hits
        return [int(number) for number, _ in hits]

    def at_places(self, places: Sequence[int]) -> list[Card]:
        """The events at these places, as far as they are there."""
        if not places:
            return []
        hits = self.searcher.search(
            tantivy.Query.term_set_query(SCHEMA, "place", places), len(places), count=False
        ).hits
        return self._cards(hits)

    @property
    def events(self) -> int:
        """How many events with text are in the index."""
        return int(self.searcher.num_docs) - 1 if self.state != IndexState() else 0

    @property
    def documents(self) -> int:
        """As scores count them: the state is one, too."""
        return int(self.searcher.num_docs)

    def holding(self, field: str, term: str) -> int:
        return int(self.searcher.doc_freq(field, term))

    def _cards(self, hits: list[tuple[Any, tantivy.DocAddress]]) -> list[Card]:
        places = [address for _, address in hits]
        columns: list[list[Any]] = [self.searcher.fast_field_values(name, places) for name in Card._fields]
        return [
            Card(seq, place, at, voice or 0, bool(dated)) for seq, place, at, voice, dated in zip(*columns, strict=True)
        ]

    # putting a query to the index

    def query_of(self, node: Node, sieve: Sieve) -> tantivy.Query:
        return self.sifted(self._compiled(node), sieve)

    def weighted(self, stems: Iterable[tuple[str, float]], sieve: Sieve) -> tantivy.Query:
        """Any of the stems; each counts as much as its weight says."""
        terms = [tantivy.Query.boost_query(_term("stems", stem, "freq"), weight) for stem, weight in stems]
        return self.sifted(_any_of(terms), sieve)

    def sifted(self, query: tantivy.Query, sieve: Sieve) -> tantivy.Query:
        conditions = [_any_of([_term(name, value) for value in values]) for name, values in sieve.wanted]
        if sieve.paths:
            conditions.append(_any_of([self._phrase("files", path, False) for path in sieve.paths]))
        if sieve.since is not None or sieve.until is not None:
            conditions.append(_range("at", tantivy.FieldType.Integer, sieve.since, sieve.until))
        if not conditions:
            return query
        return _all_of([query, *(tantivy.Query.const_score_query(condition, 0.0) for condition in conditions)])

    def _compiled(self, node: Node) -> tantivy.Query:
        match node:
            case Term(field, text):
                return _term(field, text, "freq")
            case Prefix(field, text):
                return self._prefix(field, text)
            case Phrase(field, terms, open_ended):
                return self._phrase(field, terms, open_ended)
            case AnyOf(nodes):
                return _any_of([self._compiled(part) for part in nodes])
            case AllOf(nodes):
                return _all_of([self._compiled(part) for part in nodes])

    def _prefix(self, field: str, text: str) -> tantivy.Query:
        """A short list of terms is searched for as such; a long one by walking the dictionary."""
        found = self.searcher.terms_with_prefix(field, text, limit=_MOST_EXPANDED + 1)
        if len(found) <= _MOST_EXPANDED:
            return _any_of([tantivy.Query.const_score_query(_term(field, term), 1.0) for term, _ in found])
        return tantivy.Query.regex_query(SCHEMA, field, re.escape(text) + ".*")

    def _phrase(self, field: str, terms: Sequence[str], open_ended: bool) -> tantivy.Query:
        if len(terms) == 1:
            return _term(field, terms[0])
        if not open_ended:
            return tantivy.Query.phrase_query(SCHEMA, field, list(terms))
        patterns: list[str | tuple[int, str]] = [re.escape(term) for term in terms]
        patterns[-1] = re.escape(terms[-1]) + ".*"
        try:
            return tantivy.Query.regex_phrase_query(SCHEMA, field, patterns)
        except ValueError:
            raise SearchError(_TOO_MANY(start=repr(terms[-1]), prefix=terms[-1])) from None


def _term(field: str, value: str, option: str = "basic") -> tantivy.Query:
    return tantivy.Query.term_query(SCHEMA, field, value, option)


def _any_of(queries: list[tantivy.Query]) -> tantivy.Query:
    if len(queries) == 1:
        return queries[0]
    if not queries:
        return tantivy.Query.empty_query()
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])


def _all_of(queries: list[tantivy.Query]) -> tantivy.Query:
    if len(queries) == 1:
        return queries[0]
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, query) for query in queries])


def _range(field: str, kind: tantivy.FieldType, lower: int | None, upper: int | None) -> tantivy.Query:
    return tantivy.Query.const_score_query(
        tantivy.Query.range_query(SCHEMA, field, kind, lower, upper, include_upper=upper is None), 0.0
    )
