"""Runs: a method driven over a system and recorded.

``integrate`` is one run: a record of ``request`` says what is asked, ``stepping`` takes the steps, ``result`` makes the
Dataset. ``store`` is its live store, and ``resume`` goes on from it; ``scenario`` reads and checks TOML files,
``compare`` measures errors, orders and cost of several methods. Files, pictures, words for the shell and the checks of
methods and systems (``polhode.checks``) live elsewhere.
"""
