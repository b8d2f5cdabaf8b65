"""The product's documentation for the developers and members who use a gateway, at `/docs`."""
