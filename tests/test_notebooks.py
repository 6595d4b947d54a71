"""The notebooks run from top to bottom, offline, and keep no path of a machine."""

from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks():
    assert {path.stem for path in NOTEBOOKS} >= {"langchain", "llama_index"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    notebook = nbformat.read(path, as_version=4)
    said = [cell.get("outputs") for cell in notebook.cells if cell.cell_type == "code"]
    client = nbclient.NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    )
    client.execute()
    again = [cell.get("outputs") for cell in notebook.cells if cell.cell_type == "code"]
    assert texts(again) == texts(said)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_outputs_and_no_path(path):
    text = path.read_text()
    assert '"output_type"' in text
    assert not any(place in text for place in ("/home/", "/root/", "/Users/", "/tmp/"))


def texts(cells):
    """Give what was printed or shown as text, cell by cell."""
    return [
        [output.get("text") or output.get("data", {}).get("text/plain") for output in outputs]
        for outputs in cells
    ]
