r"""Order conditions of splitting schemes, from the definition: the logarithm of the product of their exponentials.

One step of a scheme is the product exp(a_1 h A) exp(b_1 h B) ... of two letters that do not commute, in the order in
which the flows are run. Its logarithm is h (A + B) + errors, and the scheme has order p when all errors up to degree p
in h vanish. Nothing is derived here: words in the letters are multiplied, in decimals of 50 digits.

=================  =====================================================================================================
words              coefficients by word, ``{"": 1, "A": ..., "AB": ...}``, up to some degree
modified kick      exp(b h B + c h^3 [B,[A,B]])
processor          the product is pre . stages . post
Nystroem           words modulo the ideal of [B,[B,[B,A]]]: BBBA -> 3 BBAB - 3 BABB + ABBB. The left side has no overlap
                   with itself, so the words without BBBA are a basis of the quotient and normal forms are unique
nearly integrable  words with k letters B are kept up to a degree of their own
composition        a symmetric second-order step of length g is exp(g y1 + g^3 y3 + g^5 y5 + ...) with free letters y_i
                   of degree i [hairer2006, III.5.4 and V.3]; far fewer words than in A and B
=================  =====================================================================================================

The leading error is an element of the free Lie algebra. Its size is the Euclidean norm of its coordinates in the Lyndon
basis: Lyndon words in the alphabet B < A, each bracketed at its longest proper Lyndon suffix; in the quotient, those
without BBBA. The effective error of a scheme of s stages and order p is s |error of degree p + 1|^(1/p); its value
depends on the basis, by some per cent.

Shares no code with polhode: a scheme is read by its fields only.
"""

from __future__ import annotations

import decimal
from decimal import Decimal
from functools import lru_cache
from itertools import product as tuples
from math import factorial

DIGITS = decimal.Context(prec=50)
ZERO, ONE = Decimal(0), Decimal(1)


class Words:
    """A free associative algebra with words beyond some degree left out; an element is a list, one entry a word.

    The words that are left out must form an ideal: a word stays only if all its factors stay.
    """

    def __init__(self, letters, keep):
        self.words = [""]
        for word in self.words:  # grows while it is walked through
            self.words += [word + letter for letter in letters if keep(word + letter)]
        self.index = {word: i for i, word in enumerate(self.words)}
        self.splits = [
            [(self.index[word[:k]], self.index[word[k:]]) for k in range(len(word) + 1)] for word in self.words
        ]
        self.longest = max(map(len, self.words))

    def one(self):
        return [ONE] + [ZERO] * (len(self.words) - 1)

    def product(self, x, y):
        return [sum((x[i] * y[j] for i, j in pairs if x[i] and y[j]), ZERO) for pairs in self.splits]

    def times_power_series(self, x, letter, a):
        """x exp(a letter): a word collects from those with fewer of that letter at its end."""
        out = []
        for i, word in enumerate(self.words):
            total, weight = x[i], ONE
            for k in range(1, len(word) - len(word.rstrip(letter)) + 1):
                weight = weight * a / k
                total += weight * x[self.index[word[:-k]]]
            out.append(total)
        return out

    def exp(self, x):
        """exp of an element without constant term, by Horner's rule."""
        total = self.one()
        for k in range(self.longest, 0, -1):
            total = [t / k for t in self.product(x, total)]
            total[0] += 1
        return total

    def log(self, x):
        """log of an element with constant term 1, by Horner's rule."""
        x = [ZERO, *x[1:]]
        total = [ZERO] * len(x)
        for k in range(self.longest, 0, -1):
            total[0] += ONE / k
            total = [-t for t in self.product(x, total)]
        return [-t for t in total]

    def as_dict(self, x):
        return {word: value for word, value in zip(self.words, x, strict=True) if value}


@lru_cache
def two_letters(degree):
    """Words in A and B up to a degree."""
    return Words("AB", lambda word: len(word) <= degree)


@lru_cache
def small_b(limits):
    """Words with k letters B up to degree limits[k]; the last limit holds for all larger k."""
    highest = [max(limits[k:]) for k in range(len(limits))]
    return Words("AB", lambda word: len(word) <= highest[min(word.count("B"), len(limits) - 1)])


ODD = "13579b"  # letters of degree 1, 3, 5, 7, 9, 11


