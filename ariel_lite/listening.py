"""Listening on an address, and reading the names that requests call it by: one way for the page and for agents."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket

from ariel_lite.errors import ConfigurationError

BACKLOG = 128
"""Connections that may wait to be taken."""


def bound_socket(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Args:
        host: an address or name of this machine.
        port: 0 for any free one.

    Raises:
        ConfigurationError: the port is taken or not allowed, or the address is not this machine's.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as fault:
        raise ConfigurationError(f"{host} is no address of this machine", hint="check --host") from fault
    try:
        if os.name == "posix":  # on Windows this would let two programs share a port
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(BACKLOG)
    except OSError as fault:
        made.close()
        raise _refused(host, port, fault) from fault
    return made


def is_loopback(host: str) -> bool:
    """True for a name or address that only this machine reaches."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def is_address(name: str) -> bool:
    """True for an IP address, which nobody can make lead elsewhere as a name can be made to."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def host_name(netloc: str) -> str:
    """The name of a Host header or network location, lower case, without port and brackets.

    "" for one with a user in it: no browser sends that, and whichever end is read, the other may be meant.
    """
    name = netloc.strip()
    if "@" in name:
        return ""
    if name.startswith("["):
        return name[1:].partition("]")[0].lower()
    return name.partition(":")[0].lower().rstrip(".") if name.count(":") <= 1 else name.lower()


def _refused(host: str, port: int, fault: OSError) -> ConfigurationError:
    if fault.errno == errno.EADDRINUSE:
        hint = f"another program listens there; take another with --port {port + 1 if port < 65535 else 0}"
        return ConfigurationError(f"port {port} is in use", hint=hint)
    if fault.errno in (errno.EACCES, errno.EPERM):
        return ConfigurationError(f"port {port} may not be used", hint="ports below 1024 are for administrators")
    return ConfigurationError(f"cannot listen on {host}: {fault.strerror}", hint="check --host and --port")
