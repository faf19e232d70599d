"""A run as one page to look at: ``polhode.view`` and ``polhode view``.

``view`` makes a ``View`` of Datasets; ``scene`` says in plain data what there is to see, in words and, over
``plots.shown`` (what a Dataset and its record tell), by ``frames`` (which rows), ``shapes`` (and files of them),
``motions`` (attitudes, places, arrows, rotors, Poinsot's picture), ``orbits`` and ``series``; ``arrays`` packs the
numbers; ``page`` puts both and the scripts of ``assets`` into one HTML file without any request; ``live`` is the widget
that follows a run.

The page shows what a Dataset holds. Nothing is integrated here.
"""
