r"""Coefficients of splitting and composition methods.

The Hamiltonian is split, H = A + B: ``A`` is free motion (free rotation, drift), ``B`` the loads, whose flow is a kick.
A scheme lists the flows of one step of size h in the order in which they are applied:

=================  ===========================================================================================
``("A", a)``       run the flow of A for the time a h
``("B", b, c)``    kick: momentum += b h load + c h^3 commutator load; c is 0.0 but in ``requires="gradient"``
=================  ===========================================================================================

The commutator load belongs to [B,[A,B]]. For T = p^2/2 and the force F it is grad(\|F\|^2); for a rigid body and a
potential of the attitude it is the torque of the potential -tau . I^-1 tau, tau being the torque.

A **processed** scheme advances transformed variables: apply `pre` once, then the stages n times, then `post`, the
inverse of `pre`. To output a state in between, apply `post` to a copy; to change the step size, apply `post` with the
old one, then `pre` with the new one.

What a scheme requires of the problem (`requires`)

==============  ===================================================================================================
``"any"``       nothing: any A and B
``"nystrom"``   [B,[B,[B,A]]] = 0: A quadratic in the momenta, B of the configuration alone; A and B cannot be swapped
``"gradient"``  the same, and the commutator load
``"near"``      nothing, but it pays off only when B is small, H = A + eps B
==============  ===================================================================================================

The symmetric ``"nystrom"`` schemes of order 4 keep their order where the bracket does not vanish, but lose their small
error constants. The order of a ``"near"`` scheme is the one for eps = 1. Its `generalised` order, written (8,6,4), says
more: errors of first order in eps are O(h^8), of second order O(h^6), all others O(h^4).

Coefficients are decimals or fractions as published, refined to 30 digits where Newton's method on the order conditions
could do so. For symmetric schemes only the outer half is given; the innermost coefficients follow from the sums and are
computed. All arithmetic is decimal; numbers are rounded to doubles once.

Sources: [hairer2006, II.4 and V.3], and the key in each row.
"""

from __future__ import annotations

import decimal
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise
from math import factorial
from types import MappingProxyType
from typing import Any

from polhode.arguments import choice
from polhode.errors import InvalidInput, shown, unknown_name
from polhode.lazy import Table, unmade
from polhode.methods.tableaux import nodes_and_weights

REQUIREMENTS = ("any", "nystrom", "gradient", "near")

# Digits of the decimal arithmetic for coefficients.
_DIGITS = 60

# Larger coefficients are taken for typing errors.
_LARGEST_COEFFICIENT = Decimal(1000)

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")

# ("A", a) or ("B", b, c); numbers are Decimal before rounding, float after.
Step = tuple[Any, ...]
Steps = tuple[Step, ...]
Later = Callable[[], Steps]


# --- the record -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scheme:
    """One splitting scheme; checked when built, immutable afterwards.

    Parameters
    ----------
    name : str
        What a user types: lower-case letters, digits and underscores.
    title : str
        One line for tables of methods.
    cite : str
        Key of the source in the bibliography, or empty.
    order : int
        Order of accuracy for problems that fulfil `requires`; of a processed scheme, with its processor.
    stages : sequence of steps
        ``("A", a)``, ``("B", b)`` or ``("B", b, c)`` in the order in which they are run; numbers, or text such as
        ``"1/24"``. Stored as tuples of doubles, kicks always with their c.
    pre : sequence of steps
        The processor, in the same form; empty where there is none.
    requires : {"any", "nystrom", "gradient", "near"}
        What the scheme requires of the problem, see the module docstring.
    generalised : tuple of int
        Orders in h of the errors of first, second, ... order in B; the last one holds for all higher orders too. Empty
        where the scheme is not made for a small B.

    Attributes
    ----------
    exact_stages, exact_pre : tuple of steps
        The same steps as decimals, before rounding.

    Raises
    ------
    InvalidInput
        A step has another form, a coefficient is not finite, the coefficients of A or of B do not sum to 1 (to 1e-15,
        relative to their absolute values), or a coefficient c and `requires` contradict each other.
    """

    name: str
    title: str
    cite: str
    order: int
    stages: Steps
    pre: Steps = ()
    requires: str = "any"
    generalised: tuple[int, ...] = ()
    exact_stages: Steps = field(init=False, repr=False, compare=False)
    exact_pre: Steps = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise InvalidInput(
                f"{shown(self.name)} cannot name a scheme: use at most 64 lower-case letters, digits and underscores, "
                "a letter first"
            )
        if self.requires not in REQUIREMENTS:
            raise unknown_name(f"requirement of scheme {self.name!r}", self.requires, REQUIREMENTS)
        orders = (self.order, *self.generalised)
        if not all(isinstance(p, int) and p >= 1 for p in orders):
            raise InvalidInput(f"scheme {self.name!r}: orders must be whole numbers of at least 1, got {orders}")
        for what in ("stages", "pre"):
            exact = self._checked(what, getattr(self, what))
            object.__setattr__(self, f"exact_{what}", exact)
            object.__setattr__(self, what, tuple((step[0], *map(float, step[1:])) for step in exact))
        for letter in "AB":
            numbers = [step[1] for step in self.exact_stages if step[0] == letter]
            if abs(sum(numbers) - 1) > Decimal("1e-15") * (1 + sum(map(abs, numbers))):
                raise InvalidInput(
                    f"scheme {self.name!r}: the coefficients of {letter} sum to {sum(numbers):.17g}, they must sum to 1"
                )
        modified = any(step[0] == "B" and step[2] != 0.0 for step in self.stages + self.pre)
        if modified and self.requires != "gradient":
            raise InvalidInput(f"scheme {self.name!r} uses the commutator load, so it must say requires='gradient'")
        if self.requires == "gradient" and not modified:
            raise InvalidInput(f"scheme {self.name!r} says requires='gradient' but has no coefficient c")

    def _checked(self, what: str, steps: object) -> Steps:
        """The steps as decimals, checked."""
        form = f'scheme {self.name!r}: {what} must be a list of ("A", a), ("B", b) or ("B", b, c)'
        if isinstance(steps, str) or not isinstance(steps, Iterable):
            raise InvalidInput(form)
        exact = []
        for step in steps:
            if not isinstance(step, tuple | list) or (step[:1] or [""])[0] not in ("A", "B"):
                raise InvalidInput(f"{form}; {step!r} is none of them")
            letter, *numbers = step
            if len(numbers) not in ((1,) if letter == "A" else (1, 2)):
                raise InvalidInput(f"{form}; {step!r} is none of them")
            try:
                values = [_number(x) for x in numbers]
                usable = all(abs(x) < _LARGEST_COEFFICIENT for x in values)
            except (TypeError, ValueError, ArithmeticError):
                usable = False
            if not usable:
                raise InvalidInput(
                    f"scheme {self.name!r}: the coefficients of {step!r} in {what} must be real numbers smaller than "
                    f"{_LARGEST_COEFFICIENT:g}"
                )
            exact.append((letter, *values, *[Decimal(0)] * (letter == "B" and len(values) == 1)))
        return tuple(exact)

    @property
    def post(self) -> Steps:
        """The inverse of `pre`: the same flows in reverse order with opposite signs."""
        return tuple((step[0], *(-x for x in step[1:])) for step in reversed(self.pre))

    @property
    def symmetric(self) -> bool:
        """Whether a step with -h undoes one with h: the stages read the same backwards, and there is no processor."""
        return not self.pre and self.stages == self.stages[::-1]


def stages_of(scheme: Scheme) -> int:
    """Load evaluations in a step, without the processor; kicks where two steps meet count once."""
    kicks = sum(step[0] == "B" for step in scheme.stages)
    shared = kicks > 1 and scheme.stages[0][0] == scheme.stages[-1][0] == "B"
    return kicks - shared


# --- from published coefficients to steps -----------------------------------------------------------------------------


def _later(steps: Callable[..., Steps]) -> Callable[..., Later]:
    """The function with its arguments, called where a row is asked for: all of them take a tenth of a second."""
    return partial(partial, steps)


def _row(
    name: str, title: str, cite: str, order: int, stages: Later, pre: Later = tuple, requires: str = "any",
    generalised: tuple[int, ...] = (),
) -> tuple[str, Scheme]:  # fmt: skip
    """The name of a row, and the row as it is made."""
    return name, unmade(lambda: Scheme(name, title, cite, order, stages(), pre(), requires, generalised))


def _number(x: float | str | Decimal | Fraction) -> Decimal:
    """A number, its text, or a fraction such as "7/24" as a decimal."""
    if type(x) is Decimal:
        return x
    if isinstance(x, str):
        x = Fraction(x) if "/" in x else Decimal(x)
    if isinstance(x, Fraction):
        with decimal.localcontext(decimal.Context(prec=_DIGITS)):
            return Decimal(x.numerator) / Decimal(x.denominator)
    return x if isinstance(x, Decimal) else Decimal(float(x))


def _numbers(given: str | Sequence[Decimal]) -> list[Decimal]:
    return [_number(x) for x in given.split()] if isinstance(given, str) else list(given)


def _merged(steps: Iterable[Step]) -> Steps:
    """Merge adjacent steps of the same letter; drop steps of length zero."""
    merged: list[Step] = []
    for letter, *numbers in steps:
        if merged and merged[-1][0] == letter:
            numbers = [x + y for x, y in zip(merged.pop()[1:], numbers, strict=True)]
        if any(numbers):
            merged.append((letter, *numbers))
    return tuple(merged)


def _steps(first: str, a: Sequence[Decimal], b: Sequence[Decimal], c: Sequence[Decimal] = ()) -> Steps:
    """Alternating steps of A and B, starting with the letter ``first``."""
    c = c or [Decimal(0)] * len(b)
    flows = [("A", x) for x in a]
    kicks = [("B", x, y) for x, y in zip(b, c, strict=True)]
    leading, trailing = (flows, kicks) if first == "A" else (kicks, flows)
    mixed: list[Step] = [*leading, *trailing]
    mixed[::2], mixed[1::2] = leading, trailing
    return tuple(mixed)


@_later
def _listed(text: str) -> Steps:
    """Steps from text, of each the letter and its numbers; a kick may leave out its c."""
    steps = [(step[0], step[1:].split()) for step in re.findall("[AB][^AB]*", text)]
    return tuple((letter, *map(_number, (numbers + ["0"])[: 1 + (letter == "B")])) for letter, numbers in steps)


@_later
def _alternating(first: str, a: str, b: str) -> Steps:
    """A scheme without symmetry from all coefficients of A and of B."""
    return _steps(first, _numbers(a), _numbers(b))


@_later
def _palindrome(first: str, a: str | Sequence[Decimal] = "", b: str | Sequence[Decimal] = "", c: str = "") -> Steps:
    """A symmetric scheme from the outer coefficients a1, a2, ... and b1, b2, ...; the innermost follow from the sums.

    That of the letter in the middle is 1 - 2 sum, that of the other 1/2 - sum. As the coefficients c have no prescribed
    sum, the innermost c is given too.
    """
    outer = {"A": _numbers(a), "B": _numbers(b)}
    second = "B" if first == "A" else "A"
    middle = second if len(outer[first]) == len(outer[second]) else first
    full = {}
    for letter, numbers in outer.items():
        with decimal.localcontext(decimal.Context(prec=_DIGITS)):
            half = Decimal(1) / 2 - sum(numbers)
            inner = [2 * half] if letter == middle else [half, half]
        full[letter] = [*numbers, *inner, *reversed(numbers)]
    modified = _numbers(c)
    modified += reversed(modified[:-1] if middle == "B" else modified)
    return _steps(first, full["A"], full["B"], modified)


def _kick_flow_kick(lengths: Iterable[Decimal]) -> Steps:
    """Consecutive steps of v2 of these lengths; adjacent kicks are merged."""
    zero = Decimal(0)
    return _merged(step for g in lengths for step in (("B", g / 2, zero), ("A", g), ("B", g / 2, zero)))


@_later
def _composition(outer: str) -> Steps:
    """A symmetric composition of v2 from the outer step lengths; the innermost makes the sum 1."""
    with decimal.localcontext(decimal.Context(prec=_DIGITS)):
        lengths = _numbers(outer)
        return _kick_flow_kick([*lengths, 1 - 2 * sum(lengths, Decimal(0)), *reversed(lengths)])


