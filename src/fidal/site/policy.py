"""What a site does for the federation, and what it tells: decided at the site, not asked of it."""

import math
from dataclasses import replace
from typing import ClassVar, Final, Literal

from pydantic import Field

from fidal.federation.messages import (
    EvaluateReply,
    EvaluateRequest,
    QueryReply,
    QueryRequest,
    Reply,
    Request,
    StatusReply,
    StatusRequest,
    TrainReply,
    TrainRequest,
)
from fidal.parts import Part
from fidal.site.refusal import Refusal

Deed = Literal["train", "query", "evaluate", "status"]

DEEDS: Final[dict[type[Request], Deed]] = {
    TrainRequest: "train",
    QueryRequest: "query",
    EvaluateRequest: "evaluate",
    StatusRequest: "status",
}


class Policy(Part):
    """The site's own rules. A request against them is answered with a refusal, and logged."""

    name: ClassVar[str] = "policy"
    accept: tuple[Deed, ...] = Field(
        default=tuple(DEEDS.values()), description="requests that are carried out"
    )
    rounds: int | None = Field(default=None, ge=0, description="the last AL round that it is in")
    budget: int | None = Field(
        default=None, ge=0, description="at most so many images per round on the experts' desk"
    )
    smallest: int = Field(
        default=0,
        ge=0,
        description="counts of images below this are sent as 0, and with fewer labelled images "
        "the site takes no part in training",
    )

    def check(self, request: Request) -> None:
        """A `Refusal` that says which rule the request is against."""
        deed = DEEDS[type(request)]
        if deed not in self.accept:
            raise Refusal(f"this site does not accept requests to {deed}")
        if self.rounds is not None and request.round > self.rounds:
            raise Refusal(f"this site is in no round after {self.rounds}")
        most = self.budget
        if isinstance(request, QueryRequest) and most is not None and request.budget > most:
            raise Refusal(
                f"asked for {request.budget} images; this site's experts look at no more than "
                f"{most} per round"
            )

    def reveal(self, request: Request, reply: Reply) -> Reply:
        """The reply without small counts. How many images people have looked at is always told."""
        if isinstance(request, TrainRequest) and isinstance(reply, TrainReply):
            hidden = reply.n_labelled < self.smallest
            return TrainReply(reply.site, request.weights, 0, math.nan) if hidden else reply
        if isinstance(reply, EvaluateReply):
            rows = tuple(tuple(self._count(n) for n in row) for row in reply.confusion)
            return replace(reply, confusion=rows)
        if isinstance(reply, QueryReply | StatusReply):
            return replace(
                reply,
                answered_id=self._count(reply.answered_id),
                answered_ood=self._count(reply.answered_ood),
                labelled=self._count(reply.labelled),
                outliers=self._count(reply.outliers),
            )
        return reply

    def _count(self, n: int) -> int:
        return n if n >= self.smallest else 0
