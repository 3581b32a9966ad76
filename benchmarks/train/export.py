"""Policies as files: an interface, a compressed scorer, and a record of how they came about."""

from __future__ import annotations

import gzip
import hashlib
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any, Dict

import surefoot

FOLDER = Path(__file__).resolve().parent.parent / "policies"
LIBRARIES = ("numpy", "torch", "scikit-learn", "xgboost-cpu", "lightgbm", "gymnasium")


def hashed(path: Path) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def is_made(name: str, folder: Path) -> bool:
    """Whether a policy is there, as its record says."""
    record = folder / f"{name}.provenance.json"
    if not record.exists():
        return False
    files = json.loads(record.read_text(encoding="utf-8"))["files"]
    return all((folder / file).exists() and hashed(folder / file) == found for file, found in files.items())


def write(name: str, policy: surefoot.Policy, facts: Dict[str, Any], folder: Path) -> None:
    """Writes a policy. The record comes last: a policy without it is made again."""
    policy.save(folder / name)
    interface = folder / f"{name}.jani2nnet"
    document = json.loads(interface.read_text(encoding="utf-8"))
    scorer = folder / document["file"]
    # No time and no name in the header: equal policies are equal files.
    compressed = gzip.compress(scorer.read_bytes(), 9, mtime=0)
    scorer.unlink()
    document["file"] += ".gz"
    (folder / document["file"]).write_bytes(compressed)
    interface.write_text(json.dumps(document, ensure_ascii=False) + "\n", encoding="utf-8")
    record = {
        "policy": name,
        "command": f"benchmarks/train/make {name}",
        **facts,
        "versions": {"python": platform.python_version(), **{library: version(library) for library in LIBRARIES}},
        "files": {file: hashed(folder / file) for file in (interface.name, document["file"])},
    }
    text = json.dumps(record, ensure_ascii=False, indent=1) + "\n"
    (folder / f"{name}.provenance.json").write_text(text, encoding="utf-8")