def degree_of(word):
    """Degree of a word in A, B or in the odd letters."""
    return sum(int(letter, 16) if letter in ODD else 1 for letter in word)


@lru_cache
def odd_letters(degree):
    """Words in y1, y3, y5, ... up to a degree."""
    return Words(ODD, lambda word: degree_of(word) <= degree)


# --- logarithms -------------------------------------------------------------------------------------------------------


def inverse(steps):
    return tuple((letter, *(-x for x in numbers)) for letter, *numbers in reversed(steps))


def logarithm(steps, algebra):
    """log of the product of the exponentials of steps ("A", a), ("B", b, c): coefficients by word."""
    with decimal.localcontext(DIGITS):
        x = algebra.one()
        for letter, *numbers in steps:
            numbers = [Decimal(number) for number in numbers]
            if len(numbers) == 2 and numbers[1]:
                b, c = numbers
                kick = {"B": b, "BAB": 2 * c, "BBA": -c, "ABB": -c}  # b B + c [B,[A,B]]
                x = algebra.product(x, algebra.exp([kick.get(word, ZERO) for word in algebra.words]))
            else:
                x = algebra.times_power_series(x, letter, numbers[0])
        return algebra.as_dict(algebra.log(x))


def composition_logarithm(lengths, degree):
    """The same for symmetric second-order steps of these lengths, in the letters y1, y3, ..."""
    algebra = odd_letters(degree)
    with decimal.localcontext(DIGITS):
        x = algebra.one()
        for g in lengths:
            step = [Decimal(g) ** degree_of(word) / factorial(len(word)) for word in algebra.words]
            x = algebra.product(x, step)
        return algebra.as_dict(algebra.log(x))


def step_lengths(steps):
    """Lengths of the kick-flow-kick steps that a sequence of stages consists of, None if it is something else."""
    if not steps:
        return ()
    with decimal.localcontext(DIGITS):
        lengths = [Decimal(step[1]) for step in steps if step[0] == "A"]
        kicks = [(Decimal(step[1]), step[2]) for step in steps if step[0] == "B"]
        halves = [(x + y) / 2 for x, y in zip([ZERO, *lengths], [*lengths, ZERO], strict=True)]
        alternating = "".join(step[0] for step in steps) == "BA" * len(lengths) + "B"
        if not alternating or any(c or abs(b - half) > 3e-16 for (b, c), half in zip(kicks, halves, strict=True)):
            return None
        return tuple(lengths)


def normal_form(polynomial):
    """The representative without BBBA, modulo the ideal of [B,[B,[B,A]]]."""
    with decimal.localcontext(DIGITS):
        waiting, reduced = dict(polynomial), {}
        while waiting:
            word = max(waiting)  # replacements come earlier in the alphabet
            value = waiting.pop(word)
            at = word.find("BBBA")
            if at < 0:
                reduced[word] = value
                continue
            for factor, middle in ((3, "BBAB"), (-3, "BABB"), (1, "ABBB")):
                other = word[:at] + middle + word[at + 4 :]
                waiting[other] = waiting.get(other, ZERO) + factor * value
        return reduced


# --- conditions -------------------------------------------------------------------------------------------------------


def errors(log, *, nystrom=False):
    """What the logarithm has beyond the exact flow: y1 or A + B."""
    exact = {"1": ONE} if "1" in log else {"A": ONE, "B": ONE}
    with decimal.localcontext(DIGITS):
        left = {word: log.get(word, ZERO) - exact.get(word, ZERO) for word in {*log, *exact}}
    return normal_form(left) if nystrom else left


def largest_by_degree(error):
    """Largest coefficient at each degree, as floats."""
    found = {}
    for word, value in error.items():
        degree = degree_of(word)
        found[degree] = max(found.get(degree, 0.0), abs(float(value)))
    return found


def residual(error, order):
    """Largest coefficient of an error up to a degree: 0 where the order conditions hold."""
    return max((value for degree, value in largest_by_degree(error).items() if degree <= order), default=0.0)


def whole(scheme, exact=True):
    """Steps of one step with its processor, from the decimals or from the doubles."""
    stages, pre = (scheme.exact_stages, scheme.exact_pre) if exact else (scheme.stages, scheme.pre)
    return (*pre, *stages, *inverse(pre))