@_later
def _conjugating(lengths: str) -> Steps:
    """The processor of a composition: steps of v2 of these lengths, then of their negatives in the same order."""
    with decimal.localcontext(decimal.Context(prec=_DIGITS)):
        forth = _numbers(lengths)
        return _kick_flow_kick([*forth, *(-g for g in forth)])


@_later
def _corrector(sign: int, weights: str | Sequence[Decimal], square: Decimal = Decimal(7) / 40) -> Steps:
    """Wisdom's corrector: Z(n s, w_n) ... Z(s, w_1) Z(-s, -w_1) ... Z(-n s, -w_n) with s = sign sqrt(square).

    Z(t, w) is A(t) B(w) A(-2 t) B(-w) A(t) [wisdom1996]; `weights` are w_n ... w_1 [wisdom2006].
    """
    with decimal.localcontext(decimal.Context(prec=_DIGITS)):
        unit, zero = sign * square.sqrt(), Decimal(0)
        w = _numbers(weights)
        half = [((len(w) - i) * unit, w[i]) for i in range(len(w))]
        return _merged(
            step
            for t, b in half + [(-t, -b) for t, b in reversed(half)]
            for step in (("A", t), ("B", b, zero), ("A", -2 * t), ("B", -b, zero), ("A", t))
        )


@cache
def _nodes_and_weights(first: str, kicks: int) -> tuple[list[Decimal], list[Decimal]]:
    """Times (in steps) and weights of the kicks of SABA or SBAB."""
    with decimal.localcontext(decimal.Context(prec=_DIGITS)):
        return nodes_and_weights(kicks, 0) if first == "A" else nodes_and_weights(kicks + 1, 2)


@_later
def _quadrature(first: str, kicks: int, corrected: bool) -> Steps:
    """SABA, SBAB and their correctors [laskar2001]: kicks at the nodes of Gauss or Lobatto, with their weights.

    The corrector is half a commutator kick at either end. Its coefficient cancels the error in [B,[A,B]], which for
    weights b_i at the times t_i is beta = 1/6 - sum_i b_i t_i (b_i/2 + sum_(j > i) b_j).
    """
    with decimal.localcontext(decimal.Context(prec=_DIGITS)):
        t, b = _nodes_and_weights(first, kicks)
        times = [Decimal(0), *t] if first == "A" else t
        a = [after - before for before, after in pairwise(times)]
        half = kicks // 2, (kicks - 1) // 2
        stages = _palindrome(first, a[: half[first == "B"]], b[: half[first == "A"]])()
        if not corrected:
            return stages
        beta = Decimal(1) / 6 - sum(b[i] * t[i] * (b[i] / 2 + sum(b[i + 1 :])) for i in range(len(b)))
        end = ("B", Decimal(0), -beta / 2)
        return _merged((end, *stages, end))


# --- the rows ---------------------------------------------------------------------------------------------------------

