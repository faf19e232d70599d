"""What surrounds a body: planets and their axes, gravity fields, paths of the Sun and of other bodies, and the air."""
