"""Trees of scikit-learn, XGBoost and LightGBM."""

import json
import pickle

import numpy as np
import pytest
from conftest import chosen, walk_document

import surefoot
from surefoot.convert._compare import random_states
from surefoot.convert._trees import first_above, first_above_double


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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("classes", ["some", "two", "names"])
def test_labels_that_are_listed_are_outputs_without_a_class(blocks, data, kind, classes):
    """Labels that the training never saw were no outputs, though they were listed: so they could happen at any time."""
    rows, actions = data
    actions = np.where(actions == 2, 4, actions) if classes == "some" else np.where(actions < 2, 1, 3)
    estimator = estimators()[kind].fit(rows, np.array(blocks.labels)[actions] if classes == "names" else actions)
    part = surefoot.from_sklearn(estimator, blocks)
    policy = surefoot.from_sklearn(estimator, blocks, outputs=blocks.labels)
    assert len(part.outputs) < len(policy.outputs) and sorted(policy.outputs) == sorted(blocks.labels)
    states = random_states(blocks)
    assert [policy.choose(blocks.state(state)) for state in states] == [part.choose(blocks.state(state)) for state in states]
    scores = policy.scores(states)[..., 0]
    unseen = [policy.outputs.index(label) for label in policy.outputs if label not in part.outputs]
    assert scores[:, unseen].max() < np.delete(scores, unseen, axis=1).min()
    assert surefoot.verify(blocks, policy, time_limit=20).document["warnings"] == []


@pytest.mark.parametrize("kind", KINDS)
def test_interfaces_of_classifiers_list_labels_by_class(blocks, data, kind, tmp_path):
    """Of two classes, boosting has the score of the second. With an interface, the labels were exchanged."""
    rows, actions = data
    estimator = estimators()[kind].fit(rows, np.where(actions < 2, "yes", "no"))
    path = tmp_path / "policy.jani2nnet"
    names = [{"name": name, "automaton": None} for name in blocks.observed]
    path.write_text(json.dumps({"file": "unused", "input": names, "output": [blocks.labels[4], blocks.labels[2]]}))
    policy = surefoot.from_sklearn(estimator, blocks, interface=path)
    label = {"no": 4, "yes": 2}
    expected = np.array([label[value] for value in estimator.predict(rows)])
    assert len(set(expected)) == 2
    assert (chosen(policy, rows, blocks, "f64") == expected).mean() > 0.999


@pytest.mark.parametrize("library", ["scikit-learn", "LightGBM"])
def test_interfaces_that_contradict_names_are_refused(walk, library, tmp_path):
    """An interface with labels in another order than the classes exchanged them, and the comparison went by it."""
    if library == "scikit-learn":
        from sklearn.tree import DecisionTreeClassifier

        make, convert = lambda: DecisionTreeClassifier(max_depth=3), surefoot.from_sklearn
    else:
        from lightgbm import LGBMClassifier

        make, convert = lambda: LGBMClassifier(n_estimators=2, min_child_samples=1, verbose=-1), surefoot.from_lightgbm
    rows = np.arange(10).reshape(-1, 1)
    estimator = make().fit(rows, np.where(rows[:, 0] < 5, "up", "down"))
    path = tmp_path / "policy.jani2nnet"
    for outputs in [["down", "up"], ["up", "down"]]:
        path.write_text(json.dumps({"file": "unused", "input": [{"name": "x", "automaton": None}], "output": outputs}))
        if outputs == list(estimator.classes_):
            policy = convert(estimator, walk, interface=path)
            assert [policy.choose({"x": x}) for x in (1, 8)] == ["up", "down"]
        else:
            with pytest.raises(surefoot.PolicyError, match="output 0 is `up`, but it is the class `down`\n  hint: .* `down`, `up`"):
                convert(estimator, walk, interface=path)


def test_names_of_features_that_contradict_the_inputs_are_refused(blocks, data):
    from sklearn.tree import DecisionTreeClassifier

    rows, actions = data
    estimator = DecisionTreeClassifier(max_depth=4).fit(rows, actions)
    estimator.feature_names_in_ = np.array(blocks.observed, dtype=object)
    other = [blocks.observed[1], blocks.observed[0], *blocks.observed[2:]]
    message = f"input 0 is `{other[0]}`, but the policy was trained on `{other[1]}` there"
    with pytest.raises(surefoot.PolicyError, match=message):
        surefoot.from_sklearn(estimator, blocks, inputs=other)
    assert surefoot.from_sklearn(estimator, blocks, inputs=blocks.observed).inputs == blocks.observed
    assert surefoot.from_sklearn(estimator, blocks).inputs == blocks.observed
    estimator.feature_names_in_ = np.array([f"f{index}" for index in range(15)], dtype=object)
    assert surefoot.from_sklearn(estimator, blocks, inputs=other).inputs == other


