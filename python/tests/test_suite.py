"""The benchmark suite: its files are there and are what their records say, and the scripts that made them still work."""

import hashlib
import json
import sys
import tomllib
from pathlib import Path

import pytest

import surefoot

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
SUITE = tomllib.loads((BENCHMARKS / "suite.toml").read_text(encoding="utf-8"))
POLICIES = sorted({instance["policy"] for instance in SUITE["instance"]})
MODELS = {}


def generated(arguments):
    """The model that an instance asks for; each is made once."""
    key = tuple(arguments)
    if key not in MODELS:
        parameters = {name[2:].replace("-", "_"): value for name, value in zip(arguments[1::2], arguments[2::2])}
        MODELS[key] = surefoot.generate(arguments[0], **parameters)
    return MODELS[key]


def record_of(policy):
    path = (BENCHMARKS / policy).with_suffix(".provenance.json")
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("policy", POLICIES)
def test_policies_are_those_of_their_records(policy):
    record = record_of(policy)
    interface = BENCHMARKS / policy
    scorer = json.loads(interface.read_text(encoding="utf-8"))["file"]
    assert set(record["files"]) == {interface.name, scorer}
    for name, expected in record["files"].items():
        assert hashlib.sha256((interface.parent / name).read_bytes()).hexdigest() == expected, name
    loaded = surefoot.load_policy(interface, generated(record["model"]))
    assert loaded.filter == record["filter"]
    # Labels without an output are not controlled: they happen at any time, as in no episode.
    assert sorted(loaded.outputs) == sorted(loaded.model.labels)
    assert record["episodes"] == 1000
    found, random = record["rates"], record["random"]
    if record["model"][0] == "npuzzle":
        # Those with few neurons are weak, as the README says, but careful.
        assert found["success"] > random["success"] and found["unsafe"] < random["unsafe"] / 10
    else:
        assert found["success"] > random["success"] + 0.3


def test_instances_fit_their_policies():
    names = [instance["name"] for instance in SUITE["instance"]]
    assert len(set(names)) == len(names)
    for instance in SUITE["instance"]:
        assert instance["generate"] == record_of(instance["policy"])["model"], instance["name"]
        assert ("expected" in instance) == ("known-by" in instance)


def test_the_suite_has_the_rows_of_the_papers():
    """And its policies are small enough to be kept."""
    shapes = {}
    for policy in POLICIES:
        record = record_of(policy)
        name = Path(policy).stem
        if "library" in record:
            shapes.setdefault((record["model"][0], "trees"), []).append((record["depth"], record["trees"]))
            assert record["depth"] in (4, 6, 8, 10, 15) and record["trees"] in (5, 10, 20, 30), name
        elif not name.endswith(("short", "careless")):
            shapes.setdefault((record["model"][0], "networks"), []).append(tuple(record["hidden"]))
    assert {row: len(found) for row, found in shapes.items()} == {
        ("beluga", "networks"): 3,
        ("beluga", "trees"): 6,
        ("blocksworld", "networks"): 24,
        ("blocksworld", "trees"): 18,
        ("npuzzle", "networks"): 6,
        ("transport", "networks"): 5,
        ("transport", "trees"): 6,
    }
    for (domain, kind), found in shapes.items():
        if kind == "networks":
            sizes = {64, 256} if domain == "beluga" else {16, 32, 64}
            assert {size for hidden in found for size in hidden} == sizes and all(len(hidden) == 2 for hidden in found)
    assert sum(path.stat().st_size for path in (BENCHMARKS / "policies").iterdir()) < 40e6


def test_nothing_lies_around():
    """Every file is named by a record, and every record's policy is in the suite."""
    named = set()
    for policy in POLICIES:
        named |= {*record_of(policy)["files"], f"{Path(policy).stem}.provenance.json"}
    assert {path.name for path in (BENCHMARKS / "policies").iterdir()} == named


@pytest.fixture
def scripts(monkeypatch):
    """The scripts of the trainings can be imported."""
    monkeypatch.syspath_prepend(str(BENCHMARKS / "train"))
    before = set(sys.modules)
    yield
    # These names are too common to stay.
    for name in set(sys.modules) - before:
        if str(BENCHMARKS) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.mark.parametrize(
    "policy", ["blocksworld-4-cost-32-short", "beluga-5-xgboost-8x20", "npuzzle-no-cost-64", "transport-forest-15x5"]
)
def test_rates_of_episodes_are_those_of_the_records(policy, scripts):
    """Of the files, on the models as they are generated now."""
    import evaluate
    import rows
    import run

    record = record_of(f"policies/{policy}.jani2nnet")
    by_name = {row.name: row for row in rows.every()}
    row = by_name[policy]
    domain = rows.domain((by_name[row.imitated] if isinstance(row, rows.Trees) else row).domain)
    assert domain.arguments == record["model"]
    loaded = surefoot.load_policy(BENCHMARKS / "policies" / f"{policy}.jani2nnet", domain.model)

    def scores(observations):
        return loaded.scores(run.full_states(domain.model, observations), "f32")[:, :, 0]

    actor = evaluate.greedy(scores, domain.is_filtered)
    found = evaluate.rates(domain, actor, record["episodes"], run.EVALUATION_SEED)
    # Where scores are close, the library may have chosen another label.
    assert found == pytest.approx(record["rates"], abs=0.005)


def test_a_small_policy_is_trained_and_verified(scripts, monkeypatch, tmp_path):
    import rows
    import run
    import torch
    from qlearning import Settings

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        settings = Settings(updates=120, demonstrations=1000, capacity=5000, trials=2)
        tiny = rows.Network("tiny", "blocksworld-4", "no-cost", (16, 16), 3, settings)
        monkeypatch.setattr(rows, "networks", lambda: [tiny])
        monkeypatch.setattr("trees.STATES", 640)
        run.make(rows.Trees("trees", "tiny", "forest", 6, 5), tmp_path)
    finally:
        torch.set_num_threads(threads)
    model = surefoot.generate("blocksworld", blocks=4, table_limit=3)
    for name in ("tiny", "trees"):
        record = json.loads((tmp_path / f"{name}.provenance.json").read_text(encoding="utf-8"))
        assert record["rates"]["success"] > record["random"]["success"]
        result = surefoot.verify(model, surefoot.load_policy(tmp_path / f"{name}.jani2nnet", model), time_limit=300)
        assert result.safe or result.unsafe
        # What was seen in episodes must agree with what was proved.
        assert not (result.safe and record["rates"]["unsafe"] > 0)
