"""Schema changes, one file each, run by Alembic."""
