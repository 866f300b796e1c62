"""The fusion formula, by hand-worked tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ariel_lite.ranking.fusion import RANK_CONSTANT, Leg, fuse


def rank_part(rank: int, k: int = RANK_CONSTANT) -> float:
    return (k + 1) / (k + rank)


def test_the_best_of_every_leg_has_1() -> None:
    legs = [Leg("keyword", [7, 8], [3.0, 1.0]), Leg("semantic", [7, 9], [0.8, 0.2])]
    assert fuse(legs)[7] == pytest.approx(1)


def test_the_formula_by_hand() -> None:
    legs = [Leg("keyword", [1, 2, 3], [10.0, 6.0, 2.0]), Leg("semantic", [3, 1], [0.9, 0.4])]
    expected = {
        1: (1 + 1 + rank_part(2) + 0) / 4,
        2: (rank_part(2) + 0.5 + 0 + 0) / 4,
        3: (rank_part(3) + 0 + 1 + 1) / 4,
    }
    assert fuse(legs) == pytest.approx(expected)


def test_weights_scale_what_a_leg_counts() -> None:
    legs = [Leg("keyword", [1], [5.0], 3.0), Leg("semantic", [2], [0.5], 1.0)]
    assert fuse(legs) == pytest.approx({1: 0.75, 2: 0.25})


def test_a_leg_without_weight_brings_its_entries_but_no_score() -> None:
    assert fuse([Leg("keyword", [1], [5.0], 0.0), Leg("semantic", [2], [0.5])]) == pytest.approx({1: 0, 2: 1})


def test_legs_that_weigh_nothing_fuse_to_nothing() -> None:
    assert fuse([Leg("keyword", [1], [5.0], 0.0)]) == {}
    assert fuse([]) == {}


def test_an_empty_leg_halves_what_the_other_gives() -> None:
    assert fuse([Leg("keyword", [], []), Leg("semantic", [4, 5], [0.6, 0.3])]) == pytest.approx(
        {4: 0.5, 5: rank_part(2) / 4}
    )


def test_equal_scores_have_equal_ranks_and_equal_parts() -> None:
    leg = Leg("semantic", [1, 2, 3, 4], [0.9, 0.5, 0.5, 0.1])
    assert leg.ranks() == {1: 1, 2: 2, 3: 2, 4: 4}
    fused = fuse([leg])
    assert fused[2] == fused[3]


def test_a_leg_of_equal_scores_is_all_best() -> None:
    assert Leg("keyword", [1, 2], [0.0, 0.0]).scaled() == {1: 1.0, 2: 1.0}
    assert fuse([Leg("keyword", [1, 2], [2.0, 2.0])]) == pytest.approx({1: 1, 2: 1})


def test_the_rank_constant_can_be_chosen() -> None:
    legs = [Leg("keyword", [1, 2], [2.0, 1.0])]
    assert fuse(legs, k=1)[2] == pytest.approx(rank_part(2, 1) / 2)


scores = st.lists(st.floats(0, 100, allow_nan=False), max_size=12).map(lambda found: sorted(found, reverse=True))


@given(
    words=scores, meaning=scores, weights=st.tuples(st.floats(0.1, 10), st.floats(0.1, 10)), shared=st.integers(0, 6)
)
def test_fused_scores_keep_to_their_scale_and_to_every_legs_order(
    words: list[float], meaning: list[float], weights: tuple[float, float], shared: int
) -> None:
    first = Leg("keyword", list(range(len(words))), words, weights[0])
    second = Leg("semantic", [100 + n if n >= shared else n for n in range(len(meaning))], meaning, weights[1])
    fused = fuse([first, second])
    assert set(fused) == {*first.rows, *second.rows}
    assert all(0 <= score <= 1 + 1e-9 for score in fused.values())
    for leg, other in ((first, second), (second, first)):
        alone = [row for row in leg.rows if row not in set(other.rows)]
        assert [fused[row] for row in alone] == sorted((fused[row] for row in alone), reverse=True)


@given(words=scores.filter(len), factor=st.sampled_from([0.5, 2.0, 1024.0]))
def test_the_scale_of_a_legs_scores_does_not_matter(words: list[float], factor: float) -> None:
    # Scores differ by a millionth at least: what only a denormal number tells apart is lost in scaling.
    words = sorted((round(score, 6) for score in words), reverse=True)
    rows = list(range(len(words)))
    larger = fuse([Leg("keyword", rows, [score * factor for score in words])])
    assert larger == pytest.approx(fuse([Leg("keyword", rows, words)]))
