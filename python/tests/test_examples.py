"""The example and the notebook run."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_a_newcomers_hour():
    script = ROOT / "python" / "examples" / "first_policy.py"
    command = [sys.executable, str(script), "--steps", "20000"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    assert "trained for 20000 steps" in run.stdout and "1000 episodes" in run.stdout
    lines = run.stdout.splitlines()
    verdict = next(line.split()[0] for line in lines if line.startswith(("SAFE ", "UNSAFE ")))
    assert lines[-1].startswith("the proof" if verdict == "SAFE" else "  ")


@pytest.mark.parametrize("notebook", sorted((ROOT / "docs").glob("*.ipynb")), ids=lambda path: path.name)
def test_notebooks_run(notebook):
    import nbclient
    import nbformat

    document = nbformat.read(notebook, as_version=4)
    nbformat.validate(document)
    assert all(not cell.outputs for cell in document.cells if cell.cell_type == "code"), "outputs are not kept"
    nbclient.NotebookClient(document, timeout=600, kernel_name="python3").execute()
    shown = [output for cell in document.cells if cell.cell_type == "code" for output in cell.outputs]
    tables = [output for output in shown if "text/html" in output.get("data", {})]
    assert tables, "results are shown as HTML"
