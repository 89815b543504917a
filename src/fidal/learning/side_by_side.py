"""The sites of a federation train side by side: a step of each in turn, until all are done.

On a GPU a step is only enqueued, each site's on its own stream, so the host runs ahead and the
steps of different sites overlap. Sites share nothing, so the turns change no result.
"""

from collections.abc import Sequence

from fidal.learning.trainer import LocalRound


def side_by_side(rounds: Sequence[LocalRound]) -> None:
    """Run all to their end. Nothing waits for the GPU; `LocalRound.finish` does."""
    going = list(rounds)
    while going:
        going = [one for one in going if one.advance()]
