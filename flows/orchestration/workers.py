"""Workers that compute portions of a run: threads of this process, or a Dask or Ray cluster.

Prefect is imported when there is a portion: a command that only checks waits for no orchestrator.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Self, TypeVar, cast

from contrapose.flows.orchestration.library_settings import SETTINGS
from contrapose.tasks.config.permissions import list_permission_variables
from contrapose.tasks.config.run_config import RunnerArgs
from contrapose.tasks.core.bounds import call_with_timeout
from contrapose.tasks.core.damage import is_disk_full
from contrapose.tasks.core.errors import ConfigError, ContraposeError, CutShortError, require_package
from contrapose.tasks.core.process_state import restore_variables, set_temporary_variables
from contrapose.tasks.tables.table import disk_full_error

if TYPE_CHECKING:
    from prefect import Task
    from prefect.futures import PrefectFuture
    from prefect.task_runners import TaskRunner

P = ParamSpec("P")
R = TypeVar("R")

CLUSTER_SECONDS = 60.0
"""Seconds that a cluster may take to let this process in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedRunner:
    """A task runner that has been started."""

    runner: TaskRunner[Any]
    """Takes tasks."""
    portions: int
    """Portions that it computes at a time."""
    processes: int
    """Processes that compute them."""
    needs: Callable[[Mapping[str, float]], AbstractContextManager[object]] = lambda resources: nullcontext()
    """While its context is open, what is submitted needs these resources of a worker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingTask(Generic[R]):
    """A task that was submitted; it is computed in this process or elsewhere."""

    outcome: Callable[[], R]
    """Waits for what it returns, and raises what it raised."""
    done: bool
    """True where it was computed at once."""


class Workers:
    """Workers that compute the portions of one run; they start when the first portion is submitted.

    Args:
        runner: `threads`, `dask` or `ray`.
        args: its settings.
        local: whether the model is computed by the workers: then threads of one process take one portion at a time.

    Raises:
        ConfigError: the runner's package is not installed, or it cannot do what is asked.
    """

    def __init__(self, runner: str = "threads", args: RunnerArgs | None = None, *, local: bool = True) -> None:
        args = args or RunnerArgs()
        if runner == "threads" and (args.address or args.resources):
            raise ConfigError(
                "address" if args.address else "resources",
                expected="none of them with threads, which use this process's own",
                remedy="Set runner to dask or ray, or leave it out.",
                where="runner_args",
            )
        if runner != "threads":
            require_package(f"prefect_{runner}", extra=runner, where="runner")
        self.runner, self.args = runner, args
        self.inside = runner == "threads"
        """True where all is computed in this process."""
        self.alone = runner == "threads" and (local or (args.workers or 1) == 1)
        """True where one portion is computed after the other, in the thread of the flow."""
        self._stack = ExitStack()
        self._started: StartedRunner | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop all workers."""
        self._started = None
        self._stack.close()

    @property
    def portions(self) -> int:
        """Number of portions that are computed at a time."""
        return 1 if self.alone else self._start().portions

    @property
    def processes(self) -> int:
        """Number of processes that compute them."""
        return 1 if self.alone else self._start().processes

    def submit(self, chosen: Task[P, R], refresh: bool = False, /, *args: P.args, **inputs: P.kwargs) -> PendingTask[R]:
        """Submit a task, like `call_task`; if this process works alone, compute the task before returning."""
        from prefect.utilities.callables import get_call_parameters

        from contrapose.tasks.core.policy import DAMAGED, call_task, verified_result

        if self.alone:
            value = call_task(chosen, refresh, *args, **inputs)
            return PendingTask(outcome=lambda: value, done=True)
        parameters, started = get_call_parameters(chosen.fn, args, dict(inputs)), self._start()

        def hand_over(*, again: bool) -> PrefectFuture[R]:
            with started.needs(self.args.resources if "terms" in parameters else {}):
                task: Any = chosen.with_options(refresh_cache=again)
                future: PrefectFuture[R] = started.runner.submit(task, parameters=parameters)
                return future

        def wait() -> R:
            current = first
            while True:
                try:
                    value = verified_result(_await_state(current))
                except OSError as error:
                    if is_disk_full(error):
                        raise disk_full_error("a worker's disk") from error
                    raise
                if value is not DAMAGED:
                    return cast(R, value)
                current = hand_over(again=True)

        first = hand_over(again=refresh)
        return PendingTask(outcome=wait, done=False)

    def _start(self) -> StartedRunner:
        if self._started is None:
            self._stack.enter_context(_SET_BY_RUNNERS.needed())
            start = {"threads": _start_threads, "dask": _start_dask, "ray": _start_ray}[self.runner]
            self._started = start(self.args, self._stack)
        return self._started


def _await_state(future: PrefectFuture[Any]) -> Any:
    try:
        future.result(raise_on_failure=False)
    except ContraposeError:
        raise
    except Exception as error:
        # Neither Dask nor Ray says whose fault it is: a portion was lost with worker after worker.
        raise CutShortError(
            f"a portion could not be computed: its workers ended, one after the other ({type(error).__name__})",
            expected="workers that stay",
            remedy="Check why they end, for example too little memory; run the same command again to continue.",
            where="runner",
        ) from error
    return future.state


