from llmeval_integrations import Retrieval

found = Retrieval("mrr", threshold=0.6)(None, retrieved=["b", "a", "c"], relevant=["a", "d"])
print(found.score, found.reason)
#> 0.5 mrr 0.5 < 0.6
print(found.metadata["recall"], round(found.metadata["ndcg"], 3))
#> 0.5 0.387