def test_old_versions_of_scikit_learn_are_refused_where_they_choose_otherwise(walk, monkeypatch):
    import sklearn

    rows = np.arange(10).reshape(-1, 1)
    boosting = estimators()["boosting"].fit(rows, rows[:, 0] < 5)
    tree = estimators()["tree"].fit(rows, rows[:, 0] < 5)
    monkeypatch.setattr(sklearn, "__version__", "1.3.2")
    surefoot.from_sklearn(tree, walk)
    with pytest.raises(surefoot.PolicyError, match="needs scikit-learn 1.4 or later, but 1.3.2"):
        surefoot.from_sklearn(boosting, walk)


@pytest.mark.parametrize("kind", ["boosting", "zero", "histogram"])
def test_ties_of_two_classes_are_those_of_predict(walk, kind):
    """At a score of 0, `GradientBoostingClassifier` takes the second class, `HistGradientBoostingClassifier` the first."""
    rows = np.array([[x] for x in range(10)] * 40)
    # Values 3 and 4 have both classes equally often, and all classes together are, too.
    classes = np.where(rows[:, 0] < 3, 0, np.where(rows[:, 0] > 4, 1, np.arange(len(rows)) // 10 % 2))
    rows, classes = rows[rows[:, 0] < 8], classes[rows[:, 0] < 8]
    settings = {
        "histogram": {"min_samples_leaf": 1, "learning_rate": 0.5},
        "boosting": {"learning_rate": 0.5},
        "zero": {"learning_rate": 0.5},
    }
    estimator = estimators()[kind].set_params(**settings[kind]).fit(rows, classes)
    assert (estimator.decision_function([[3]]) == 0).any(), "there is a tie"
    policy = surefoot.from_sklearn(estimator, walk)
    found = [policy.choose({"x": x}) for x in range(10)]
    assert found == [walk.labels[action] for action in estimator.predict(np.arange(10).reshape(-1, 1))]


def test_choices_are_compared_with_those_of_the_library(blocks, data, monkeypatch):
    """Scores alone do not tell which label is which."""
    from sklearn.tree import DecisionTreeClassifier

    rows, actions = data
    estimator = DecisionTreeClassifier(max_depth=6, random_state=0).fit(rows, actions)
    predict = DecisionTreeClassifier.predict
    monkeypatch.setattr(DecisionTreeClassifier, "predict", lambda self, rows: (predict(self, rows) + 1) % 5)
    with pytest.raises(surefoot.ComparisonError, match="scikit-learn chooses `.*`, but `.*` has the highest score") as caught:
        surefoot.from_sklearn(estimator, blocks)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.state == caught.value.state


def test_choices_of_regressors_were_not_compared(blocks, data, monkeypatch):
    """Their scores are those of the trees, whatever `predict` makes of them."""
    import lightgbm
    import xgboost
    from sklearn.ensemble import RandomForestRegressor

    class Backwards(xgboost.XGBRegressor):
        def predict(self, rows):
            return super().predict(rows)[:, ::-1]

    rows, actions = data
    forest = RandomForestRegressor(3, max_depth=4).fit(rows, np.eye(5)[actions])
    boosted = xgboost.XGBRegressor(n_estimators=3, max_depth=3).fit(rows, np.eye(5)[actions])
    assert surefoot.from_xgboost(boosted, blocks).outputs == blocks.labels
    boosted.__class__ = Backwards
    with pytest.raises(surefoot.ComparisonError, match="XGBoost chooses `"):
        surefoot.from_xgboost(boosted, blocks)
    predict = RandomForestRegressor.predict
    monkeypatch.setattr(RandomForestRegressor, "predict", lambda self, rows: predict(self, rows)[:, ::-1])
    with pytest.raises(surefoot.ComparisonError, match="scikit-learn chooses `"):
        surefoot.from_sklearn(forest, blocks)
    two = {"outputs": blocks.labels[:2]}
    binary = xgboost.XGBRegressor(n_estimators=3, objective="binary:logistic").fit(rows, actions > 2)
    assert surefoot.from_xgboost(binary, blocks, **two).outputs == blocks.labels[:2]
    binary = lightgbm.LGBMRegressor(n_estimators=3, objective="binary", verbose=-1).fit(rows, actions > 2)
    assert surefoot.from_lightgbm(binary, blocks, **two).outputs == blocks.labels[:2]
    several = lightgbm.LGBMRegressor(n_estimators=3, objective="multiclass", num_class=5, verbose=-1).fit(rows, actions)
    assert surefoot.from_lightgbm(several, blocks).outputs == blocks.labels


def test_estimators_were_known_by_name_only(blocks, data):
    """A class of the same name, or an instance with a `predict` of its own, may choose anything."""
    from sklearn import ensemble, tree

    class DecisionTreeClassifier(tree.DecisionTreeClassifier):
        pass

    rows, actions = data
    estimator = DecisionTreeClassifier(max_depth=4).fit(rows, actions)
    with pytest.raises(surefoot.PolicyError, match=r"a DecisionTreeClassifier of .*test_trees is not known\n  hint: "):
        surefoot.from_sklearn(estimator, blocks)
    for method in ("predict", "predict_proba", "decision_function"):
        estimator = ensemble.GradientBoostingClassifier(n_estimators=2).fit(rows, actions)
        setattr(estimator, method, getattr(estimator, method))
        with pytest.raises(surefoot.PolicyError, match=f"has `{method}` of its own\n  hint: "):
            surefoot.from_sklearn(estimator, blocks)


def test_boosters_with_a_predict_of_their_own_are_refused(blocks, data):
    """Scores are those of a copy that has the one of the library."""
    import lightgbm
    import xgboost

    class Own(xgboost.Booster):
        pass

    rows, actions = data
    booster = xgboost.XGBClassifier(n_estimators=2).fit(rows, actions).get_booster()
    with pytest.raises(surefoot.UsageError, match="is a Own, but must be a Booster"):
        surefoot.from_xgboost(Own(model_file=booster.save_raw()), blocks)
    other = lightgbm.LGBMClassifier(n_estimators=2, verbose=-1).fit(rows, actions).booster_
    for each, convert in [(booster, surefoot.from_xgboost), (other, surefoot.from_lightgbm)]:
        convert(each, blocks)
        each.predict = each.predict
        with pytest.raises(surefoot.UsageError, match="without `predict` of its own"):
            convert(each, blocks)


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
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    rows, actions = data
    with pytest.raises(surefoot.PolicyError, match="a LogisticRegression is not known"):
        surefoot.from_sklearn(LogisticRegression(), blocks)
    with pytest.raises(surefoot.PolicyError, match="a Pipeline is not known\n  hint: train the estimator on plain values"):
        surefoot.from_sklearn(make_pipeline(StandardScaler(), DecisionTreeClassifier()), blocks)
    with pytest.raises(surefoot.PolicyError, match="one class only, 1"):
        surefoot.from_sklearn(DecisionTreeClassifier().fit(rows, np.ones(len(rows), int)), blocks)
    with pytest.raises(surefoot.UsageError, match="the classes are labels themselves"):
        named = DecisionTreeClassifier().fit(rows, np.array(blocks.labels)[actions])
        surefoot.from_sklearn(named, blocks, outputs=blocks.labels)
    with pytest.raises(surefoot.PolicyError, match="several classes at once"):
        surefoot.from_sklearn(DecisionTreeClassifier().fit(rows, np.stack([actions, actions], axis=1)), blocks)
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


def test_xgboost_stops_where_a_callback_or_a_file_says_so(blocks, data, tmp_path):
    """`predict` goes by `best_iteration` whether or not the classifier has `early_stopping_rounds`."""
    import xgboost

    rows, actions = data
    noise = np.random.default_rng(0).permutation(actions)
    stop = xgboost.callback.EarlyStopping(rounds=2)
    classifier = xgboost.XGBClassifier(n_estimators=40, max_depth=6, callbacks=[stop])
    classifier.fit(rows, actions, eval_set=[(rows, noise)], verbose=False)
    assert classifier.best_iteration + 1 < classifier.get_booster().num_boosted_rounds()
    classifier.save_model(tmp_path / "policy.json")
    loaded = xgboost.XGBClassifier()
    loaded.load_model(tmp_path / "policy.json")
    for each in [classifier, loaded]:
        policy = surefoot.from_xgboost(each, blocks)
        assert (chosen(policy, rows, blocks, "f32") == each.predict(rows)).mean() > 0.999


@pytest.mark.parametrize("boosting", ["gbdt", "rf", "dart"])
def test_lightgbm(blocks, data, boosting):
    import lightgbm

    rows, actions = data
    bagging = {"bagging_freq": 1, "bagging_fraction": 0.5}
    classifier = lightgbm.LGBMClassifier(n_estimators=5, boosting_type=boosting, verbose=-1, n_jobs=1, **bagging).fit(
        rows, np.array(blocks.labels)[actions]
    )
    policy = surefoot.from_lightgbm(classifier, blocks)
    assert policy.arithmetic == "f64" and set(policy.outputs) == set(blocks.labels)
    found = np.array(blocks.labels)[chosen(policy, rows, blocks, "f64")]
    assert (found == classifier.predict(rows)).mean() > 0.999
    single = lightgbm.LGBMRegressor(n_estimators=2, verbose=-1).fit(rows, actions)
    with pytest.raises(surefoot.PolicyError, match="one score per state"):
        surefoot.from_lightgbm(single.booster_, blocks)


def test_classifiers_of_lightgbm_that_stop_early_are_refused(blocks, data):
    """`predict` left out trees, and only its choices at random states could tell."""
    import lightgbm

    rows, actions = data
    for value in (True, "true", "+"):
        classifier = lightgbm.LGBMClassifier(n_estimators=4, verbose=-1, pred_early_stop=value, pred_early_stop_margin=1e3)
        classifier.fit(rows, actions)
        for each in (classifier, classifier.booster_):
            with pytest.raises(surefoot.PolicyError, match="`pred_early_stop` is .*\n  hint: train without it"):
                surefoot.from_lightgbm(each, blocks)
    for value in (False, "-"):
        assert surefoot.from_lightgbm(classifier.set_params(pred_early_stop=value), blocks).outputs == blocks.labels


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
