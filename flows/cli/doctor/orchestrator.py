"""The Prefect server that runs are recorded in: that it is there, of our version, and closed to strangers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from urllib.parse import urlsplit

from contrapose import NO_TELEMETRY
from contrapose.flows.cli.doctor.base import DoctorFinding, ok, problem, warning
from contrapose.flows.cli.start import homeless
from contrapose.flows.orchestration.error_display import REFUSED
from contrapose.flows.serve.server_key import bring_key_as_configured
from contrapose.tasks.core.bounds import within

NAME = "Prefect server"
OFF = ("0", "false", "no", "off", "f", "n")


def findings(_: object) -> Iterator[DoctorFinding]:
    """The server that runs are recorded in, what is deployed there, and telemetry."""
    from prefect.settings import get_current_settings

    bring_key_as_configured()
    settings = get_current_settings()
    if settings.api.url:
        server = _server()
        yield server
        if server.state != "problem":
            # Imported here: it brings much of Prefect, which only a server that answers is worth.
            from contrapose.flows.cli.doctor.deployments import deployed_findings

            yield from deployed_findings()
            yield from access_findings(str(settings.api.url))
    elif settings.server.ephemeral.enabled and (why := homeless()):
        remedy = "Mend its rights, name another in PREFECT_HOME, or set PREFECT_API_URL."
        yield problem(NAME, f"a temporary one cannot write {settings.home} ({why})", remedy)
    elif settings.server.ephemeral.enabled:
        message = "none is set: every run starts a temporary one, which takes about 5 s"
        yield ok(NAME, message, "To keep one: prefect server start, then set PREFECT_API_URL.")
    else:
        remedy = "Set PREFECT_API_URL, or PREFECT_SERVER_EPHEMERAL_ENABLED=true."
        yield problem(NAME, "none is set, and temporary ones are switched off", remedy)
    yield _telemetry()


def _server() -> DoctorFinding:
    from prefect.client.base import ServerType
    from prefect.client.orchestration import get_client

    def asked() -> str | None:
        # The same client that a run uses: with its keys, headers, proxies and certificates.
        with get_client(sync_client=True) as client:
            if client.server_type == ServerType.CLOUD:
                client.read_block_types()
                return None
            return client.api_version()

    address = _address()
    try:
        return _compared(within(asked), address)
    except Exception as error:
        return problem(NAME, f"{address}: {_reason(error)}", _remedy(error))


def _compared(server: str | None, address: str) -> DoctorFinding:
    """Whether a server's version goes with this machine's Prefect."""
    import prefect
    from packaging.version import Version

    if server is None:
        return ok(NAME, f"Prefect Cloud, {address}")
    theirs, ours = Version(server), Version(prefect.__version__)
    message = f"{address}, version {server}"
    if theirs.major != ours.major:
        return problem(
            NAME, f"{message}, which Prefect {ours} cannot use", f"Install prefect=={server}, or upgrade it."
        )
    if theirs < ours:
        return warning(NAME, f"{message}, older than Prefect {ours} here", f"Upgrade the server to {ours}.")
    return ok(NAME, message)


def _telemetry() -> DoctorFinding:
    talking = [name for name, quiet in NO_TELEMETRY.items() if _is_off(os.environ.get(name, quiet)) != _is_off(quiet)]
    if talking:
        return warning("telemetry", f"switched on by {', '.join(talking)}", "Unset it, unless that is meant.")
    return ok("telemetry", "off for all that this command starts")


def _is_off(value: str) -> bool:
    return value.strip().lower() in OFF


def _address() -> str:
    """The server's address without what may be secret in it: user, password and query."""
    from prefect.settings import get_current_settings

    url = urlsplit(str(get_current_settings().api.url))
    return url._replace(netloc=url.netloc.rpartition("@")[2], query="", fragment="").geturl()


def _reason(error: Exception) -> str:
    """A status or a class: an error's text may repeat what was sent."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status in REFUSED:
        return f"the key or password is missing or wrong (status {status})"
    if status:
        return f"status {status}, which a Prefect server would not give"
    return str(error) if isinstance(error, TimeoutError) else f"no answer ({type(error).__name__})"


def _remedy(error: Exception) -> str:
    if getattr(getattr(error, "response", None), "status_code", None) in REFUSED:
        return "Correct PREFECT_API_KEY or PREFECT_API_AUTH_STRING."
    return "Start it (prefect server start), correct PREFECT_API_URL, or unset it to use a temporary one."


ACCESS = "server access"
STRANGER = "https://page.invalid"
"""Origin of a page that no server knows; the name belongs to nobody."""

ASKED = "/admin/version"
"""What every Prefect server answers to whom it lets in, and what tells nothing."""

GUIDE = "docs/behind-a-proxy.md says how."


def access_findings(url: str) -> Iterator[DoctorFinding]:
    """What the server of an API answers to a stranger; nothing where it cannot be asked that way."""
    from httpx import HTTPError, InvalidURL

    try:
        status, allowed = within(lambda: _asked_by_stranger(url))
    except (HTTPError, InvalidURL, OSError):
        # With certificates or a proxy of its own, which Prefect's client has and a stranger has not.
        return
    yield _judged(answers=status < 300, allowed=allowed)


def _asked_by_stranger(url: str) -> tuple[int, str]:
    """Status, and the origins that may read the reply."""
    import httpx

    # What an address holds of names and passwords is not the stranger's.
    bare = httpx.URL(url.rstrip("/") + ASKED).copy_with(userinfo=b"")
    reply = httpx.get(bare, headers={"Origin": STRANGER}, timeout=5)
    return reply.status_code, reply.headers.get("Access-Control-Allow-Origin", "")


def _judged(*, answers: bool, allowed: str) -> DoctorFinding:
    foreign = allowed in ("*", STRANGER)
    if answers and foreign:
        observed = "asks for no authentication, and lets pages of every origin read: any page that is open can use it"
        remedy = "Set PREFECT_SERVER_API_AUTH_STRING and PREFECT_SERVER_CORS_ALLOWED_ORIGINS where it is started, or "
        return warning(ACCESS, observed, f"{remedy}use contrapose ui. {GUIDE}")
    if answers:
        observed = "asks for no authentication: whoever reaches it can start runs and read Secret blocks"
        return warning(ACCESS, observed, f"Set PREFECT_SERVER_API_AUTH_STRING where it is started. {GUIDE}")
    if foreign:
        observed = "lets pages of every origin read its answers"
        remedy = "Set PREFECT_SERVER_CORS_ALLOWED_ORIGINS to its own address where it is started."
        return warning(ACCESS, observed, f"{remedy} {GUIDE}")
    return ok(ACCESS, "asks for authentication, and lets no other page read")
