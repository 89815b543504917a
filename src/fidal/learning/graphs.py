"""A site's training step on a GPU, captured once as a CUDA graph and replayed from then on.

At batch size 32 a step is a thousand small kernels, and a GPU that is told of each of them waits
for the next most of the time. A graph is told once. The steps of several sites overlap if each
site's graph is replayed on a stream of its own: see `side_by_side.py`.

A graph reads and writes fixed memory. What differs between steps is copied into its own tensors
before each replay, the parameters and the optimiser's state are changed in place, and nothing that
changes may be a Python number. Batch norm forbids to pad a batch with images that are none, so
each batch size has a graph of its own. The first step of a kind runs plainly, which makes the
libraries ready; the second is captured. All graphs of a site share memory, for no two run at once.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import torch
from torch import Tensor

from fidal.learning.objectives.base import Batch, Context
from fidal.learning.running import Inputs, Step

log = logging.getLogger(__name__)

KEPT: Final = 8
"""Graphs of one site at most; the one that was not used for longest goes first."""

Kind = tuple[object, ...]


class Graphs:
    """The `Runner` of a site on a GPU."""

    def __init__(self, step: Step, device: torch.device, *, capture: bool = True) -> None:
        """Without `capture` the same steps run plainly: what the captured ones are held against."""
        self._step, self._device, self._capture = step, device, capture
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._default = torch.cuda.default_generators[self._stream.device_index]
        self._random = self._default.clone_state()
        self._pool = torch.cuda.graph_pool_handle()
        self._graphs: dict[Kind, _Graph] = {}
        self._seen: set[Kind] = set()

    def start(self, seed: int) -> None:
        """See `Runner`."""
        self._random.manual_seed(seed)
        self._stream.wait_stream(torch.cuda.current_stream(self._device))

    @contextmanager
    def apart(self) -> Iterator[None]:
        """See `Runner`. Graphs keep the random state that was the default's when captured."""
        others = self._default.graphsafe_get_state()
        self._default.graphsafe_set_state(self._random)
        try:
            with torch.cuda.stream(self._stream):
                yield
        finally:
            self._default.graphsafe_set_state(others)

    def join(self) -> None:
        """See `Runner`."""
        torch.cuda.current_stream(self._device).wait_stream(self._stream)

    def __call__(self, inputs: Inputs, context: Context) -> Tensor:
        """See `Runner`."""
        kind = _kind(inputs, context)
        graph = self._graphs.pop(kind, None)
        if graph is None:
            if not self._capture or kind not in self._seen:
                self._seen.add(kind)
                return self._step(inputs, context)
            graph = self._captured(inputs, context)
            if graph is None:
                return self._step(inputs, context)
        self._graphs[kind] = graph  # last in the dict: used last
        if len(self._graphs) > KEPT:
            self._forget(next(iter(self._graphs)))
        return graph.replay(inputs, context)

    def _captured(self, inputs: Inputs, context: Context) -> "_Graph | None":
        try:
            return _Graph(self._step, inputs, context, self._stream, self._pool)
        except RuntimeError as error:  # out of memory is one, too
            self._capture = False
            # The failed capture may have left its mark on the random state.
            self._random = self._random.clone_state()
            self._default.graphsafe_set_state(self._random)
            log.warning(
                "training steps can't be captured and run one kernel at a time, several times "
                "slower: %s",
                str(error).partition("\n")[0],
            )
            return None

    def _forget(self, kind: Kind) -> None:
        self._stream.synchronize()
        del self._graphs[kind]
        self._seen.discard(kind)


class _Graph:
    """One step for one kind of batch, and the memory that it reads."""

    def __init__(
        self,
        step: Step,
        inputs: Inputs,
        context: Context,
        stream: torch.cuda.Stream,
        pool: object,
    ) -> None:
        self._inputs = Inputs(
            inputs.x.clone(),
            Batch(inputs.targets.labels.clone(), inputs.targets.rows.clone()),
            None if inputs.draw is None else inputs.draw.clone(),
        )
        self._context = Context(
            context.class_counts.clone(),
            context.n_outliers,
            torch.as_tensor(context.round).clone(),
            context.rounds,
            {name: x.clone() for name, x in context.state.items()},
        )
        self._shown = context
        self._graph = torch.cuda.CUDAGraph()
        # thread_local: the feed's thread may pin memory meanwhile.
        with torch.cuda.graph(
            self._graph,
            pool=pool,  # type: ignore[arg-type]
            stream=stream,
            capture_error_mode="thread_local",
        ):
            self._loss = step(self._inputs, self._context)

    def replay(self, inputs: Inputs, context: Context) -> Tensor:
        """Enqueue the step; the loss is overwritten by the site's next step."""
        for ours, given in zip(_tensors(self._inputs), _tensors(inputs), strict=True):
            ours.copy_(given)
        if context is not self._shown:  # the same for all steps of an epoch
            for ours, given in zip(_facts(self._context), _facts(context), strict=True):
                ours.copy_(given)
            self._shown = context
        self._graph.replay()
        return self._loss


def _kind(inputs: Inputs, context: Context) -> Kind:
    """What is baked into a graph: shapes, and whether the site has outliers at all."""
    shapes = [(name, tuple(x.shape)) for name, x in sorted(context.state.items())]
    return (len(inputs.x), context.n_outliers > 0, context.rounds, *shapes)


def _tensors(inputs: Inputs) -> list[Tensor]:
    always = [inputs.x, inputs.targets.labels, inputs.targets.rows]
    return always if inputs.draw is None else [*always, inputs.draw]


def _facts(context: Context) -> list[Tensor]:
    assert isinstance(context.round, Tensor)
    return [context.class_counts, context.round, *(x for _, x in sorted(context.state.items()))]
