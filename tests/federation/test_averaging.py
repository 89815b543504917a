import pytest
import torch

from fidal.federation.averaging import federated_average
from fidal.federation.messages import TensorSpec, TrainReply, Weights
from fidal.federation.weights import pack, unpack

SPECS = (TensorSpec("w", (2,), "float32"), TensorSpec("seen", (), "int64"))


def weights(*values: float) -> Weights:
    return Weights(SPECS, torch.tensor(values))


def reply(site: str, n: int, *values: float) -> TrainReply:
    return TrainReply(site, weights(*values), n, 0.0)


def test_mean_is_weighted_by_labelled_id_counts() -> None:
    # (3 * 1 + 1 * 5) / 4 = 2; (3 * 2 + 1 * 10) / 4 = 4; (3 * 4 + 1 * 8) / 4 = 5.
    mean = federated_average([reply("a", 3, 1, 2, 4), reply("b", 1, 5, 10, 8)], weights(0, 0, 0))
    assert mean.flat.tolist() == [2, 4, 5]


def test_order_of_replies_does_not_matter() -> None:
    replies = [reply(s, n, *torch.rand(3).tolist()) for s, n in (("a", 3), ("b", 7), ("c", 11))]
    there = federated_average(replies, weights(0, 0, 0))
    back = federated_average(replies[::-1], weights(0, 0, 0))
    assert torch.equal(there.flat, back.flat)


def test_a_site_without_labels_does_not_count_and_none_at_all_keeps_what_was_sent() -> None:
    one = federated_average([reply("a", 0, 9, 9, 9), reply("b", 2, 1, 2, 3)], weights(0, 0, 0))
    assert one.flat.tolist() == [1, 2, 3]
    sent = weights(7, 7, 7)
    assert federated_average([reply("a", 0, 9, 9, 9)], sent) is sent


def test_equal_weights_average_to_themselves() -> None:
    values = torch.rand(3).tolist()
    replies = [reply(s, n, *values) for s, n in (("a", 3), ("b", 7), ("c", 1))]
    mean = federated_average(replies, weights(0, 0, 0))
    assert torch.equal(mean.flat, weights(*values).flat)


def test_batch_norm_statistics_are_averaged_like_weights() -> None:
    low, high = torch.nn.BatchNorm1d(2), torch.nn.BatchNorm1d(2)
    low.running_mean = torch.tensor([0.0, 2.0])
    high.running_mean = torch.tensor([4.0, 6.0])
    high.num_batches_tracked += 3
    replies = [
        TrainReply("a", pack(low.state_dict()), 1, 0.0),
        TrainReply("b", pack(high.state_dict()), 3, 0.0),
    ]
    mean = unpack(federated_average(replies, pack(low.state_dict())))
    assert mean["running_mean"].tolist() == [3, 5]
    assert mean["num_batches_tracked"].item() == 2  # (0 + 3 * 3) / 4 = 2.25


def test_a_broken_reply_names_its_site() -> None:
    with pytest.raises(ValueError, match="site 'b'"):
        federated_average([reply("b", 1, float("nan"), 0, 0)], weights(0, 0, 0))


def test_training_that_diverged_says_what_to_do() -> None:
    bad = TrainReply("b", weights(1, float("inf"), 0), 2, float("nan"))
    with pytest.raises(ValueError, match=r"site 'b'.*loss nan.*lower training\.optimiser\.lr"):
        federated_average([reply("a", 1, 1, 2, 3), bad], weights(0, 0, 0))
