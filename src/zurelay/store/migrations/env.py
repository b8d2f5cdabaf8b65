"""What Alembic runs: the revisions, on the connection and in the transaction it is given."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=False)
context.run_migrations()
