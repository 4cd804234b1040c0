"""What a page on another origin can do to the servers on this machine: nothing. Slow: `make test-all`.

All four are real: `contrapose ui`, its server of reports, the temporary server of a run, and `contrapose view`.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from browsers import chromium
from local_ui import LocalUi, ask, call, local_ui
from playwright.sync_api import Page, expect
from small_server import answering
from websockets.asyncio.client import connect

from contrapose.flows.serve.guard import encode_key

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

CLI = (sys.executable, "-m", "contrapose.flows.cli")
EVIL = "https://evil.example"
PLANTED = b'{"name": "planted"}'
WEBSOCKETS = (
    "/events/in",
    "/events/out",
    "/logs/out",
    "/task_runs/subscriptions/scheduled",
    "/work_pools/contrapose/workers/connect",
)
TEMPORARY = """
import os, sys
from contrapose.flows.cli.start import set_environment_defaults
set_environment_defaults(logs=False)
from contrapose.flows.cli.start import start_server
with start_server():
    pass
from prefect.client.orchestration import get_client
with get_client(sync_client=True) as client:
    print(str(client.api_url).removesuffix("/api/"), os.environ["PREFECT_API_AUTH_STRING"], len(client.read_flows()))
sys.stdout.flush()
sys.stdin.read()
"""


@dataclass(frozen=True, kw_only=True)
class Target:
    """A server, its key where that is known, and a path that holds a secret."""

    url: str
    key: str
    path: str


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalUi]:
    folder = tmp_path_factory.mktemp("ui")
    put_report(folder / "runs")
    with local_ui([*CLI, "ui", "--work-dir", str(folder), "--port", "0"], folder) as found:
        yield found


def put_report(runs: Path) -> None:
    run = runs / "20260301T083000Z-secret"
    run.mkdir(parents=True)
    (run / "report.html").write_text("secret")


@pytest.fixture(scope="module")
def temporary() -> Iterator[Target]:
    with subprocess.Popen(
        [sys.executable, "-c", TEMPORARY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        url, key, _ = process.stdout.readline().split()
        yield Target(url=url, key=key, path="/api/admin/version")
        process.communicate("")


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    runs = tmp_path_factory.mktemp("runs")
    put_report(runs)
    with subprocess.Popen([*CLI, "view", str(runs)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        parts = urlsplit(process.stdout.readline().split()[1])
        yield Target(url=f"{parts.scheme}://{parts.netloc}", key="", path="/files/20260301T083000Z-secret/report.html")
        process.terminate()


@pytest.fixture(params=["ui", "temporary", "view", "reports"])
def target(request: pytest.FixtureRequest) -> Target:
    if request.param in ("temporary", "view"):
        found: Target = request.getfixturevalue(request.param)
        return found
    ui: LocalUi = request.getfixturevalue("ui")
    path = {"ui": "/api/admin/version", "reports": "/20260301T083000Z-secret/report.html"}[request.param]
    return Target(url={"ui": ui.url, "reports": ui.reports}[request.param], key=ui.key, path=path)


def foreign(target: Target) -> list[dict[str, str]]:
    """What marks a request as somebody else's: its page, or the name it has for this machine."""
    port = urlsplit(target.url).port or 0
    origins = (EVIL, "null", f"http://127.0.0.1:{port + 1}", f"https://127.0.0.1:{port}", f"http://localhost:{port}")
    hosts = ("evil.example", f"evil.example:{port}", f"127.0.0.1.evil.example:{port}", f"127.0.0.1:{port + 1}")
    return [{"Origin": each} for each in origins] + [{"Host": each} for each in hosts]


def test_nothing_is_read(target: Target) -> None:
    assert ask(target.url, target.path)[0] == 401
    for path in (target.path, "/", "/api/health", "/openapi.json", "/ui-settings"):
        for marks in foreign(target):
            # With the key, too: a browser may have been told it.
            for key in ({}, {"Authorization": encode_key(target.key)}):
                status, body, headers = ask(target.url, path, **marks, **key)
                assert status in (403, 404), (path, marks)
                assert b"secret" not in body
                assert "access-control-allow-origin" not in headers


def test_nobody_is_told_that_another_page_may_ask(target: Target) -> None:
    asked = {"Access_Control_Request_Method": "POST", "Access_Control_Request_Headers": "content-type"}
    for path in (target.path, "/api/flows/"):
        status, _, headers = ask(target.url, path, method="OPTIONS", Origin=EVIL, **asked)
        assert status in (403, 501)
        assert not any(name.startswith("access-control") for name in headers)


@pytest.mark.parametrize("server", ["ui", "temporary"])
def test_nothing_is_started(server: str, request: pytest.FixtureRequest) -> None:
    found = request.getfixturevalue(server)
    target = Target(url=found.url, key=found.key, path="")
    before = call(target.url, target.key, "POST", "/flows/count", {})
    kinds = ("application/json", "text/plain", "application/x-www-form-urlencoded", "")
    for marks in [{}, *foreign(target)]:
        for kind in kinds:
            headers = {**marks, **({"Content_Type": kind} if kind else {})}
            assert ask(target.url, "/api/flows/", method="POST", body=PLANTED, **headers)[0] in (401, 403, 404)
    # Nor with the key, and no token: what a browser sends by itself starts nothing.
    key = {"Authorization": encode_key(target.key), "Content_Type": "application/json"}
    assert ask(target.url, "/api/flows/", method="POST", body=PLANTED, **key)[0] == 403
    assert call(target.url, target.key, "POST", "/flows/count", {}) == before


