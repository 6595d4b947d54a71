"""Documents of one field, to test its schema."""

from llmeval_integrations import JsonFields


def passes(schema, output, reference, **options):
    return JsonFields({"properties": {"a": schema}}, **options)(
        {"a": output}, reference={"a": reference}
    ).passed
