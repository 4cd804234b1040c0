"""Hosts that may get a request, a key or a webhook; addresses of a cloud's metadata service never do."""

from __future__ import annotations

import errno
import os
import re
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any
from urllib.parse import SplitResult, urlsplit

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.secrets import remove_credentials

DEPLOYED = "_DEPLOYED"
"""How the variable ends that `contrapose deploy` sets; what it names counts beside what the worker's own names."""
PORTS = {"http": 80, "https": 443}
HOST = re.compile(r"[\w-]+(\.[\w-]+)*\.?")
"""A name; that of another form is read differently by different libraries."""
METADATA_NAMES = frozenset(
    ("metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal")
)
# AWS and most others, AWS and Google over IPv6, Azure, Alibaba, Oracle.
METADATA = ("169.254.169.254", "fd00:ec2::254", "fd20:ce::254", "168.63.129.16", "100.100.100.200", "192.0.0.192")
"""Addresses at which clouds hand out the credentials of a machine, to whoever asks on it."""
NAT64 = IPv6Network("64:ff9b::/96")
COMPATIBLE = IPv6Network("::/96")


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Scheme, host and port of an address."""

    scheme: str
    host: str
    """A name or an IP address, as all ways of writing it are written here."""
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == PORTS[self.scheme] else f":{self.port}")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRule:
    """An allowed host, with or without scheme and port."""

    host: str
    """Alone, it stands for every port, by https; on the machine itself by http, too."""
    port: int | None = None
    """Of the only origin that is meant; None: any."""
    scheme: str | None = None
    """Of the only origin that is meant; None: any that the port speaks."""

    def allows(self, origin: Origin) -> bool:
        """Return whether the rule allows an origin."""
        if self.host != origin.host:
            return False
        if self.port is None:
            return origin.scheme == "https" or is_loopback(origin.host)
        return self.port == origin.port and self.scheme in (None, origin.scheme)


def origin_of(address: str) -> Origin | None:
    """Return the origin of an address, or None if it is no web address."""
    try:
        url = urlsplit(address)
        host, port = _parse_host(url), url.port
    except ValueError:
        return None
    if url.scheme not in PORTS or host is None or port == 0:
        return None
    return Origin(scheme=url.scheme, host=host, port=port or PORTS[url.scheme])


def list_variable_entries(variable: str, environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the entries of a variable and of its deployed values, split at commas, semicolons and blanks."""
    text = f"{environment.get(variable, '')} {environment.get(variable + DEPLOYED, '')}"
    return [entry for entry in re.split(r"[\s,;]+", text) if entry]


def read_rule(entry: str, *, where: str) -> HostRule:
    """Return the rule of an entry `host`, `host:port` or `https://host:port`, or raise ConfigError."""
    try:
        url = urlsplit(entry if "://" in entry else f"//{entry}")
        host, port = _parse_host(url), url.port
    except ValueError:
        host, port, url = None, None, urlsplit("")
    named_only = url.username is None and not url.query and not url.fragment and port != 0
    if host is None or not named_only or url.scheme not in ("", *PORTS):
        raise ConfigError(
            f"{remove_credentials(entry)!r} names no host",
            expected="host, host:port or https://host:port, without wildcards",
            remedy="Write hosts such as models.example:8000, with commas between them.",
            where=where,
        )
    return HostRule(host=host, port=port or PORTS.get(url.scheme), scheme=url.scheme or None)


def is_loopback(host: str) -> bool:
    """Return whether a host name or address is this machine."""
    address = _parse_ip_address(host)
    return host == "localhost" or host.endswith(".localhost") or (address is not None and address.is_loopback)


def refuse_forbidden(host: str, *, where: str, addresses: Iterable[str] = ()) -> None:
    """Raise ConfigError if a host or address is link-local, a cloud's metadata service, or no host."""
    why = "the name of a cloud's metadata service" if host.rstrip(".") in METADATA_NAMES else ""
    for written in () if why else (host, *addresses):
        address = _parse_ip_address(written)
        if isinstance(address, IPv6Address):
            # It may carry an IPv4 address.
            if address in NAT64 or (address in COMPATIBLE and int(address) > 1):
                address = IPv4Address(int(address) & 0xFFFFFFFF)
            else:
                address = address.ipv4_mapped or address.sixtofour or address
        if address is None:
            continue
        if str(address) in METADATA:
            why = "where a cloud's metadata service is"
        elif address.is_link_local:
            why = "link-local"
        elif address.is_multicast or (address.is_reserved and isinstance(address, IPv4Address)):
            why = "no host's address"
        if why:
            host = host if written == host else f"{host} ({written})"
            break
    if why:
        raise ConfigError(f"{host} is {why}", expected="another host", remedy="Name another address.", where=where)


class ForbiddenAddressError(OSError):
    """A name or a redirect leads to a forbidden address."""


def open_socket(address: tuple[Any, ...]) -> socket.socket:
    """Return a socket for any address that aiohttp reaches, by name or redirect, or raise ForbiddenAddressError."""
    family, kind, protocol, _, place = address
    try:
        refuse_forbidden(str(place[0]), where="")
    except ConfigError as error:
        raise ForbiddenAddressError(errno.EACCES, f"{error.found}; nothing is sent there") from None
    return socket.socket(family, kind, protocol)


def refuse_inside(host: str, addresses: Iterable[str], *, variable: str) -> None:
    """Raise ConfigError if a name leads into a private network that the variable does not list.

    The variable may name addresses and networks, such as 10.0.0.0/8; a host that is an address says where it leads.
    """
    refuse_forbidden(host, where=variable, addresses=addresses)
    if _parse_ip_address(host) is not None or is_loopback(host):
        return
    networks = [network for entry in list_variable_entries(variable) if (network := parse_network(entry)) is not None]
    for written in addresses:
        address = _parse_ip_address(written)
        if address is None or address.is_global or any(address in network for network in networks):
            continue
        raise ConfigError(
            f"{host} leads to {written}, which is private",
            expected="a public address, or one that the list names for the host",
            remedy=f"If you intend this, add {written}, or its network, to {variable} where the run takes place.",
            where=variable,
        )


def parse_network(entry: str) -> IPv4Network | IPv6Network | None:
    """Return the network or single address that an entry names, or None for any other entry."""
    try:
        return ip_network(entry, strict=False)
    except ValueError:
        return None


def _parse_host(url: SplitResult) -> str | None:
    """Return the host of an address in any notation, or None if there is none or its form is doubtful."""
    text = (url.hostname or "").lower()
    address = _parse_ip_address(text)
    if address is not None:
        return str(address)
    return text.rstrip(".") if HOST.fullmatch(text) else None


def _parse_ip_address(host: str) -> IPv4Address | IPv6Address | None:
    """Return a host as an IP address, or None if it is a name."""
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        return None
