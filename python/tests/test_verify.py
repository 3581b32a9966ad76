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
        ({"engine": "magic"}, "`engine` is 'magic', but must be 'auto', 'explicit'"),
        ({"engine": "ic3", "exhaustive": True}, "`exhaustive` needs `engine='explicit'`"),
        ({"nonsense": 1}, "unexpected argument 'nonsense'"),
        ({"time_limit": "soon"}, "expected a time"),
        ({"time_limit": False}, "`time_limit` is False, but takes a value"),
        ({"samples": False}, "`samples` is False, but takes a value"),
        ({"goal": "now"}, "invalid value 'now' for 'goal'"),
        ({"goal": False}, "`goal` is False, but takes a value"),
        ({"certificate": "x"}, "result.certificate.save"),
        ({"progress": 3}, "`progress` is 3"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(walk, options, message):
    with pytest.raises(surefoot.UsageError, match=message):
        surefoot.verify(walk, None, **options)


def test_policies_that_make_no_sense_are_refused(walk, blocks):
    with pytest.raises(surefoot.InputError, match="names no policy\n  hint: pass `policy=FILE`, or `policy=None`"):
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
    with pytest.raises(surefoot.MissingLibraryError, match="pip install tqdm"):
        surefoot.verify(**hard, time_limit=0.3, progress=True)


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
@pytest.mark.parametrize(
    "call", ['verify(model, None, engine="explicit", exhaustive=True, time_limit=300)', "simulate(model, None, episodes=10**9)"]
)
def test_ctrl_c_stops_a_run(call):
    program = f"""
        import surefoot
        model = surefoot.generate("blocksworld", blocks=8, table_limit=7)
        print("begin", flush=True)
        try:
            surefoot.{call}
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


ZERO = {"name": "zero", "expression": {"op": "PA", "reach": {"op": "=", "left": "x", "right": 0}}}


@pytest.fixture
def lower(blocks):
    """A state of blocks: all values at their lower bounds."""
    return blocks.state([variable.lower for variable in blocks.variables])


def written(path, document):
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize("word", ["off", "on", 0, 1])
def test_words_are_no_switches(walk, tmp_path, word):
    """The text `off` was on, like every text that is not empty."""
    policy = surefoot.generate_policy(walk)
    interface = policy.save(tmp_path / "policy").path
    for call in [
        lambda: surefoot.verify(walk, policy, filter=word),
        lambda: surefoot.load_policy(tmp_path / "policy.nnet", walk, inputs=["x"], filter=word),
        lambda: surefoot.from_onnx(b"", walk, interface=interface, filter=word),
    ]:
        with pytest.raises(surefoot.UsageError, match=f"`filter` is {word!r}, but must be True, False or None"):
            call()
    for switch in (np.True_, np.False_):
        assert surefoot.verify(walk, policy, filter=switch).document["semantics"]["filter"] is bool(switch)


def test_a_file_that_changed_is_not_read_with_the_old_names(tmp_path):
    """Positions of the old variables were looked up in the new ones."""
    path = written(tmp_path / "walk.jani", walk_document())
    model = surefoot.load_model(path)
    policy = surefoot.generate_policy(model)
    saved = policy.save(tmp_path / "policy")
    policy.scores([{"x": 3}])
    document = walk_document()
    document["variables"].insert(0, {**document["variables"][0], "name": "y"})
    written(path, document)
    for call in [
        lambda: surefoot.verify(model, policy),
        lambda: surefoot.simulate(model, None),
        lambda: surefoot.explain(model, policy, {"x": 3}),
        lambda: surefoot.load_policy(saved.path, model).scores([{"x": 3}]),
        lambda: model.save(tmp_path / "saved"),
    ]:
        with pytest.raises(surefoot.UsageError, match="walk.jani: the file has changed since `load_model`"):
            call()
    with pytest.raises(surefoot.UsageError, match="made for another model"):
        surefoot.verify(surefoot.load_model(path), policy)


@pytest.mark.parametrize("value", [1.9, "1", None, np.float64(2.0), np.array([1])])
def test_values_that_are_not_whole_are_not_truncated(blocks, lower, value):
    """1.9 was 1."""
    policy = surefoot.generate_policy(blocks)
    for call in (policy.choose, lambda state: policy.scores([state]), blocks.numbers):
        with pytest.raises(surefoot.UsageError, match="`block_0` is .*, but must be a whole number"):
            call({**lower, "block_0": value})
    assert policy.choose({**lower, "block_0": np.int8(1), "hand-empty": np.True_})


def test_arrays_of_states_are_not_truncated_or_wrapped(blocks, lower):
    """Floats were truncated, and 2³² was 0."""
    policy = surefoot.generate_policy(blocks)
    states = np.array([blocks.numbers(lower)])
    for wrong, message in [
        (states * 1.0, "of type float64, but must be whole numbers"),
        (states + 2**32, "4294967296 is no value of `automaton_0.location`, which is in 0..0"),
        (states - 1, "-1 is no value"),
        ([states[0].tolist(), [1, 2]], "must be a list of states"),
        ([], "must be a list of states"),
        (states[:, 1:], "states have 15 numbers, but the model has 16"),
    ]:
        with pytest.raises(surefoot.UsageError, match=message):
            policy.scores(wrong)
    for kind in (np.uint8, np.int64, np.uint64):
        assert np.array_equal(policy.scores(states.astype(kind)), policy.scores([lower]))


def test_options_that_are_off_must_exist(blocks):
    """Misspelled options were ignored if they were `False` or `None`."""
    policy = surefoot.generate_policy(blocks, filter=np.True_)
    for call in [
        lambda: surefoot.verify(blocks, policy, per_strat=False),
        lambda: surefoot.verify(blocks, policy, per_strat=None),
        lambda: surefoot.generate("blocksworld", per_strat=None),
        lambda: surefoot.generate_policy(blocks, per_strat=False),
    ]:
        with pytest.raises(surefoot.UsageError, match="there is no option `per_strat`"):
            call()
    with pytest.raises(surefoot.UsageError, match="hint: did you mean `per_start`"):
        surefoot.verify(blocks, policy, per_strat=False)


def test_options_that_are_off_choose_no_engine(blocks):
    """`per_start=False` chose the explicit engine, and `engine=None` was refused."""
    policy = surefoot.generate_policy(blocks, filter=True)
    for options in ({"per_start": False, "exhaustive": None}, {"engine": None}, {"per_start": np.False_}):
        assert surefoot.verify(blocks, policy, **options).engine == "ic3"
    with pytest.raises(surefoot.UsageError, match="`arithmetic` is False, but takes a value"):
        surefoot.verify(blocks, policy, arithmetic=False)
    assert surefoot.verify(blocks, policy, per_start=np.True_).engine == "explicit"


def test_cost_terminal_is_a_boolean():
    """`None` was false, and the text `false` was true."""
    files = [surefoot.generate("npuzzle", **given).files for given in ({}, {"cost_terminal": None}, {"cost_terminal": True})]
    assert files[0] == files[1]
    assert surefoot.generate("npuzzle", cost_terminal=np.False_).files == surefoot.generate("npuzzle", cost_terminal=False).files
    with pytest.raises(surefoot.UsageError, match="`cost_terminal` is 'false', but must be True, False or None"):
        surefoot.generate("npuzzle", cost_terminal="false")


@pytest.mark.parametrize(
    "options, message",
    [
        ({"hidden": []}, "`hidden` is an empty list\n  hint: leave it out"),
        ({"inputs": ()}, "`inputs` is an empty list"),
        ({"inputs": ["hand-empty,block_0"]}, "commas are not possible here"),
        ({"out": "folder"}, r"`policy.save\(path\)` writes it"),
        ({"trees": 3}, "`trees` is a parameter of an ensemble"),
        ({"kind": "boosted", "hidden": [8]}, "`hidden` is a parameter of a network"),
        ({"hidden": [10**6, 10**6]}, "at most 10000000 weights"),
    ],
)
def test_parameters_of_policies_that_mean_nothing_are_refused(blocks, options, message):
    """An empty list gave 16-16, folders and parameters of other kinds were ignored, and memory ran out."""
    with pytest.raises(surefoot.UsageError, match=message):
        surefoot.generate_policy(blocks, **options)


@pytest.mark.parametrize(
    "domain, options, message",
    [
        (3, {}, "`domain` is 3, but must be the name of a domain"),
        ("--out=x", {}, "must be the name of a domain"),
        ("npuzzle", {"out": "folder"}, r"`model.save\(folder\)`"),
    ],
)
def test_generators_are_named_and_write_nothing(domain, options, message):
    """A folder to write to was ignored."""
    with pytest.raises(surefoot.UsageError, match=message):
        surefoot.generate(domain, **options)


def test_names_and_values_are_no_options(walk, tmp_path, monkeypatch):
    """A file that begins with a dash was an option, and a comma began another value."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(surefoot.InputError, match="./--const=a=1: no such file"):
        surefoot.load_model("--const=a=1")
    written(tmp_path / "-walk.jani", walk_document())
    assert surefoot.verify("-walk.jani", None).unsafe
    for start in ({"x": "1,x=2"}, {"x=1,x": 2}):
        with pytest.raises(surefoot.UsageError, match="commas are not possible here|no name of a variable"):
            surefoot.simulate(walk, None, start=start)
    with pytest.raises(surefoot.UsageError, match="commas are not possible here"):
        surefoot.load_model(walk_document(), constants={"limit": "4,b=true"})


def test_what_cannot_be_written_is_an_error_of_output(blocks, walk, tmp_path):
    """They were bare errors of the operating system."""
    policy = surefoot.generate_policy(blocks, filter=True)
    unsafe, safe = surefoot.verify(blocks, policy), surefoot.verify(walk, None, ZERO)
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "x"
    for save in (blocks.save, policy.save, unsafe.save_trace, safe.certificate.save):
        with pytest.raises(surefoot.OutputError, match="cannot write the file"):
            save(path)
    with pytest.raises(surefoot.UsageError, match="there is no trace: the verdict is SAFE"):
        safe.save_trace(tmp_path / "trace")


def test_what_was_not_decided_is_said(blocks):
    """Without time, the choice seemed to depend on nothing."""
    policy = surefoot.generate_policy(blocks, hidden=[64, 64])
    explanation = surefoot.explain(blocks, policy, time_limit=1e-9)
    assert explanation.undecided and "; not decided: " in repr(explanation)
    assert "depends on nothing" not in repr(explanation)
    full = surefoot.explain(blocks, surefoot.generate_policy(blocks, hidden=[4]))
    assert full.complete and not full.undecided and "not decided" not in repr(full)


def test_numbers_of_numpy_are_numbers(blocks, lower):
    """They could not stand in states, models and shapes."""
    policy = surefoot.generate_policy(blocks, hidden=np.array([4, np.int32(8)]))
    assert "16-4-8-5" in policy.description
    state = {name: np.int64(value) if type(value) is int else value for name, value in lower.items()}
    assert dict(surefoot.explain(blocks, policy, state).state) == dict(surefoot.explain(blocks, policy, lower).state)
    document = walk_document()
    document["constants"][0]["value"] = np.int64(7)
    document["variables"][0]["type"]["upper-bound"] = np.int32(9)
    assert surefoot.load_model(document).variable("x").upper == 9
    with pytest.raises(surefoot.UsageError, match="a set, which JSON cannot hold"):
        surefoot.load_model({**document, "comment": {1}})


def test_a_policy_belongs_to_a_model_file_wherever_it_is(tmp_path, monkeypatch):
    """The same model with another property, by another path or saved was another one."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "walk.jani", walk_document())
    written(tmp_path / "zero.jani", {"properties": [ZERO]})
    policy = surefoot.generate_policy(surefoot.load_model("walk.jani"))
    others = [surefoot.load_model(tmp_path / "walk.jani"), surefoot.load_model("walk.jani", property="zero.jani")]
    for model in [*others, others[1].save(tmp_path / "saved")]:
        assert surefoot.verify(model, policy, "safe").verdict == surefoot.verify(others[0], policy).verdict


def test_models_on_disk_are_copied(tmp_path):
    """Nothing was written, and the result was said to be there."""
    written(tmp_path / "walk.jani", walk_document())
    written(tmp_path / "zero.jani", {"properties": [ZERO]})
    model = surefoot.load_model(tmp_path / "walk.jani", property=tmp_path / "zero.jani").save(tmp_path / "copy")
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == ["walk.jani", "zero.jani"]
    assert model.path == str(tmp_path / "copy" / "walk.jani") and [p.name for p in model.properties] == ["safe", "zero"]
    (tmp_path / "other").mkdir()
    written(tmp_path / "other" / "walk.jani", {"properties": [ZERO]})
    with pytest.raises(surefoot.UsageError, match="files of the same name"):
        surefoot.load_model(tmp_path / "walk.jani", property=tmp_path / "other" / "walk.jani").save(tmp_path / "both")


def test_names_of_properties_come_before_files(walk, tmp_path, monkeypatch):
    """A folder of that name was read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "safe").mkdir()
    assert surefoot.verify(walk, None, "safe").unsafe
    (tmp_path / "0").write_text("")
    with pytest.raises(surefoot.UsageError, match="`property` is 0, but there is a file of that name, too"):
        surefoot.verify(walk, None, 0)


