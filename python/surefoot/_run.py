"""What can be asked: verify, simulate, explain, check."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union, get_args

from . import _native
from ._arguments import (
    Arithmetic,
    Engine,
    Goal,
    OutOfDomain,
    PathLike,
    assignment,
    contents,
    one_of,
    option,
    options,
    plain,
    valued,
)
from ._errors import UsageError, translated
from ._model import MEMORY, Model, PropertyLike, load_model
from ._policy import BY_PROPERTY, policy_arguments
from ._progress import Callback, callback
from ._report import Check, Explanation, Simulation
from ._result import Certificate, Result

ModelLike = Union[Model, PathLike, Mapping[str, Any]]

#: Options that only the explicit engine has.
_EXPLICIT = {"exhaustive", "per_start", "slice", "project"}

#: Options of the command line that have another form here.
_ELSEWHERE = {
    "certificate": "the result has the certificate: `result.certificate.save(path)`",
    "trace": "the result has the trace: `result.trace`, `result.save_trace(path)`",
    "json": "the result has the document: `result.document`",
    "quiet": "pass `progress=False`",
    "const": "pass `constants` to `load_model`",
    "no_policy": "pass `policy=None`",
}


def _question(
    model: ModelLike,
    policy: Any,
    property: PropertyLike,
    filter: Optional[bool],
    goal: Optional[Goal],
    arithmetic: Optional[Arithmetic],
    out_of_domain: Optional[OutOfDomain],
) -> Tuple[str, List[str], Dict[str, bytes]]:
    """The model file, the options that say what is asked, and the files in memory."""
    model = model if isinstance(model, Model) else load_model(model)
    model.check_unchanged()
    about, files = model._arguments(property)
    whose, policy_files = policy_arguments(model, policy, filter, arithmetic)
    reading = valued({"goal": goal, "out_of_domain": out_of_domain})
    return model.path, about + whose + reading, {**model.files, **files, **policy_files}


def verify(
    model: ModelLike,
    policy: Any = BY_PROPERTY,
    property: PropertyLike = None,
    *,
    engine: Optional[Engine] = "auto",
    time_limit: Union[None, float, str] = None,
    memory_limit: Union[None, int, str] = None,
    threads: Optional[int] = None,
    filter: Optional[bool] = None,
    goal: Optional[Goal] = None,
    arithmetic: Optional[Arithmetic] = None,
    out_of_domain: Optional[OutOfDomain] = None,
    progress: Union[None, bool, Callback] = None,
    **engine_options: Any,
) -> Result:
    """Proves that no unsafe state is reachable, or finds a way to one.

    The run does not hold the lock of the interpreter, and Ctrl-C stops it with ``KeyboardInterrupt``.

    Args:
        model: A :class:`Model`, a JANI file, or its contents as a dictionary.
        policy: A :class:`Policy`, an interface file, or ``None``: the environment alone, in which every enabled label may be taken.
            Default: the policy that the property names.
        property: Name or index of the property, or a file with properties, or its contents as a dictionary. Default: the only
            property.
        engine: ``"explicit"``, ``"ic3"``, ``"pa"``, ``"ppa"`` or ``"auto"``: ``ic3``, which lists all reachable states where
            they are few and proves otherwise, or ``explicit`` if one of its options is given.
        time_limit: Seconds, or a text such as ``"5m"``, after which the verdict is UNKNOWN.
        memory_limit: Bytes, or a text such as ``"4GB"``. Default: 85 % of what is free.
        threads: Number of threads; results do not depend on it. Default: all cores.
        filter: Whether the policy chooses among applicable labels only. Default: what its interface says.
        goal: What goal states are: ``"ignore"`` (default), ``"terminal"`` or ``"strict"``.
        arithmetic: That of scores: ``"f64"``, ``"f32"``, ``"real"`` or ``"any-f32"``. Default: ``policy.arithmetic``, else ``"f64"``.
        out_of_domain: What an update is that leaves a domain: ``"error"`` (default) or ``"block"``.
        progress: A function that is called with a line of text a few times a second, ``False`` for none, ``True`` for a line of
            tqdm. Default: that line on a terminal and in a notebook, if tqdm is installed.
        engine_options: Other options of ``surefoot verify``, such as ``per_start=True``, ``samples=0`` or ``refine="witness"``.

    Raises:
        InputError: A file is wrong.
        UsageError: Arguments make no sense together.
        ModelError: The model is wrong at a state that was reached.
    """
    for name in engine_options:
        if name in _ELSEWHERE:
            raise UsageError(f"`{name}`: {_ELSEWHERE[name]}")
    path, about, files = _question(model, policy, property, filter, goal, arithmetic, out_of_domain)
    chosen = _engine(engine, engine_options)
    limits = {"engine": chosen, "time_limit": time_limit, "memory_limit": memory_limit, "threads": threads}
    arguments = [path, *about, *valued(limits), *options(engine_options, ["verify"])]
    with callback(progress) as told, translated():
        document, report, certificate, trace = _native.verify(arguments, list(files.items()), told)
    return Result(json.loads(document), report, certificate, trace)


def _engine(engine: Optional[str], engine_options: Mapping[str, Any]) -> str:
    """The engine that is meant."""
    if engine is not None and engine != "auto":
        one_of("engine", engine, get_args(Engine))
        return engine
    given = {name for name, value in engine_options.items() if plain(value) is not None and plain(value) is not False}
    return "explicit" if _EXPLICIT & given else "ic3"


def simulate(
    model: ModelLike,
    policy: Any = BY_PROPERTY,
    property: PropertyLike = None,
    *,
    episodes: int = 1,
    steps: int = 100,
    seed: int = 0,
    start: Union[str, Mapping[str, Any]] = "random",
    filter: Optional[bool] = None,
    goal: Optional[Goal] = None,
    arithmetic: Optional[Arithmetic] = None,
    out_of_domain: Optional[OutOfDomain] = None,
) -> Simulation:
    """Runs the policy from random start states.

    Args:
        episodes: Number of runs.
        steps: Steps after which a run is ended.
        seed: Equal seeds give equal runs.
        start: ``"random"`` (a start state of the property), ``"initial"`` (the model's), or values of some variables; all others
            are as in the initial state.

    The other arguments are those of :func:`verify`.
    """
    path, about, files = _question(model, policy, property, filter, goal, arithmetic, out_of_domain)
    if isinstance(start, Mapping):
        start = ",".join(assignment(name, value) for name, value in start.items()) or "initial"
    arguments = [path, *about, *valued({"episodes": episodes, "steps": steps, "seed": seed, "start": start})]
    with translated():
        return Simulation(json.loads(_native.simulate(arguments, list(files.items()))))


def explain(
    model: ModelLike,
    policy: Any = BY_PROPERTY,
    state: Optional[Mapping[str, Any]] = None,
    property: PropertyLike = None,
    *,
    epsilon: Union[None, int, str] = None,
    order: Optional[str] = None,
    seed: Optional[int] = None,
    time_limit: Union[None, float, str] = None,
    filter: Optional[bool] = None,
    arithmetic: Optional[Arithmetic] = None,
    out_of_domain: Optional[OutOfDomain] = None,
) -> Explanation:
    """Says why the policy chooses what it does in a state: which variables matter, and where the nearest other choice is.

    Args:
        state: Values of all variables, such as a state of a trace. Default: the first start state of the property.
        epsilon: How far other variables may stray: a number, or ``"least"``. Default: anywhere in their domains.
        order: In which order variables are tried: ``"sensitivity"`` (default), ``"declared"`` or ``"random"``.
        seed: Seed of the order ``"random"``.
        time_limit: Seconds after which what is proved so far is told.

    The other arguments are those of :func:`verify`; docs/explain.md says what the parts mean.
    """
    path, about, files = _question(model, policy, property, filter, None, arithmetic, out_of_domain)
    arguments = [path, *about, *valued({"epsilon": epsilon, "order": order, "seed": seed, "time_limit": time_limit})]
    if state is not None:
        if not isinstance(state, Mapping):
            raise UsageError(f"`state` is a {type(state).__name__}, but must be a dictionary: values by name")
        # In a folder, where no model can be.
        name = f"{MEMORY}/given/state.json"
        files[name] = contents(state)
        arguments += option("state", name)
    with translated():
        document, report = _native.explain(arguments, list(files.items()))
    return Explanation(json.loads(document), report)


def check_certificate(
    certificate: Union[Certificate, bytes, PathLike],
    model: ModelLike,
    policy: Any = BY_PROPERTY,
    property: PropertyLike = None,
    *,
    time_limit: Union[None, float, str] = None,
    filter: Optional[bool] = None,
    goal: Optional[Goal] = None,
    arithmetic: Optional[Arithmetic] = None,
    out_of_domain: Optional[OutOfDomain] = None,
) -> Check:
    """Checks a certificate without the engine that found it.

    The reading is the certificate's where nothing else is said; one that is given must be the same.

    Args:
        certificate: ``result.certificate``, its contents, or a file.

    The other arguments are those of :func:`verify`.
    """
    if isinstance(certificate, (str, os.PathLike)):
        proof = _read(certificate)
    elif isinstance(certificate, (bytes, Certificate)):
        proof = bytes(certificate)
    else:
        raise UsageError(f"`certificate` is a {type(certificate).__name__}, but must be a Certificate, bytes or a file")
    path, about, files = _question(model, policy, property, filter, goal, arithmetic, out_of_domain)
    name = f"{MEMORY}/given/certificate"
    files[name] = proof
    arguments = [name, f"--model={path}", *about, *valued({"time_limit": time_limit})]
    with translated():
        document, report = _native.check(arguments, list(files.items()))
    return Check(json.loads(document), report)


def _read(path: PathLike) -> bytes:
    from ._errors import InputError

    try:
        return Path(path).read_bytes()
    except OSError as error:
        message = f"cannot read the file: {error.strerror}"
        raise InputError(f"{os.fspath(path)}: {message}", message, os.fspath(path)) from error
