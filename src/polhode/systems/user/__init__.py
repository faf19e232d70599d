"""Users' functions, as what compiled code can call.

A function is traced, and is then a load, controller or event of a sum as any other (``acting``); where it is no program
it is compiled with tuples as arguments; if that fails, with arrays; if that fails, it runs as Python through a bridge,
more slowly and with one warning (``chosen``).
"""