def in_quotient(scheme):
    """Whether the conditions of the scheme are those for [B,[B,[B,A]]] = 0."""
    return scheme.requires in ("nystrom", "gradient")


def is_composition(scheme):
    return step_lengths(scheme.exact_stages) is not None and step_lengths(scheme.exact_pre) is not None


def scheme_errors(scheme, degree, *, exact=True, nystrom=None):
    """Errors of a scheme in A and B up to a degree; in the quotient where the scheme says so."""
    nystrom = in_quotient(scheme) if nystrom is None else nystrom
    return errors(logarithm(whole(scheme, exact), two_letters(degree)), nystrom=nystrom)


def composition_errors(scheme, degree, *, exact=True):
    """Errors of a composition in y1, y3, ... up to a degree."""
    stages, pre = (scheme.exact_stages, scheme.exact_pre) if exact else (scheme.stages, scheme.pre)
    forth = step_lengths(pre)
    lengths = (*forth, *step_lengths(stages), *(-g for g in reversed(forth)))
    return errors(composition_logarithm(lengths, degree))


def generalised_residuals(scheme, *, exact=True):
    """For each entry of ``generalised``: the largest coefficient up to that degree, and the one at the degree after."""
    orders = scheme.generalised
    last = len(orders)
    algebra = small_b((max(orders) + 1, *(order + 1 for order in orders)))
    error = errors(logarithm(whole(scheme, exact), algebra), nystrom=in_quotient(scheme))
    found = []
    for k, order in enumerate(orders, start=1):
        mine = {w: v for w, v in error.items() if w.count("B") == k or (k == last and w.count("B") > k)}
        found.append((residual(mine, order), largest_by_degree(mine).get(order + 1, 0.0)))
    return found


# --- size of the leading error ----------------------------------------------------------------------------------------

B_FIRST = str.maketrans("AB", "ba")


def is_lyndon(word):
    """Smaller than all its proper rotations, in the alphabet B < A."""
    word = word.translate(B_FIRST)
    return all(word < word[k:] + word[:k] for k in range(1, len(word)))


def lyndon_words(degree, *, nystrom=False):
    """Lyndon words of a degree in rising order; those without BBBA in the quotient."""
    words = map("".join, tuples("BA", repeat=degree))
    return [word for word in words if is_lyndon(word) and not (nystrom and "BBBA" in word)]


def commutator(x, y):
    """Bracket of two polynomials given by word."""
    found = {}
    for (u, p), (v, q) in tuples(x.items(), y.items()):
        found[u + v] = found.get(u + v, ZERO) + p * q
        found[v + u] = found.get(v + u, ZERO) - p * q
    return found


@lru_cache(None)
def bracketed(word):
    """The standard bracketing of a Lyndon word: the word itself plus larger ones."""
    if len(word) == 1:
        return {word: ONE}
    at = next(k for k in range(1, len(word)) if is_lyndon(word[k:]))
    return commutator(bracketed(word[:at]), bracketed(word[at:]))


def lie_coordinates(error, degree, *, nystrom=False):
    """Coordinates of the part of a degree in the Lyndon basis, and the largest coefficient of what they leave over.

    What is left over is zero for an element of the Lie algebra.
    """
    left = {word: value for word, value in error.items() if degree_of(word) == degree}
    coordinates = []
    with decimal.localcontext(DIGITS):
        for word in lyndon_words(degree, nystrom=nystrom):
            x = left.get(word, ZERO)
            coordinates.append(x)
            basis = normal_form(bracketed(word)) if nystrom else bracketed(word)
            for other, value in basis.items():
                left[other] = left.get(other, ZERO) - x * value
    return coordinates, max(map(abs, left.values()), default=ZERO)


def effective_error(scheme, stages, *, nystrom=None):
    """stages |coordinates of the leading error|^(1/p), p the order; in the quotient where the scheme says so."""
    nystrom = in_quotient(scheme) if nystrom is None else nystrom
    degree = scheme.order + 1
    coordinates, _ = lie_coordinates(scheme_errors(scheme, degree, nystrom=nystrom), degree, nystrom=nystrom)
    with decimal.localcontext(DIGITS):
        size = sum((x * x for x in coordinates), ZERO).sqrt()
    return stages * float(size) ** (1 / scheme.order)
