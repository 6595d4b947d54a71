from llmeval_integrations import PythonType

result = PythonType("dict|list")({"age": 30})
print(result.score, result.metadata["format"])
#> 1.0 dict
print(PythonType("dict")('{"age": 30}').reason)
#> Expected dict, got str
