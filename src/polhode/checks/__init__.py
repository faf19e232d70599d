"""``check_method`` and ``check_system``: measure what a method or a system declares, and judge it.

    ph.checks.check_method("trapm").raise_for_failure()
    print(ph.checks.check_system(my_system, angular_velocity=(0, 0, 2)))

``method`` and ``system`` hold the two checks and their tolerances; ``method_measures`` and ``system_measures`` the
measurements, functions that return numbers and judge nothing; ``problems`` the test problems for methods; ``steps``
single steps, a reference solution and the distance between states; ``loads`` loads and energies at a state; ``report``
the result.
"""

from polhode.checks.loads import load_caller
from polhode.checks.method import check_method
from polhode.checks.method_measures import (
    QUANTITIES,
    ConvergenceTable,
    drifts,
    frame_defect,
    measure_order,
    numbering_defect,
    quantities,
    slicing_defect,
    symmetry_defect,
    symplectic_defect,
)
from polhode.checks.problems import ORDER_PROBLEMS, SWITCHES, top_problem, trial_problem
from polhode.checks.report import Line, PromiseBroken, Report
from polhode.checks.steps import exact_state, state_distance, stepper
from polhode.checks.system import check_system
from polhode.lazy import public_names

__all__ = [
    "check_method", "check_system", "Report", "Line", "PromiseBroken", "stepper", "exact_state", "state_distance",
    "load_caller", "measure_order", "ConvergenceTable", "symmetry_defect", "symplectic_defect", "QUANTITIES",
    "quantities", "drifts", "slicing_defect", "numbering_defect", "frame_defect", "trial_problem", "top_problem",
    "ORDER_PROBLEMS", "SWITCHES",
]  # fmt: skip
__dir__ = public_names(__all__)
