"""The HTTP edge: connections, request bodies, endpoints and the shapes of their answers."""
