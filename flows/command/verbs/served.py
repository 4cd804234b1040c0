"""`contrapose deploy`, `ui` and `announce`: Contrapose on a Prefect server."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from contrapose.flows.command.arguments import add_budget, add_changes, add_suite, config_of
from contrapose.flows.command.saying import print_lines
from contrapose.flows.command.verbs.verb import Verb

if TYPE_CHECKING:
    from contrapose.flows.command.wishes import Wishes


def _deploy_options(command: argparse.ArgumentParser) -> None:
    """What a team changes about the deployments; without any of it they are as in deployments/prefect.yaml."""
    add_suite(command, default=None, told="as deployed, full")
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
    _check_options(command)


def _check_options(command: argparse.ArgumentParser) -> None:
    """How retrained models are checked, and what follows; what is not given stays as it was deployed."""
    check = command.add_argument_group("retraining check")
    check.add_argument("--baseline", metavar="MODEL", help="model that candidates are held against (default: --model)")
    check.add_argument("--margin", type=float, metavar="SHARE", help="loss of pass rate that is still called not worse")
    check.add_argument("--alias", metavar="NAME@ALIAS", help="alias in the MLflow registry that a promotion moves")
    check.add_argument("--webhook", metavar="URL", help="address that a promotion calls, signed")
    check.add_argument("--ask", action=argparse.BooleanOptionalAction, help="ask a person where a candidate is held")


def _ui_options(command: argparse.ArgumentParser) -> None:
    """What the local server takes beside the deployments' options."""
    command.add_argument("--port", type=int, metavar="N", help="port on loopback (default: 4200, or any that is free)")
    _deploy_options(command)


def _announce_options(command: argparse.ArgumentParser) -> None:
    """Which model was retrained."""
    command.add_argument("retrained", metavar="MODEL", help="its id: hf/<org>/<name>, hf/<folder>, openai/<model>")
    command.add_argument("--revision", default="", metavar="R", help="which one it is, where the id does not tell")
    command.add_argument("--training-run", default="", metavar="T", help="what made it; this or --revision is needed")


def _deploy(arguments: argparse.Namespace) -> int:
    from contrapose.flows.command.deploy import deploy

    return print_lines(deploy(_wishes(arguments)), at_once=True)


def _ui(arguments: argparse.Namespace) -> int:
    from contrapose.flows.command.serve_ui import serve

    return print_lines(serve(_wishes(arguments), port=arguments.port), at_once=True)


def _announce(arguments: argparse.Namespace) -> int:
    from contrapose.flows.command.announce import announce

    event = announce(arguments.retrained, revision=arguments.revision, training_run=arguments.training_run)
    return print_lines([f"announced {arguments.retrained} (event {event})"])


def _wishes(arguments: argparse.Namespace) -> Wishes:
    from contrapose.flows.command.wishes import Wishes, check_parameters
    from contrapose.flows.options import overrides

    told = arguments.suite or arguments.test or overrides(arguments)
    arguments.suite = arguments.suite or "full"
    return Wishes(
        config=config_of(arguments) if told else None,
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
    )


DEPLOY = Verb(
    name="deploy", told="put deployments and automations on a Prefect server", options=_deploy_options, act=_deploy
)
UI = Verb(name="ui", told="start a local Prefect with a worker and all deployments", options=_ui_options, act=_ui)
ANNOUNCE = Verb(
    name="announce",
    told="tell Prefect that a model was retrained, which starts its check",
    options=_announce_options,
    act=_announce,
)
