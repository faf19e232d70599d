"""Runs: a method driven over a system and recorded.

``single`` is one run (``integrate``, ``rerun``), ``store`` its live store, ``resume`` goes on from it; ``scenario``
reads and checks TOML files, ``compare`` measures errors, orders and cost of several methods, ``check`` holds the tests
a method or a system must pass. Files, pictures and words for the shell live elsewhere.
"""
