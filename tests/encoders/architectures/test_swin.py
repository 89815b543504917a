"""CHIEF's Swin-T against timm's with the same stem, and the names of its checkpoint."""

import timm
import torch
from torch import Tensor, nn

from fidal.encoders.architectures.swin import SwinTiny, apart, offsets, together, windows
from tests.encoders.made import close, lively, noise, told_apart

CONSTANTS = ("attn_mask", "relative_position_index")


class Stem(nn.Module):
    """timm's swin takes n x H x W x C from whatever stands in the place of its patches."""

    def __init__(self, proj: nn.Module, norm: nn.Module) -> None:
        super().__init__()
        self.proj, self.norm = proj, norm

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.proj(x).permute(0, 2, 3, 1))


def in_timms_names(name: str) -> str:
    """Merging begins a stage in today's timm."""
    _, number, rest = (*name.split(".", 2), "", "")[:3]
    return f"layers.{int(number) + 1}.{rest}" if rest.startswith("downsample") else name


def test_the_output_and_the_constants_are_timms() -> None:
    ours = lively(SwinTiny(), noise(1, 224, 224))
    theirs = timm.create_model("swin_tiny_patch4_window7_224", num_classes=0).eval()
    theirs.patch_embed = Stem(ours.patch_embed.proj, ours.patch_embed.norm)
    state = ours.state_dict()
    weights = {in_timms_names(k): x for k, x in state.items() if not k.endswith(CONSTANTS)}
    theirs.load_state_dict(weights)
    x = noise(2, 224, 224)
    with torch.no_grad():
        rows = ours(x)
        assert rows.shape == (2, 768) and told_apart(rows)
        assert close(rows, theirs(x))
    constants = {k: x for k, x in theirs.named_buffers() if k.endswith(CONSTANTS)}
    assert constants.keys() == {k for k in state if k.endswith(CONSTANTS)}
    assert all(torch.equal(state[name], tensor) for name, tensor in constants.items())


def test_the_names_of_the_checkpoint() -> None:
    with torch.device("meta"):
        state = SwinTiny().state_dict()
    shapes = {name: tuple(tensor.shape) for name, tensor in state.items()}
    assert {k: v for k, v in shapes.items() if k.endswith("attn_mask")} == {
        "layers.0.blocks.1.attn_mask": (64, 49, 49),
        "layers.1.blocks.1.attn_mask": (16, 49, 49),
        "layers.2.blocks.1.attn_mask": (4, 49, 49),
        "layers.2.blocks.3.attn_mask": (4, 49, 49),
        "layers.2.blocks.5.attn_mask": (4, 49, 49),
    }
    assert {k: v for k, v in shapes.items() if not k.startswith("layers")} == {
        "patch_embed.proj.0.weight": (12, 3, 3, 3),
        **{f"patch_embed.proj.1.{k}": (12,) for k in ("weight", "bias")},
        **{f"patch_embed.proj.1.running_{k}": (12,) for k in ("mean", "var")},
        "patch_embed.proj.1.num_batches_tracked": (),
        "patch_embed.proj.3.weight": (24, 12, 3, 3),
        **{f"patch_embed.proj.4.{k}": (24,) for k in ("weight", "bias")},
        **{f"patch_embed.proj.4.running_{k}": (24,) for k in ("mean", "var")},
        "patch_embed.proj.4.num_batches_tracked": (),
        "patch_embed.proj.6.weight": (96, 24, 1, 1),
        "patch_embed.proj.6.bias": (96,),
        **{f"patch_embed.norm.{k}": (96,) for k in ("weight", "bias")},
        **{f"norm.{k}": (768,) for k in ("weight", "bias")},
    }
    assert shapes["layers.0.downsample.reduction.weight"] == (192, 384)
    assert shapes["layers.3.blocks.1.attn.relative_position_bias_table"] == (169, 24)
    assert not any(name.startswith("layers.3.downsample") for name in shapes)


def test_windows_are_undone() -> None:
    x = torch.arange(2 * 14 * 14 * 3.0).reshape(2, 14, 14, 3)
    assert torch.equal(together(windows(x), 14), x)
    assert torch.equal(windows(x)[1], x[0, :7, 7:].reshape(49, 3))


def test_offsets_by_a_double_loop() -> None:
    table = offsets()
    for a in range(0, 49, 5):
        for b in range(0, 49, 3):
            down, right = a // 7 - b // 7, a % 7 - b % 7
            assert int(table[a, b]) == (down + 6) * 13 + right + 6


def test_tokens_from_opposite_borders_are_kept_apart() -> None:
    mask = apart(14, 3)
    assert mask.shape == (4, 49, 49) and not mask[0].any()
    # The last row of windows: its first four rows are of the bottom, the other three of the top.
    assert mask[2, 0, 27] == 0 and mask[2, 0, 28] == -100 and mask[2, 28, 48] == 0
