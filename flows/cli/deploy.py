"""`contrapose deploy` and `ui`: deployments and automations on a Prefect server, or on a local one."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from time import monotonic, sleep
from typing import TYPE_CHECKING

from contrapose.flows.cli.arguments import Verb, add_budget, add_changes, add_model, add_suite, load_chosen_config
from contrapose.flows.cli.terminal import print_lines
from contrapose.flows.serve.server_key import bring_key_as_configured, refuse_silent_server
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.secrets import remove_credentials
from contrapose.tasks.promotion.settings import RETRAINED, build_payload, make_resource

if TYPE_CHECKING:
    from contrapose.flows.deploy.deployment_options import DeploymentOptions

BEGIN_SECONDS = 120.0
"""How long the automation may take to start a check."""
LOOK_SECONDS = 2.0
CLOCKS_APART = timedelta(minutes=2)
"""How far the clocks of this machine and of the server may be apart."""
CODES = {"promote": 0, "hold": 1, "insufficient evidence": 3}
"""Exit codes of verdicts; 4: the check came to none."""


def add_deployment(command: argparse.ArgumentParser) -> None:
    """Add the options that change the deployments; without them, deployments/prefect.yaml applies."""
    add_suite(command, default=None, default_text="as deployed, full")
    add_model(command)
    add_changes(command)
    add_budget(command)
    add = command.add_argument
    add("--cron", metavar="CRON", help='when nightly runs, such as "0 2 * * *"')
    add("--timezone", metavar="NAME", help="time zone of --cron, such as Europe/Paris (default: UTC)")
    text = "working folder on the worker, which also receives the runs (default: the current folder)"
    add("--work-dir", default=".", metavar="FOLDER", help=text)
    text = "block that sends alerts, such as slack-webhook/team; repeatable"
    add("--notify", action="append", default=[], metavar="TYPE/NAME", help=text)
    text = "allow runs to send a key to this host, as CONTRAPOSE_KEY_HOSTS does; repeatable"
    add("--key-host", action="append", default=[], metavar="[KEY=]HOST", help=text)
    # How retrained models are checked, and what follows: what is not set stays as it was deployed.
    check = command.add_argument_group("retraining check")
    check.add_argument("--baseline", metavar="MODEL", help="compare candidates with this model (default: --model)")
    check.add_argument(
        "--margin", type=float, metavar="SHARE", help="count a loss of pass rate up to SHARE as not worse"
    )
    for name, metavar, text, no_text in (
        ("alias", "NAME@ALIAS", "alias in the MLflow registry that a promotion moves", "move no alias any longer"),
        ("webhook", "URL", "address that a promotion calls, signed", "call no address any longer"),
    ):
        either = check.add_mutually_exclusive_group()
        either.add_argument(f"--{name}", metavar=metavar, help=text)
        either.add_argument(f"--no-{name}", dest=name, action="store_const", const="", help=no_text)
    check.add_argument(
        "--ask", action=argparse.BooleanOptionalAction, help="ask a person before a worse candidate is held"
    )


def read_deploy_options(arguments: argparse.Namespace) -> DeploymentOptions:
    """Return the changes to the deployments that the arguments name."""
    from contrapose.flows.deploy.deployment_options import DeploymentOptions, check_parameters
    from contrapose.flows.orchestration.options import read_overrides
    from contrapose.tasks.config.permissions import APPS, list_named_by_user

    changes = read_overrides(arguments)
    named = list_named_by_user(
        changes | ({"baseline": arguments.baseline} if arguments.baseline else {}), suite=arguments.suite
    )
    chosen = arguments.suite or arguments.test or changes
    arguments.suite = arguments.suite or "full"
    return DeploymentOptions(
        config=load_chosen_config(arguments) if chosen else None,
        check=check_parameters(
            baseline=arguments.baseline,
            margin=arguments.margin,
            promotion={"mlflow_alias": arguments.alias, "webhook": arguments.webhook, "ask": arguments.ask},
        ),
        cron=arguments.cron,
        timezone=arguments.timezone,
        work_dir=arguments.work_dir,
        notify=tuple(arguments.notify),
        key_hosts=tuple(arguments.key_host),
        # Functions and commands run on the worker, whose own list decides.
        named={**named, APPS: [entry for entry in named.get(APPS, []) if "://" in entry]},
    )


def announce(model: str, *, revision: str = "", training_run: str = "") -> str:
    """Send the event `model.retrained`, wait until the Prefect server has it, and return its id.

    Args:
        model: id as in a run, such as `hf/<org>/<name>` or `openai/<model>`.
        revision: which one it is, where the id does not tell.
        training_run: what made it; this or the revision is needed.

    Raises:
        ConfigError: a value cannot be used, or there is no server that can be reached.
    """
    from prefect.events import Event
    from prefect.events.clients import get_events_client
    from prefect.settings import PREFECT_API_URL
    from prefect.utilities.asyncutils import run_coro_as_sync

    payload = build_payload(model, revision=revision, training_run=training_run)
    bring_key_as_configured()
    server = PREFECT_API_URL.value()
    if not server:
        raise _make_server_error("no Prefect server is named", where="PREFECT_API_URL")
    refuse_silent_server()
    event = Event(event=RETRAINED, resource=make_resource(model), payload=payload)

    async def send() -> None:
        # A checkpoint after each event: when the client closes, the server has confirmed it.
        async with get_events_client(reconnection_attempts=2, checkpoint_every=1) as client:
            await client.emit(event)

    try:
        # Also where an event loop is running, as in a notebook.
        run_coro_as_sync(send())
    except Exception as error:
        problem = f"the Prefect server did not take the event ({type(error).__name__})"
        raise _make_server_error(problem, where=remove_credentials(server)) from error
    return str(event.id)


def _make_server_error(problem: str, *, where: str) -> ConfigError:
    expected = "a server that can be reached, whose automation starts the check"
    remedy = "Set PREFECT_API_URL to a running server; contrapose ui starts one with everything deployed."
    return ConfigError(problem, expected=expected, remedy=remedy, where=where)


def follow_check(announced: Mapping[str, str], *, since: datetime) -> int:
    """Print the link to the check that an event started, then its outcome; return the exit code."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import FlowFilter, FlowFilterName, FlowRunFilter, FlowRunFilterExpectedStartTime
    from prefect.client.schemas.sorting import FlowRunSort
    from prefect.utilities.urls import url_for

    from contrapose.flows.orchestration.verdict_state import LABEL

    named = FlowFilter(name=FlowFilterName(any_=["check-retrained-model"]))
    later = FlowRunFilter(expected_start_time=FlowRunFilterExpectedStartTime(after_=since - CLOCKS_APART))
    newest, end, run = FlowRunSort.EXPECTED_START_TIME_DESC, monotonic() + BEGIN_SECONDS, None
    with get_client(sync_client=True) as client:
        while run is None and monotonic() < end:
            runs = client.read_flow_runs(flow_filter=named, flow_run_filter=later, sort=newest)
            same = (one for one in runs if all(str(one.parameters.get(key, "")) == announced[key] for key in announced))
            if (run := next(same, None)) is None:
                sleep(LOOK_SECONDS)
        if run is None:
            raise ConfigError(
                f"no check of {announced['model']} began within {BEGIN_SECONDS:.0f} seconds",
                expected="an automation that starts it",
                remedy="Run `contrapose deploy` to create it, or `contrapose doctor` to see its state.",
                where="--wait",
            )
        print(url_for(run) or f"flow run {run.name} ({run.id})", flush=True)
        asked = False
        while run.state is None or not run.state.is_final():
            if run.state is not None and run.state.is_paused() and not asked:
                print("The candidate is held. Approve or reject it on that page; this command waits.", flush=True)
                asked = True
            sleep(LOOK_SECONDS)
            run = client.read_flow_run(run.id)
    verdict = str(run.labels.get(LABEL, ""))
    print(": ".join(filter(None, (verdict or str(run.state.name), run.state.message))), flush=True)
    return CODES.get(verdict, 4) if run.state.is_completed() else 4


