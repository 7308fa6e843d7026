"""Free ports for the servers of the tests."""

import socket


def free_ports(count: int) -> list[int]:
    """Return free ports of this machine."""
    sockets = [socket.socket() for _ in range(count)]
    for bound in sockets:
        bound.bind(("127.0.0.1", 0))
    ports = [int(bound.getsockname()[1]) for bound in sockets]
    for bound in sockets:
        bound.close()
    return ports
