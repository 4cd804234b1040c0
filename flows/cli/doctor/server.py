"""Checks of the Prefect server: reachable, compatible, protected, and without telemetry."""

from __future__ import annotations

import os
from collections.abc import Iterator
from urllib.parse import urlsplit

from contrapose import NO_TELEMETRY
from contrapose.flows.cli.doctor.local import DoctorFinding
from contrapose.flows.cli.start import describe_database_problem
from contrapose.flows.orchestration.error_display import REFUSED
from contrapose.flows.serve.prefect_database import find_database_problem, find_used_file
from contrapose.flows.serve.server_key import bring_key_as_configured
from contrapose.tasks.core.bounds import call_with_timeout

NAME = "Prefect server"
OFF = ("0", "false", "no", "off", "f", "n")
ACCESS = "server access"
STRANGER = "https://page.invalid"
"""Origin of a page that no server knows; the name belongs to nobody."""
GUIDE = "docs/behind-a-proxy.md says how."


def check_prefect() -> Iterator[DoctorFinding]:
    """Check the server that records runs, its deployments, and telemetry."""
    from prefect.settings import get_current_settings

    bring_key_as_configured()
    settings = get_current_settings()
    if settings.api.url:
        server = _check_version(str(settings.api.url))
        yield server
        if server.state != "problem":
            from contrapose.flows.cli.doctor.deployed import check_deployed

            yield from check_deployed()
            yield from check_access(str(settings.api.url))
    elif settings.server.ephemeral.enabled and (why := describe_database_problem()):
        remedy = "Fix its permissions, set CONTRAPOSE_HOME to another folder, or set PREFECT_API_URL."
        yield DoctorFinding(NAME, "problem", f"a temporary one cannot write {find_used_file()} ({why})", remedy)
    elif settings.server.ephemeral.enabled and (file := find_used_file()) and (why := find_database_problem(file)):
        remedy = f"Rename {file}: the next run makes a new one. Or set PREFECT_API_URL."
        yield DoctorFinding(NAME, "problem", f"a temporary one cannot use {file}: {why}", remedy)
    elif settings.server.ephemeral.enabled:
        message = "none is set: every run starts a temporary one, which takes about 5 s"
        yield DoctorFinding(NAME, "ok", message, "To keep one: prefect server start, then set PREFECT_API_URL.")
    else:
        remedy = "Set PREFECT_API_URL, or PREFECT_SERVER_EPHEMERAL_ENABLED=true."
        yield DoctorFinding(NAME, "problem", "none is set, and temporary ones are switched off", remedy)
    off = {name: os.environ.get(name, quiet).strip().lower() in OFF for name, quiet in NO_TELEMETRY.items()}
    talking = [name for name, quiet in NO_TELEMETRY.items() if off[name] != (quiet in OFF)]
    if talking:
        message = f"switched on by {', '.join(talking)}"
        yield DoctorFinding("telemetry", "warning", message, "Unset it if you did not intend this.")
    else:
        yield DoctorFinding("telemetry", "ok", "off for all that this command starts")


def _check_version(api: str) -> DoctorFinding:
    """Ask the server for its version, with the client of a run: with its keys, headers, proxies and certificates."""
    from prefect.client.base import ServerType
    from prefect.client.orchestration import get_client

    def server_version() -> str | None:
        with get_client(sync_client=True) as client:
            if client.server_type == ServerType.CLOUD:
                client.read_block_types()
                return None
            return client.api_version()

    # Without what may be secret in it: user, password and query.
    url = urlsplit(api)
    address = url._replace(netloc=url.netloc.rpartition("@")[2], query="", fragment="").geturl()
    remedy = "Start it (prefect server start), correct PREFECT_API_URL, or unset it to use a temporary one."
    try:
        return compare_version(call_with_timeout(server_version), address)
    except Exception as error:
        # A status or a class: an error's text may repeat what was sent.
        status = getattr(getattr(error, "response", None), "status_code", None)
        reason = str(error) if isinstance(error, TimeoutError) else f"no answer ({type(error).__name__})"
        if status in REFUSED:
            reason = f"the key or password is missing or wrong (status {status})"
            remedy = "Correct PREFECT_API_KEY or PREFECT_API_AUTH_STRING."
        elif status:
            reason = f"status {status}, which a Prefect server would not give"
        return DoctorFinding(NAME, "problem", f"{address}: {reason}", remedy)


def compare_version(server: str | None, address: str) -> DoctorFinding:
    """Compare a server's version (None: Prefect Cloud) with this machine's Prefect."""
    import prefect
    from packaging.version import Version

    if server is None:
        return DoctorFinding(NAME, "ok", f"Prefect Cloud, {address}")
    theirs, ours = Version(server), Version(prefect.__version__)
    message = f"{address}, version {server}"
    if theirs.major != ours.major:
        remedy = f"Install prefect=={server}, or upgrade it."
        return DoctorFinding(NAME, "problem", f"{message}, which Prefect {ours} cannot use", remedy)
    if theirs < ours:
        remedy = f"Upgrade the server to {ours}."
        return DoctorFinding(NAME, "warning", f"{message}, older than Prefect {ours} here", remedy)
    return DoctorFinding(NAME, "ok", message)


def check_access(url: str) -> Iterator[DoctorFinding]:
    """Call a server's API without a key, and report whether it answers; return nothing if that cannot be tried."""
    import httpx

    # What every Prefect server answers to whom it lets in. Names and passwords of an address are not the stranger's.
    bare = httpx.URL(f"{url.rstrip('/')}/admin/version").copy_with(userinfo=b"")
    try:
        reply = call_with_timeout(lambda: httpx.get(bare, headers={"Origin": STRANGER}, timeout=5))
    except (httpx.HTTPError, httpx.InvalidURL, OSError):
        # With certificates or a proxy of its own, which Prefect's client has and a stranger has not.
        return
    answers = reply.status_code < 300
    foreign = reply.headers.get("Access-Control-Allow-Origin", "") in ("*", STRANGER)
    if answers and foreign:
        observed = "asks for no authentication, and lets pages of every origin read: any page that is open can use it"
        remedy = "Set PREFECT_SERVER_API_AUTH_STRING and PREFECT_SERVER_CORS_ALLOWED_ORIGINS where it is started, or "
        yield DoctorFinding(ACCESS, "warning", observed, f"{remedy}use contrapose ui. {GUIDE}")
    elif answers:
        observed = "has no authentication: anyone who reaches it can start runs and read Secret blocks"
        remedy = f"Set PREFECT_SERVER_API_AUTH_STRING where it is started. {GUIDE}"
        yield DoctorFinding(ACCESS, "warning", observed, remedy)
    elif foreign:
        remedy = f"Set PREFECT_SERVER_CORS_ALLOWED_ORIGINS to its own address where it is started. {GUIDE}"
        yield DoctorFinding(ACCESS, "warning", "lets pages of every origin read its answers", remedy)
    else:
        yield DoctorFinding(ACCESS, "ok", "asks for authentication, and lets no other page read")
