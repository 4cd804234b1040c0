"""lm-eval's `hf` model over given requests; run by `bench.local` with an interpreter that has lm-eval."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def main() -> None:
    """Read requests from the first path, write seconds and log-likelihoods to the second."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    given = json.loads(Path(sys.argv[1]).read_text())
    model = HFLM(pretrained=given["folder"], dtype=given["dtype"], device="cpu", batch_size=16)
    requests = [
        Instance(request_type="loglikelihood", doc={}, arguments=(context, continuation), idx=number)
        for number, (context, continuation) in enumerate(given["requests"])
    ]
    wall, work = time.perf_counter(), time.process_time()
    found = model.loglikelihood(requests)
    told = {"wall": [time.perf_counter() - wall], "work": [time.process_time() - work]}
    Path(sys.argv[2]).write_text(json.dumps(told | {"loglikelihoods": [float(each[0]) for each in found]}))


if __name__ == "__main__":
    main()
