import pytest

from fidal.experiment.config import ConfigError
from fidal.experiment.sweep.calling import Shard, calling


def test_a_shard_is_written_i_of_n() -> None:
    assert calling(2, " 2/3 ", False).shard == Shard(2, 3)
    assert calling(1, None, True).shard is None


@pytest.mark.parametrize(
    ("jobs", "shard", "says"),
    [
        (0, None, r"^--jobs: .*greater than or equal to 1"),
        (-2, None, r"^--jobs: "),
        (1, "3/2", r"^--shard: there is no part 3/2"),
        (1, "0/2", r"^--shard: there is no part 0/2"),
        (1, "0/0", r"^--shard: there is no part 0/0"),
        (1, "1", r"^--shard: '1' is no part; write i/n"),
        (1, "a/b", r"^--shard: 'a/b' is no part; write i/n"),
        (0, "3/2", r"--jobs: .*\n--shard: "),
    ],
)
def test_what_can_not_be_called(jobs: int, shard: str | None, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        calling(jobs, shard, False)
