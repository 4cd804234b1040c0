"""Webhooks go to listed hosts alone, and never to where a machine hands out its credentials."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from receiver import receiving

from contrapose.tasks.core.errors import ConfigError, ContraposeError
from contrapose.tasks.promotion.promote import promote, refuse_unready
from contrapose.tasks.promotion.settings import Promotion
from contrapose.tasks.promotion.webhook import deliver, refuse_unlisted

SECRET = "of-these-tests-alone"
DECISION: Any = {"check": "c1", "verdict": "promote"}
METADATA = [
    "http://169.254.169.254/latest/meta-data", "http://169.254.1.1/hook", "http://[fd00:ec2::254]/hook",
    "http://[fe80::1]/hook", "http://[::ffff:169.254.169.254]/hook", "http://[::ffff:a9fe:a9fe]/hook",
    "http://[64:ff9b::169.254.169.254]/hook", "http://[2002:a9fe:a9fe::1]/hook", "http://[::169.254.169.254]/hook",
    "http://metadata.google.internal/computeMetadata/v1", "http://METADATA.google.internal./computeMetadata/v1",
    "http://100.100.100.200/hook", "http://168.63.129.16/hook", "http://224.0.0.1/hook",
]  # fmt: skip
ODD = ["http://2852039166/hook", "http://0xA9FEA9FE/hook", "http://0251.0376.0251.0376/hook", "http://169.254.43518/"]
"""Other ways of writing 169.254.169.254, which name resolution understands."""


@pytest.fixture(autouse=True)
def a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_WEBHOOK_SECRET", SECRET)


def listed(monkeypatch: pytest.MonkeyPatch, *hosts: str) -> None:
    monkeypatch.setenv("CONTRAPOSE_WEBHOOK_HOSTS", ",".join(hosts))


def named(monkeypatch: pytest.MonkeyPatch, host: str, *addresses: str) -> list[str]:
    """Let a name have these addresses; the hosts that were looked up."""
    looked_up: list[str] = []
    real = socket.getaddrinfo

    def find(name: Any, port: Any, *rest: Any, **more: Any) -> Any:
        looked_up.append(str(name))
        if name != host:
            return real(name, port, *rest, **more)
        return [each for address in addresses for each in real(address, port, *rest, **more)]

    monkeypatch.setattr(socket, "getaddrinfo", find)
    return looked_up


def told_of(act: Any) -> str:
    with pytest.raises(ContraposeError) as caught:
        act()
    told = str(caught.value)
    assert "; expected " in told
    assert "\n" not in told
    return told


def sent(url: str) -> None:
    deliver(url, b"{}", secret=SECRET, delivery="d1", pause=lambda seconds: None)


@pytest.mark.parametrize("url", METADATA)
def test_where_credentials_are_handed_out_nothing_can_be_configured(url: str) -> None:
    with pytest.raises(ValueError, match="webhook"):
        Promotion(webhook=url)


@pytest.mark.parametrize("url", METADATA + ODD)
def test_nor_is_anything_sent_there_whatever_the_list_says(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("it was asked"))
    host = url.split("/")[2]
    listed(monkeypatch, host, f"http://{host}", "0.0.0.0/0", "::/0")
    assert "link-local" in (told := told_of(lambda: sent(url))) or "metadata" in told or "no host" in told


def test_a_host_that_is_not_listed_is_refused_before_anything_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving() as receiver:
        wanted = Promotion(webhook=receiver.url)
        for hosts in ((), ("hooks.example",), ("127.0.0.1:1",)):
            listed(monkeypatch, *hosts)
            for act in (
                lambda: refuse_unready(wanted, revision="r", training_run="t"),
                lambda: promote(wanted, DECISION, confirm=lambda: None),
            ):
                told = told_of(act)
                assert f"CONTRAPOSE_WEBHOOK_HOSTS={receiver.url.removesuffix('/hook')}" in told
                assert SECRET not in told
                assert "/hook" not in told
        assert receiver.bodies == []


@pytest.mark.parametrize("variable", ["CONTRAPOSE_WEBHOOK_HOSTS", "CONTRAPOSE_WEBHOOK_HOSTS_DEPLOYED"])
def test_a_listed_host_is_told(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving() as receiver:
        monkeypatch.setenv(variable, receiver.url.removesuffix("/hook"))
        wanted = Promotion(webhook=receiver.url)
        refuse_unready(wanted, revision="r", training_run="t")
        assert promote(wanted, DECISION, confirm=lambda: None) == ["The webhook was called."]
    assert len(receiver.bodies) == 1


@pytest.mark.parametrize("private", ["127.0.0.1", "10.1.2.3", "192.168.0.9", "100.64.0.1", "::1", "fd12::1", "0.0.0.0"])
def test_a_listed_name_that_leads_inside_is_refused(private: str, monkeypatch: pytest.MonkeyPatch) -> None:
    listed(monkeypatch, "http://hooks.example")
    named(monkeypatch, "hooks.example", "93.184.216.34", private)
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("it was asked"))
    for act in (sent, refuse_unlisted):
        told = told_of(lambda act=act: act("http://hooks.example/hook"))  # type: ignore[misc]
        assert f"hooks.example leads to {private}" in told
        assert "CONTRAPOSE_WEBHOOK_HOSTS" in told


def test_a_name_may_lead_inside_where_the_list_names_the_network_too(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving() as receiver:
        port = receiver.url.split(":")[2].split("/")[0]
        listed(monkeypatch, f"hooks.example:{port}", "127.0.0.0/8")
        named(monkeypatch, "hooks.example", "127.0.0.1")
        wanted = Promotion(webhook=f"http://hooks.example:{port}/hook")
        assert promote(wanted, DECISION, confirm=lambda: None) == ["The webhook was called."]
    assert receiver.headers[0]["Host"] == f"hooks.example:{port}"


def test_a_name_that_leads_to_metadata_is_refused_whatever_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    listed(monkeypatch, "http://hooks.example", "169.254.0.0/16")
    named(monkeypatch, "hooks.example", "169.254.169.254")
    assert "metadata" in told_of(lambda: sent("http://hooks.example/hook"))


def test_what_was_looked_up_is_what_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that leads elsewhere the second time it is looked up gains nothing."""
    with receiving() as receiver:
        port = receiver.url.split(":")[2].split("/")[0]
        listed(monkeypatch, f"hooks.example:{port}", "127.0.0.1")
        looked_up = named(monkeypatch, "hooks.example", "127.0.0.1")
        sent(f"http://hooks.example:{port}/hook")
    assert looked_up.count("hooks.example") == 1
    assert len(receiver.bodies) == 1


def test_a_name_that_nobody_knows_is_tried_again_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    listed(monkeypatch, "http://no-such-host.invalid")
    refuse_unlisted("http://no-such-host.invalid/hook")
    assert "gaierror" in told_of(lambda: sent("http://no-such-host.invalid/hook"))


def test_a_proxy_of_the_environment_is_asked_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/hook"))
        monkeypatch.setenv("no_proxy", "")
        monkeypatch.setenv("NO_PROXY", "")
        listed(monkeypatch, "http://hooks.example")
        sent("http://hooks.example/hook")
    assert proxy.headers[0]["Host"] == "hooks.example"


@pytest.mark.parametrize("wrong", ["*", "https://", "a b@c"])
def test_a_list_that_cannot_be_read_is_told(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    listed(monkeypatch, wrong)
    with pytest.raises(ConfigError, match="CONTRAPOSE_WEBHOOK_HOSTS"):
        refuse_unlisted("https://hooks.example/hook")
