"""Carson 2005: symplectic and variational integration of orbits, figures 2 to 8, all claims, and its future work."""

from polhode_papers.study import Study

STUDY = Study.of(
    __name__,
    "Examining geometric integration for propagating orbit trajectories with non-conservative forcing",
    "claims fig02 fig03 fig04 fig05 fig06 fig07 fig08 correction impulse thrust sunlight drag higher "
    "period cost alpha digits multi_body",
)
