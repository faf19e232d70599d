"""Runs: a method driven over a system and recorded.

``single`` is one run (``integrate``, ``rerun``), ``store`` its live store, ``resume`` goes on from it; ``scenario``
reads and checks TOML files, ``compare`` measures errors, orders and cost of several methods. Files, pictures, words for
the shell and the checks of methods and systems (``polhode.checks``) live elsewhere.
"""
