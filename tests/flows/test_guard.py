"""The rules for whoever asks a server on this machine, at both kinds of server that keep them."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest
from local_ui import ask
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from contrapose.flows.serve.guard import TICKET, Guard, encode_key, guard_app, make_login_key
from contrapose.flows.serve.report_server import PageReply, ServedSite, serve_site

OPEN = frozenset({"/api/health"})


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """An application that answers everybody, and tells which key it was brought."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": "secret"})
        await send({"type": "websocket.close"})
        return
    brought = dict(scope["headers"]).get(b"authorization", b"")
    shared = [(b"access-control-allow-origin", b"*"), (b"x-frame-options", b"ALLOWALL")]
    await send({"type": "http.response.start", "status": 200, "headers": shared})
    await send({"type": "http.response.body", "body": b"secret " + brought})


@contextmanager
def layered(guard: Guard) -> Iterator[ServedSite]:
    """That application behind the layer, in a real server."""
    import uvicorn

    config = uvicorn.Config(guard_app(echo, guard), port=0, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield ServedSite(url=f"http://127.0.0.1:{port}", guard=guard)
    server.should_exit = True
    thread.join()


@pytest.fixture(params=["pages", "layer"])
def served(request: pytest.FixtureRequest) -> Iterator[ServedSite]:
    guard = Guard(key=make_login_key(), port=4200, open_paths=OPEN)
    site = serve_site(lambda _: PageReply(content=b"secret"), guard=guard)
    with site if request.param == "pages" else layered(guard) as found:
        yield found


def cookie(served: ServedSite) -> str:
    """What a browser is given for the ticket."""
    status, _, headers = ask(served.url, served.guard.link("/page"))
    assert (status, headers["location"]) == (303, "/page")
    value, *attributes = headers["set-cookie"].split("; ")
    assert set(attributes) == {"Path=/", "HttpOnly", "SameSite=Lax"}
    assert served.guard.key.partition(":")[2] not in value
    return value


def test_the_key_opens(served: ServedSite) -> None:
    assert ask(served.url, "/page", Authorization=encode_key(served.guard.key))[0] == 200


@pytest.mark.parametrize("value", ["", "Basic", "Basic x", "Bearer x", "Basic Y29udHJhcG9zZTo=", "Basic \u00e9"])
def test_no_other_key_does(served: ServedSite, value: str) -> None:
    status, body, headers = ask(served.url, "/page", Authorization=value)
    assert status == 401
    assert b"secret" not in body
    assert "www-authenticate" not in headers


def test_the_cookie_opens_among_others(served: ServedSite) -> None:
    value = cookie(served)
    assert ask(served.url, "/page", Cookie=f"a=b; {value}; c")[0] == 200
    for wrong in (f"{value}0", value[:-1], value.partition("=")[2], f"contrapose-1={value.partition('=')[2]}", "="):
        assert ask(served.url, "/page", Cookie=wrong)[0] == 401


def test_the_ticket_is_good_once(served: ServedSite) -> None:
    value = cookie(served)
    assert ask(served.url, served.guard.link("/page"))[0] == 401
    # Whoever has been let in by it may open it again.
    assert ask(served.url, served.guard.link("/page"), Cookie=value)[0] == 303


@pytest.mark.parametrize("query", [f"{TICKET}=", f"{TICKET}=wrong", f"x={TICKET}", f"{TICKET}=%ff"])
def test_no_other_ticket_is(served: ServedSite, query: str) -> None:
    assert ask(served.url, f"/page?{query}")[0] == 401
    cookie(served)


def test_nothing_but_reading_takes_the_ticket(served: ServedSite) -> None:
    assert ask(served.url, served.guard.link(), method="HEAD")[0] == 401
    cookie(served)


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example/", "///evil.example", "/\\/evil.example"])
def test_the_way_on_stays_on_this_machine(served: ServedSite, path: str) -> None:
    status, _, headers = ask(served.url, served.guard.link(path))
    assert (status, headers["location"].startswith("/evil.example")) == (303, True)


@pytest.mark.parametrize(
    "marks",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://127.0.0.1"},
        {"Origin": "http://127.0.0.1:{port}.evil.example"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Origin": "http://localhost:{port}"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "cors"},
        {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "iframe"},
        {"Host": "evil.example"},
        {"Host": "evil.example:{port}"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1:1"},
        {"Host": "127.0.0.1.:{port}"},
        {"Host": "[::1]:{port}"},
        {"Host": "0.0.0.0:{port}"},
    ],
)
@pytest.mark.parametrize("path", ["/page", "/api/health"])
def test_what_comes_from_elsewhere_is_refused_whatever_it_brings(
    served: ServedSite, marks: dict[str, str], path: str
) -> None:
    port = urlsplit(served.url).port
    sent = {name: value.format(port=port) for name, value in marks.items()}
    brought = {"Authorization": encode_key(served.guard.key), "Cookie": cookie(served)}
    status, body, headers = ask(served.url, path, **brought, **sent)
    assert status in (403, 404)
    assert b"secret" not in body
    assert "access-control-allow-origin" not in headers


def test_its_own_pages_and_links_to_it_are_answered(served: ServedSite) -> None:
    port = urlsplit(served.url).port
    followed = {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    own = {"Host": f"localhost:{port}", "Origin": f"http://localhost:{port}", "Sec_Fetch_Site": "same-origin"}
    for marks in (followed, own, {"Origin": served.url}, {"Sec_Fetch_Site": "none"}):
        assert ask(served.url, "/page", Authorization=encode_key(served.guard.key), **marks)[0] == 200


def test_only_what_is_open_needs_no_key(served: ServedSite) -> None:
    assert ask(served.url, "/api/health")[0] == 200
    for path in ("/api/healthy", "/api/health/", "/api/health/../page", "/API/HEALTH", "/page?/api/health"):
        assert ask(served.url, path)[0] == 401


def test_every_answer_keeps_other_pages_away(served: ServedSite) -> None:
    for brought in ({}, {"Authorization": encode_key(served.guard.key)}):
        headers = ask(served.url, "/page", **brought)[2]
        assert headers["x-frame-options"] == "DENY"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


def test_a_browser_that_was_let_in_brings_prefect_the_key() -> None:
    with layered(Guard(key=make_login_key(), port=4200)) as served:
        body = ask(served.url, "/page", Cookie=cookie(served), Authorization="Basic stale")[1]
        assert body == f"secret {encode_key(served.guard.key)}".encode()


def test_a_websocket_of_another_page_or_name_is_not_opened() -> None:
    with layered(Guard(key=make_login_key(), port=4200)) as served:
        address = served.url.replace("http", "ws")
        with connect(address, origin=served.url) as opened:  # type: ignore[arg-type]
            assert opened.recv() == "secret"
        for origin in ("https://evil.example", "null", "http://127.0.0.1"):
            with pytest.raises(InvalidStatus), connect(address, origin=origin):  # type: ignore[arg-type]
                pass
        # The browser of a page whose name was bound to this machine.
        elsewhere = address.replace("127.0.0.1", "evil.example")
        reached = socket.create_connection(("127.0.0.1", urlsplit(address).port or 0))
        with pytest.raises(InvalidStatus), connect(elsewhere, sock=reached):
            pass


def test_two_hosts_are_none() -> None:
    host = (b"Host", b"127.0.0.1:80")
    guard = Guard(key="k", port=80)

    def status(*headers: tuple[bytes, bytes]) -> int | None:
        answer = guard.refuse_misplaced({"headers": headers, "server": ("127.0.0.1", 80)})
        return answer.status if answer else None

    assert status(host) is None
    assert status((b"host", b"localhost")) is None
    assert status(host, host) == status() == 404


def test_a_person_is_told_where_the_key_is(tmp_path: Path) -> None:
    guard = Guard(key=make_login_key(), port=4200, kept=str(tmp_path / "4200.key"))
    shown = {"Sec_Fetch_Site": "none", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    with serve_site(lambda _: None, guard=guard) as served:
        _, body, headers = ask(served.url, "/page", **shown)
    assert str(tmp_path / "4200.key") in body.decode()
    assert headers["www-authenticate"] == 'Basic realm="contrapose"'
