"""Policies from objects of other libraries."""

import json
import sys

import numpy as np
import pytest
import torch
from conftest import walk_document

import surefoot
from surefoot.convert._compare import compare, input_values, random_states
from surefoot.convert._trees import first_above, first_above_double


@pytest.fixture(scope="module")
def data(blocks):
    """States of the model and, as classes, what some rule chooses there."""
    states = random_states(blocks, 3000, seed=5)
    columns = [index for index, variable in enumerate(blocks.variables) if variable.name in blocks.observed]
    rows = states[:, columns]
    return rows, (rows[:, 2] * 3 + rows[:, 5] * rows[:, 1] + (rows[:, 10] > 6)) % 5


def chosen(policy, rows, model, arithmetic):
    """The labels with the highest scores at rows of observations, as positions in `model.labels`."""
    states = np.zeros((len(rows), len(model.variables)), np.int32)
    for index, variable in enumerate(model.variables):
        states[:, index] = rows[:, policy.inputs.index(variable.name)] if variable.name in policy.inputs else 0
    scores = policy.scores(states, arithmetic)[..., 0]
    positions = np.array([model.labels.index(label) for label in policy.outputs])
    return positions[scores.argmax(axis=1)]


# PyTorch


def network(*sizes, activation=torch.nn.ReLU, bias=True, seed=0):
    torch.manual_seed(seed)
    layers = []
    for before, after in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(before, after, bias=bias), activation()]
    return torch.nn.Sequential(*layers[:-1])


@pytest.mark.parametrize(
    "activation",
    [
        torch.nn.ReLU,
        torch.nn.Tanh,
        torch.nn.Sigmoid,
        lambda: torch.nn.LeakyReLU(0.2),
        lambda: torch.nn.ELU(0.5),
        torch.nn.ReLU6,
        lambda: torch.nn.Hardtanh(-2.0, 0.5),
    ],
)
def test_networks_of_torch(blocks, data, activation):
    module = network(15, 24, 16, 5, activation=activation)
    policy = surefoot.from_torch(module, blocks, filter=True)
    assert policy.inputs == blocks.observed and policy.outputs == blocks.labels
    assert policy.filter and policy.arithmetic == "any-f32"
    with torch.no_grad():
        expected = module(torch.as_tensor(data[0], dtype=torch.float32)).argmax(dim=1).numpy()
    assert (chosen(policy, data[0], blocks, "f32") == expected).mean() > 0.999
    assert surefoot.verify(blocks, policy, time_limit=60).document["arithmetic"] == "any-f32"


def test_nested_modules_and_layers_without_effect(blocks):
    inner = torch.nn.Sequential(torch.nn.Linear(15, 8, bias=False), torch.nn.Tanh(), torch.nn.Dropout(0.5))
    module = torch.nn.Sequential(torch.nn.Flatten(), inner, torch.nn.Identity(), torch.nn.Linear(8, 5))
    assert surefoot.from_torch(module, blocks).description == "neural network 15-8-5 (tanh)"
    assert module.training


def test_state_dicts(blocks):
    module = network(15, 12, 12, 5, activation=torch.nn.Tanh)
    states = random_states(blocks)
    whole = surefoot.from_torch(module, blocks)
    # More than ten layers would be in the wrong order if names were sorted as text.
    shuffled = dict(sorted(module.state_dict().items(), key=lambda item: item[0], reverse=True))
    policy = surefoot.from_torch(shuffled, blocks, activation="tanh")
    assert np.array_equal(policy.scores(states, "f32"), whole.scores(states, "f32"))
    with pytest.raises(surefoot.UsageError, match="`activation` is 'softsign'"):
        surefoot.from_torch(module.state_dict(), blocks, activation="softsign")
    with pytest.raises(surefoot.PolicyError, match="`4.weight` reads 12 values, but the layer before it has 11"):
        surefoot.from_torch({**module.state_dict(), "2.weight": torch.zeros(11, 12)}, blocks)
    with pytest.raises(surefoot.PolicyError, match="has 4 dimensions"):
        surefoot.from_torch({"0.weight": torch.zeros(3, 3, 2, 2)}, blocks)


def test_explicit_lists_and_interface_files(walk, tmp_path):
    module = network(1, 4, 2)
    swapped = surefoot.from_torch(module, walk, inputs=["x"], outputs=["down", "up"])
    assert swapped.outputs == ["down", "up"]
    path = tmp_path / "policy.jani2nnet"
    document = {"file": "unused.nnet", "filter": True, "input": [{"name": "x", "automaton": None}], "output": ["down", "up"]}
    path.write_text(json.dumps(document))
    by_file = surefoot.from_torch(module, walk, interface=path)
    assert by_file.outputs == ["down", "up"] and by_file.filter
    with pytest.raises(surefoot.UsageError, match="leave out `inputs` and `outputs`"):
        surefoot.from_torch(module, walk, interface=path, outputs=["up", "down"])


