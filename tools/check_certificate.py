#!/usr/bin/env python3
"""Checks a surefoot certificate state by state. A second implementation of docs/certificate.md, for small tasks.

    check_certificate.py TASK.json CERTIFICATE [--limit STATES]

TASK.json is the flattened task as `surefoot_certificate::dump` writes it; this checker trusts it. Exit codes: 0 accepted, 1 rejected,
2 not checked (too many states, or scores too close to each other). Needs nothing but the standard library.
"""

import argparse
import itertools
import json
import math
import struct
import sys
from fractions import Fraction


class Rejected(Exception):
    """The certificate is no proof."""


class Refused(Exception):
    """This checker cannot say."""


# ---------------------------------------------------------------------------------------------------------------- certificate


class Leaf(list):
    """The outputs that a leaf lists. Splits are `[variable, value, index of the right child]`."""


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if self.at + count > len(self.data):
            raise Rejected("the certificate is cut off")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self):
        value, shift = 0, 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            if byte < 128:
                if (byte == 0 and shift > 0) or value >= 1 << 64:
                    raise Rejected("a number is not in its shortest form or too large")
                return value
            shift += 7
            if shift > 63:
                raise Rejected("a number is too large")

    def signed(self):
        folded = self.number()
        return -(folded + 1) // 2 if folded % 2 else folded // 2

    def integer(self):
        value = self.signed()
        if not -(2**31) <= value < 2**31:
            raise Rejected("an integer has more than 32 bits")
        return value

    def text(self):
        try:
            return self.take(self.number()).decode("utf-8")
        except UnicodeDecodeError:
            raise Rejected("a text is not UTF-8") from None

    def list(self, element):
        return [element() for _ in range(self.number())]

    def region(self, has_tree):
        def bound():
            variable, lower = self.number(), self.integer()
            return variable, lower, lower + self.number()

        bounds = self.list(bound)
        facts = self.list(lambda: (self.list(lambda: (self.number(), self.integer())), self.signed()))
        return {"bounds": bounds, "facts": facts, "tree": self.tree() if has_tree else None}

    def tree(self):
        """Nodes in preorder; a split knows where its right child is."""
        nodes, waiting = [], []
        while True:
            tag = self.number()
            if tag > 0:
                waiting.append(len(nodes))
                nodes.append([tag - 1, self.integer(), None])
                continue
            nodes.append(Leaf(self.list(self.number)))
            while waiting and nodes[waiting[-1]][2] is not None:
                waiting.pop()
            if not waiting:
                return nodes
            nodes[waiting[-1]][2] = len(nodes)


def read_certificate(data):
    if data[:8] != b"SFTCERT\n":
        raise Rejected("this is not a certificate of surefoot")
    reader = Reader(data[8:])
    if reader.number() != 1:
        raise Rejected("the certificate has another version")
    certificate = {
        "inputs": reader.list(lambda: [reader.number(), reader.take(32).hex()]),
        "variables": reader.list(lambda: {"name": reader.text(), "lower": reader.integer(), "upper": reader.integer()}),
        "labels": reader.list(reader.text),
    }
    has_policy = reader.number()
    if has_policy > 1:
        raise Rejected("there is neither a policy nor none")
    certificate["outputs"] = reader.list(reader.number) if has_policy else None
    keys = ["filter", "goal", "out_of_domain", "arithmetic"]
    certificate["semantics"] = {key: reader.text() for key in keys}
    certificate["regions"] = reader.list(lambda: reader.region(has_policy))
    if reader.at != len(reader.data):
        raise Rejected("bytes follow the end of the certificate")
    return certificate


def compare(certificate, task):
    """The certificate must be about this task."""
    policy = task["policy"]
    expected = {
        "inputs": task["inputs"],
        "variables": task["variables"],
        "labels": task["labels"],
        "outputs": policy["outputs"] if policy else None,
        "semantics": task["semantics"],
    }
    for key, value in expected.items():
        found = certificate[key]
        if key == "inputs":
            value, found = sorted(value), sorted(found)
        if found != value:
            raise Rejected(f"the certificate is about another task: {key} are {found}, not {value}")


