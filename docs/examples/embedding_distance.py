from llmeval_integrations import EmbeddingDistance

vectors = {"yes": [1.0, 0.0], "aye": [0.8, 0.6], "no": [-1.0, 0.0]}
distance = EmbeddingDistance(lambda texts: [vectors[text] for text in texts], threshold=0.3)
print(round(distance("aye", "yes").score, 3), distance("aye", "yes").passed)
#> 0.2 True
print(distance("no", "yes").reason)
#> cosine distance 2 > 0.3
