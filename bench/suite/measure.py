"""Runs a program with limits, and measures it."""

import functools
import json
import os
import resource
import signal
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def build(*what):
    """Builds a release version; the folder that it is in."""
    subprocess.run(["cargo", "build", "--release", "--locked", *what], cwd=ROOT, check=True)
    return (ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release").resolve()


class Run:
    """A run that has ended: its result or else an error, its time and its processor time in seconds, its most memory in bytes.

    Processor time says more than time where other programs are busy. Memory is looked at every few milliseconds.
    """

    def __init__(self, command, seconds, processor=None):
        """Runs a command that prints a JSON document. It is killed if it takes much longer than it may, or more processor
        time than `processor` seconds, which leaves its task undecided."""
        command = [str(argument) for argument in command]
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            began = time.perf_counter()
            limit = functools.partial(resource.setrlimit, resource.RLIMIT_CPU, (processor, processor + 1)) if processor else None
            process = subprocess.Popen(command, stdout=output, stderr=errors, preexec_fn=limit)
            self.peak, pause, ended = 0, 0.0005, 0
            while ended == 0:
                self.peak = max(self.peak, memory(process.pid))
                if time.perf_counter() - began > 2 * seconds + 30:
                    process.kill()
                time.sleep(pause)
                pause = min(2 * pause, 0.01)
                ended, status, usage = os.wait4(process.pid, os.WNOHANG)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.seconds = time.perf_counter() - began
            self.processor = usage.ru_utime + usage.ru_stime
            output.seek(0)
            errors.seek(0)
            self.result, self.error = None, None
            if process.returncode in (0, 10, 11):
                self.result = json.load(output)
            elif process.returncode == -signal.SIGXCPU:
                self.result = {"verdict": "UNKNOWN"}
            else:
                text = errors.read().decode("utf-8", "replace").strip()
                self.error = f"ended with code {process.returncode}: {' '.join(command)}\n{text}"

    @property
    def verdict(self):
        return self.result["verdict"] if self.result else "ERROR"

    @property
    def is_decided(self):
        return self.verdict in ("SAFE", "UNSAFE")


def memory(process):
    """The most bytes that a process had so far; 0 if it has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text("ascii", "replace")
    except OSError:
        return 0
    lines = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(lines[0].split()[1]) * 1024 if lines else 0


def table(title, columns, rows):
    print(f"\n{title}\n")
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
