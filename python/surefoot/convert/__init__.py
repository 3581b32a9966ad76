"""Policies from objects of other libraries.

Each function reads the parameters of an object exactly, writes them in a format that the native part reads, and compares scores with
those of the library on random states. Libraries are imported when they are needed.
"""

from ._lightgbm import from_lightgbm
from ._onnx import from_onnx
from ._sb3 import from_sb3
from ._sklearn import from_sklearn
from ._torch import from_torch
from ._xgboost import from_xgboost

__all__ = ["from_lightgbm", "from_onnx", "from_sb3", "from_sklearn", "from_torch", "from_xgboost"]
