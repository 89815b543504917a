"""A request of `federation.messages` becomes the call of a site's method."""

from fidal.federation.messages import EvaluateRequest, QueryRequest, Reply, Request, TrainRequest
from fidal.site.site import Site


def carry_out(site: Site, request: Request) -> Reply:
    """What the site replies."""
    match request:
        case TrainRequest():
            return site.train(request)
        case QueryRequest():
            return site.query(request)
        case EvaluateRequest():
            return site.evaluate(request)
    return site.status(request)
