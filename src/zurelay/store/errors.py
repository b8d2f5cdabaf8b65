"""What goes wrong with the store, in one line for an operator."""


class StoreError(Exception):
    """The store cannot be used, or does not hold what was asked for."""


class BusyError(StoreError):
    """Others hold what is needed, and did not let go of it in time."""
