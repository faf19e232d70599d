"""Bodies: mass, moments of inertia and shape, without what acts on them."""
