"""The tables of the studies' READMEs: every claim of the code once, with the verdict of the full form."""

from __future__ import annotations

from tests.support.study_parts import KNOWN, rows_of_readme

import polhode_papers as studies
from each import each


@each("name", studies.STUDIES)
def test_readme_has_every_claim_with_its_verdict(name):
    rows = rows_of_readme(name)
    claims = {(f.name, k) for f in studies.study(name).figures for k in range(1, len(f.claims) + 1)}
    assert set(rows) == claims
    for (figure, number), verdict in rows.items():
        assert verdict == KNOWN[name][figure][str(number)]["verdict"], (figure, number)


@each("name", studies.STUDIES)
def test_known_verdicts_follow_from_their_parts(name):
    for figure in KNOWN[name].values():
        for known in figure.values():
            if "ratios" in known:
                continue
            printed = {word: [p for p in known.get(word, ()) if not p.startswith("corrected: ")]
                       for word in ("yes", "no", "undecided")}  # fmt: skip
            yes, no, unknown = (len(printed[word]) for word in ("yes", "no", "undecided"))
            first = known["verdict"].split(" as printed")[0]
            if not no and not unknown:
                assert first == "holds"
            elif not yes and not no:
                assert first == "undecided"
            elif yes and no:
                assert first.startswith(f"holds partly ({yes} of {yes + no}")
            else:
                assert first.startswith("holds" if yes else "fails")
