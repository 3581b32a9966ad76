"""Verify learned action policies: does this policy, run in this environment, ever do something unsafe?

    >>> import surefoot
    >>> model = surefoot.generate("blocksworld", blocks=4, table_limit=3)
    >>> policy = surefoot.generate_policy(model, "network", filter=True)
    >>> result = surefoot.verify(model, policy)
    >>> result.verdict, result.trace

Models are JANI files or come from :func:`generate`. Policies are files (:func:`load_policy`) or objects of other libraries
(:func:`from_torch`, :func:`from_sb3`, :func:`from_onnx`, :func:`from_sklearn`, :func:`from_xgboost`, :func:`from_lightgbm`).
:mod:`surefoot.gym` makes Gymnasium environments of models, so that a policy is trained on exactly what is verified.
"""

from typing import TYPE_CHECKING

from ._errors import (
    ComparisonError,
    InputError,
    InternalError,
    MissingLibraryError,
    ModelError,
    OutputError,
    PolicyError,
    SurefootError,
    UsageError,
)
from ._model import Model, Property, Variable, generate, load_model
from ._native import __version__
from ._policy import Policy, generate_policy, load_policy
from ._report import Check, Episode, Explanation, Simulation
from ._result import Certificate, Result, State, Trace, Verdict
from ._run import check_certificate, explain, simulate, verify
from .convert import from_lightgbm, from_onnx, from_sb3, from_sklearn, from_torch, from_xgboost

if TYPE_CHECKING:
    from . import gym as gym
else:

    def __getattr__(name: str):
        """``surefoot.gym`` is imported when it is used: it needs Gymnasium."""
        if name == "gym":
            import importlib

            return importlib.import_module(".gym", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), "gym"})


__all__ = [
    "Certificate",
    "Check",
    "ComparisonError",
    "Episode",
    "Explanation",
    "InputError",
    "InternalError",
    "MissingLibraryError",
    "Model",
    "ModelError",
    "OutputError",
    "Policy",
    "PolicyError",
    "Property",
    "Result",
    "Simulation",
    "State",
    "SurefootError",
    "Trace",
    "UsageError",
    "Variable",
    "Verdict",
    "__version__",
    "check_certificate",
    "explain",
    "from_lightgbm",
    "from_onnx",
    "from_sb3",
    "from_sklearn",
    "from_torch",
    "from_xgboost",
    "generate",
    "generate_policy",
    "load_model",
    "load_policy",
    "simulate",
    "verify",
]
