"""The channels by name."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from reknit.base.errors import InvalidParameter, UnknownName
from reknit.knowledge.channels.loss import Bernoulli, GilbertElliott, Loss, NoLoss
from reknit.knowledge.channels.mixed import Mixed
from reknit.knowledge.channels.protocols import Channel
from reknit.knowledge.channels.radio import RadioChannel
from reknit.knowledge.channels.station import Station

CHANNELS = ("radio", "global", "mixed")
_OWNERS: dict[str, tuple[str, ...]] = {
    "period_s": ("radio", "mixed"),
    "hop_delay_s": ("radio", "mixed"),
    "report_period_s": ("global", "mixed"),
    "latency_s": ("global", "mixed"),
    "missed_reports": ("global", "mixed"),
    "uplinks": ("mixed",),
}
"""What only some channels have; for another channel it is refused unless it is the default."""

_DEFAULTS: dict[str, Any] = {
    setting.name: setting.default
    for channel in (RadioChannel, Station, Mixed)
    for setting in fields(channel)
}


def build_channel(
    name: str,
    *,
    loss: float = 0.0,
    burst: float | None = None,
    noise_m: float = _DEFAULTS["noise_m"],
    period_s: float = _DEFAULTS["period_s"],
    hop_delay_s: float = _DEFAULTS["hop_delay_s"],
    report_period_s: float = _DEFAULTS["report_period_s"],
    latency_s: float = _DEFAULTS["latency_s"],
    missed_reports: int = _DEFAULTS["missed_reports"],
    uplinks: float = _DEFAULTS["uplinks"],
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
    for setting, owners in _OWNERS.items():
        if name not in owners and given[setting] != _DEFAULTS[setting]:
            allowed = f"only together with channel {' or '.join(owners)}"
            raise InvalidParameter(f"channel.{setting}", given[setting], allowed)
    if burst is not None and loss == 0.0:
        raise InvalidParameter("channel.burst", burst, "only together with a loss above 0")
    model: Loss = Bernoulli(loss) if burst is None else GilbertElliott(loss, burst)
    if loss == 0.0:
        model = NoLoss()
    radio = RadioChannel(period_s, hop_delay_s, model, noise_m)
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
    names = {RadioChannel: "radio", Station: "global", Mixed: "mixed"}
    return names.get(type(value), type(value).__name__), value
