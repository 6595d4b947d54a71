"""A table of a run as Parquet; needs pyarrow."""

from __future__ import annotations

from typing import BinaryIO, Final

from llmeval_integrations.runs.records import Table, batches, import_pyarrow, schema

SUFFIX: Final = ".parquet"


def write_table(table: Table, out: BinaryIO) -> None:
    """Write the records batch by batch."""
    import_pyarrow()
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    with ParquetWriter(out, schema(table.columns)) as writer:
        for batch in batches(table):
            writer.write_table(pa.Table.from_batches([batch]))
