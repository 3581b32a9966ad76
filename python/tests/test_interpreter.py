"""Interpreters without the libraries that policies come from."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import numpy as np
import pytest

import surefoot


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


def test_an_interpreter_with_numpy_alone(walk, tmp_path):
    """Models, policies from files and verification need no other library."""
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    for package in (surefoot, np):
        folder = Path(package.__file__).parent
        for part in [folder, *folder.parent.glob(f"{package.__name__}.libs")]:
            (libraries / part.name).symlink_to(part)
    model = walk.save(tmp_path / "model").path
    surefoot.generate_policy(walk, seed=1).save(tmp_path / "policy")
    program = """
import sys, surefoot
model = surefoot.load_model(sys.argv[1])
policy = surefoot.load_policy(sys.argv[2], model)
result = surefoot.verify(model, policy)
print(result.verdict, policy.choose({"x": 4}), policy.scores([{"x": 4}]).shape)
for function in (surefoot.from_torch, surefoot.from_sb3, surefoot.from_sklearn, surefoot.from_xgboost, surefoot.from_lightgbm):
    try:
        function(object(), model)
    except surefoot.MissingLibraryError as error:
        print(error)
try:
    import surefoot.gym
except surefoot.MissingLibraryError as error:
    print(error)
"""
    arguments = [tmp_path / "bare" / "bin" / "python", "-c", program, model, tmp_path / "policy.jani2nnet"]
    environment = {**os.environ, "PYTHONPATH": str(libraries)}
    lines = subprocess.run(arguments, env=environment, check=True, capture_output=True, text=True).stdout.splitlines()
    result = surefoot.verify(walk, surefoot.load_policy(tmp_path / "policy.jani2nnet", walk))
    assert lines[0].split()[0] == result.verdict
    missing = [line for line in lines if "needs the library" in line]
    assert len(missing) == 6 and "surefoot.gym needs the library gymnasium" in missing[-1]
