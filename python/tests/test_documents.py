"""What the documents show is what happens, and the stubs are what there is."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(DOCS.parent / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testfile(str(DOCS / "python.md"), module_relative=False, optionflags=options)
    assert failed == 0 and tried > 20


def test_the_notebook_runs_and_has_the_figures_of_the_tutorial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nbformat = pytest.importorskip("nbformat", reason="THE NOTEBOOK IS NOT RUN: pip install nbclient ipykernel")
    nbclient = pytest.importorskip("nbclient", reason="THE NOTEBOOK IS NOT RUN: pip install nbclient ipykernel")
    notebook = nbformat.read(DOCS / "python.ipynb", as_version=4)
    # Another kernel of that name may be one of another Python.
    from jupyter_client.kernelspec import KernelSpecManager, NATIVE_KERNEL_NAME

    assert sys.executable and NATIVE_KERNEL_NAME in KernelSpecManager().find_kernel_specs()
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()

    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    printed = "".join(output.get("text", "") for output in outputs)
    section = (DOCS / "tutorial.md").read_text().split("## 6. Statistics")[1].split("\n## ")[0]
    figures = re.findall(r"^  (?:White|Black) to move: .*|^    longest win .*", section, re.MULTILINE)
    assert len(figures) > 4
    for figure in figures:
        assert figure in printed, figure
    assert any("image/svg+xml" in output.get("data", {}) for output in outputs)

    # What is committed is what comes out.
    committed = nbformat.read(DOCS / "python.ipynb", as_version=4)
    kept = [output for cell in committed.cells if cell.cell_type == "code" for output in cell.outputs]
    assert "".join(output.get("text", "") for output in kept) == printed


def test_the_stubs_are_what_there_is() -> None:
    pytest.importorskip("mypy", reason="THE STUBS ARE NOT COMPARED: pip install mypy")
    environment = {**os.environ, "MYPYPATH": ""}
    run = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "hoffman"], env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr
