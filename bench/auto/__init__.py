"""Evidence on the smart choice: what it costs beside plainer ways to choose, and how long it takes.

`python -m bench.auto` prints both. Nothing is sent anywhere: prices and tiers are those of the
catalogue, lengths of answers and thinking are assumed and the same for every way to choose.
"""
