"""The gate: density x threshold. (TEMPORARY, by the lead: the gates colleague replaces this file.)"""
from dataclasses import dataclass
from typing import ClassVar
import torch
from torch import Tensor
from fidal.parts import Part
from fidal.types import GateDiagnosis
@dataclass(frozen=True, eq=False)
class GateDecision:
    keep: Tensor
    weight: Tensor
    diagnosis: GateDiagnosis
    @classmethod
    def keep_all(cls, like: Tensor) -> "GateDecision":
        n=len(like)
        return cls(torch.ones(n,dtype=torch.bool,device=like.device), torch.ones(n,dtype=like.dtype,device=like.device), GateDiagnosis("none","none",n,0.,0.,0.,flags=("off",)))
class Gate(Part):
    name: ClassVar[str]="gate"
    normalise: bool=True
    def decide(self, u,l,y,o):
        if len(l)<2: return GateDecision.keep_all(u)
        if self.normalise: u=u/u.norm(dim=1,keepdim=True); l=l/l.norm(dim=1,keepdim=True)
        m=l.double().mean(0); v=l.double().var(0); v=torch.maximum(v,1e-3*v.mean()).clamp_min(1e-12)
        s=-.5*((u.double()-m)**2/v).sum(1)
        g=(s-s.min())/(s.max()-s.min())
        h=torch.histc(g,256,0,1); p=h/h.sum(); c=(torch.arange(256,device=u.device)+.5)/256
        w=p.cumsum(0); mu=(p*c).cumsum(0); b=(mu[-1]*w-mu)**2/(w*(1-w)).clamp_min(1e-12)
        cut=float(c[b.argmax()]); keep=g>=cut
        return GateDecision(keep,g.to(u.dtype),GateDiagnosis("diagonal","otsu",len(u),float((~keep).double().mean()),cut,0.))
