"""What the passed and failed runs of a test say about its pass rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Callable, NamedTuple

_LOWEST_CENTRAL = 0.02425
_CENTRAL_TOP = (
    -3.969683028665376e1,
    2.209460984245205e2,
    -2.759285104469687e2,
    1.38357751867269e2,
    -3.066479806614716e1,
    2.506628277459239,
)
_CENTRAL_BOTTOM = (
    -5.447609879822406e1,
    1.615858368580409e2,
    -1.556989798598866e2,
    6.680131188771972e1,
    -1.328068155288572e1,
)
_TAIL_TOP = (
    -7.784894002430293e-3,
    -3.223964580411365e-1,
    -2.400758277161838,
    -2.549732539343734,
    4.374664141464968,
    2.938163982698783,
)
_TAIL_BOTTOM = (7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416)


class Interval(NamedTuple):
    low: float
    high: float


class Tries(NamedTuple):
    """The runs with one input."""

    passed: int
    total: int


def wilson(passed: int, total: int, confidence: float = 0.95) -> Interval:
    """Wilson's score interval of a pass rate, which is reliable for few runs and for rates near 0 and 1."""
    if not 0 < confidence < 1:
        raise ValueError(f"The confidence is {confidence}; it must be between 0 and 1, for example 0.95.")
    if not 0 <= passed <= total:
        raise ValueError(f"passed is {passed}; it must be between 0 and total, which is {total}.")
    if total == 0:
        return Interval(0, 1)
    z = _normal_quantile((1 + confidence) / 2)
    share = passed / total
    spread = z * z / total
    centre = (share + spread / 2) / (1 + spread)
    margin = z * math.sqrt(share * (1 - share) / total + spread / (4 * total)) / (1 + spread)
    low = 0.0 if passed == 0 else max(0.0, centre - margin)
    return Interval(low, 1.0 if passed == total else min(1.0, centre + margin))


def judge_share(tries: Tries, minimum: float, confidence: float = 0.95) -> str:
    """`pass` when Wilson's whole interval is above the minimum, `fail` when all of it is below, otherwise
    `inconclusive`."""
    low, high = wilson(tries.passed, tries.total, confidence)
    if tries.total > 0 and low >= minimum:
        return "pass"
    return "fail" if high < minimum else "inconclusive"


def judge_sequence(
    passed: int, failed: int, p0: float = 0.95, p1: float = 0.8, alpha: float = 0.05, beta: float = 0.1
) -> str:
    """Wald's sequential test: decides after each run whether more are needed.

    `p0` is a pass rate that is good enough, `p1` one that is not; `alpha` and `beta` are the accepted rates
    of false rejections and acceptances. With the defaults, an agent that never fails passes after 14 runs.
    """
    if not 0 < p1 < p0 < 1:
        raise ValueError(f"p1 ({p1}) must be less than p0 ({p0}), and both must be between 0 and 1.")
    evidence = passed * math.log(p1 / p0) + failed * math.log((1 - p1) / (1 - p0))
    if evidence <= _log(beta / (1 - alpha)):
        return "pass"
    return "fail" if evidence >= _log((1 - beta) / alpha) else "inconclusive"


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def pass_at_k(inputs: Sequence[Tries], k: int) -> float:
    """The probability that at least one of k runs passes, averaged over inputs; unbiased."""
    return _mean_of(
        inputs, k, lambda tries: 1 - choose(tries.total - tries.passed, k) / choose(tries.total, k)
    )


def pass_hat_k(inputs: Sequence[Tries], k: int) -> float:
    """The probability that all of k runs pass, averaged over inputs."""
    return _mean_of(inputs, k, lambda tries: choose(tries.passed, k) / choose(tries.total, k))


def _mean_of(inputs: Sequence[Tries], k: int, chance_of: Callable[[Tries], float]) -> float:
    if k < 1:
        raise ValueError(f"k is {k}; it must be 1 or more.")
    tried = [tries for tries in inputs if tries.total >= k]
    return math.nan if not tried else sum(chance_of(tries) for tries in tried) / len(tried)


def choose(n: int, k: int) -> float:
    """The binomial coefficient."""
    if k > n:
        return 0.0
    ways = 1.0
    for index in range(1, k + 1):
        ways = ways * (n - k + index) / index
    return ways


def _normal_quantile(probability: float) -> float:
    """Acklam's approximation for the standard normal distribution, accurate to 1e-9."""
    if probability > 0.5:
        return -_normal_quantile(1 - probability)
    if probability < _LOWEST_CENTRAL:
        tail = math.sqrt(-2 * math.log(probability))
        return _polynomial(_TAIL_TOP, tail) / (_polynomial(_TAIL_BOTTOM, tail) * tail + 1)
    offset = probability - 0.5
    square = offset * offset
    return _polynomial(_CENTRAL_TOP, square) * offset / (_polynomial(_CENTRAL_BOTTOM, square) * square + 1)


def _polynomial(coefficients: Sequence[float], at: float) -> float:
    """Coefficients start with the highest power."""
    total = 0.0
    for coefficient in coefficients:
        total = total * at + coefficient
    return total