def _add_options(command: argparse.ArgumentParser) -> None:
    add_deployment(command)
    # Without one the deployments are made.
    actions = command.add_subparsers(dest="what", metavar="[action]")
    text = "announce that a model was retrained, which starts its check"
    announcement = actions.add_parser("announce", help=text, description=text)
    add = announcement.add_argument
    add("retrained", metavar="MODEL", help="its id: hf/<org>/<name>, hf/<folder>, openai/<model>")
    add("--revision", default="", metavar="R", help="revision of the model, if the id does not name one")
    add(
        "--training-run",
        default="",
        metavar="T",
        help="training run that made the model; this or --revision is required",
    )
    add("--wait", action="store_true", help="print the link to the check, wait, and exit with its verdict")
    announcement.epilog = (
        "exit codes with --wait: 0 promote, 1 hold, 3 insufficient evidence, 4 no verdict, 2 usage or configuration"
    )


def _deploy(arguments: argparse.Namespace) -> int:
    if arguments.what == "announce":
        named = {"revision": arguments.revision, "training_run": arguments.training_run}
        since = datetime.now(UTC)
        event = announce(arguments.retrained, **named)
        code = print_lines([f"announced {arguments.retrained} (event {event})"])
        return follow_check(build_payload(arguments.retrained, **named), since=since) if arguments.wait else code
    from contrapose.flows.deploy.deploy import deploy

    return print_lines(deploy(read_deploy_options(arguments)), at_once=True)


def _add_ui_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--port", type=int, metavar="N", help="port on loopback (default: 4200, or any that is free)")
    text = "port of the links to reports (default: the one above --port)"
    command.add_argument("--reports-port", type=int, metavar="N", help=text)
    add_deployment(command)


def _serve(arguments: argparse.Namespace) -> int:
    from contrapose.flows.serve.local_prefect import serve

    return print_lines(
        serve(read_deploy_options(arguments), port=arguments.port, reports_port=arguments.reports_port), at_once=True
    )


VERB = Verb(options=_add_options, act=_deploy, example="deploy --suite suite.yaml")
UI = Verb(options=_add_ui_options, act=_serve, example="ui")
