"""Contracts as code: run on every strategy and gate of ours, and offered for yours.

from fidal.checks import check_strategy
check_strategy(MyStrategy())
"""

from fidal.checks.contract import ContractError
from fidal.checks.gate import check_gate
from fidal.checks.secrecy import check_secrecy
from fidal.checks.strategy import check_strategy

__all__ = ["ContractError", "check_gate", "check_secrecy", "check_strategy"]