def test_a_model_may_be_called_property():
    """Its contents and those of the property had the same name in memory."""
    document = {**walk_document(), "name": "property"}
    assert surefoot.verify(surefoot.load_model(document), None, ZERO).safe
    model = surefoot.load_model(document, property=ZERO)
    assert [property.name for property in model.properties] == ["safe", "zero"]


def test_warnings_name_the_line_of_the_caller(walk, tmp_path):
    """Those of interface files stood at `sys:1`."""
    (tmp_path / "policy.nnet").write_text("1,1,2,2,\n1,2,\n0,\n0,\n1,\n3,0,\n1,1,\n1,\n2,\n0,\n0,\n")
    interface = {"file": "policy.nnet", "input": [walk.variable("x").input], "output": walk.labels}
    path = written(tmp_path / "policy.jani2nnet", interface)
    for load in [
        lambda: surefoot.load_policy(path, walk),
        lambda: surefoot.load_policy(tmp_path / "policy.nnet", walk, inputs=["x"]),
    ]:
        with pytest.warns(UserWarning, match="the means are ignored") as caught:
            load()
        assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("function", ["load_policy", "generate_policy", "from_torch"])
def test_a_model_is_no_file(function):
    """It was an attribute that a text does not have."""
    import torch

    calls = {
        "load_policy": lambda model: surefoot.load_policy("policy.jani2nnet", model),
        "generate_policy": surefoot.generate_policy,
        "from_torch": lambda model: surefoot.from_torch(torch.nn.Sequential(torch.nn.Linear(1, 2)), model),
    }
    with pytest.raises(surefoot.UsageError, match="`model` is a str, but must be a Model"):
        calls[function]("walk.jani")
    with pytest.raises(surefoot.UsageError, match="`source` is a int, but must be a file"):
        surefoot.load_model(3)


def test_the_package_lists_its_module():
    """`dir` did not know `gym`, and for type checkers the package had every name."""
    assert "gym" in dir(surefoot) and surefoot.gym.make
    with pytest.raises(AttributeError, match="no attribute 'verfy'"):
        surefoot.verfy
