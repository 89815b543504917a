"""PanDerm's transformer against timm's, and the names of its checkpoint."""

import pytest
import timm
import torch
from timm.layers import build_sincos2d_pos_embed
from torch import Tensor, nn

from fidal.encoders.architectures.vit import VisionTransformer, sine_cosine
from tests.encoders.made import close, lively, noise, told_apart


def in_timms_names(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Biases joined with zeros for the keys, gammas under LayerScale."""
    timms = {}
    for name, tensor in state.items():
        if name.endswith("v_bias"):
            q = state[name.replace("v_bias", "q_bias")]
            timms[name.replace("v_bias", "qkv.bias")] = torch.cat([q, torch.zeros_like(q), tensor])
        elif not name.endswith("q_bias"):
            timms[name.replace("gamma_1", "ls1.gamma").replace("gamma_2", "ls2.gamma")] = tensor
    return timms


def against_timm(width: int, depth: int, heads: int) -> None:
    ours = lively(VisionTransformer(width, depth, heads), noise(1, 224, 224))
    with torch.device("meta"):
        theirs = timm.create_model(
            "vit_base_patch16_224",
            embed_dim=width,
            depth=depth,
            num_heads=heads,
            num_classes=0,
            init_values=0.1,
        ).eval()
    theirs.load_state_dict(in_timms_names(ours.state_dict()), assign=True)
    x = noise(2, 224, 224)
    with torch.no_grad():
        rows = ours(x)
        assert told_apart(rows)
        assert close(rows, theirs(x))


@pytest.mark.parametrize(("width", "depth", "heads"), [(96, 3, 3), (64, 2, 4)])
def test_the_output_is_timms(width: int, depth: int, heads: int) -> None:
    against_timm(width, depth, heads)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "depth", "heads"), [(1024, 24, 16), (768, 12, 12)])
def test_the_output_is_timms_at_full_size(width: int, depth: int, heads: int) -> None:
    against_timm(width, depth, heads)


def test_the_position_is_timms_sine_cosine_row_before_column() -> None:
    ours = sine_cosine(14, 96)
    assert ours.shape == (1, 197, 96) and not ours[0, 0].any()
    # timm has both sines before both cosines; here an axis has its sine and its cosine.
    row_sin, column_sin, row_cos, column_cos = build_sincos2d_pos_embed(
        [14, 14], 96, interleave_sin_cos=False
    ).chunk(4, dim=1)
    expected = torch.cat([row_sin, row_cos, column_sin, column_cos], dim=1)
    assert torch.allclose(ours[0, 1:], expected, atol=1e-5)
    # The token right of the corner differs in the column's half only.
    assert torch.equal(ours[0, 1, :48], ours[0, 2, :48])
    assert ours[0, 2, 48:60].tolist() == pytest.approx(
        torch.sin(10_000.0 ** -(torch.arange(12) / 24)).tolist()
    )


def test_the_names_and_shapes_of_the_large_one_are_those_of_the_checkpoint() -> None:
    with torch.device("meta"):
        network: nn.Module = VisionTransformer(1024, 24, 16)
    shapes = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    block = {
        "norm1.weight": (1024,),
        "norm1.bias": (1024,),
        "attn.q_bias": (1024,),
        "attn.v_bias": (1024,),
        "attn.qkv.weight": (3072, 1024),
        "attn.proj.weight": (1024, 1024),
        "attn.proj.bias": (1024,),
        "norm2.weight": (1024,),
        "norm2.bias": (1024,),
        "mlp.fc1.weight": (4096, 1024),
        "mlp.fc1.bias": (4096,),
        "mlp.fc2.weight": (1024, 4096),
        "mlp.fc2.bias": (1024,),
        "gamma_1": (1024,),
        "gamma_2": (1024,),
    }
    assert shapes == {
        "cls_token": (1, 1, 1024),
        "pos_embed": (1, 197, 1024),
        "patch_embed.proj.weight": (1024, 3, 16, 16),
        "patch_embed.proj.bias": (1024,),
        "norm.weight": (1024,),
        "norm.bias": (1024,),
        **{f"blocks.{i}.{name}": shape for i in range(24) for name, shape in block.items()},
    }
