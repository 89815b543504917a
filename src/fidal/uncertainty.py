"""How unsure a model is: Dirichlet evidence (Eq. 1-3), softmax entropy and margin.

In every function but the literal Eq. 3 large means unsure. Digamma and log Gamma run in float64:
their differences cancel, and in float32 the Dirichlet entropy is off by 0.01 at evidence 1,000 and
by 0.1 at 10,000. The temporaries are |U| x C, so that is cheap.
"""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

Activation = Literal["relu", "softplus", "exp"]
Epistemic = Literal["entropy", "literal"]

TEMPERATURE = 0.05
"""Of cosines, in `rarity`: a class that is nearer by 0.1 is 7 times as likely."""

EXP_LIMIT = 20.0
"""Cap on logits under `exp`: at S = e^20 the Dirichlet entropy is still right to 1e-5."""


def dirichlet(logits: Tensor, activation: Activation) -> Tensor:
    """Dirichlet parameters alpha = activation(logits) + 1. In and out: n x C, out >= 1."""
    match activation:
        case "relu":
            evidence = F.relu(logits)
        case "softplus":
            evidence = F.softplus(logits)
        case "exp":
            evidence = logits.clamp_max(EXP_LIMIT).exp()
    return evidence + 1


def aleatoric(alpha: Tensor) -> Tensor:
    """Eq. 1: sum_c alpha_c/S [psi(S+1) - psi(alpha_c+1)]. In: n x C. Out: n, in [0, ln C]."""
    a = alpha.double()
    S = a.sum(1, keepdim=True)
    return (a / S * (torch.digamma(S + 1) - torch.digamma(a + 1))).sum(1).to(alpha.dtype)


def _epistemic_parts(alpha: Tensor) -> tuple[Tensor, Tensor]:
    """sum_c [log Gamma(alpha_c) - (alpha_c - 1)(psi(alpha_c) - psi(S))] and log Gamma(S)."""
    a = alpha.double()
    S = a.sum(1, keepdim=True)
    by_class = torch.lgamma(a) - (a - 1) * (torch.digamma(a) - torch.digamma(S))
    return by_class.sum(1), torch.lgamma(S).squeeze(1)


def dirichlet_entropy(alpha: Tensor) -> Tensor:
    """The differential entropy of Dir(alpha), at most -log Gamma(C). In: n x C. Out: n."""
    by_class, log_gamma_S = _epistemic_parts(alpha)
    return (by_class - log_gamma_S).to(alpha.dtype)


def epistemic_literal(alpha: Tensor) -> Tensor:
    """Eq. 2 as printed: log Gamma(S) stands inside the sum and so counts C times. Never positive.

    In: n x C. Out: n.
    """
    by_class, log_gamma_S = _epistemic_parts(alpha)
    return (by_class - alpha.shape[1] * log_gamma_S).to(alpha.dtype)


def min_max(x: Tensor) -> Tensor:
    """Scaled to [0, 1] over all of x; ones where x is constant. In and out: n.

    Constant means equal up to rounding, which must not be blown up to the full range.
    """
    low, high = x.min(), x.max()
    rounding = 16 * torch.finfo(x.dtype).eps * x.abs().max()
    if bool(high - low <= rounding.clamp_min(1e-12)):
        return torch.ones_like(x)
    return (x - low) / (high - low)


def calibrated(
    global_logits: Tensor, local_logits: Tensor, activation: Activation, epistemic: Epistemic
) -> Tensor:
    """Eq. 3: [U_ale(global) + U_ale(local)] * U_epi(global). In: two |U| x C. Out: |U|.

    `entropy`: the true Dirichlet entropy, min-max scaled over the pool as FEAL's code does.
    `literal`: Eq. 2 as printed, not scaled. It is negative, so that of two samples with the same
    epistemic value the more ambiguous one ranks lower.
    """
    ours = dirichlet(global_logits.double(), activation)
    theirs = dirichlet(local_logits.double(), activation)
    match epistemic:
        case "entropy":
            doubt = min_max(dirichlet_entropy(ours))
        case "literal":
            doubt = epistemic_literal(ours)
    return ((aleatoric(ours) + aleatoric(theirs)) * doubt).to(global_logits.dtype)


def entropy(logits: Tensor) -> Tensor:
    """-sum_c p_c log p_c of the softmax. In: n x C. Out: n, in [0, ln C]."""
    log_p = F.log_softmax(logits, dim=1)
    return -(log_p.exp() * log_p).sum(1)


def margin(logits: Tensor) -> Tensor:
    """1 - (p_first - p_second) of the softmax. In: n x C. Out: n; 1 is a tie, 0 is certainty."""
    best = F.softmax(logits, dim=1).topk(min(2, logits.shape[1]), dim=1).values
    return 1 - best[:, 0] + best[:, 1:].sum(1)


def rarity(similarity: Tensor, labels: Tensor) -> Tensor:
    """Expected surprise of the answer: sum_c p_c (-log pi_c), pi_c = (n_c + 1) / (n + C).

    p is a softmax over how similar x is to the nearest labelled image of each class, n_c how often
    class c is labelled so far. In: n x C and m labels. Out: n. What lies among images of a common
    class scores low, what lies nearest to a rare one high. The site's own network would give p as
    well, but it learns its rare classes last: with its softmax the probe gains half as much
    (docs/results.md).
    """
    counts = torch.bincount(labels, minlength=similarity.shape[1]).to(similarity) + 1
    p = F.softmax(similarity / TEMPERATURE, dim=1)
    return p @ -(counts / counts.sum()).log()
