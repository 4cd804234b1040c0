"""`contrapose deploy` and `ui`: deployments and automations on a Prefect server, or on one of their own."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from contrapose.flows.cli.announce import add_announcement, announce_from
from contrapose.flows.cli.arguments import Verb, add_budget, add_changes, add_model, add_suite, config_of
from contrapose.flows.cli.terminal import print_lines

if TYPE_CHECKING:
    from contrapose.flows.deploy.deployment_options import DeploymentOptions


def add_deployment(command: argparse.ArgumentParser) -> None:
    """Add what a team changes about the deployments; without any of it they are as in deployments/prefect.yaml."""
    add_suite(command, default=None, default_text="as deployed, full")
    add_model(command)
    add_changes(command)
    add_budget(command)
    add = command.add_argument
    add("--cron", metavar="CRON", help='when nightly runs, such as "0 2 * * *"')
    add("--timezone", metavar="NAME", help="time zone of --cron, such as Europe/Paris (default: UTC)")
    text = "folder on the worker that runs take place in, and that receives runs (default: the current one)"
    add("--work-dir", default=".", metavar="FOLDER", help=text)
    text = "block that alerts are sent through, such as slack-webhook/team; may be given again"
    add("--notify", action="append", default=[], metavar="TYPE/NAME", help=text)
    text = "host that runs may send a key to besides OpenAI's, as in CONTRAPOSE_KEY_HOSTS; may be given again"
    add("--key-host", action="append", default=[], metavar="[KEY=]HOST", help=text)
    # How retrained models are checked, and what follows: what is not set stays as it was deployed.
    check = command.add_argument_group("retraining check")
    check.add_argument("--baseline", metavar="MODEL", help="model that candidates are compared with (default: --model)")
    check.add_argument("--margin", type=float, metavar="SHARE", help="loss of pass rate that is still called not worse")
    for name, metavar, text, no_text in (
        ("alias", "NAME@ALIAS", "alias in the MLflow registry that a promotion moves", "move no alias any longer"),
        ("webhook", "URL", "address that a promotion calls, signed", "call no address any longer"),
    ):
        either = check.add_mutually_exclusive_group()
        either.add_argument(f"--{name}", metavar=metavar, help=text)
        either.add_argument(f"--no-{name}", dest=name, action="store_const", const="", help=no_text)
    check.add_argument("--ask", action=argparse.BooleanOptionalAction, help="ask a person where a candidate is held")


def deployment_options(arguments: argparse.Namespace) -> DeploymentOptions:
    """Collect what the arguments change about the deployments."""
    from contrapose.flows.deploy.deployment_options import DeploymentOptions, check_parameters
    from contrapose.flows.orchestration.options import overrides
    from contrapose.tasks.config.permissions import APPS, typed

    changes = overrides(arguments)
    named = typed(changes | ({"baseline": arguments.baseline} if arguments.baseline else {}), suite=arguments.suite)
    chosen = arguments.suite or arguments.test or changes
    arguments.suite = arguments.suite or "full"
    return DeploymentOptions(
        config=config_of(arguments) if chosen else None,
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


def _add_options(command: argparse.ArgumentParser) -> None:
    add_deployment(command)
    # Without one the deployments are made.
    actions = command.add_subparsers(dest="what", metavar="[action]")
    text = "announce that a model was retrained, which starts its check"
    add_announcement(actions.add_parser("announce", help=text, description=text))


def _deploy(arguments: argparse.Namespace) -> int:
    if arguments.what == "announce":
        return announce_from(arguments)
    from contrapose.flows.deploy.deploy import deploy

    return print_lines(deploy(deployment_options(arguments)), at_once=True)


def _add_ui_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--port", type=int, metavar="N", help="port on loopback (default: 4200, or any that is free)")
    add_deployment(command)


def _serve(arguments: argparse.Namespace) -> int:
    from contrapose.flows.serve.local_prefect import serve

    return print_lines(serve(deployment_options(arguments), port=arguments.port), at_once=True)


VERB = Verb(options=_add_options, act=_deploy, example="deploy --suite suite.yaml")
UI = Verb(options=_add_ui_options, act=_serve, example="ui")