@pytest.mark.parametrize("server", ["ui", "temporary"])
def test_no_websocket_tells_or_takes_anything(server: str, request: pytest.FixtureRequest) -> None:
    found = request.getfixturevalue(server)

    async def said(path: str, first: dict[str, Any], **options: Any) -> str:
        address = f"{found.url.replace('http', 'ws')}/api{path}"
        try:
            async with connect(address, subprotocols=["prefect"], **options) as socket:  # type: ignore[list-item]
                await socket.send(json.dumps(first))
                return str(await asyncio.wait_for(socket.recv(), 10))
        except Exception as error:
            return type(error).__name__

    async def all_of_them() -> None:
        key = {"type": "auth", "token": found.key}
        for path in WEBSOCKETS:
            for first in ({"type": "auth"}, {"type": "auth", "token": "wrong"}, {"type": "filter", "filter": {}}):
                assert await said(path, first) == "ConnectionClosedError"
            assert await said(path, key, origin=EVIL) == "InvalidStatus"
            assert json.loads(await said(path, key)) == {"type": "auth_success"}

    asyncio.run(all_of_them())


def test_its_own_automations_still_act(ui: LocalUi) -> None:
    """Prefect's client for this brings no key, and would be refused by its own server."""
    never = {"type": "event", "posture": "Reactive", "expect": ["never"], "threshold": 1, "within": 0}
    paused = ui.call("POST", "/automations/", {"name": "paused", "trigger": never, "actions": [{"type": "do-nothing"}]})
    action = {"type": "pause-automation", "source": "selected", "automation_id": paused["id"]}
    silence = {**never, "posture": "Proactive", "expect": ["never"], "within": 10}
    ui.call("POST", "/automations/", {"name": "pausing", "trigger": silence, "actions": [action]})
    from prefect_house import until

    until(lambda: not ui.call("GET", f"/automations/{paused['id']}")["enabled"], seconds=90)


PAGE = """<!doctype html><title>evil</title><iframe name="frame"></iframe>
<form id="form" method="post" enctype="text/plain" target="frame"><input name='{"name": "planted", "x": "' value='"}'>
</form><script>
const said = {}
async function attempt(name, what) {
  try { said[name] = String(await what()) } catch (error) { said[name] = 'refused' }
}
const text = async (path, options) => (await fetch(target + path, options)).text()
const socket = path => new Promise((resolve, reject) => {
  const found = new WebSocket(target.replace('http', 'ws') + path, ['prefect'])
  found.onopen = () => found.send('{"type": "auth"}')
  found.onmessage = message => resolve(message.data)
  found.onerror = reject
  found.onclose = reject
})
const drawn = path => new Promise((resolve, reject) => {
  const found = new Image()
  found.onload = resolve
  found.onerror = reject
  found.src = target + path
})
async function attack(where, report) {
  window.target = where
  const post = {method: 'POST', body: '{"name": "planted"}', headers: {'Content-Type': 'application/json'}}
  for (const credentials of ['omit', 'include']) {
    await attempt(`read, ${credentials}`, () => text('/api/admin/version', {credentials}))
    await attempt(`json, ${credentials}`, () => text('/api/flows/', {...post, credentials}))
  }
  await attempt('settings', () => text('/ui-settings'))
  const plain = {method: 'POST', body: post.body, mode: 'no-cors', credentials: 'include'}
  await attempt('plain', () => fetch(target + '/api/flows/', plain).then(() => 'sent'))
  await attempt('token', () => text('/api/csrf-token?client=evil', {credentials: 'include'}))
  for (const path of ['/api/events/out', '/api/logs/out', '/api/events/in']) await attempt(path, () => socket(path))
  await attempt('report', () => fetch(report, {credentials: 'include'}).then(reply => reply.text()))
  await attempt('picture', () => drawn('/ico/favicon.ico'))
  document.getElementById('form').action = target + '/api/flows/'
  document.getElementById('form').submit()
  document.querySelector('iframe').src = target + '/'
  await new Promise(resolve => setTimeout(resolve, 1000))
  return said
}
</script>"""


@pytest.fixture(scope="module")
def opened_page() -> Iterator[Page]:
    """Of a browser that takes evil.example for this machine, as after rebinding."""
    with chromium("--host-resolver-rules=MAP evil.example 127.0.0.1", whole=True) as browser:
        yield browser.new_page()


def test_a_page_on_another_origin_gets_nothing_from_a_browser_that_was_let_in(ui: LocalUi, opened_page: Page) -> None:
    page = opened_page
    before = ui.call("POST", "/flows/count", {})
    page.goto(ui.link)
    expect(page.get_by_role("link", name="Deployments").first).to_be_visible(timeout=60_000)
    assert page.url.startswith(ui.url)
    assert "ticket" not in page.url
    report = f"{ui.reports}/20260301T083000Z-secret/report.html"
    with answering(lambda asked: asked.reply(PAGE.encode(), headers={"Content-Type": "text/html"})) as address:
        # Another site; and another port of this machine, to which a browser sends the same cookies.
        for host in ("localhost", "evil.example", "127.0.0.1"):
            page.goto(f"http://{host}:{urlsplit(address).port}/")
            said = page.evaluate("([where, report]) => attack(where, report)", [ui.url, report])
            assert {**said, "plain": "refused"} == dict.fromkeys(said, "refused"), host
            assert "Prefect" not in "".join(frame.content() for frame in page.frames[1:])
    assert ui.call("POST", "/flows/count", {}) == before
    # The browser itself goes on.
    page.goto(f"{ui.url}/deployments")
    expect(page.get_by_role("link", name="nightly", exact=True).first).to_be_visible(timeout=60_000)
    page.goto(report)
    assert page.content().count("secret") == 1


def test_another_name_for_this_machine_is_not_answered(ui: LocalUi, opened_page: Page) -> None:
    for url in (ui.url, ui.reports):
        reply = opened_page.goto(url.replace("127.0.0.1", "evil.example"))
        assert reply
        assert reply.status == 404
