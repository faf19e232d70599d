"""Covers of long lists: which cases are left for every day, and that none is lost."""

from itertools import combinations, pairwise, product

import pytest

from cover import chosen, crossed, some


def kept(cases):
    return [one for one in cases if not (hasattr(one, "marks") and one.marks)]


def values(cases):
    return [one.values if hasattr(one, "marks") else one for one in cases]


@pytest.mark.parametrize("n", [1, 2, 5, 30, 40])
def test_some_are_the_first_the_last_and_evenly_between(n):
    cases = some(range(30), n)
    assert [one[0] if isinstance(one, tuple) else one for one in values(cases)] == list(range(30))
    left = kept(cases)
    assert len(left) == min(n, 30) and left[0] == 0 and (n == 1 or left[-1] == 29)
    assert max((b - a for a, b in pairwise(left)), default=0) <= 29 / max(1, n - 1) + 1


def test_chosen_are_those_named():
    cases = chosen("abcd", "bd")
    assert [one[0] for one in values(cases)] == list("abcd") and kept(cases) == list("bd")
    with pytest.raises(ValueError, match=r"not among the cases: \['x'\]"):
        chosen("abcd", "bx")


@pytest.mark.parametrize("sizes", [(2, 5), (4, 3), (3, 4, 2), (2, 2, 2, 3)])
def test_crossed_meet_each_value_of_two_axes_and_each_pair_of_more(sizes):
    axes = [[f"{k}{i}" for i in range(n)] for k, n in enumerate(sizes)]
    cases = crossed(*axes)
    assert sorted(values(cases)) == sorted(product(*axes))
    left, together = kept(cases), min(2, len(sizes) - 1)
    for some_axes in combinations(range(len(sizes)), together):
        met = {tuple(case[k] for k in some_axes) for case in left}
        assert met == set(product(*(axes[k] for k in some_axes)))
    assert max(sizes) <= len(left) < len(cases)