@pytest.mark.parametrize(
    "module, message",
    [
        (torch.nn.Sequential(torch.nn.Linear(15, 5), torch.nn.Softplus()), "Sequential.1 is a layer of type Softplus"),
        (torch.nn.Sequential(torch.nn.Linear(15, 5), torch.nn.Softmax(-1)), r"leave it out at the end, with `network\[:-1\]`"),
        (torch.nn.Sequential(torch.nn.Conv1d(1, 2, 3)), "of type Conv1d"),
        (torch.nn.LSTM(15, 5), "of type LSTM"),
        (torch.nn.Sequential(torch.nn.Linear(14, 5)), "the policy has 14 inputs, but the model has .* 15"),
        (torch.nn.Sequential(torch.nn.Linear(15, 6)), "the policy has 6 outputs, but the model has .* 5"),
        (torch.nn.Sequential(torch.nn.Linear(15, 5).double()), "torch.float64, but must be float32"),
        (torch.nn.Sequential(torch.nn.ReLU()), "no Linear layer"),
    ],
)
def test_networks_that_do_not_fit_are_refused(blocks, module, message):
    with pytest.raises(surefoot.PolicyError, match=message):
        surefoot.from_torch(module, blocks)


def test_parameters_that_are_no_numbers_are_refused(blocks):
    module = network(15, 5)
    with torch.no_grad():
        module[0].bias[2] = float("nan")
    with pytest.raises(surefoot.PolicyError, match="infinite or not a number"):
        surefoot.from_torch(module, blocks)


def test_names_that_do_not_exist_are_refused(walk):
    module = network(1, 2)
    with pytest.raises(surefoot.PolicyError, match="no variable or constant `y`"):
        surefoot.from_torch(module, walk, inputs=["y"])
    with pytest.raises(surefoot.PolicyError, match="no label `left`"):
        surefoot.from_torch(module, walk, outputs=["left", "up"])


def test_a_network_that_does_something_else_is_found_out(blocks):
    class Scaled(torch.nn.Sequential):
        def forward(self, rows):
            return 2 * super().forward(rows)

    with pytest.raises(surefoot.PolicyError, match="of type Scaled"):
        surefoot.from_torch(Scaled(torch.nn.Linear(15, 5)), blocks)
    module = network(15, 8, 5)
    policy = surefoot.from_torch(module, blocks)
    with torch.no_grad():
        module[2].weight[3, 1] += 0.01
    with pytest.raises(surefoot.ComparisonError, match="the score of `choose_block_2` is .* in PyTorch") as caught:
        compare(policy, "PyTorch", lambda rows: module(torch.as_tensor(rows).float()).detach().numpy(), "any-f32")
    assert caught.value.label == "choose_block_2" and set(caught.value.state) == {v.name for v in blocks.variables}


def test_hooks_are_found_out(blocks):
    module = network(15, 8, 5)
    module[0].register_forward_hook(lambda layer, given, result: result + 1)
    with pytest.raises(surefoot.ComparisonError):
        surefoot.from_torch(module, blocks)


def test_saved_policies_are_the_same_on_disk(blocks, tmp_path):
    policy = surefoot.from_torch(network(15, 8, 5), blocks, filter=True)
    saved = policy.save(tmp_path / "trained")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["trained.jani2nnet", "trained.onnx"]
    states = random_states(blocks)
    assert np.array_equal(saved.scores(states), policy.scores(states))
    read = surefoot.load_policy(tmp_path / "trained.jani2nnet", blocks)
    assert read.filter and read.description == policy.description
    listed = surefoot.load_policy(tmp_path / "trained.onnx", blocks, inputs=blocks.observed, filter=True)
    assert np.array_equal(listed.scores(states, "f32"), policy.scores(states, "f32"))


# Trees


def test_thresholds_are_those_of_singles():
    for threshold in [0.5, -0.5, 3.0, 2.9999999, 16777216.0, 16777217.5, -16777217.0, 1e9 + 0.5, 1e30, -1e30]:
        first = first_above(threshold)
        near = [number for number in range(first - 4, first + 5) if -(2**31) <= number < 2**31]
        assert all((float(np.float32(number)) <= threshold) == (number < first) for number in near)
        first = first_above_double(threshold)
        near = [number for number in range(first - 4, first + 5) if -(2**31) <= number < 2**31]
        assert all((number <= threshold) == (number < first) for number in near)


