"""Encoders whose weights are one file that their authors publish."""

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field
from torch import Tensor, nn

from fidal.checkpoints.files import CheckpointError, file_hash, find, read
from fidal.checkpoints.strict import fill
from fidal.encoders.base import Encoder
from fidal.encoders.network import NetworkEncoder


class PublishedEncoder(NetworkEncoder):
    """A network that must be filled by its file to the last name, and by no name more."""

    checkpoint: Path = Field(description="the authors' file, see the column weights, or a copy")

    @property
    def weights(self) -> str:
        """Model and file."""
        return f"{self._model} {file_hash(self._file())}"

    def network(self) -> nn.Module:
        """The empty network, filled; an error names what does not fit."""
        network = self.empty()
        what = f"encoder '{self.name}'" + (f", model = '{self._model}'" if self._model else "")
        others = ", ".join(model for model in self.cards if model != self._model)
        fill(
            network,
            self.state(read(self._file()), network),
            f"{what}: {self._file().name}",
            self.may_stay,
            f"is it the file of model = {others}?" if others else "is it another architecture?",
        )
        return network

    @abstractmethod
    def empty(self) -> nn.Module:
        """The network with whatever weights."""

    def state(self, file: dict[str, Tensor], network: nn.Module) -> Mapping[str, Tensor]:
        """What of the file is for the network, under its names."""
        return file

    @staticmethod
    def may_stay(name: str) -> bool:
        """Does this name of the state stay in the file, being no part of the encoder?"""
        return False

    @property
    def _model(self) -> str:
        return getattr(self, "model", "")

    def _file(self) -> Path:
        return found(self, self.checkpoint, self._model)


def found(encoder: Encoder, checkpoint: Path, model: str = "") -> Path:
    """The file, or an error that says where to get it."""
    try:
        return find(checkpoint)
    except CheckpointError as error:
        weights = encoder.cards[model].weights
        raise CheckpointError(f"encoder '{encoder.name}': {error}; the file: {weights}") from error
