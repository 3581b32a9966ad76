"""Models, policies from files, and what can be asked about them."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from conftest import walk_document

import surefoot


def safe_policy(blocks, tmp_path):
    """A policy that always chooses the same block: it stalls as soon as that is not applicable."""
    interface = {"file": "safe.json", "input": [blocks.variable("hand-empty").input], "output": blocks.labels}
    ensemble = {
        "at_type": "REGR",
        "base_scores": [0.0, 4.0, 3.0, 2.0, 1.0],
        "trees": [{"num_leaf_values": 5, "split_type": "LtSplit", "value_type": "FloatT", "structure": {"leaf_value": [0] * 5}}],
    }
    (tmp_path / "safe.jani2nnet").write_text(json.dumps(interface))
    (tmp_path / "safe.json").write_text(json.dumps(ensemble))
    return surefoot.load_policy(tmp_path / "safe.jani2nnet", blocks)


def test_models_tell_what_they_consist_of(blocks):
    assert blocks.name == "blocksworld_4_3"
    assert blocks.labels == ["choose_table", *(f"choose_block_{i}" for i in range(4))]
    counter = blocks.variable("table-counter")
    assert (counter.lower, counter.upper, counter.kind) == (0, 4, "int")
    assert blocks.properties[0].name == "safety" and blocks.properties[0].unsafe == "(4 ≤ table-counter)"
    assert "32 commands" in str(blocks)


def test_models_are_read_from_files_with_constants(tmp_path):
    document = walk_document()
    del document["constants"][0]["value"]
    document["automata"][0]["edges"][0]["guard"]["exp"]["right"] = "limit"
    path = tmp_path / "walk.jani"
    path.write_text(json.dumps(document))
    with pytest.raises(surefoot.InputError, match="limit"):
        surefoot.load_model(path)
    for limit, verdict in [(7, "UNSAFE"), (6, "SAFE")]:
        model = surefoot.load_model(path, constants={"limit": limit})
        assert surefoot.verify(model, None).verdict == verdict
    with pytest.raises(surefoot.InputError, match="nothing"):
        surefoot.load_model(path, constants={"limit": 7, "nothing": 1})


def test_states_are_values_by_name(blocks):
    numbers = [0] + [1, 3, 1, 4, 1, 1, 1, 1, 1, 0] + [0] * 5
    state = blocks.state(numbers)
    assert state["block_1"] == 4 and state["automaton_0.location"] == "loc_0"
    assert blocks.numbers(state) == numbers
    with pytest.raises(surefoot.UsageError, match="no variable `colour`"):
        blocks.numbers({**state, "colour": 1})
    with pytest.raises(surefoot.UsageError, match="the value of `block_0` is missing"):
        blocks.numbers({"hand-empty": 1, "table-counter": 0})


def test_an_unsafe_policy_has_a_trace(blocks):
    policy = surefoot.generate_policy(blocks, "network", hidden=[16, 16], filter=True)
    for engine in ["auto", "explicit", "ic3", "ppa"]:
        result = surefoot.verify(blocks, policy, engine=engine)
        assert result.unsafe and not result.safe and result.verdict is surefoot.Verdict.UNSAFE
        assert result.engine == ("ic3" if engine == "auto" else engine)
        trace = result.trace
        assert trace[-1]["table-counter"] == 4 and trace[0].label is None and trace[0].is_start
        assert trace.labels == [state.label for state in trace[1:]] and set(trace.labels) <= set(blocks.labels)
        for before, state in zip(trace, trace[1:]):
            changed = {name: state[name] for name in state if state[name] != before[name]}
            assert state.changes == changed and 0 < state.probability <= 1
        assert result.certificate is None and "UNSAFE" in repr(result)
        assert "<table>" in result._repr_html_() and trace.labels[0] in repr(trace)


def test_a_safe_policy_has_a_certificate(blocks, tmp_path):
    policy = safe_policy(blocks, tmp_path)
    result = surefoot.verify(blocks, policy)
    assert result.safe and result.trace is None and result.certificate.checked
    result.certificate.save(tmp_path / "safe.cert")
    for certificate in [result.certificate, result.certificate.contents, tmp_path / "safe.cert"]:
        check = surefoot.check_certificate(certificate, blocks, policy)
        assert check and check.accepted and check.reason is None
    other = surefoot.check_certificate(result.certificate, blocks, None)
    assert not other and other.accepted is False and "rejected" in repr(other)
    with pytest.raises(surefoot.InputError):
        surefoot.check_certificate(result.certificate.contents[:-1], blocks, policy)
    with pytest.raises(ValueError, match="no trace"):
        result.save_trace(tmp_path / "trace.json")


def test_the_command_line_reads_what_was_saved(blocks, tmp_path):
    """Models, policies and traces in memory have the same hashes as the files that they are saved to."""
    policy = surefoot.generate_policy(blocks, "forest", filter=True)
    on_disk = blocks.save(tmp_path / "model")
    saved = policy.save(tmp_path / "policy.jani2nnet")
    here = surefoot.verify(blocks, policy)
    there = surefoot.verify(on_disk, saved.path)
    hashes = [sorted(file["sha256"] for file in result.document["files"]) for result in (here, there)]
    assert here.verdict == there.verdict
    # The interface names the scorer, whose name on disk is another.
    assert len(set(hashes[0]) - set(hashes[1])) <= 1


def test_counts_and_start_states(blocks):
    policy = surefoot.generate_policy(blocks, "network", hidden=[16, 16], filter=True)
    result = surefoot.verify(blocks, policy, per_start=True)
    assert result.engine == "explicit" and result.statistics["start_states"] > 0
    assert len(result.unsafe_starts) == result.document["per_start"]["unsafe"] > 0
    assert surefoot.verify(blocks, policy).unsafe_starts is None


def test_readings_are_passed_on(walk):
    assert surefoot.verify(walk, None).unsafe
    result = surefoot.verify(walk, None, goal="terminal", out_of_domain="block", engine="explicit")
    assert result.document["semantics"]["goal"] == "terminal"
    assert result.document["semantics"]["out_of_domain"] == "block"


def test_properties_by_name_index_file_and_document(walk, tmp_path):
    zero = {"name": "zero", "expression": {"op": "PA", "reach": {"op": "=", "left": "x", "right": 0}}}
    assert surefoot.verify(walk, None, "safe").unsafe
    assert surefoot.verify(walk, None, 0).unsafe
    assert surefoot.verify(walk, None, zero).safe
    assert surefoot.verify(walk, None, {"properties": [zero]}).safe
    path = tmp_path / "zero.jani"
    path.write_text(json.dumps({"properties": [zero]}))
    assert surefoot.verify(walk, None, path).safe
    assert surefoot.verify(walk, None, str(path)).safe
    model = surefoot.load_model(walk_document(), property=path)
    assert [property.name for property in model.properties] == ["safe", "zero"]
    assert surefoot.verify(model, None, "safe").unsafe and surefoot.verify(model, None).safe
    with pytest.raises(surefoot.InputError, match="there is no property `nothing`"):
        surefoot.verify(walk, None, "nothing")


def test_simulations(blocks):
    policy = surefoot.generate_policy(blocks, "network", filter=True)
    simulation = surefoot.simulate(blocks, policy, episodes=20, steps=30, seed=4)
    assert len(simulation.episodes) == 20 == sum(simulation.summary.values())
    again = surefoot.simulate(blocks, policy, episodes=20, steps=30, seed=4)
    assert again.document == simulation.document
    state = {**simulation.episodes[0].trace[0]}
    fixed = surefoot.simulate(blocks, policy, start=state, episodes=3)
    assert all(dict(episode.trace[0]) == state for episode in fixed.episodes)


def test_explanations(blocks):
    policy = surefoot.generate_policy(blocks, "network", hidden=[8], filter=False)
    result = surefoot.verify(blocks, policy, engine="explicit")
    state = surefoot.simulate(blocks, policy).episodes[0].trace[0] if result.trace is None else result.trace[0]
    explanation = surefoot.explain(blocks, policy, state)
    assert dict(explanation.state) == dict(state)
    scores = policy.scores([state])[0, :, 0]
    assert explanation.choice == [policy.outputs[int(scores.argmax())]] == [policy.choose(state)]
    assert set(explanation.relevant) | set(explanation.irrelevant) == {v.name for v in blocks.variables}
    if explanation.nearest is not None:
        assert policy.choose(explanation.nearest) != explanation.choice[0]
    with pytest.raises(surefoot.ModelError, match="no policy"):
        surefoot.explain(blocks, None, state)


def test_mistakes_have_their_place(tmp_path):
    path = tmp_path / "bad.jani"
    document = walk_document()
    document["variables"][0]["name"] = 3
    path.write_text(json.dumps(document, indent=1))
    with pytest.raises(surefoot.InputError) as caught:
        surefoot.load_model(path)
    error = caught.value
    line = path.read_text().splitlines()[error.line - 1]
    assert error.path == str(path) and line[error.column - 1 :].startswith("3")
    assert error.json_path == "$.variables[0].name" and error.message in str(error)
    assert isinstance(error, surefoot.SurefootError) and isinstance(error, ValueError)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"engine": "magic"}, "invalid value 'magic'"),
        ({"engine": "ic3", "exhaustive": True}, "`exhaustive` needs `engine explicit`"),
        ({"nonsense": 1}, "unexpected argument 'nonsense'"),
        ({"time_limit": "soon"}, "expected a time"),
        ({"goal": "now"}, "invalid value 'now'"),
        ({"certificate": "x"}, "result.certificate.save"),
        ({"progress": 3}, "`progress` is 3"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(walk, options, message):
    with pytest.raises(surefoot.UsageError, match=message):
        surefoot.verify(walk, None, **options)


def test_policies_that_make_no_sense_are_refused(walk, blocks):
    with pytest.raises(surefoot.InputError, match="names no policy\n  hint: pass `policy FILE`, or `policy=None`"):
        surefoot.verify(walk)
    with pytest.raises(surefoot.UsageError, match="made for another model"):
        surefoot.verify(walk, surefoot.generate_policy(blocks))
    with pytest.raises(surefoot.UsageError, match="hint: objects of other libraries"):
        surefoot.verify(walk, object())
    with pytest.raises(surefoot.InputError, match="no such file"):
        surefoot.load_policy("nowhere.jani2nnet", walk)
    with pytest.raises(surefoot.UsageError, match="neither `filter` nor `arithmetic`"):
        surefoot.verify(walk, None, filter=True)


def test_generators_say_what_they_do_not_know():
    with pytest.raises(surefoot.UsageError, match="`blocks` is 1, but must be"):
        surefoot.generate("blocksworld", blocks=1)
    with pytest.raises(surefoot.UsageError, match="sokoban"):
        surefoot.generate("sokoban")
    assert surefoot.generate("blocksworld", blocks=3, table_limit=2, cost_terminal=False, probabilistic=True).name


@pytest.fixture(scope="module")
def hard():
    """Something that takes long: to go through all states of eight blocks, of which none is unsafe."""
    never = {"name": "never", "expression": {"op": "PA", "reach": {"op": "<", "left": "table-counter", "right": 0}}}
    return {
        "model": surefoot.generate("blocksworld", blocks=8, table_limit=7),
        "policy": None,
        "property": never,
        "engine": "explicit",
    }


def test_limits_give_unknown(hard):
    result = surefoot.verify(**hard, time_limit=0.3)
    assert result.verdict == "UNKNOWN" and result.reason == "time"
    assert surefoot.verify(**hard, time_limit=1e-9).reason == "time"
    with pytest.raises(TypeError, match="ask for `result.safe`"):
        bool(result)


def test_progress_goes_to_a_function(hard):
    lines = []
    surefoot.verify(**hard, time_limit=1.5, progress=lines.append)
    assert lines and all("states" in line for line in lines)


def test_progress_is_a_line_of_tqdm(hard, capsys, monkeypatch):
    # Notebooks, which other tests run, count as seen.
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    surefoot.verify(**hard, time_limit=1.0)
    assert capsys.readouterr().err == "", "nobody sees it"
    surefoot.verify(**hard, time_limit=1.0, progress=True)
    assert "states" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    surefoot.verify(**hard, time_limit=0.3, progress=True)
    assert capsys.readouterr().err == "", "tqdm is not installed"


def test_an_exception_of_the_function_stops_the_run(hard):
    def stop(line):
        raise KeyError("enough")

    began = time.monotonic()
    with pytest.raises(KeyError, match="enough"):
        surefoot.verify(**hard, time_limit=60, progress=stop)
    assert time.monotonic() - began < 30


def test_other_threads_go_on_while_a_run_lasts(hard):
    results = []

    def run():
        results.append(surefoot.verify(**hard, time_limit=1.0, threads=1))

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    turns = 0
    while any(thread.is_alive() for thread in threads):
        turns += 1
        time.sleep(0.01)
    assert turns > 10 and [result.reason for result in results] == ["time"] * 3


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_stops_a_run():
    program = """
        import surefoot
        model = surefoot.generate("blocksworld", blocks=8, table_limit=7)
        print("begin", flush=True)
        try:
            surefoot.verify(model, None, engine="explicit", exhaustive=True, time_limit=300)
        except KeyboardInterrupt:
            print("stopped", flush=True)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begin\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out == "stopped\n" and process.returncode == 0


def test_scores_in_all_arithmetics(blocks):
    policy = surefoot.generate_policy(blocks, "network", hidden=[8, 8])
    states = np.array([blocks.numbers(surefoot.simulate(blocks, None).episodes[0].trace[0])], np.int32)
    single = policy.scores(states, "f32")
    assert single.shape == (1, 5, 2) and np.array_equal(single[..., 0], single[..., 1])
    enclosed = policy.scores(states, "any-f32")
    assert (enclosed[..., 0] <= single[..., 0]).all() and (single[..., 0] <= enclosed[..., 1]).all()
    assert (enclosed[..., 0] < enclosed[..., 1]).any()
    with pytest.raises(surefoot.UsageError):
        policy.scores(states, "f16")
