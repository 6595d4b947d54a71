"""The layout of an evaluator's documents: which fields they have, and how these are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Final, Literal, get_args

from llmeval_integrations.core.errors import InvalidOptionError, InvalidSchemaError
from llmeval_integrations.core.evaluator import Evaluator
from llmeval_integrations.core.sample import MISSING, Sample
from llmeval_integrations.fields.field import Field, Omission
from llmeval_integrations.fields.paths import Settings, check_path
from llmeval_integrations.fields.rule import read_key
from llmeval_integrations.schemas.document import object_of, subschemas
from llmeval_integrations.schemas.parse import read_schema, schema_text

Omitted = Literal["absent", "values"]

OMITTED: Final = get_args(Omitted)

_MOST_SCHEMAS: Final = 512
"""The most schemas of samples that are kept, each with the fields of its documents."""


class Layout:
    """The fields of an evaluator's documents, by its own schema or by the schemas of samples."""

    def __init__(
        self,
        schema: Any,
        fields: Mapping[str, Any],
        defaults: Mapping[str, Any],
        judged: Sequence[str] = (),
        *,
        nulls: Omitted = "absent",
        empty: Omitted = "absent",
    ) -> None:
        """Raise InvalidOptionError for a path that the evaluator's schema does not have.

        The schemas of samples need not have all paths.
        """
        self._made_of = partial(Layout, schema, fields, defaults, judged, nulls=nulls, empty=empty)
        self._omits_nulls = nulls == "absent"
        self.omits_empty = empty == "absent"
        settings = Settings(fields, defaults, judged)
        self._asks_samples = schema is None
        parsed = None if schema is None or schema is False else _read(schema_text(schema))

        def make_root(schema: Any) -> Field:
            root = Field.root(schema, settings.overrides, settings.defaults)
            root.counts_empty = not self.omits_empty
            return root

        self._root = make_root(parsed)
        self._root_of = lru_cache(_MOST_SCHEMAS)(lambda text: make_root(_read(text)))
        self.ignored, self.calls_functions = settings.ignored, settings.calls_functions
        for path in (*fields, *judged) if parsed is not None else ():
            _check_path(path, fields.get(path, {}), parsed, schema)

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickled without the fields of documents, which may be nested too deeply for pickle.
        return self._made_of, ()

    def root(self, sample: Sample, evaluator: Evaluator) -> Field:
        """Return the field of the whole document, by the sample's own schema if it has one.

        Raises InvalidSchemaError if the sample's schema is not valid.
        """
        if not self._asks_samples or sample.schema is MISSING or sample.schema is None:
            return self._root
        try:
            return self._root_of(schema_text(sample.schema))
        except InvalidSchemaError as error:
            raise InvalidSchemaError(f"{evaluator.name}: the sample's schema: {error}") from error

    def omission(self) -> Omission:
        """Return an object that removes the members that count as left out."""
        return Omission(nulls=self._omits_nulls, empty=self.omits_empty)


_read = lru_cache(_MOST_SCHEMAS)(read_schema)


def _check_path(path: str, settings: Mapping[str, Any], parsed: Any, schema: Any) -> None:
    """Raise InvalidOptionError for a path that the schema does not have.

    Documents of a Pydantic model have its fields' aliases. They have the names of fields instead if
    any alias for writing differs from the alias for reading.
    """
    try:
        check_path(path, settings, parsed)
    except InvalidOptionError as error:
        write = getattr(schema, "model_json_schema", getattr(schema, "json_schema", None))
        if write is None:
            raise
        named = write(by_alias=False)
        try:
            check_path(path, settings, named)
        except InvalidOptionError:
            raise error from None
        if not {*_names(parsed)} <= {*_names(write(mode="serialization"))}:
            return
        aliases = dict(zip(_names(named), _names(parsed)))
        keys = [aliases.get(key, key) for key in read_key(settings.get("key"))]
        right = repr("/".join(aliases.get(step, step) for step in path.split("/")))
        right += f" with key={keys!r}" if keys else ""
        raise InvalidOptionError(
            f"fields: {path!r} has a field's name, but documents have its alias; "
            f"did you mean {right}?"
        ) from None


def _names(schema: Any) -> list[str]:
    """Return the names of the members in each part of a schema."""
    return [name for part, _ in subschemas(schema) for name in object_of(part, "properties")]
