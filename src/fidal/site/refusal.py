"""What a site answers to a request that it does not carry out."""

from fidal.federation.messages import Trouble


class Refusal(ValueError):  # noqa: N818  (the site is right to refuse)
    """The text is sent to the coordinator: it tells settings and counts, no image, path or id."""

    def __init__(self, reason: str, trouble: Trouble = "refused") -> None:
        super().__init__(reason)
        self.trouble: Trouble = trouble
