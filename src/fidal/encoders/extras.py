"""Libraries that only some encoders need, and that fidal does not install by itself."""

import importlib
from types import ModuleType


def library(module: str, encoder: str, extra: str) -> ModuleType:
    """The module, or an error that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ValueError(
            f"encoder '{encoder}' needs {module.partition('.')[0]}, which is not installed "
            f"({error}); pip install 'fidal[{extra}]'"
        ) from error
