"""Who is right where two solvers contradict each other, and whether witnesses are what they claim to be.

Only points decide: a witness that is an integer point of the box and at which the policy chooses the label. Peers that
relax the integers to reals, or that compute with tolerances, may say "possible" without there being such a point.
"""

from policy import chosen

DECIDED = ("never", "possible")
# A coordinate this close to an integer is taken for it. Solvers return such points as 0.9999999997.
NEARLY_INTEGER = 1e-6

OURS_WRONG = "SUREFOOT IS WRONG"


def wins(policy, query, point):
    """Whether an integer point lies in the box of a query and the policy chooses the label there."""
    inside = len(point) == len(query["lower"]) and all(
        x == int(x) and lower <= x <= upper for lower, x, upper in zip(query["lower"], point, query["upper"]))
    return inside and chosen(policy.scores(point)) == query["label"]


def margin(policy, query, point):
    """By how much the label's score exceeds the highest of the others; negative if it does not."""
    scores = policy.scores(point)
    others = [score for output, score in enumerate(scores) if output != query["label"]]
    return scores[query["label"]] - max(others)


def judge(policy, query, ours, theirs):
    """Why two results contradict each other; None if they do not. A result is (answer, witness or None)."""
    if ours[0] == theirs[0] or ours[0] not in DECIDED or theirs[0] not in DECIDED:
        return None
    if ours[0] == "possible":
        return judge_their_never(policy, query, ours[1])
    return judge_their_possible(policy, query, theirs[1])


def judge_their_never(policy, query, witness):
    if witness is None:
        return "undecided: surefoot gives no witness"
    if not wins(policy, query, witness):
        return f"{OURS_WRONG}: its witness {witness} does not choose the label"
    return f"peer wrong: the witness of surefoot holds, by a margin of {margin(policy, query, witness):.1e}"


def judge_their_possible(policy, query, witness):
    if witness is None:
        return "undecided: the peer gives no witness"
    rounded = [round(x) for x in witness]
    if wins(policy, query, rounded):
        return f"{OURS_WRONG}: the label is chosen at {rounded}"
    if any(abs(x - integer) > NEARLY_INTEGER for x, integer in zip(witness, rounded)):
        return "relaxation: the peer's witness is no integer point"
    return f"tolerance: at the peer's integer witness the margin is {margin(policy, query, rounded):.1e}"


def bad_witnesses(policy, queries, results):
    """The queries that surefoot answers "possible" with a witness that is none."""
    claims = [(index, witness) for index, (answer, witness) in results.items() if answer == "possible" and witness]
    return [index for index, witness in claims if not wins(policy, queries[index], witness)]
