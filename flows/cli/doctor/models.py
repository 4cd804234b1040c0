"""The models that come with Contrapose: installed, whole, converted. None of them is loaded."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import TYPE_CHECKING

from contrapose.flows.cli.doctor.base import DoctorFinding, ok, problem, seen, warning
from contrapose.tasks.core.errors import ConfigError, ContraposeError

if TYPE_CHECKING:
    from contrapose.tasks.config.run_config import RunConfig

INSTALL = 'pip install "contrapose[embedded]"'


def findings(config: RunConfig | None) -> Iterator[DoctorFinding]:
    """The embedded model, the embedding model and spaCy; what is missing is a problem where a run needs it."""
    yield _embedded(needed=config is not None and "embedded" in (config.model, config.reader))
    yield _embedding(config)
    yield _spacy()


def _embedded(*, needed: bool) -> DoctorFinding:
    from contrapose.tasks.infer.local.embedded import SHA256, chunk_paths, conversion, is_converted

    name = "embedded model"
    if is_converted():
        if any(conversion().glob("*.safetensors")):
            return ok(name, "found, checked and converted")
        return problem(name, f"its weights are gone from {conversion()}", "Remove that folder: it is made again.")
    try:
        paths = chunk_paths()
    except ContraposeError as error:
        return (problem if needed else warning)(name, error.found, f"{INSTALL}, or use another model.")
    if _sha256(paths) != SHA256:
        return problem(name, "its files are not the published ones", f"{INSTALL} --force-reinstall --no-deps")
    return ok(name, "found, its hash is right; the first run converts it, which takes about a minute")


def _sha256(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()


def _embedding(config: RunConfig | None) -> DoctorFinding:
    from contrapose.tasks.evaluate.embeddings import BUNDLED, DISTRIBUTION, located

    name = "embedding model"
    chosen = BUNDLED if config is None else config.embedding_model
    try:
        located(chosen)
    except ConfigError as error:
        return (problem if _may_embed(config) else warning)(name, error.found, error.remedy)
    if chosen == BUNDLED:
        return ok(name, f"{BUNDLED} ({DISTRIBUTION} {version(DISTRIBUTION)})")
    from contrapose.tasks.core.hub import on_disk

    return seen(name, on_disk(chosen, setting="embedding_model"))


def _may_embed(config: RunConfig | None) -> bool:
    """Whether a test of the run may read a reply by embedding; what is wrong with the run is told elsewhere."""
    from contrapose.tasks.config.plan import plans
    from contrapose.tasks.core.registry import find

    if config is None:
        return False
    with suppress(ContraposeError):
        spec = config.model_spec()
        likelihoods = find("providers", spec.known_provider)().likelihoods(spec)
        return any(plan.probe_settings.embeds(likelihoods) != "none" for plan in plans(config))
    return False


def _spacy() -> DoctorFinding:
    try:
        spacy = version("spacy")
    except PackageNotFoundError:
        return ok("spaCy", "not installed; second_opinion: spacy needs it, nothing else does")
    models = sorted(f"{point.name} {point.dist.version}" for point in entry_points(group="spacy_models") if point.dist)
    if not models:
        return ok("spaCy", f"{spacy} without a model; second_opinion: spacy needs one", "See docs/second-opinion.md.")
    return ok("spaCy", f"{spacy} with {', '.join(models)}")