# fmt: off
_ROWS = [
    # Second order.
    _row("v2", "Stoermer-Verlet, kick-flow-kick", "strang1968", 2, _palindrome("B")),
    _row("v2_dkd", "Stoermer-Verlet, flow-kick-flow", "strang1968", 2, _palindrome("A")),
    _row("omf2", "Omelyan-Mryglod-Folk, smallest second-order error with two kicks", "omelyan2002", 2, _palindrome(
        "B", b="0.1931833275037836")),
    # Any T and V.
    _row("ruth3", "Ruth, three kicks", "ruth1983", 3, _alternating("B", a="2/3 -2/3 1", b="7/24 3/4 -1/24")),
    _row("mclachlan_s4", "McLachlan S, m = 4", "mclachlan1995", 4, _palindrome("A",
        a="0.169139279922072045175002465965 -0.299186203904050799508631715119", b="6/11")),
    _row("mclachlan_s5", "McLachlan S, m = 5", "mclachlan1995", 4, _palindrome("A",
        a="0.089269454226475244886694611261 -0.097336042636895508015359943398", b="2/5 -1/10")),
    _row("pefrl", "position-extended Forest-Ruth-like", "omelyan2002", 4, _palindrome("A",
        a="0.178617895844809067059903767081 -0.066264582669818496278015621765", b="0.712341831062605403831890458069")),
    _row("vefrl", "velocity-extended Forest-Ruth-like", "omelyan2002", 4, _palindrome("B",
        a="0.520943339103989881067161276347", b="0.164498651557575972021633211800 1.235692651138916999762645480905")),
    _row("s4_6", "Blanes-Moan S6 (b2 is negative; a minus sign is lost in some reprints)", "blanes2002", 4,
        _palindrome("A",
        a="0.079203696431195652849762968973 0.353172906049773998963802400749 -0.042065080357719538300457399559",
        b="0.209515106613361999166435600096 -0.143851773179818005912473396679")),
    _row("s6_10", "Blanes-Moan S10", "blanes2002", 6, _palindrome("A", a="""
            0.050262764400392686021221655605  0.413514300428343815063063709079  0.045079889794398062968897053713
           -0.188054853819568914799128479216  0.541960678450780134831414736923
        """, b="""
            0.148816447901043231920901007125 -0.132385865767783647448845430158  0.067307604692184458150257894664
            0.432666402578173597527667974620
        """)),
    # Nystroem: T quadratic in the momenta, V of the configuration only. A and B cannot be swapped.
    _row("mclachlan_sb3a4", "McLachlan SB3A, m = 4", "mclachlan1995", 4, _palindrome("A",
        a="0.188195217768838217868020938974 -0.021528551102171551201354272307", b="1"), requires="nystrom"),
    _row("mclachlan_sb3a5", "McLachlan SB3A, m = 5", "mclachlan1995", 4, _palindrome("A",
        a="0.405188618395252277210397692575 -0.287144040816524088990366555529",
        b="-0.041095890410958904114024846833 0.288135593220338983045787796781"), requires="nystrom"),
    _row("ma4", "McLachlan-Atela, four kicks", "mclachlan1992", 4, _alternating("B", a="""
            0.515352837431122936400355298435 -0.085782019412973646070268733774  0.441583023616466524253075476359
            0.128846158365384185416837958980
        """, b="""
            0.134496199277431089205480943185 -0.224819803079420805816546847320  0.756320000515668291111745845958
            0.334003603286321425499320058177
        """), requires="nystrom"),
    _row("ma5", "McLachlan-Atela, six kicks", "mclachlan1992", 5, _alternating("B", a="""
            0.339839625839110000000261460017 -0.088601336903027328652358560344  0.585856476825962118809905316288
           -0.603039356536491888197936296667  0.323580796554697639324957506187  0.442363794219749458715170574519
        """, b="""
            0.119390029287567275794628194091  0.698927370382475230835018431845 -0.171312358271600775407893165003
            0.401269502251353447995822976585  0.010705081848235983987424191065 -0.058979625498031163205000628583
        """), requires="nystrom"),
    _row("calvo4", "Calvo-Sanz-Serna, four kicks", "calvo1993", 4, _alternating("B", a="""
            0.205177661542289153438445730935  0.403021281604211953919753554210 -0.120920876338911789381751034412
            0.512721933192410682023551749268
        """, b="""
            0.061758858135628703515093248300  0.338978026553642115917667599575  0.614791307175577956483792182634
           -0.140548014659375052104197066230  0.125019822794526276187644035721
        """), requires="nystrom"),
    _row("rkn4_6b", "Blanes-Moan SRKN6b", "blanes2002", 4, _palindrome("B",
        a="0.245298957184271162603932411991 0.604872665711079974960892698428",
        b="0.082984406417405018838347466664 0.396309801498368077094911504924 -0.039056304922348435170865279402"),
        requires="nystrom"),
    _row("rkn6_7", "seven kicks, another solution of the equations of Okunbor and Skeel", "okunbor1994", 6,
        _palindrome("A",
        a="0.185741872475614216281707949363 -0.021252782127886445746196581593 -0.296005126999509728274260562933",
        b="-0.403829930234825015040091442942 0.693125122491730196969356876472 0.008838140048402304494847306085"),
        requires="nystrom"),
    _row("rkn6_7os", "Okunbor-Skeel method 13", "okunbor1994", 6, _palindrome("A",
        a="-1.013087978917174729814904578489 1.187429573732542707024293320637 -0.018335852096460590344387488410",
        b="0.000166006926500098942174707243 -0.379624214263773606081946907999 0.689137411851810636740801664658"),
        requires="nystrom"),
    _row("rkn6_11b", "Blanes-Moan SRKN11b", "blanes2002", 6, _palindrome("B", a="""
            0.123229775946271151561086380333  0.290553797799558270366414169328 -0.127049212625416915662505053827
           -0.246331761062075404194973489104  0.357208872795927752619860349619
        """, b="""
            0.041464998518262843298778133915  0.198128671918066541136726473181 -0.040006192104152686888828363536
            0.075253984301580341127878878527 -0.011511387420687770062443201501
        """), requires="nystrom"),
    _row("rkn6_14a", "Blanes-Moan SRKN14a", "blanes2002", 6, _palindrome("A", a="""
            0.037859319840613631645033630911  0.102635633102433652899367989852 -0.025867888266561678832758422522
            0.314241403071470482102346208880 -0.130144459517420561498996693573  0.106417700369538296505266711423
           -0.008794243128508576972076961300
        """, b="""
            0.091719152624462665740375182177  0.183983170005008582474273403279 -0.056534365832884141340411561155
            0.004914688774710470065149070953  0.143761127168367503917297372064  0.328567693746804271515576298788
        """), requires="nystrom"),
    _row("rkn8_17", "Blanes-Casas-Escorihuela-Tomas, 17 kicks", "blanes2022", 8, _palindrome("A", a="""
            0.052092434384033900642603796835  0.225287493267702165807274831864  0.416276189612257117795363856737
           -0.384567270213950399652168569029  0.099727178347051481667454758937 -0.108833834399100218757003157958
            0.222010736648991680848341975522  0.523879522036734296002247438223
        """, b="""
            0.145850304812644731608096609877  0.255156544139293944162028807345  0.018133468820831725136146068404
           -0.179040110299264554587007062749 -0.118470801433302245053382954342  0.186461689273821083344937258279
            0.459041581767136840219244627361 -0.003660836270318358975321459400
        """), requires="nystrom"),
    # Nystroem with the commutator load.
    _row("nystrom4_v", "kick-flow-kick with one modified kick [vilmart2013, sec. 3], Chin 4A", "chin1997", 4,
        _palindrome("B", b="1/6", c="0 1/72"), requires="gradient"),
    _row("chin4b", "Chin 4B", "chin1997", 4, _palindrome("A", a="0.211324865405187117745425609749",
        c="0.005582274842315056384844867885"), requires="gradient"),
    _row("chin4c", "Chin 4C", "chin1997", 4, _palindrome("A", a="1/6", b="3/8", c="0 1/192"), requires="gradient"),
    _row("fg6_5", "five modified kicks, flow first; leading error minimised", "omelyan2003", 6, _palindrome("A",
        a="0.109572455010515118804517156350 0.456769882413270885551641803048",
        b="0.268849151062253450956561920795 0.155636645881498774937862708336",
        c="0.001079657816744358614710714261 -0.006520974382866871595580502004 0.020636311405723747414437051851"),
        requires="gradient"),
    _row("fg6_5b", "five modified kicks, kick first; leading error minimised", "omelyan2003", 6, _palindrome("B",
        a="0.500398326778054452629545617013 -0.228037180355372366681649192869",
        b="0.082568272122907043055380084395 0.011703806620091663764308646734",
        c="-0.000214091936542351660479456995 -0.000327914406474976031233244815 0.004536502061159394656617037989"),
        requires="gradient"),
    _row("pmlf4", "Takahashi-Imada kernel with a processor", "takahashi1984", 4, _palindrome("A", c="1/24"),
        pre=_listed("""
            B  0.185935399684605464415966643791  A  0.874930615595543534033796586897
            B  0.073196979785811449079112983796  A -0.237106680151021920477108226728
            B -0.157662426929808107551937572779  A -0.536353982903912807613546305361
        """), requires="gradient"),
    _row("pmlf6", "Blanes-Casas-Ros, three kicks, one of them modified, processed", "blanes2001rkn", 6, _palindrome(
        "A", a="-0.068261038391863012714531744785", b="0.262112935251702805434372890089",
        c="0 0.016401112816078327824712389108"), pre=_listed("""
            A  0.079432882424554285500508683781  B  1.359942448745526266497650386414 -0.034841228074994984635075415026
            A  0.029748291694676613972016974664  B -0.650597374753513338200629839804  0.031675672097525304238488273311
            A -0.705707496481589535234119335899  B -0.033542814598338371827848381048 -0.005661054677711892674078032326
            A  0.319042345126083905282135797475  B -0.040129915275114989456673642571  0.004262222269023663783935757770
            A -0.286914733429964655661147532425  B  0.044579729809903219497279236360  0.005
            A  0.564398710666239512203482932504  B -0.680252073928462660446900239252 -0.005
        """), requires="gradient"),
    # Compositions of v2.
    _row("yoshida4", "triple jump, Forest-Ruth", "yoshida1990", 4, _composition("1.351207191959657634047687808971")),
    _row("suzuki4", "Suzuki fractal, five steps", "suzuki1990", 4, _composition(
        "0.414490771794375737142354062861 0.414490771794375737142354062861")),
    _row("suzuki6", "Suzuki fractal, 25 steps", "suzuki1990", 6, _composition("""
            0.154632342867271877402936449981  0.154632342867271877402936449981 -0.245463543735814684835882758849
            0.154632342867271877402936449981  0.154632342867271877402936449981  0.154632342867271877402936449981
            0.154632342867271877402936449981 -0.245463543735814684835882758849  0.154632342867271877402936449981
            0.154632342867271877402936449981 -0.204038599674711772469391737062 -0.204038599674711772469391737062
        """)),
    _row("mclachlan_ss5", "McLachlan SS, m = 5", "mclachlan1995", 4, _composition(
        "0.280000000000000000004684243202 0.625466428467670045002154479170")),
    _row("mclachlan_ss9", "McLachlan SS, m = 9", "mclachlan1995", 6, _composition("""
            0.186699999999999999997735427433  0.555497023712478399157309069073  0.129466948913475358058052404504
           -0.843265623387734608549401234309
        """)),
    _row("mclachlan_ss17", "McLachlan SS, m = 17", "mclachlan1995", 8, _composition("""
            0.128865979381443298966509237146  0.581514087105250962430744588127 -0.410175371469850137526249041870
            0.185146935716587732655603596715 -0.409552343420851419345958835376  0.144405941080012041060457415924
            0.278335500393679651312314138258  0.314956683916294857886672973621
        """)),
    _row("kl4", "Kahan-Li, five steps, first set", "kahan1997", 4, _composition(
        "0.788675134594812882254574390251 0.211324865405187117745425609749")),
    _row("kl4b", "Kahan-Li, five steps, second set", "kahan1997", 4, _composition(
        "0.211324865405187117745425609749 0.788675134594812882254574390251")),
    _row("kl6", "Kahan-Li, nine steps, first set", "kahan1997", 6, _composition("""
            0.392161444007314139279250557423  0.332599136789359438599748637500 -0.706246172557639359809964819549
            0.082213596293550800231490448102
        """)),
    _row("kl6b", "Kahan-Li, nine steps, second set", "kahan1997", 6, _composition("""
            0.391030203308684788167437999972  0.334037289611136017488805393772 -0.706227281187561343453768156848
            0.081877549648059445771394118117
        """)),
    _row("kl8a", "Kahan-Li, 17 steps, first set", "kahan1997", 8, _composition("""
            0.130202483088890080878817632097  0.561162981775108384561964407700 -0.389474962644847286408078598235
            0.158841906555155600896210745707 -0.395903894133237577336231539348  0.184539640978315707091832541533
            0.258374387686322047293979109995  0.295011723609310298870966240218
        """)),
    _row("kl8", "Kahan-Li, 17 steps, second set", "kahan1997", 8, _composition("""
            0.127136927734878579161312620174  0.561702537988802699716325316872 -0.382534719948830188880351164614
            0.160076056294647431194833245689 -0.401816374326806966728129765480  0.187366716542278497243628784386
            0.260708709207792405696561601166  0.290397388125161623887014752659
        """)),
    _row("kl10a", "Kahan-Li, 31 steps, first set", "kahan1997", 10, _composition("""
           -0.481598956002530028702664609916  0.003630393154459592687870162189  0.501803175587231402790845429143
            0.282984026245062548684125543569  0.807029678953722238058585595240 -0.026090580538592205447390766384
           -0.872865901463180715468564871963 -0.523735680625105816426270223306  0.445218442999527892520328083216
            0.186122895470979078873598907026  0.231373278664383606333792782176 -0.521910365904186289052511715475
            0.748661137144992967926519490619  0.066736511890604057531549903582 -0.803603243756708303163881206362
        """)),
    _row("kl10b", "Kahan-Li, 31 steps, second set", "kahan1997", 10, _composition("""
            0.273384769262284527821343592081  0.445878465025602839965845186675  0.832196428471363071257391340540
           -0.833968685549579428786821623247  0.278918430570151942925853123811  0.890327380457025320062991033709
            0.056681514845245709418235974624 -0.857374208149788877221115583360 -0.467894925548365861108772430579
           -0.479190091823982642488069922002  0.167240746800437089092360400867 -0.874431512633761433072461184865
           -0.498734818536201657861066644698  0.589305366089749188510956183902  0.834589377908827297750098990043
        """)),
    _row("kl10c", "Kahan-Li, 33 steps, first set", "kahan1997", 10, _composition("""
            0.070428877682658066880031752903  0.874156517353539490412304391891  0.055414604963802442708365710576
           -0.066800477898797011599175507520 -0.626413089587995555927767329692  0.236826210875287628724618340427
           -0.422210634031700542099192502357  0.242229422010408592486119661496  0.047374515478601436594145868753
            0.543868260524724233380929192994 -0.932522309284472643111289721433  0.169601798836764648552799204341
            0.716085675784505636081382777868 -0.800167302473105735118943320010  0.237781852922567707471765006981
           -0.323303015508639433891290486180
        """)),
    _row("kl10d", "Kahan-Li, 33 steps, second set", "kahan1997", 10, _composition("""
            0.122824276447215720936445737271  0.776446808906964403419803889885  0.148815145537342974788995856770
           -0.172391259535060672488455820752 -0.547459957818524637872803603422  0.145129323273069274791752676271
           -0.315645551531144605623564802986  0.120868650898338719792736521464  0.179102775178663442580996304405
            0.442634088139932459485439000629 -0.819353374795936974643422495352  0.134454741417528840447268702551
            0.644442391690166465380428378012 -0.719301493702016125573716871868  0.210369024973486646099798659658
           -0.269081949415705162943035649851
        """)),
    _row("yoshida6", "Yoshida 6A", "yoshida1990", 6, _composition(
        "0.784513610477557263819497633866 0.235573213359358133684793182979 -1.177679984178871006946415680964")),
    _row("yoshida6b", "Yoshida 6B", "yoshida1990", 6, _composition(
        "1.439848167976783090930499281479 0.004260681870792016196083713829 -2.132285222001451520705993372221")),
    _row("yoshida6c", "Yoshida 6C", "yoshida1990", 6, _composition(
        "1.447782562399297932897896663299 -2.144035316305389310601301806660 0.001528862284249270252267238617")),
    _row("yoshida8", "Yoshida 8D, also Suzuki-Umeno", "yoshida1990", 8, _composition("""
            0.741670364350612953448227801784 -0.409100825800031593997300095894  0.190754710296238379953876256450
           -0.573862471116082266656387726636  0.299064181303655923844463540689  0.334624918245298183784957979882
            0.315293092396766596632056663811
        """)),
    _row("yoshida8a", "Yoshida 8A", "yoshida1990", 8, _composition("""
            1.042426208699704264348953268398  1.820206309706980069331733166121  0.157739928123708321342825783080
            2.440027326166344063816895897619 -0.007169894197095332099806129250 -2.446991823704245889294691452381
           -1.615823741500653784787940197459
        """)),
    _row("sp6_11", "Sofroniou-Spaletta, 11 steps", "sofroniou2005", 6, _composition("""
            0.213755839458782545555180669649  0.183293814074257139113859744252  0.176928194730989437948988117099
           -0.443290826811702158496228296263  0.117285604328659353854035856691
        """)),
    _row("sp6", "Sofroniou-Spaletta, 13 steps", "sofroniou2005", 6, _composition("""
            0.138619308540516952458080130426  0.133465628510747604070468588322  0.130705310114492251905427557850
            0.129618937569070347725053665371 -0.350003248939208965161708309113  0.118055306530023871702734389540
        """)),
    _row("sp8", "Sofroniou-Spaletta, 21 steps", "sofroniou2005", 8, _composition("""
            0.106477289845500318239319678549  0.108374086458357263974334105915  0.353378210526543424195345413241
           -0.233414140231650821987802811283 -0.244452667915288412694621714132  0.113178484357556333147009525156
            0.118929056250003500626929722840  0.126039123218259881403056702684  0.125817187361760418043923916416
            0.116991350192176421807228814335
        """)),
    _row("sp10", "Sofroniou-Spaletta, 35 steps", "sofroniou2005", 10, _composition("""
            0.078795722521686419263907679338  0.313096103415108527764812471926  0.027918383235078066109520273275
           -0.229592841593907094151213396797  0.130962061077164863174656859280 -0.269733405654510714344609732224
            0.074973343155891435666137105641  0.111993423999810204889575080736  0.366133449546226751193148123531
           -0.399105630136035897878629810583  0.103087398527471077315802770014  0.411430873955890237820704118976
           -0.004866360583135261762195659310 -0.392033353708639906448081936426  0.051942502962449647037182904016
            0.050665090759924496335874344157  0.049674370639729879054568800279
        """)),
    # Processed compositions of v2.
    _row("p6_7", "Blanes, seven steps, processed", "blanes2001", 6, _composition(
        "0.513910778424374021173124535055 0.364193022833857755279202579306 -0.867423280969273745187857118086"),
        pre=_conjugating("""
            0.224512214195200041503204152142  0.461165940466493970810526722107  0.074332422810238014540116220448
           -0.384998538774070021324936970726 -0.375012038697862005528910123972
        """)),
    _row("p6_11", "Blanes-Casas-Murua, 11 steps, processed", "blanes2006", 6, _composition("""
            0.170576886500922215701503304742  0.170576886500922215701503304742  0.170576886500922215701503304742
            0.170576886500922215701503304742 -0.423366140892658047989052006757
        """), pre=_conjugating("""
            0.268037235979767708060596451686  0.206219531391259783535122284723 -0.236513874832030927400154261525
           -0.090869822762408594178573436726 -0.246873069776588954915080271836  0.100000000000000984898089233678
        """)),
    _row("p6", "Blanes-Casas-Murua, 13 steps, processed", "blanes2006", 6, _composition("""
            0.125696288720106040990493754395  0.125696288720106040990493754395  0.125696288720106040990493754395
            0.125696288720106040990493754395  0.148070660114964759186873277625 -0.350856370823829166867677636540
        """), pre=_conjugating("""
            0.100000000000000005962644180359  0.225080298761175987310855490242  0.191244694511160983778045076693
           -0.212763792194890024432774987214 -0.096601573065822941634630890429 -0.206959628011624010984138869650
        """)),
    _row("p8", "Blanes-Casas-Murua, 13 steps, processed", "blanes2006", 8, _composition("""
            0.168000000000000184478747426389  0.168000000000000184478747426389  0.585550530805562332068687744310
           -0.460090457516871692266525713011  0.172863148729730756262996267417  0.179664539695038833985610129375
        """), pre=_conjugating("""
            0.518924310737470133708650425442  0.008488123494574356463471559800  0.337188967354338093864609738848
           -0.333987768164596914734945765137 -0.588351189003848824810462973830 -0.162324207599241011966485028119
            0.511744926116413065528445153639 -0.236885952363383943219305949529 -0.598212975943381044115937975987
            0.543415765371656089281960814873
        """)),
    _row("p10", "Blanes-Casas-Murua, 23 steps, processed", "blanes2006", 10, _composition("""
            0.121657748919386458476163568017  0.121657748919386458476163568017  0.121657748919386458476163568017
            0.121657748919386458476163568017  0.121657748919386458476163568017 -0.511318780154775505202457340743
           -0.172858614884935943669690885179  0.123016258833076097345641022164  0.441503951671560066330540603547
           -0.327071324165521578499702254930  0.070952700957720906628060850820
        """), pre=_conjugating("""
           -0.329417502806149715429556431527 -0.472714205817961366649847397423 -0.013447506163907758203474482748
            0.463710469031146606457718725437  0.304559092040772268225718109340  0.538294581119041770995325924524
            0.189979552559718396573327762862 -0.154825646963717600604818986778  0.359414802429789257351070308304
           -0.343034566247896088636853867878 -0.533403027367497799777852063615 -0.009116041813337970300757600497
        """)),
    # Processed splittings.
    _row("ps4", "Blanes-Casas-Ros kernel of three kicks, processed", "blanes1999", 4, _palindrome("A",
        a="0.560087981092461912134893032920", b="1.517147970720722756120079275090"), pre=_listed("""
            B -0.183966960823517350812865309323  A -0.515004334489991641271514629890
            B -0.113697834595954068671480905584  A  0.196714151421657063892738506548
            B  0.297664795419471419484346214907  A  0.318290183068334577378776123340
        """)),
    _row("pni6_4", "Blanes-Casas-Ros (6,4), two kicks, processed", "blanes2000", 4, _alternating("A",
        a="-0.233944912506935279358943912668 1.233944912506935279358943912668",
        b="1.233944912506935279358943912668 -0.233944912506935279358943912668"), pre=_listed("""
            B -0.500000000000000023594738021290  A -0.484229679845786100078336739195
            B -0.071444491827245766431567305772  A  0.310440097305957406448374706298
            B  0.511942340768926088729433244659  A  0.911260323688416171358998929929
            B -0.225647154894840982587609323484
        """), requires="nystrom", generalised=(6, 4)),
    _row("plf7_6_4", "Blanes-Casas-Ros (7,6,4), three kicks, processed", "blanes2000", 4, _palindrome("A",
        a="0.560087981092461912134893032920", b="1.517147970720722756120079275090"), pre=_listed("""
            A  0.334622229873080209290132527007  B  1.621810118086800782896884447171
            A -1.097567990732161186491128762363  B -0.006170946811014235423485046837
            A  1.038088746096780688787298777276  B -0.834849359247258559743070895809
            A -0.623477631792137312594682785838  B  0.051125336998931765761530692032
            A  1.102753206303190462572487624904  B -0.563378267069819992536156153916
            A  0.014118322208886936388187489572  B  0.500000000000000036996591827916
        """), requires="near", generalised=(7, 6, 4)),
    # Nearly integrable: B is small.
    _row("aba8_4", "McLachlan (8,4)", "mclachlan1995small", 4, _palindrome("A",
        a="0.075346960269892888416527803683 0.517916854688256782300773978496",
        b="0.190225939373676619245230762738 0.846524070443526257055080544647"), requires="near", generalised=(8, 4)),
    _row("aba10_4", "(10,4)", "blanes2013", 4, _palindrome("A",
        a="0.047067100645972506129478876372 0.184756935417088106924737619370 0.282706005679836205324361656554",
        b="0.118881917368197019945350395085 0.241050460551501565744166786590 -0.273286666705323806054311398166"),
        requires="near", generalised=(10, 4)),
    _row("aba8_6_4", "(8,6,4)", "blanes2013", 4, _palindrome("A",
        a="0.071133426498223117777938730006 0.241153427956640098736487795326 0.521411761772814789212136078068",
        b="0.183083687472197221961703757166 0.310782859898574869507522291054 -0.026564618511958800697212137916"),
        requires="near", generalised=(8, 6, 4)),
    _row("aba10_6_4", "(10,6,4)", "blanes2013", 4, _palindrome("A", a="""
            0.038094497422412195456975322309  0.145298716116913749294020072661  0.207627695725541250716205611325
            0.435909703651526159223154862401
        """, b="0.095858880837075210610771503771 0.204446153142998780680507783916 0.217070347978991101714338592431"),
        requires="near", generalised=(10, 6, 4)),
    _row("abah8_4_4", "(8,4,4), made for a B that is itself split", "farres2013", 4, _palindrome("A",
        a="0.274140268943401876164056544038 -0.107568438440164230625110529706 -0.048018502590601692691195417151",
        b="0.640885795162512717732249116472 -0.858575448956782856588128324636"), requires="near", generalised=(8, 4)),
    _row("abah8_6_4", "(8,6,4), made for a B that is itself split", "farres2013", 4, _palindrome("A", a="""
            0.068102356516583720847239766821  0.251136038722103323307282958046 -0.075072649572165625160068217676
           -0.009544719701745007811488218957
        """, b="0.168443259361895453431038269776 0.424317717374267722430035165741 -0.585810969468175681230901535540"),
        requires="near", generalised=(8, 6, 4)),
    _row("abah10_6_4", "(10,6,4), made for a B that is itself split", "farres2013", 4, _palindrome("A", a="""
            0.047319086976533822704043717963  0.265110523574878515953948003619 -0.009976522883811240843267468165
           -0.059929199734941551263952479877
        """, b="""
            0.119688462458532203531286429749  0.375295585537937425042012853769 -0.468459341832599378365082040981
            0.335139734275589701039309894295
        """), requires="near", generalised=(10, 6, 4)),
    _row("wisdom3", "flow-kick-flow with the symplectic corrector of order 3", "wisdom1996", 2, _palindrome("A"),
        pre=_corrector(1, "-0.024900596027799867499350357910"), requires="near", generalised=(4, 2)),
    _row("wisdom5", "flow-kick-flow with the symplectic corrector of order 5", "wisdom1996", 2, _palindrome("A"),
        pre=_corrector(-1, "-0.008300198675933289166450119303 0.041500993379666445832250596517"), requires="near",
        generalised=(6, 2)),
    _row("wisdom7", "flow-kick-flow with the symplectic corrector of order 7", "wisdom1996", 2, _palindrome("A"),
        pre=_corrector(-1,
        "0.002492681142692210577903059395 -0.018270923246702131478062356885 0.053964399093127498721765893494"),
        requires="near", generalised=(8, 2)),
    _row("wisdom11", "flow-kick-flow with the symplectic corrector of order 11", "wisdom1996", 2, _palindrome("A"),
        pre=_corrector(1, """
           -0.000203615796478546513016328188  0.002348721529229535418830732885 -0.012309078592019946317544564763
            0.038121613681288650508647613260 -0.072593394748842738674253180743
        """), requires="near", generalised=(12, 2)),
    _row("wisdom17", "flow-kick-flow with the symplectic corrector of order 17", "wisdom1996", 2, _palindrome("A"),
        pre=_corrector(1, """
            0.000004334741547337358019065022 -0.000076436355227935738363241847  0.000635999830758176589831668816
           -0.003313257706938065565549019683  0.012071760822342291062449751727 -0.032422198864713580293681523030
            0.065192863576377893658290760804 -0.093056103771425958591541059068
        """), requires="near", generalised=(18, 2)),
]
# fmt: on


