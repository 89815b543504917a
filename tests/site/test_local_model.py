from pathlib import Path

import pytest
import torch

from fidal.learning.networks import Architecture, build
from fidal.learning.objectives import OBJECTIVES
from fidal.learning.trainer import Learner, Training, make_learner
from fidal.site.local_model import load_local, save_local
from fidal.site.site import Site
from fidal.storage import StateError
from tests.site.clinic import fresh, make_site, train, warm_up


def learner(seed: int, objective: str = "pal", width: int = 6) -> Learner:
    chosen = OBJECTIVES[objective]()
    torch.manual_seed(seed)
    network = build(Architecture(kind="linear"), (width,), 3, chosen, seed)
    return make_learner(network, chosen, Training())


def states(one: Learner) -> list[torch.Tensor]:
    assert one.companion is not None
    return [*one.network.state_dict().values(), *one.companion.module.state_dict().values()]


def test_network_and_companion_come_back(tmp_path: Path) -> None:
    kept, other = learner(1), learner(2)
    assert any(not torch.equal(a, b) for a, b in zip(states(kept), states(other), strict=True))
    save_local(tmp_path / "local.safetensors", kept, 4)
    load_local(tmp_path / "local.safetensors", other, 4)
    assert all(torch.equal(a, b) for a, b in zip(states(kept), states(other), strict=True))


def test_another_round_s_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "local.safetensors"
    save_local(path, learner(1), 4)
    with pytest.raises(ValueError, match="of round 4, not 5"):
        load_local(path, learner(1), 5)
    save_local(path, learner(1), 5)
    load_local(path, learner(1), 5)


def test_a_damaged_or_absent_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "local.safetensors"
    with pytest.raises(StateError, match="does not exist"):
        load_local(path, learner(1), 0)
    save_local(path, learner(1), 0)
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    with pytest.raises(StateError, match="damaged"):
        load_local(path, learner(1), 0)


def test_the_local_model_is_the_one_after_the_last_epoch_and_not_the_aggregate(
    tmp_path: Path,
) -> None:
    site: Site = make_site(tmp_path)
    warm_up(site)
    last = train(site, 0)
    network = build(site.setup.architecture, (8,), 4, site.setup.strategy.objective, 9)
    own = make_learner(network, site.setup.strategy.objective, site.setup.training)
    load_local(tmp_path / "local.safetensors", own, 0)
    flat = torch.cat([x.flatten() for x in own.network.state_dict().values()])
    assert torch.equal(flat, last.flat)
    assert not torch.equal(flat, fresh(site).flat)
