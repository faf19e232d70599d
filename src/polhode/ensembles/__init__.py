"""Many runs of one kind: ensembles whose members differ in state and constants, and sweeps over scenarios.

``ensemble`` is the call; ``members`` and ``sampling`` say what varies, ``reductions`` what is kept, ``threads``,
``lanes`` and ``device`` are the engines; ``sweep`` spreads scenarios over processes and machines.
"""