def validate(certificate):
    """Lists ascend, and all indices are in range."""
    variables = certificate["variables"]

    def ascend(indices, count, what):
        if sorted(set(indices)) != indices or any(index >= count for index in indices):
            raise Rejected(f"{what} do not ascend or do not exist")

    for region in certificate["regions"]:
        ascend([bound[0] for bound in region["bounds"]], len(variables), "the variables of bounds")
        for terms, _ in region["facts"]:
            ascend([term[0] for term in terms], len(variables), "the variables of a fact")
        for node in region["tree"] or []:
            if is_split(node):
                ascend(node[:1], len(variables), "the variable of a split")
            else:
                ascend(list(node), len(certificate["outputs"]), "the outputs of a leaf")
        for variable, lower, upper in region["bounds"]:
            if lower < variables[variable]["lower"] or upper > variables[variable]["upper"]:
                raise Rejected("a region leaves the domains")


def is_split(node):
    return not isinstance(node, Leaf)


# ---------------------------------------------------------------------------------------------------------------- expressions

LEAST, MOST = -(2**63), 2**63 - 1


def integer(value):
    return value if LEAST <= value <= MOST else None


def finite(value):
    return value if math.isfinite(value) else None


def logarithm(x):
    return math.log(x) if x > 0 else (-math.inf if x == 0 else math.nan)


def quotient(x, y):
    if y == 0:
        return math.nan
    return x / y


def power(x, y):
    try:
        return math.pow(x, y)
    except (ValueError, OverflowError):
        return math.nan


ON_INTEGERS = {
    "=": lambda x, y: x == y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    "+": lambda x, y: integer(x + y),
    "-": lambda x, y: integer(x - y),
    "*": lambda x, y: integer(x * y),
    "%": lambda x, y: None if y == 0 else integer(x % abs(y)),
    "min": min,
    "max": max,
}

ON_REALS = {
    "=": lambda x, y: x == y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    "+": lambda x, y: finite(x + y),
    "-": lambda x, y: finite(x - y),
    "*": lambda x, y: finite(x * y),
    "/": lambda x, y: finite(quotient(x, y)),
    "pow": lambda x, y: finite(power(x, y)),
    "log": lambda x, y: finite(quotient(logarithm(x), logarithm(y))),
    "min": min,
    "max": max,
}


def arithmetic(op, x, y):
    """A binary operator on values that are there."""
    if op not in ON_INTEGERS or isinstance(x, float) or isinstance(y, float):
        return ON_REALS[op](float(x), float(y))
    return ON_INTEGERS[op](x, y)


def rounded(value, function):
    return integer(function(value)) if isinstance(value, float) else value


class Expressions:
    """Evaluates expressions; `None` stands for undefined. Operands come before what they are operands of."""

    def __init__(self, task):
        self.nodes = task["expressions"]
        self.below = {}

    def reachable(self, root):
        if root not in self.below:
            found, waiting = set(), [root]
            while waiting:
                index = waiting.pop()
                if index not in found:
                    found.add(index)
                    waiting.extend(operands(self.nodes[index][1]))
            self.below[root] = sorted(found)
        return self.below[root]

    def at(self, state):
        known = {}
        return lambda root: self.value(root, state, known)

    def value(self, root, state, known):
        if root not in known:
            for index in self.reachable(root):
                if index not in known:
                    kind, node = self.nodes[index]
                    value = self.apply(kind, node, state, known)
                    if kind == "real" and type(value) is int:
                        value = float(value)
                    known[index] = value
        return known[root]

    def apply(self, kind, node, state, known):
        op = node[0]
        if op == "constant":
            return node[1] if isinstance(node[1], bool) else int(node[1])
        if op == "real":
            return double(node[1])
        if op == "variable":
            return state[node[1]] != 0 if kind == "bool" else state[node[1]]
        if op == "ite":
            condition = known[node[1]]
            return None if condition is None else known[node[2] if condition else node[3]]
        if op == "select":
            index = known[node[1]]
            in_range = index is not None and 0 <= index < len(node[2])
            return known[node[2][index]] if in_range else None
        values = [known[operand] for operand in node[1:]]
        if op == "and":
            return False if False in values else None if None in values else True
        if op == "or":
            return True if True in values else None if None in values else False
        if None in values:
            return None
        if op == "not":
            return not values[0]
        if op in ("floor", "ceil"):
            return rounded(values[0], math.floor if op == "floor" else math.ceil)
        return arithmetic(op, *values)


