"""The environment in which peers run: pinned packages, one core, one thread."""

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")


def install(folder, peers, python):
    """The interpreter of an environment with the chosen peers. What cannot be installed is named and left out."""
    interpreter = folder / "bin" / "python"
    if not interpreter.exists():
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
    for name in ["requirements.txt"] + [f"requirements-{peer}.txt" for peer in peers]:
        path = FOLDER / name
        if path.exists():
            install_all(interpreter, path, folder)
    return interpreter


def install_all(interpreter, requirements, folder):
    """Installs the packages of a file, unless that was done before."""
    text = requirements.read_text("utf-8")
    done = folder / f"{requirements.name}.{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    if done.exists():
        return
    packages = [line for line in text.splitlines() if line and not line.startswith("#")]
    # One by one: a package that is missing on this platform keeps the others from being installed otherwise.
    if all([install_one(interpreter, package) for package in packages]):
        done.touch()


def install_one(interpreter, package):
    print(f"installing {package}", file=sys.stderr, flush=True)
    command = [str(interpreter), "-m", "pip", "install", "--quiet", "--no-deps", package]
    process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if process.returncode != 0:
        print(f"{package} cannot be installed:\n{process.stdout}", file=sys.stderr)
    return process.returncode == 0


def on_one_core():
    """Confines a process to one core, where the system can do that."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def run(command, limit=None):
    """Runs a program on one core: its output, its code (None if it had to be stopped), and its last message."""
    environment = {**os.environ, **{name: "1" for name in THREADS}}
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        try:
            code = subprocess.run(
                [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=output, stderr=errors, timeout=limit,
                env=environment, preexec_fn=on_one_core).returncode
        except subprocess.TimeoutExpired:
            code = None
        texts = []
        for stream in (output, errors):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "replace"))
    messages = texts[1].strip().splitlines()
    return texts[0], code, messages[-1] if messages else ""
