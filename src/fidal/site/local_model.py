"""The site's own model after its last local epoch, kept for the query that follows."""

from pathlib import Path

from torch import nn

from fidal.learning.trainer import Learner
from fidal.storage import load_state, save_state

NETWORK, COMPANION = "network.", "companion."


def save_local(path: Path, learner: Learner, round: int) -> None:
    """Network and companion of one AL round, in one atomic file that replaces the last round's."""
    state = {NETWORK + k: v for k, v in learner.network.state_dict().items()}
    if learner.companion is not None:
        state |= {COMPANION + k: v for k, v in learner.companion.module.state_dict().items()}
    save_state(path, state, {"round": str(round)})


def load_local(path: Path, learner: Learner, round: int) -> None:
    """Fill a fresh learner with what `save_local` kept; another round's file is an error."""
    state, meta = load_state(path)
    if meta.get("round") != str(round):
        raise ValueError(
            f"local model is of round {meta.get('round')}, not {round}: this site did not finish "
            "training that round; train it again before querying"
        )
    parts: dict[str, nn.Module] = {NETWORK: learner.network}
    if learner.companion is not None:
        parts[COMPANION] = learner.companion.module
    for prefix, module in parts.items():
        own = {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}
        module.load_state_dict(own)
