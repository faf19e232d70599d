"""What ``benchmarks/peers.py`` compares: problems, runs of polhode, of heyoka and of SciPy, and the tables of them."""