def _laskar_robutel(first: str, kicks: int, corrected: bool) -> tuple[str, Scheme]:
    family = {"A": "SABA", "B": "SBAB"}[first] + "C" * corrected
    orders = (2 * kicks, 4 if corrected else 2)
    return _row(
        f"{family.lower()}{kicks}", f"Laskar-Robutel {family}{kicks}, ({orders[0]},{orders[1]})", "laskar2001",
        min(orders), _quadrature(first, kicks, corrected), requires="gradient" if corrected else "near",
        generalised=orders,
    )  # fmt: skip


_ROWS += [
    _laskar_robutel(first, kicks, corrected) for corrected in (False, True) for first in "AB" for kicks in range(1, 11)
]

SCHEMES: Mapping[str, Scheme] = MappingProxyType(Table(_ROWS))
"""The splittings by name, each a ``Scheme`` with its coefficients."""


def scheme(name: str | Scheme) -> Scheme:
    """The scheme of this name; a scheme is returned unchanged."""
    if isinstance(name, Scheme):
        return name
    return SCHEMES[choice(name, "splitting scheme", SCHEMES)]


# --- a corrector for any row ------------------------------------------------------------------------------------------

PAIRS, SQUARE = 6, Decimal("0.09")
"""Number of weights of a corrector, and the square of the time s between them, in steps. The corrector removes errors
of first order in B up to h^(2 PAIRS)."""
HIGHEST = 6
"""Largest order of a scheme whose own error exceeds what a corrector adds, see ``corrected``."""


