"""`contrapose ui`: a local Prefect with a worker and all deployments."""

from __future__ import annotations

import argparse

from contrapose.flows.cli.arguments import Verb
from contrapose.flows.cli.deploy import add_deployment, deployment_options
from contrapose.flows.cli.terminal import print_lines


def _options(command: argparse.ArgumentParser) -> None:
    """What the local server takes beside the deployments' options."""
    command.add_argument("--port", type=int, metavar="N", help="port on loopback (default: 4200, or any that is free)")
    add_deployment(command)


def _ui(arguments: argparse.Namespace) -> int:
    from contrapose.flows.serve.local_prefect import serve

    return print_lines(serve(deployment_options(arguments), port=arguments.port), at_once=True)


VERB = Verb(options=_options, act=_ui, example="ui")
