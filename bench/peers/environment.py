"""The environment in which peers run: pinned packages, one core, one thread."""

import hashlib
import os
import subprocess
import sys
import tempfile
import time
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


class Ending:
    """How a program ended: its output, its code (None if it had to be stopped), its last message, its last silence."""

    def __init__(self, output, code, message, silence):
        self.output, self.code, self.message, self.silence = output, code, message, silence


def run(command, patience=None):
    """Runs a program on one core. It is stopped if it prints nothing for `patience` seconds."""
    environment = {**os.environ, **{name: "1" for name in THREADS}}
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=output, stderr=errors, env=environment,
            preexec_fn=on_one_core)
        code, silence = watch(process, output, patience)
        texts = []
        for stream in (output, errors):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "replace"))
    messages = texts[1].strip().splitlines()
    return Ending(texts[0], code, messages[-1] if messages else "", silence)


def watch(process, output, patience):
    """Waits for the end of a process; its code and the seconds since its output grew."""
    size, grown = 0, time.monotonic()
    while True:
        try:
            return process.wait(1.0), time.monotonic() - grown
        except subprocess.TimeoutExpired:
            if os.fstat(output.fileno()).st_size > size:
                size, grown = os.fstat(output.fileno()).st_size, time.monotonic()
        if patience is not None and time.monotonic() - grown > patience:
            process.kill()
            process.wait()
            return None, time.monotonic() - grown
