"""Ports for servers of the tests."""

from __future__ import annotations

import socket


def free_ports(count: int) -> list[int]:
    """Free ports of this machine."""
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    ports = [int(one.getsockname()[1]) for one in held]
    for one in held:
        one.close()
    return ports
