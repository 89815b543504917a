"""Which scanner is which client."""

from collections.abc import Mapping
from typing import Final

from fidal.data.preparing.fedembed.paper import Site

CLIENTS: Final[Mapping[str, Site]] = {
    "Selenia Dimensions": "selenia_dimensions",
    "Senograph 2000D ADS_17.4.5": "senograph_2000d",
    "Senograph 2000D ADS_17.5": "senograph_2000d",
    "Lorad Selenia": "lorad_selenia",
    "Clearview CSm": "clearview_csm",
}
"""`ManufacturerModelName` of the four clients; two versions of one scanner are one client."""

SPLIT_ONLY: Final = ("Senographe Pristina",)
"""Takes part in the base split, as in the source's code, and is no client of the paper: 0.17 % of
the training images, too few for a clinic of its own."""

HELD_OUT: Final = (
    "Senographe Essential VERSION ADS_53.40",
    "Senographe Essential VERSION ADS_54.10",
)
"""The source keeps this scanner out of the base split, to test on it as an unseen one."""

KNOWN: Final = (*CLIENTS, *SPLIT_ONLY, *HELD_OUT)
