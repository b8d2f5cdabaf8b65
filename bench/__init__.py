"""The benchmark: what a gateway costs beside direct access and beside its peers."""