def estimators():
    from sklearn import ensemble, tree

    return {
        "tree": tree.DecisionTreeClassifier(max_depth=6, random_state=0),
        "extra tree": tree.ExtraTreeClassifier(max_depth=6, random_state=0),
        "forest": ensemble.RandomForestClassifier(12, max_depth=6, random_state=0),
        "extra trees": ensemble.ExtraTreesClassifier(12, max_depth=6, random_state=0),
        "boosting": ensemble.GradientBoostingClassifier(n_estimators=8, random_state=0),
        "zero": ensemble.GradientBoostingClassifier(n_estimators=4, init="zero", random_state=0),
        "histogram": ensemble.HistGradientBoostingClassifier(max_iter=8, random_state=0),
    }


KINDS = ["tree", "extra tree", "forest", "extra trees", "boosting", "zero", "histogram"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("classes", ["positions", "names", "some", "two"])
def test_classifiers_of_scikit_learn(blocks, data, kind, classes):
    rows, actions = data
    if classes == "names":
        actions = np.array(blocks.labels)[actions]
    elif classes == "some":
        actions = np.where(actions == 2, 4, actions)
    elif classes == "two":
        actions = np.where(actions < 2, 1, 3)
    estimator = estimators()[kind].fit(rows, actions)
    policy = surefoot.from_sklearn(estimator, blocks)
    predicted = estimator.predict(rows)
    names = predicted if classes == "names" else np.array(blocks.labels)[predicted]
    found = np.array(blocks.labels)[chosen(policy, rows, blocks, "f64")]
    assert (found == names).mean() > (0.999 if kind in ("forest", "extra trees") else 0.99999)
    assert policy.arithmetic == "f64"


def test_regressors_of_scikit_learn(blocks, data):
    from sklearn import ensemble, tree

    rows, actions = data
    values = np.eye(5)[actions] + rows[:, :5] / 7
    for estimator in [tree.DecisionTreeRegressor(max_depth=5), ensemble.RandomForestRegressor(5, max_depth=5)]:
        policy = surefoot.from_sklearn(estimator.fit(rows, values), blocks)
        assert (chosen(policy, rows, blocks, "f64") == estimator.predict(rows).argmax(axis=1)).mean() > 0.999
    with pytest.raises(surefoot.PolicyError, match="one score per state"):
        surefoot.from_sklearn(tree.DecisionTreeRegressor().fit(rows, values[:, 0]), blocks)


def test_feature_names_are_matched(blocks, data):
    from sklearn.tree import DecisionTreeClassifier

    rows, actions = data
    names = blocks.observed[::-1]
    estimator = DecisionTreeClassifier(max_depth=5, random_state=0).fit(rows[:, ::-1], actions)
    estimator.feature_names_in_ = np.array(names, dtype=object)
    policy = surefoot.from_sklearn(estimator, blocks)
    assert policy.inputs == names
    straight = DecisionTreeClassifier(max_depth=5, random_state=0).fit(rows, actions)
    assert surefoot.from_sklearn(straight, blocks).inputs == blocks.observed
    # None of these is a variable, so they say nothing about the order.
    straight.feature_names_in_ = np.array([f"f{index}" for index in range(len(names))], dtype=object)
    assert surefoot.from_sklearn(straight, blocks).inputs == blocks.observed


def test_feature_names_that_are_known_in_part_are_refused(blocks, data):
    """The order of the model was taken for all of them."""
    from sklearn.tree import DecisionTreeClassifier

    rows, actions = data
    names = blocks.observed[::-1]
    estimator = DecisionTreeClassifier(max_depth=5, random_state=0).fit(rows[:, ::-1], actions)
    estimator.feature_names_in_ = np.array(["typo", *names[1:]], dtype=object)
    with pytest.raises(surefoot.PolicyError, match="the feature `typo` is no variable of the model"):
        surefoot.from_sklearn(estimator, blocks)
    assert surefoot.from_sklearn(estimator, blocks, inputs=names).inputs == names


def test_estimators_that_do_not_fit_are_refused(blocks, data):
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    rows, actions = data
    with pytest.raises(surefoot.PolicyError, match="a LogisticRegression is not known"):
        surefoot.from_sklearn(LogisticRegression(), blocks)
    with pytest.raises(surefoot.PolicyError, match="is not fitted yet"):
        surefoot.from_sklearn(DecisionTreeClassifier(), blocks)
    with pytest.raises(surefoot.PolicyError, match="there is a class 5, but 5 labels"):
        surefoot.from_sklearn(DecisionTreeClassifier().fit(rows, actions + 3), blocks)
    with pytest.raises(surefoot.PolicyError, match="the policy has 3 inputs"):
        surefoot.from_sklearn(DecisionTreeClassifier().fit(rows[:, :3], actions), blocks)


def test_xgboost(blocks, data):
    import xgboost

    rows, actions = data
    classifier = xgboost.XGBClassifier(n_estimators=6, max_depth=4).fit(rows, actions)
    policy = surefoot.from_xgboost(classifier, blocks)
    assert policy.arithmetic == "f32"
    assert (chosen(policy, rows, blocks, "f32") == classifier.predict(rows)).mean() > 0.999
    booster = classifier.get_booster()
    booster.feature_names = blocks.observed
    assert surefoot.from_xgboost(booster, blocks).inputs == blocks.observed
    single = xgboost.XGBRegressor(n_estimators=2).fit(rows, actions)
    with pytest.raises(surefoot.PolicyError, match="one score per state"):
        surefoot.from_xgboost(single, blocks)
    with pytest.raises(surefoot.PolicyError, match="counts as missing"):
        surefoot.from_xgboost(xgboost.XGBClassifier(n_estimators=2, missing=0).fit(rows, actions), blocks)


@pytest.mark.parametrize("booster", ["gbtree", "dart"])
def test_two_classes_of_xgboost_share_a_score(blocks, data, booster, tmp_path):
    import xgboost

    rows, actions = data
    classifier = xgboost.XGBClassifier(n_estimators=9, max_depth=3, booster=booster).fit(rows, actions > 2)
    outputs = [blocks.labels[3], blocks.labels[1]]
    policy = surefoot.from_xgboost(classifier, blocks, outputs=outputs)
    assert policy.outputs == outputs and policy.arithmetic == "f32"
    predicted = classifier.predict(rows)
    assert set(predicted) == {0, 1}
    expected = np.array([blocks.labels.index(label) for label in outputs])[predicted]
    assert (chosen(policy, rows, blocks, "f32") == expected).mean() > 0.999
    assert surefoot.verify(blocks, policy).verdict in ("SAFE", "UNSAFE")
    # The same from a file, and with the booster alone.
    classifier.save_model(tmp_path / "policy.json")
    read = surefoot.load_policy(tmp_path / "policy.json", blocks, inputs=blocks.observed, outputs=outputs)
    assert (chosen(read, rows, blocks, "f32") == chosen(policy, rows, blocks, "f32")).all()
    assert surefoot.from_xgboost(classifier.get_booster(), blocks, outputs=outputs).outputs == outputs
    with pytest.raises(surefoot.PolicyError, match="the policy has 2 outputs"):
        surefoot.from_xgboost(classifier.get_booster(), blocks)


def test_xgboost_stops_where_its_classifier_does(blocks, data):
    import xgboost

    rows, actions = data
    noise = np.random.default_rng(0).permutation(actions)
    classifier = xgboost.XGBClassifier(n_estimators=40, max_depth=6, early_stopping_rounds=2)
    classifier.fit(rows, actions, eval_set=[(rows, noise)], verbose=False)
    assert classifier.best_iteration + 1 < classifier.get_booster().num_boosted_rounds()
    policy = surefoot.from_xgboost(classifier, blocks)
    assert (chosen(policy, rows, blocks, "f32") == classifier.predict(rows)).mean() > 0.999


@pytest.mark.parametrize("boosting", ["gbdt", "rf", "dart"])
def test_lightgbm(blocks, data, boosting):
    import lightgbm

    rows, actions = data
    bagging = {"bagging_freq": 1, "bagging_fraction": 0.5}
    classifier = lightgbm.LGBMClassifier(
        n_estimators=5, boosting_type=boosting, verbose=-1, n_jobs=1, **bagging
    ).fit(rows, np.array(blocks.labels)[actions])
    policy = surefoot.from_lightgbm(classifier, blocks)
    assert policy.arithmetic == "f64" and set(policy.outputs) == set(blocks.labels)
    found = np.array(blocks.labels)[chosen(policy, rows, blocks, "f64")]
    assert (found == classifier.predict(rows)).mean() > 0.999
    single = lightgbm.LGBMRegressor(n_estimators=2, verbose=-1).fit(rows, actions)
    with pytest.raises(surefoot.PolicyError, match="one score per state"):
        surefoot.from_lightgbm(single.booster_, blocks)


@pytest.mark.parametrize("boosting", ["gbdt", "rf", "dart"])
def test_two_classes_of_lightgbm_share_a_score(blocks, data, boosting, tmp_path):
    import lightgbm

    rows, actions = data
    bagging = {"bagging_freq": 1, "bagging_fraction": 0.5}
    classifier = lightgbm.LGBMClassifier(n_estimators=9, boosting_type=boosting, verbose=-1, n_jobs=1, **bagging)
    outputs = sorted(blocks.labels[:2])
    classifier.fit(rows, np.array(outputs)[(actions > 2).astype(int)])
    policy = surefoot.from_lightgbm(classifier, blocks)
    assert policy.outputs == outputs
    predicted = classifier.predict(rows)
    assert set(predicted) == set(outputs)
    assert (np.array(blocks.labels)[chosen(policy, rows, blocks, "f64")] == predicted).mean() > 0.999
    classifier.booster_.save_model(tmp_path / "policy.txt")
    read = surefoot.load_policy(tmp_path / "policy.txt", blocks, inputs=blocks.observed, outputs=outputs)
    assert (chosen(read, rows, blocks, "f64") == chosen(policy, rows, blocks, "f64")).all()


# ONNX


def test_onnx_from_a_file_from_contents_and_from_objects(blocks, tmp_path):
    import onnx
    policy = surefoot.from_torch(network(15, 8, 5, activation=torch.nn.Tanh), blocks)
    contents = policy.files["<memory>/policy.onnx"]
    proto = onnx.load_model_from_string(contents)
    onnx.checker.check_model(proto, full_check=True)
    (tmp_path / "policy.onnx").write_bytes(contents)
    states = random_states(blocks)
    for source in [contents, proto, tmp_path / "policy.onnx"]:
        read = surefoot.from_onnx(source, blocks)
        assert np.array_equal(read.scores(states, "f32"), policy.scores(states, "f32"))
    with pytest.raises(surefoot.InputError, match="cannot read the file"):
        surefoot.from_onnx(tmp_path / "nowhere.onnx", blocks)
    with pytest.raises(surefoot.InputError):
        surefoot.from_onnx(b"no model", blocks)
    with pytest.raises(surefoot.InputError):
        surefoot.from_onnx(contents, blocks, outputs=blocks.labels[:4])


def test_a_softmax_at_the_end_is_left_out(blocks):
    import onnx
    contents = surefoot.from_torch(network(15, 8, 5), blocks).files["<memory>/policy.onnx"]
    proto = onnx.load_model_from_string(contents)
    proto.graph.node.append(onnx.helper.make_node("Softmax", ["scores"], ["probabilities"]))
    proto.graph.output[0].name = "probabilities"
    surefoot.from_onnx(proto, blocks)


# Without libraries


@pytest.mark.parametrize(
    "function, library",
    [
        (surefoot.from_torch, "torch"),
        (surefoot.from_sb3, "torch"),
        (surefoot.from_sklearn, "sklearn"),
        (surefoot.from_xgboost, "xgboost"),
        (surefoot.from_lightgbm, "lightgbm"),
    ],
)
def test_a_missing_library_is_named(monkeypatch, walk, function, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(surefoot.MissingLibraryError, match=f"needs the library {library}.*\n  hint: pip install"):
        function(object(), walk)
    assert issubclass(surefoot.MissingLibraryError, ImportError)


def test_inputs_are_read_in_the_order_of_the_interface(blocks):
    policy = surefoot.from_torch(network(2, 5), blocks, inputs=["block_2", "hand-empty"])
    states = random_states(blocks, 10)
    names = [variable.name for variable in blocks.variables]
    rows = input_values(policy, states)
    assert np.array_equal(rows, states[:, [names.index("block_2"), names.index("hand-empty")]])


def test_values_beyond_singles_are_split_as_scikit_learn_does():
    from sklearn.tree import DecisionTreeClassifier

    document = walk_document()
    base = 2**24
    document["variables"][0]["type"].update({"lower-bound": base - 8, "upper-bound": base + 8})
    document["variables"][0]["initial-value"] = base
    document["properties"] = []
    model = surefoot.load_model(document)
    rows = np.arange(base - 8, base + 9).reshape(-1, 1)
    estimator = DecisionTreeClassifier(random_state=0).fit(rows, (rows[:, 0] - base > 3).astype(int))
    policy = surefoot.from_sklearn(estimator, model)
    found = [policy.choose({"x": int(value)}) for value in rows[:, 0]]
    assert found == [model.labels[action] for action in estimator.predict(rows)]
