from llmeval_integrations import JsonFields, explain

reference = {
    "vendor": "Harbour Ltd",
    "items": [{"sku": "A", "price": 12.5}, {"sku": "B", "price": 3}],
}
output = {
    "vendor": "Harbor Ltd",
    "items": [{"sku": "B", "price": 3}, {"sku": "A", "price": 12}],
}

fields = {"/items": {"key": "sku"}, "/vendor": {"similarity": 0.8}}
result = JsonFields(fields=fields)(output, reference)
print(result.reason, round(result.metadata["f1"], 2))
#> /items/1/price 12, expected 12.5 0.78
explain(result)
#> failed, score 0.7818 (mismatch)
#> ├── /items/1/price 12, expected 12.5
#> ├── /items/*/sku  2 match
#> ├── /items/*/price  1 match  1 mismatch
#> │   └── /items/1/price  mismatch  12  expected 12.5
#> └── /vendor  1 match
#>     └── /vendor  match  "Harbor Ltd"  expected "Harbour Ltd"  score 0.909
