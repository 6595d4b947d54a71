"""The notebooks run from top to bottom, offline, and keep no path of a machine."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NEEDED = ("nbformat", "nbclient", "matplotlib", "xllamacpp", "gguf")
"""What the notebooks need beside the package with all its extras."""

VARIES = "varies"
"""The tag of a cell that prints something else each time, which the notebook then says."""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, checkout):
    nbformat, nbclient, *_ = map(pytest.importorskip, NEEDED)
    notebook = nbformat.read(path, as_version=4)
    said = texts(notebook)
    client = nbclient.NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": str(checkout / "notebooks")}},
    )
    client.execute()
    assert texts(notebook) == said


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_outputs_and_no_path(path):
    text = path.read_text()
    assert '"output_type"' in text
    assert not any(place in text for place in ("/home/", "/root/", "/Users/", "/tmp/"))


@pytest.fixture
def checkout(tmp_path):
    """Make a folder that looks like a checkout from inside `notebooks/`, which stays as it is."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "tools").symlink_to(ROOT / "tools", target_is_directory=True)
    return tmp_path


def texts(notebook):
    """Give what each cell printed and showed as text; of a cell that varies, whether it did."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    texts = ["".join(map(text, cell.outputs)) for cell in cells]
    varying = [VARIES in cell.metadata.get("tags", ()) for cell in cells]
    return [bool(text) if varies else text for text, varies in zip(texts, varying)]


def text(output):
    return output.get("text") or output["data"]["text/plain"]
