"""A table of a run as an Arrow file (the IPC file format); needs pyarrow."""

from __future__ import annotations

from typing import BinaryIO, Final

from llmeval_integrations.runs.records import Table, batches, import_pyarrow, schema

SUFFIX: Final = ".arrow"


def write_table(table: Table, out: BinaryIO) -> None:
    """Write the records batch by batch."""
    import_pyarrow()
    from pyarrow.ipc import new_file

    with new_file(out, schema(table.columns)) as writer:
        for batch in batches(table):
            writer.write_batch(batch)