def operands(node):
    if node[0] in ("constant", "real", "variable"):
        return []
    if node[0] == "select":
        return [node[1], *node[2]]
    return node[1:]


# --------------------------------------------------------------------------------------------------------------------- policy


def double(bits):
    return struct.unpack(">d", bytes.fromhex(bits))[0]


def single(bits):
    return struct.unpack(">f", bytes.fromhex(bits))[0]


def to_single(value):
    """The nearest single. Sums, products and quotients of singles may be rounded to doubles first: 53 ≥ 2·24 + 2."""
    try:
        return struct.unpack(">f", struct.pack(">f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


class Rounded:
    """Floating point, in the order of the definition; singles or doubles."""

    def __init__(self, is_single):
        self.is_single = is_single
        self.round = to_single if is_single else float

    def parameter(self, pair):
        return single(pair[1]) if self.is_single else double(pair[0])

    def input(self, value):
        return self.round(float(value))

    def sum(self, terms, bias):
        total = None
        for weight, value in terms:
            product = self.round(weight * value)
            total = product if total is None else self.round(total + product)
        return bias if total is None else self.round(total + bias)

    def leaves(self, values):
        total = values[0]
        for value in values[1:]:
            total = self.round(total + value)
        return total

    def activate(self, activation, x):
        name, numbers = activation[0], [self.parameter(pair) for pair in activation[1:]]
        if name == "linear":
            return x
        if name == "relu":
            return 0.0 if x < 0 else x
        if name == "leaky relu":
            return self.round(numbers[0] * x) if x < 0 else x
        if name == "clip":
            return numbers[0] if x < numbers[0] else numbers[1] if x > numbers[1] else x
        raise ValueError(f"{name} is not made of linear pieces")

    def maximum(self, left, right):
        return right if left < right else left

    def quotient(self, value, divisor):
        return self.round(value / divisor)

    def score(self, value):
        value = -math.inf if math.isnan(value) else value
        return value, value


class Exact(Rounded):
    """Fractions, without rounding."""

    def __init__(self):
        super().__init__(False)
        self.round = lambda value: value

    def parameter(self, pair):
        value = double(pair[0])
        return Fraction(value) if math.isfinite(value) else value

    def input(self, value):
        return Fraction(value)

    def activate(self, activation, x):
        return Fraction(0) if activation[0] == "relu" and x < 0 else super().activate(activation, x)

    def score(self, value):
        return value, value


SMALLEST = Fraction(1, 2**126)  # the smallest normal single

CURVED = ("tanh", "sigmoid", "elu")

BITS = 256


def exponential(y):
    """Fractions below and above e⁻ʸ, for y ≥ 0.

    Integers stand for multiples of 2⁻²⁵⁶; lower ends are rounded down, upper ones up. With z = y/256 < 1, the series 1 − z + z²/2 − …
    of e⁻ᶻ alternates with terms that shrink, so what is left out is at most the next term. Its square, eight times, is e⁻ʸ.
    """
    one = 1 << BITS
    if y >= 200:
        return Fraction(0), Fraction(1, one)  # e⁻²⁰⁰ < 2⁻²⁵⁶
    z = math.floor(y * one / 256), math.ceil(y * one / 256)
    term, low, high, n = (one, one), one, one, 0
    while term[1] > 1:
        n += 1
        term = term[0] * z[0] // (n * one), -(-term[1] * z[1] // (n * one))
        low, high = (low - term[1], high - term[0]) if n % 2 else (low + term[0], high + term[1])
    low, high = low - term[1], high + term[1]
    for _ in range(8):
        low, high = low * low // one, -(-high * high // one)
    return Fraction(low, one), Fraction(high, one)


def curve(name, x):
    """Fractions below and above the exact tanh x, 1/(1 + e⁻ˣ), or eˣ − 1 for x ≤ 0."""
    low, high = exponential(2 * abs(x) if name == "tanh" else abs(x))
    if name == "elu":
        return low - 1, high - 1
    if name == "sigmoid":
        return (low / (1 + low), high / (1 + high)) if x < 0 else (1 / (1 + high), 1 / (1 + low))
    low, high = (1 - high) / (1 + high), (1 - low) / (1 + low)
    return (-high, -low) if x < 0 else (low, high)


# The library that defines tanh, eˣ and eˣ − 1 in floating point is trusted to have a smaller relative error.
LIBRARY = Fraction(1, 2**40)


def widened(low, high, by):
    return low - by * abs(low), high + by * abs(high)


class Bracketed:
    """Floating point with tanh, sigmoid or ELU, whose last bits are not known here: ends between which the computed value lies.

    All operations are monotone, also after rounding. So they are those of `Rounded`, done at both ends. Ends that differ are finite.
    """

    def __init__(self, is_single):
        self.rounded = Rounded(is_single)
        self.parameter = self.rounded.parameter

    def input(self, value):
        value = self.rounded.input(value)
        return value, value

    def ends(self, operands, at):
        """What `at(0)` and `at(1)` compute at the lower and at the upper ends."""
        low = at(0)
        if not any(operand[0] < operand[1] for operand in operands):
            return low, low
        return self.between(low, at(1))

    def between(self, low, high):
        if low == high or math.isfinite(low) and math.isfinite(high):
            return low, high
        raise Refused("undecided: a score may overflow or not")

    def sum(self, terms, bias):
        return self.ends(
            [value for _, value in terms],
            lambda end: self.rounded.sum([(weight, value[end ^ (weight < 0)]) for weight, value in terms], bias),
        )

    def activate(self, activation, x):
        name = activation[0]
        if name not in CURVED:
            return self.ends([x], lambda end: self.rounded.activate(activation, x[end]))
        if math.isnan(x[0]):
            return x
        return self.between(*(self.curved(activation, x[end])[end] for end in (0, 1)))

    def curved(self, activation, x):
        """Ends of what is computed at a number. Their own rounding does no harm: what lies between is rounded, too."""
        name, round = activation[0], self.rounded.round
        if name == "elu" and x >= 0:
            return x, x
        x = Fraction(max(-1000.0, min(x, 1000.0)))  # beyond 200 all are alike
        if name == "tanh":
            return [round(float(end)) for end in widened(*curve("tanh", x), LIBRARY)]
        if name == "elu":
            scale = self.parameter(activation[1])
            return [round(scale * float(end)) for end in widened(*curve("elu", x), LIBRARY)]
        low, high = exponential(abs(x))
        if x < 0:
            low, high = 1 / high, 1 / low if low > 0 else math.inf
        return [round(1 / (1 + float(power))) for power in reversed(widened(low, high, LIBRARY))]

    def maximum(self, left, right):
        return self.ends([left, right], lambda end: self.rounded.maximum(left[end], right[end]))

    def quotient(self, value, divisor):
        return self.ends([value], lambda end: self.rounded.quotient(value[end ^ (divisor < 0)], divisor))

    def score(self, value):
        return self.rounded.score(value[0])[0], self.rounded.score(value[1])[1]


class Enclosed:
    """Intervals of fractions that hold the values of all evaluations; `None` is unknown.

    A sum of products and a bias is off by a small multiple of the sum of the magnitudes, whatever the order, and by a few of the smallest
    normal numbers for what is subnormal or flushed; see the enclosures in docs/semantics.md.
    """

    # What a library's tanh, sigmoid and ELU are off by, and, as the definition has it, relative to the values.
    function_error, relative_error = Fraction(0), Fraction(1, 2**43)

    def around(self, low, high, terms, magnitude, underflow):
        """What is computed where exact values lie between two ends. By the definition, a wide result stands for a possible overflow."""
        roundings = self.roundings(terms) * self.unit
        growth = roundings / (1 - roundings)
        low, high = low - growth * magnitude - underflow, high + growth * magnitude + underflow
        return (low, high) if high - low <= 2 * growth * self.largest else None

    def sum(self, terms, bias):
        numbers = [weight for weight, _ in terms] + [bias]
        if any(value is None for _, value in terms) or any(isinstance(number, float) for number in numbers):
            return None
        low = high = bias
        magnitude, weights, values = abs(bias), Fraction(0), Fraction(0)
        for weight, (lower, upper) in terms:
            ends = weight * lower, weight * upper
            low, high = low + min(ends), high + max(ends)
            largest = max(abs(lower), abs(upper))
            magnitude += abs(weight) * largest
            weights, values = weights + abs(weight), values + largest
        underflow = 8 * self.smallest * (len(terms) + 1 + weights + values)
        return self.around(low, high, len(terms), magnitude, underflow)

    def leaves(self, values):
        if any(isinstance(value, float) for value in values):
            return None
        total, magnitude = sum(values), sum(abs(value) for value in values)
        return self.around(total, total, len(values) - 1, magnitude, 8 * self.smallest * len(values))

    def activate(self, activation, x):
        if x is None:
            return None
        name, numbers = activation[0], [self.parameter(pair) for pair in activation[1:]]
        low, high = x
        if name == "linear":
            return x
        if name == "relu":
            return max(low, Fraction(0)), max(high, Fraction(0))
        if name == "leaky relu":
            slope = numbers[0]
            low, high = (end * slope if end < 0 else end for end in x)
            high = max(high, 0) if slope < self.smallest and x[1] < 0 else high
            radius = 8 * self.unit * max(abs(low), abs(high)) + 8 * self.smallest
            return (low - radius, high + radius) if x[0] < 0 else x
        if name == "clip":
            cut = [min(max(end, numbers[0]), numbers[1]) for end in x]
            return cut[0] - 8 * self.smallest, cut[1] + 8 * self.smallest
        scale = Fraction(1)
        if name == "elu":
            scale = numbers[0]
            if low >= 0 or isinstance(scale, float):
                return x if low >= 0 else None
        ends = [end if name == "elu" and end >= 0 else scale * curve(name, end)[upper] for upper, end in enumerate(x)]
        radius = self.function_error * max(1, scale) + self.relative_error * max(map(abs, ends)) + 8 * self.smallest
        return ends[0] - radius, ends[1] + radius

    def maximum(self, left, right):
        if left is None or right is None:
            return None
        return max(left[0], right[0]) - 8 * self.smallest, max(left[1], right[1]) + 8 * self.smallest

    def quotient(self, value, divisor):
        if value is None or isinstance(divisor, float) or not self.smallest <= abs(divisor) <= self.largest:
            return None
        ends = sorted((value[0] / divisor, value[1] / divisor))
        largest = max(abs(end) for end in ends)
        return self.around(*ends, 1, largest, 8 * self.smallest * (1 + 1 / abs(divisor)))

    def score(self, value):
        return (-math.inf, math.inf) if value is None else value


class AnySingle(Enclosed):
    """Every evaluation in single precision."""

    unit, smallest, largest = Fraction(1, 2**24), SMALLEST, Fraction(2**126)
    function_error = Fraction(1, 2**20)

    def roundings(self, terms):
        return terms + 2

    def parameter(self, pair):
        value = single(pair[1])
        return Fraction(value) if math.isfinite(value) else value

    def input(self, value):
        value = Fraction(to_single(float(value)))
        return value, value


class Near(Enclosed):
    """Real numbers where tanh, sigmoid or ELU make them irrational. The definition lets the policy choose among what is this close."""

    unit, smallest, largest = Fraction(1, 2**53), Fraction(1, 2**1000), Fraction(2**1000)
    parameter = Exact.parameter

    def roundings(self, terms):
        return 2 * (terms + 8)

    def input(self, value):
        return Fraction(value), Fraction(value)


class Policy:
    def __init__(self, task):
        policy = task["policy"]
        self.inputs, self.outputs, self.scorer = policy["inputs"], policy["outputs"], policy["scorer"]
        name = task["semantics"]["arithmetic"]
        self.is_single = name in ("f32", "any-f32")
        activations = [node["activation"][0] for node in self.scorer.get("nodes", []) if node["kind"] == "layer"]
        if name == "any-f32":
            self.numbers = AnySingle()
        elif any(activation in CURVED for activation in activations):
            self.numbers = Near() if name == "real" else Bracketed(self.is_single)
        else:
            self.numbers = Exact() if name == "real" else Rounded(self.is_single)
        self.cache = {}

    def scores(self, state):
        values = tuple(state[i[1]] if i[0] == "variable" else i[1] for i in self.inputs)
        if values not in self.cache:
            compute = self.network if self.scorer["kind"] == "network" else self.ensemble
            self.cache[values] = [self.numbers.score(value) for value in compute(values)]
        return self.cache[values]

    def possible(self, state, competing):
        """Outputs that no competing one surely beats; lower ones win ties."""
        scores = self.scores(state)

        def is_beaten(a):
            return any(scores[a][1] <= scores[b][0] if b < a else scores[a][1] < scores[b][0] for b in competing if b != a)

        return [a for a in competing if not is_beaten(a)]

    def is_unique(self):
        """Whether just one of the competing outputs is chosen, so that several possible ones mean that it is not known which."""
        return isinstance(self.numbers, Bracketed)

    def network(self, values):
        numbers = self.numbers
        slots = [[numbers.input(value) for value in values]]
        for node in self.scorer["nodes"]:
            if node["kind"] == "layer":
                source, results = slots[node["from"]], []
                # What is unknown may be infinite, and a library may multiply it by the zeros that sparse rows leave out.
                is_unknown = None in source
                for row, bias in zip(node["rows"], node["biases"]):
                    terms = [(numbers.parameter(weight), source[index]) for index, weight in row]
                    total = numbers.sum(terms, numbers.parameter(bias))
                    results.append(None if is_unknown else numbers.activate(node["activation"], total))
            elif node["kind"] == "arrange":
                results = [slots[source][index] for source, index in node["elements"]]
            elif node["kind"] == "maximum":
                results = list(map(numbers.maximum, slots[node["left"]], slots[node["right"]]))
            else:
                divisors = map(numbers.parameter, node["divisors"])
                results = list(map(numbers.quotient, slots[node["from"]], divisors))
            slots.append(results)
        return slots[-1]

    def ensemble(self, values):
        flushed = False
        terms = [[self.numbers.parameter(pair)] for pair in self.scorer["base"]]
        for tree in self.scorer["trees"]:
            for node in tree:
                if "threshold" in node and self.is_single:
                    flushed |= 0 < single(node["threshold"][1]) < SMALLEST
            node = tree[0]
            while "values" not in node:
                double_bits, single_bits = node["threshold"]
                value = float(values[node["feature"]])
                if self.is_single:
                    below = to_single(value) < single(single_bits)
                else:
                    below = value < double(double_bits)
                node = tree[node["left"] if below else node["right"]]
            for output, pair in zip(terms, node["values"]):
                output.append(self.numbers.parameter(pair))
        if flushed and isinstance(self.numbers, AnySingle):
            return [None] * len(terms)
        return [self.numbers.leaves(values) for values in terms]


# ----------------------------------------------------------------------------------------------------------------- obligations


class Checker:
    def __init__(self, task, certificate, limit):
        self.task, self.certificate = task, certificate
        self.semantics, self.property = task["semantics"], task["property"]
        self.expressions = Expressions(task)
        self.policy = Policy(task) if task["policy"] else None
        self.blocks = self.semantics["out_of_domain"] == "block"
        domains = [range(v["lower"], v["upper"] + 1) for v in task["variables"]]
        size = math.prod(len(domain) for domain in domains)
        if size > limit:
            raise Refused(f"the domains have {size} states, more than {limit}; see --limit")
        self.domains = domains
        self.covered = set()
        for region in certificate["regions"]:
            self.covered.update(self.states(region))

    def states(self, region):
        ranges = list(self.domains)
        for variable, lower, upper in region["bounds"]:
            ranges[variable] = range(lower, upper + 1)
        for state in itertools.product(*ranges):
            if all(sum(f * state[v] for v, f in terms) <= limit for terms, limit in region["facts"]):
                yield state

    def show(self, state):
        return ", ".join(f"{v['name']} = {x}" for v, x in zip(self.task["variables"], state))

    def check(self):
        start = self.property["start"]
        for state in itertools.product(*self.domains) if start is not None else ():
            value = self.expressions.at(state)(start)
            if value is None:
                raise Rejected(f"the start condition has no value at {self.show(state)}")
            if value and state not in self.covered:
                raise Rejected(f"the start state {self.show(state)} is in no region")
        for state in self.property["listed"]:
            if tuple(state) not in self.covered:
                raise Rejected(f"the start state {self.show(state)} is in no region")
        for region in self.certificate["regions"]:
            for state in self.states(region):
                self.check_state(region, state)

    def check_state(self, region, state):
        value = self.expressions.at(state)

        def condition(root, what):
            result = value(root)
            if result is None:
                raise Rejected(f"the {what} has no value at {self.show(state)}")
            return result

        is_unsafe = condition(self.property["unsafe"], "unsafe condition")
        reading = self.semantics["goal"]
        is_goal = reading != "ignore" and condition(self.property["goal"], "goal")
        hold = self.property["hold"]
        holds = hold is None or condition(hold, "condition that must hold")
        if is_unsafe and not (is_goal and reading == "strict"):
            raise Rejected(f"{self.show(state)} is unsafe and in a region")
        if is_goal or not holds:
            return
        enabled = []
        for command in self.task["commands"]:
            guard = value(command["guard"])
            if guard is None and not self.blocks:
                raise Rejected(f"a guard has no value at {self.show(state)}")
            if guard:
                enabled.append(command)
        listed = self.listed(region, state, enabled)
        for command in enabled:
            if listed is None or command["label"] not in self.policy.outputs or command["label"] in listed:
                self.check_command(command, state, value)

    def listed(self, region, state, enabled):
        """The labels of the state's leaf, once it is clear that the policy chooses no others."""
        if self.policy is None:
            return None
        outputs, tree, at = self.policy.outputs, region["tree"], 0
        while is_split(tree[at]):
            variable, value, right = tree[at]
            at = at + 1 if state[variable] < value else right
        competing = range(len(outputs))
        if self.semantics["filter"] == "on":
            applicable = {command["label"] for command in enabled}
            competing = [output for output in competing if outputs[output] in applicable]
        possible = self.policy.possible(state, competing)
        missing = [output for output in possible if output not in tree[at]]
        if missing:
            label = self.task["labels"][outputs[missing[0]]]
            if self.policy.is_unique() and len(missing) < len(possible):
                raise Refused(f"undecided: scores nearly tie at {self.show(state)}, and {label} is not listed")
            raise Rejected(f"the policy may choose {label} at {self.show(state)}, which is not listed")
        return {outputs[output] for output in tree[at]}

    def check_command(self, command, state, value):
        probabilities = [value(outcome["probability"]) for outcome in command["outcomes"]]
        if None in probabilities:
            raise Rejected(f"a probability has no value at {self.show(state)}")
        probabilities = [float(p) for p in probabilities]
        total = 0.0
        for p in probabilities:
            total += p
        if not all(0 <= p <= 1 + 1e-8 for p in probabilities) or abs(total - 1.0) > 1e-8:
            raise Rejected(f"{probabilities} is no distribution, at {self.show(state)}")
        for probability, outcome in zip(probabilities, command["outcomes"]):
            if probability == 0:
                continue
            after = self.after(outcome, state, value)
            if after is None and not self.blocks:
                raise Rejected(f"an update is impossible at {self.show(state)}")
            if after is not None and after not in self.covered:
                raise Rejected(f"{self.show(state)} has the successor {self.show(after)}, which is in no region")

    def after(self, outcome, state, value):
        if any(value(requirement) is not True for requirement in outcome["requirements"]):
            return None
        after = list(state)
        for variable, root in outcome["assignments"]:
            result = value(root)
            if result is None or int(result) not in self.domains[variable]:
                return None
            after[variable] = int(result)
        return tuple(after)


def check(task, data, limit):
    """The verdict on a certificate: exit code and text."""
    try:
        certificate = read_certificate(data)
        compare(certificate, task)
        validate(certificate)
        Checker(task, certificate, limit).check()
    except Rejected as reason:
        return 1, f"rejected: {reason}"
    except Refused as reason:
        return 2, f"not checked: {reason}"
    return 0, "accepted"


def main():
    parser = argparse.ArgumentParser(description="Checks a surefoot certificate state by state.")
    parser.add_argument("task", help="the flattened task, in JSON")
    parser.add_argument("certificate")
    parser.add_argument("--limit", type=int, default=1_000_000, help="the most states of the domains")
    arguments = parser.parse_args()
    with open(arguments.task, encoding="utf-8") as file:
        task = json.load(file)
    with open(arguments.certificate, "rb") as file:
        data = file.read()
    code, text = check(task, data, arguments.limit)
    print(text)
    return code


if __name__ == "__main__":
    sys.exit(main())
