"""Check a retrained model: is it at least as good as the one in production?"""

import sys

from contrapose.flows.check_retrained_model import check_retrained_model
from contrapose.tasks.config.suite_files import load_config

if __name__ == "__main__":
    config, _ = load_config("suite.yaml")  # names the model in production
    swearing = {"slip": 0.4}  # the retrained mock swears in 40 % of its replies
    checked = check_retrained_model(
        model="mock",
        revision="v2",
        config=config,
        margin=0.1,  # a loss of up to 10 points counts as not worse
        candidate_args=swearing,
    )
    decision = checked["decision"]
    print(decision["verdict"].upper(), *decision["reasons"], f"Details: {decision['folder']}", sep="\n")
    sys.exit({"promote": 0, "hold": 1, "insufficient evidence": 3}[decision["verdict"]])
