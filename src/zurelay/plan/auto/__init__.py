"""The smart choice: which model answers a request that leaves it to the gateway, and why.

Pure and deterministic: the same request, table, health and time give the same choice.
"""
