import math

import pytest
import torch

from fidal.federation.messages import (
    EvaluateReply,
    EvaluateRequest,
    QueryReply,
    QueryRequest,
    Request,
    StatusReply,
    StatusRequest,
    TensorSpec,
    TrainReply,
    TrainRequest,
    Weights,
)
from fidal.site.policy import Policy
from fidal.site.refusal import Refusal

SENT = Weights((TensorSpec("w", (1,), "float32"),), torch.zeros(1))
TRAINED = Weights(SENT.specs, torch.ones(1))


def requests(round: int = 0) -> dict[str, Request]:
    return {
        "train": TrainRequest("f", round, 0, 1, SENT),
        "query": QueryRequest("f", round, 20, None),
        "evaluate": EvaluateRequest("f", round, SENT),
        "status": StatusRequest("f", round),
    }


def refused(policy: Policy, round: int = 0) -> list[str]:
    found = []
    for deed, request in requests(round).items():
        try:
            policy.check(request)
        except Refusal:
            found.append(deed)
    return found


def test_by_default_everything_is_accepted_and_told() -> None:
    assert refused(Policy(), round=99) == []
    reply = QueryReply("a", 1, 9, 5, 5, 4, 1, 4, 1, 0, None, None)
    assert Policy().reveal(requests()["query"], reply) == reply


@pytest.mark.parametrize("deed", ["train", "query", "evaluate", "status"])
def test_a_site_accepts_what_it_chooses(deed: str) -> None:
    policy = Policy.model_validate({"accept": [deed]})
    assert refused(policy) == [other for other in requests() if other != deed]


def test_a_site_leaves_after_a_round() -> None:
    assert refused(Policy(rounds=3), round=3) == []
    assert refused(Policy(rounds=3), round=4) == list(requests())


def test_experts_are_asked_for_no_more_than_the_site_allows() -> None:
    assert refused(Policy(budget=20)) == []
    assert refused(Policy(budget=19)) == ["query"]
    with pytest.raises(Refusal, match=r"asked for 20 images.*no more than 19"):
        Policy(budget=19).check(requests()["query"])


def test_small_counts_of_answers_are_hidden_and_how_many_were_given_is_not() -> None:
    policy = Policy(smallest=5)
    reply = policy.reveal(
        requests()["query"], QueryReply("a", 1, 900, 9, 7, 5, 2, 40, 4, 3, None, None)
    )
    assert reply == QueryReply("a", 1, 900, 9, 7, 5, 0, 40, 0, 3, None, None)
    status = policy.reveal(requests()["status"], StatusReply("a", 1, 600, 9, 3, 1, 2, 4, 12))
    assert status == StatusReply("a", 1, 600, 9, 3, 0, 0, 0, 12)


def test_small_cells_of_the_confusion_are_hidden() -> None:
    reply = EvaluateReply("a", 1, ((10, 4), (0, 5)), 0.1, 0.2)
    found = Policy(smallest=5).reveal(requests()["evaluate"], reply)
    assert found == EvaluateReply("a", 1, ((10, 0), (0, 5)), 0.1, 0.2)


def test_with_few_labelled_images_nothing_of_the_training_leaves() -> None:
    request = requests()["train"]
    few = Policy(smallest=5).reveal(request, TrainReply("a", TRAINED, 4, 0.3))
    assert isinstance(few, TrainReply)
    assert few.n_labelled == 0 and math.isnan(few.loss) and few.weights is SENT
    enough = TrainReply("a", TRAINED, 5, 0.3)
    assert Policy(smallest=5).reveal(request, enough) is enough
