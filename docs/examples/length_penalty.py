from llmeval_integrations import LengthPenalty

penalty = LengthPenalty(min_length=10, max_length=100, penalty_rate=0.01)
for output in ("Too short", "Just long enough.", "far too long " * 20):
    print(round(penalty(output).score, 2), penalty(output).reason)
#> -0.01 Too short: 9 < 10
#> 0.0 Length acceptable: 10 <= 17 <= 100
#> -1.6 Too long: 260 > 100
