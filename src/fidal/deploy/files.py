"""The files of a deployment, by what they are: one place for their names."""

from dataclasses import dataclass
from pathlib import Path

from fidal.deploy.config import CoordinatorFile


@dataclass(frozen=True)
class SitePlaces:
    """A clinic's folder, which holds `site.toml`."""

    folder: Path

    @property
    def config(self) -> Path:
        """What people write."""
        return self.folder / "site.toml"

    @property
    def private_key(self) -> Path:
        """Never leaves the site."""
        return self.folder / "site.key"

    @property
    def public_key(self) -> Path:
        """The coordinator needs it."""
        return self.folder / "site.pub"

    @property
    def ca(self) -> Path:
        """The coordinator's authority, from the coordinator."""
        return self.folder / "coordinator.pem"

    @property
    def state(self) -> Path:
        """What the site writes: ledger, models, audit log, switch. Back it up."""
        return self.folder / "state"

    @property
    def ledger(self) -> Path:
        """What was asked and answered."""
        return self.state / "ledger.sqlite"

    @property
    def audit(self) -> Path:
        """Every message in and out."""
        return self.state / "audit.jsonl"

    @property
    def switch(self) -> Path:
        """on, paused or stopped."""
        return self.state / "switch"

    @property
    def token(self) -> Path:
        """Of the experts' desk."""
        return self.state / "desk.token"

    @property
    def desk(self) -> Path:
        """Where the desk is to be found while the site's process runs."""
        return self.state / "desk.address"

    @property
    def flower(self) -> Path:
        """What Flower's SuperNode writes."""
        return self.state / "flower"


@dataclass(frozen=True)
class CoordinatorPlaces:
    """The coordinator's folder, which holds `coordinator.toml`."""

    folder: Path

    @property
    def config(self) -> Path:
        """What people write."""
        return self.folder / "coordinator.toml"

    @property
    def authority(self) -> tuple[Path, Path]:
        """Key and certificate; sites get the certificate."""
        return self.folder / "tls" / "ca.key", self.folder / "tls" / "ca.pem"

    @property
    def server(self) -> tuple[Path, Path]:
        """Key and certificate of the SuperLink."""
        return self.folder / "tls" / "server.key", self.folder / "tls" / "server.pem"

    @property
    def secret(self) -> Path:
        """Shared by the SuperLink and the coordinator's process."""
        return self.folder / "tls" / "runtime.secret"

    @property
    def flower(self) -> Path:
        """What Flower's SuperLink writes."""
        return self.folder / "flower"

    def site_key(self, site: str) -> Path:
        """A site's public key, from the site."""
        return self.folder / "sites" / f"{site}.pub"

    def run(self, file: CoordinatorFile) -> Path:
        """The run folder of the experiment as it stands; another experiment is another run."""
        return self.folder / "runs" / file.read_experiment().run_name