@cache
def corrected(rule: Scheme, pairs: int = PAIRS, square: Decimal = SQUARE) -> Scheme:
    """A symmetric scheme with Wisdom's symplectic corrector as its processor, computed from its own coefficients.

    At first order in B, a step with kicks b_i at the times c_i from its middle, x = h [A, .], has the perturbation
    G(x) B instead of B,

        G(x) = sum_i b_i exp(c_i x) x / (2 sinh(x/2)) = 1 + g_2 x^2 + ...,

    and ``_corrector`` changes it by -4 x sum_i w_i sinh(t_i x), t_i = i s [wisdom1996]: the weights solve the linear
    equations 4 sum_i w_i t_i^k / k! = g_(k+1) for k = 1, 3, .... Of the errors of first order in B those of order
    2 (pairs + 1) in h remain. The blocks of the corrector are arranged symmetrically, so the errors it adds at second
    order in B cancel. At third order there remain brackets of five letters and, unless [B,[B,[B,A]]] = 0, of four:
    schemes of order 4 keep their order; those of higher order fall to 5 or 4, but these errors have the cubes of the
    small weights as factors (s6_10: 5e-10 and 4e-9, its own being 1e-5).

    An error g_2 x^2 that is corrected leaves g_2 [B,[B,A]]. Rows with a commutator load and an error of that order
    (``sabac1``, ``sbabc1``) get other factors of it, whose sum is larger by g_2: they become Wisdom, Holman and Touma's
    modified kick, with errors of order 4 [wisdom1996].
    """
    last = 2 * pairs
    with decimal.localcontext(decimal.Context(prec=_DIGITS)):
        at, kicks = Decimal(-1) / 2, []
        for letter, x, *_ in rule.exact_stages:
            if letter == "A":
                at += x
            else:
                kicks.append((at, x))
        kicked = [sum((b * c**k if k else b for c, b in kicks), Decimal(0)) / factorial(k) for k in range(last + 1)]
        sinh = [Decimal(k % 2 == 0) / 2**k / factorial(k + 1) for k in range(last + 1)]
        g: list[Decimal] = []
        for k in range(last + 1):
            g.append(kicked[k] - sum((sinh[j] * g[k - j] for j in range(1, k + 1)), Decimal(0)))
        times = [(i + 1) * square.sqrt() for i in range(pairs)]
        rows = [[4 * t**k / factorial(k) for t in times] + [g[k + 1]] for k in range(1, last, 2)]
        weights = _solved(rows)
        stages = rule.exact_stages
        if rule.requires == "gradient" and rule.generalised[:1] == (2,):
            factors = sum((step[2] for step in stages if step[0] == "B"), Decimal(0))
            stages = tuple((*step[:2], step[2] * (1 + g[2] / factors)) if step[0] == "B" else step for step in stages)
    second, *rest = rule.generalised[1:] or (rule.order,)
    third = min(*rest, second, 5 if rule.requires in ("nystrom", "gradient") else 4)
    orders = (last + 2, second, *[third] * (third < second))
    return Scheme(
        f"{rule.name}_corrected", f"{rule.title}, with the corrector of its first-order errors", "wisdom1996",
        third, stages, _corrector(1, weights[::-1], square)(), rule.requires, orders,
    )  # fmt: skip


def _solved(rows: list[list[Decimal]]) -> list[Decimal]:
    """The solution of linear equations by elimination; each row ends with its right-hand side."""
    n = len(rows)
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(n):
            if i != k:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[n] / row[k] for k, row in enumerate(rows)]
