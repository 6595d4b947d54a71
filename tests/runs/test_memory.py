"""How much memory a run takes, measured in a process of its own."""

import subprocess
import sys
from itertools import repeat
from random import Random

import pytest

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel of Linux"),
]

RUN = """
from llmeval_integrations.cli.main import main
assert main(["run", {path!r}, "-q", "-e", "json_validity", "--out", {out!r}, *{options}]) == 0
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


def megabytes(path, out, options=(), stdin=None):
    code = RUN.format(path=str(path), out=str(out), options=list(options))
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stdin=stdin, check=True
    )
    return int(done.stdout) / 1024


def test_a_large_group_of_rows_of_a_parquet_file_is_read_in_parts(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    chance = Random(1)
    rows = pyarrow.table({"output": [chance.randbytes(1_000).hex() for _ in range(1_000)]})
    few, many = tmp_path / "few.parquet", tmp_path / "many.parquet"
    for path, times in ((few, 1), (many, 100)):
        table = pyarrow.concat_tables(repeat(rows, times))
        parquet.write_table(table, path, use_dictionary=False, compression="none")
    assert parquet.ParquetFile(many).num_row_groups == 1
    assert many.stat().st_size > 150e6
    most = megabytes(few, tmp_path / "few") + 100
    assert megabytes(many, tmp_path / "many") < most
    with subprocess.Popen(["cat", str(many)], stdout=subprocess.PIPE) as piped:  # noqa: S607
        through = megabytes("-", tmp_path / "piped", ["--format", "parquet"], piped.stdout)
    assert through < most
