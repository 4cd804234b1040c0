"""`contrapose deploy`: deployments and automations on a Prefect server."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from contrapose.flows.cli.arguments import Verb, add_budget, add_changes, add_model, add_suite, config_of
from contrapose.flows.cli.terminal import print_lines

if TYPE_CHECKING:
    from contrapose.flows.deploy.deployment_options import DeploymentOptions


def add_deployment(command: argparse.ArgumentParser) -> None:
    """What a team changes about the deployments; without any of it they are as in deployments/prefect.yaml."""
    add_suite(command, default=None, default_text="as deployed, full")
    add_model(command)
    add_changes(command)
    add_budget(command)
    command.add_argument("--cron", metavar="CRON", help='when nightly runs, such as "0 2 * * *"')
    command.add_argument("--timezone", metavar="NAME", help="time zone of --cron, such as Europe/Paris (default: UTC)")
    command.add_argument(
        "--work-dir",
        default=".",
        metavar="FOLDER",
        help="folder on the worker that runs take place in, and that receives runs (default: the current one)",
    )
    command.add_argument(
        "--notify",
        action="append",
        default=[],
        metavar="TYPE/NAME",
        help="block that alerts are sent through, such as slack-webhook/team; may be given again",
    )
    command.add_argument(
        "--key-host",
        action="append",
        default=[],
        metavar="[KEY=]HOST",
        help="host that runs may send a key to besides OpenAI's, as in CONTRAPOSE_KEY_HOSTS; may be given again",
    )
    _add_check(command)


def _add_check(command: argparse.ArgumentParser) -> None:
    """How retrained models are checked, and what follows; what is not given stays as it was deployed."""
    check = command.add_argument_group("retraining check")
    check.add_argument("--baseline", metavar="MODEL", help="model that candidates are held against (default: --model)")
    check.add_argument("--margin", type=float, metavar="SHARE", help="loss of pass rate that is still called not worse")
    alias, webhook = check.add_mutually_exclusive_group(), check.add_mutually_exclusive_group()
    alias.add_argument("--alias", metavar="NAME@ALIAS", help="alias in the MLflow registry that a promotion moves")
    alias.add_argument("--no-alias", dest="alias", action="store_const", const="", help="move no alias any longer")
    webhook.add_argument("--webhook", metavar="URL", help="address that a promotion calls, signed")
    webhook.add_argument(
        "--no-webhook", dest="webhook", action="store_const", const="", help="call no address any longer"
    )
    check.add_argument("--ask", action=argparse.BooleanOptionalAction, help="ask a person where a candidate is held")


def deployment_options(arguments: argparse.Namespace) -> DeploymentOptions:
    """What the arguments change about the deployments."""
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


def _deploy(arguments: argparse.Namespace) -> int:
    from contrapose.flows.deploy.deploy import deploy

    return print_lines(deploy(deployment_options(arguments)), at_once=True)


VERB = Verb(options=add_deployment, act=_deploy, example="deploy --suite suite.yaml")
