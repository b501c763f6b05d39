"""The channels by name."""

from __future__ import annotations

from typing import Any

from reknit.base.errors import InvalidParameter, UnknownName
from reknit.knowledge.channels.loss import Bernoulli, GilbertElliott, Loss, NoLoss
from reknit.knowledge.channels.mixed import Mixed
from reknit.knowledge.channels.protocols import Channel
from reknit.knowledge.channels.radio import Radio
from reknit.knowledge.channels.station import Station

CHANNELS = ("radio", "global", "mixed")
_SETTINGS: dict[str, tuple[float, tuple[str, ...]]] = {
    "period_s": (0.1, ("radio", "mixed")),
    "hop_delay_s": (0.0, ("radio", "mixed")),
    "report_period_s": (0.0, ("global", "mixed")),
    "latency_s": (0.0, ("global", "mixed")),
    "missed_reports": (1, ("global", "mixed")),
    "uplinks": (0.1, ("mixed",)),
}
"""Defaults of what only some channels have; another value for another channel is refused."""


def build_channel(
    name: str,
    *,
    loss: float = 0.0,
    burst: float | None = None,
    noise_m: float = 0.0,
    period_s: float = 0.1,
    hop_delay_s: float = 0.0,
    report_period_s: float = 0.0,
    latency_s: float = 0.0,
    missed_reports: int = 1,
    uplinks: float = 0.1,
) -> Channel:
    """A channel from plain values.

    Parameters
    ----------
    name
        ``radio``, ``global`` or ``mixed``.
    loss, burst
        Share of lost messages; with a burst they come in spells of this mean length (exchanges).
    noise_m
        Sigma of the navigation errors, metres.
    period_s, hop_delay_s
        Of the radio.
    report_period_s, latency_s, missed_reports
        Of the station.
    uplinks
        Share of the UAVs with a link to the station, in the mixed channel.
    """
    if name not in CHANNELS:
        raise UnknownName("channel", name, CHANNELS)
    given = {
        "period_s": period_s,
        "hop_delay_s": hop_delay_s,
        "report_period_s": report_period_s,
        "latency_s": latency_s,
        "missed_reports": missed_reports,
        "uplinks": uplinks,
    }
    for setting, (default, owners) in _SETTINGS.items():
        if name not in owners and given[setting] != default:
            allowed = f"only together with channel {' or '.join(owners)}"
            raise InvalidParameter(f"channel.{setting}", given[setting], allowed)
    if burst is not None and loss == 0.0:
        raise InvalidParameter("channel.burst", burst, "only together with a loss above 0")
    model: Loss = Bernoulli(loss) if burst is None else GilbertElliott(loss, burst)
    if loss == 0.0:
        model = NoLoss()
    radio = Radio(period_s, hop_delay_s, model, noise_m)
    station = Station(report_period_s, latency_s, missed_reports, model, noise_m)
    if name == "radio":
        return radio
    return station if name == "global" else Mixed(radio, station, uplinks)


def channel_of(value: Any) -> tuple[str, Channel]:
    """The channel of this name, or the object given, with its name."""
    if isinstance(value, str):
        return value, build_channel(value)
    if not hasattr(value, "open") or not hasattr(value, "alarm_delay_s"):
        raise InvalidParameter("channel", value, "a name, or an object with open()")
    names = {Radio: "radio", Station: "global", Mixed: "mixed"}
    return names.get(type(value), type(value).__name__), value
