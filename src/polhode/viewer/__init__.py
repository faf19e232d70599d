"""A run as one page to look at: ``polhode.view`` and ``polhode view``.

``view`` makes a ``View`` of Datasets; ``scene`` says in plain data what there is to see, over ``recorded`` (what a
Dataset and its record tell), ``frames`` (which rows), ``shapes``, ``meshes`` (files), ``motions`` (attitudes, places,
arrows, Poinsot's picture), ``orbits``, ``series`` and ``facts``; ``arrays`` packs the numbers; ``page`` puts both and
the scripts of ``assets`` into one HTML file without any request; ``live`` is the widget that follows a run.

The page shows what a Dataset holds. Nothing is integrated here.
"""
