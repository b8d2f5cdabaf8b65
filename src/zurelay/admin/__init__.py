"""The admin API under `/api/v1`, for people who run a gateway and their programs."""
