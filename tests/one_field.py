"""Documents of one field, for what a schema says of it."""

from llmeval_integrations import JsonFields


def passes(schema, output, reference, **options):
    return JsonFields({"properties": {"a": schema}}, **options)(
        {"a": output}, reference={"a": reference}
    ).passed
