"""What people do with accounts, keys, money and prices: each once, with rights and audit.

The admin API, the command line and pages for people stand on it. Knows no HTTP and no terminal.
Everything here blocks; call it from threads.
"""