def _start_threads(args: RunnerArgs, stack: ExitStack) -> StartedRunner:
    from prefect.task_runners import ThreadPoolTaskRunner

    count = args.workers or 1
    runner = stack.enter_context(ThreadPoolTaskRunner[Any](max_workers=count))
    return StartedRunner(runner=runner, portions=count, processes=1)


def _start_dask(args: RunnerArgs, stack: ExitStack) -> StartedRunner:
    import dask

    # Read as it is imported: otherwise it reports every worker that it lets go.
    level = dask.config.get("logging.distributed", "critical")
    stack.enter_context(dask.config.set({"logging.distributed": level}))
    from distributed import LocalCluster
    from distributed.security import Security
    from prefect_dask.task_runners import DaskTaskRunner

    def needs(resources: Mapping[str, float]) -> AbstractContextManager[object]:
        # Tasks that are alike to Dask are not joined into one.
        return dask.annotate(resources=dict(resources)) if resources else nullcontext()

    if args.address:
        runner = DaskTaskRunner(address=args.address)

        def read_workers() -> Any:
            return stack.enter_context(runner).client.scheduler_info(n_workers=-1)["workers"]

        known = _call_cluster(read_workers, args.address)
        threads = sum(worker["nthreads"] for worker in known.values())
        return StartedRunner(runner=runner, portions=args.workers or threads, processes=max(1, len(known)), needs=needs)
    count = args.workers or os.cpu_count() or 1
    cluster = stack.enter_context(
        LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=count,
            threads_per_worker=1,
            # Whoever reaches a scheduler has code run: it takes nobody without the certificate made here.
            security=Security.temporary(),  # type: ignore[no-untyped-call]
            host="127.0.0.1",
            dashboard_address=None,
            worker_dashboard_address=None,
            # Dask would kill a worker that holds a model.
            memory_limit=None,
            resources=dict(args.resources),
            env=_make_child_variables(),
        )
    )
    runner = stack.enter_context(DaskTaskRunner(cluster=cluster))
    return StartedRunner(runner=runner, portions=count, processes=count, needs=needs)


def _start_ray(args: RunnerArgs, stack: ExitStack) -> StartedRunner:
    stack.enter_context(_RAY_UNWATCHED.needed())
    if not args.address:
        stack.enter_context(_RAY_LOCAL.needed())
    import ray
    from prefect_ray import RayTaskRunner
    from prefect_ray.context import remote_options

    def needs(resources: Mapping[str, float]) -> AbstractContextManager[object]:
        others = {name: count for name, count in resources.items() if name != "GPU"}
        wanted = {"num_gpus": resources["GPU"]} if "GPU" in resources else {}
        return remote_options(**wanted, **({"resources": others} if others else {})) if resources else nullcontext()

    count = args.workers or os.cpu_count() or 1
    if args.address:
        runner = RayTaskRunner(address=args.address, init_kwargs={"logging_level": "error"})
        _call_cluster(lambda: stack.enter_context(runner), args.address)
        count = args.workers or int(ray.cluster_resources().get("CPU", 1))  # type: ignore[no-untyped-call]
    else:
        settings = {
            "num_cpus": count,
            "include_dashboard": False,
            "log_to_driver": False,
            "logging_level": "error",
            "runtime_env": {"env_vars": _make_child_variables()},
            "resources": {name: share * count for name, share in args.resources.items() if name != "GPU"},
        }
        runner = stack.enter_context(RayTaskRunner(init_kwargs=settings))
    return StartedRunner(runner=runner, portions=count, processes=count, needs=needs)


def _make_child_variables() -> dict[str, str]:
    """Return environment variables that processes of a local cluster need if the caller is a Python script."""
    return {name: value for name, value in SETTINGS.items() if name not in os.environ} | list_permission_variables()


_SET_BY_RUNNERS = restore_variables(
    *("__DASK_PARENT_PID", "MALLOC_TRIM_THRESHOLD_", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"),
    *("PYTHONHASHSEED", "RAY_CLIENT_MODE", "PYTHONBREAKPOINT"),
)
"""Dask and Ray set these for the processes that they start, and leave them in this one."""
_RAY_UNWATCHED = set_temporary_variables({"RAY_USAGE_STATS_ENABLED": "0"})
"""No telemetry: Ray reads its variables as it is imported, and its processes inherit them."""
_RAY_LOCAL = set_temporary_variables({"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)})
"""A process needs the token made here to have code run."""


def _call_cluster(reach: Callable[[], R], address: str) -> R:
    """Return the answer of a cluster; raise ConfigError if nobody answers at its address."""
    try:
        return call_with_timeout(reach, CLUSTER_SECONDS)
    except Exception as error:
        why = f"within {CLUSTER_SECONDS:.0f} s" if isinstance(error, TimeoutError) else f"({type(error).__name__})"
        raise ConfigError(
            f"no cluster answers at {address} {why}",
            expected="the address of a scheduler that can be reached from here",
            remedy="Start the cluster, or correct runner_args.address.",
            where="runner_args.address",
        ) from error
