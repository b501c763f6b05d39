"""Honest certificates and plan files, changed at random."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from reknit.base.types import FloatArray
from reknit.plans.certificate import Bundle, Certificate, Clash, Lemma, Parting, Winding
from reknit.plans.status import Status

_ODD = (0.0, -0.0, 1.0, -1.0, 5e-324, 2.7e-162, 1e-9, 1e30, 1e200, 1.7e308, np.inf, np.nan)


def _mutate_number(value: float, rng: np.random.Generator) -> float:
    kind = rng.integers(5)
    if kind == 0:
        return float(rng.choice(_ODD))
    if kind == 1:
        return value * float(10.0 ** rng.uniform(-12.0, 12.0))
    if kind == 2:
        return value * float(1.0 + rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-16.0, 0.0))
    if kind == 3:
        return float(np.nextafter(value, np.inf))
    return float(-value)


def _mutate_rows(rows: Any, rng: np.random.Generator, most: int) -> Any:
    rows = rows.copy()
    kind = rng.integers(5)
    at = int(rng.integers(len(rows)))
    if kind == 0:
        rows[at, rng.integers(2)] = rng.integers(-2, most)
    elif kind == 1:
        rows = np.delete(rows, at, axis=0)
    elif kind == 2:
        rows = np.insert(rows, at, rows[int(rng.integers(len(rows)))], axis=0)
    elif kind == 3:
        rows[[at, 0]] = rows[[0, at]]
    else:
        rows[at] = rows[int(rng.integers(len(rows)))]
    return rows


def _mutate_clash(clash: Clash, rng: np.random.Generator, nodes: int) -> Clash:
    links, forces = clash.links, clash.forces.copy()
    if len(links) == 0:
        return clash
    kind = rng.integers(4)
    if kind == 0:
        at = tuple(int(rng.integers(size)) for size in forces.shape)
        forces[at] = _mutate_number(float(forces[at]), rng)
    elif kind == 1:
        with np.errstate(all="ignore"):
            forces = forces * _mutate_number(1.0, rng)
    elif kind == 2:
        keep = rng.random(len(links)) < 0.7
        links, forces = links[keep], forces[keep]
    else:
        links = _mutate_rows(links, rng, nodes)
        forces = forces[np.arange(len(links)) % len(forces)]
    return Clash(links, forces)


def _mutate_vectors(vectors: FloatArray, rng: np.random.Generator) -> FloatArray:
    """One number changed, or all of them scaled."""
    vectors = vectors.copy()
    if rng.random() < 0.3:
        with np.errstate(all="ignore"):
            return np.asarray(vectors * _mutate_number(1.0, rng))
    at = tuple(int(rng.integers(size)) for size in vectors.shape)
    vectors[at] = _mutate_number(float(vectors[at]), rng)
    return vectors


def _mutate_bundle(bundle: Bundle, rng: np.random.Generator) -> Bundle:
    """Another weight, or fewer members."""
    if rng.random() < 0.5:
        return replace(bundle, weight=int(bundle.weight * rng.choice([0.5, 0.999, 1.001, 3.0])))
    keep = rng.random(max(len(bundle.nodes), len(bundle.links))) < 0.8
    if len(bundle.nodes):
        return replace(bundle, nodes=bundle.nodes[keep])
    return replace(bundle, links=bundle.links[keep])


def _mutate_winding(winding: Winding, rng: np.random.Generator) -> Winding:
    """Other weights, a straighter or rounder way, or fewer gaps."""
    kind = rng.integers(4)
    if kind == 0:
        return replace(winding, straight_rad=_mutate_number(winding.straight_rad, rng))
    if kind == 1:
        return replace(winding, gaps=np.delete(winding.gaps, rng.integers(len(winding.gaps))))
    weights = winding.weights.copy()
    if kind == 2:
        weights[rng.integers(len(weights))] = rng.integers(-1, 2 * int(weights.max()) + 2)
    else:
        weights = np.roll(weights, int(rng.integers(1, len(weights) + 1)))
    return replace(winding, weights=weights)


def _mutate_parting(parting: Parting, rng: np.random.Generator, nodes: int) -> Parting:
    """Other cases, another cut, or another clash at an end."""
    kind = rng.integers(3)
    if kind == 0:
        return replace(parting, cases=_mutate_rows(parting.cases, rng, nodes))
    if kind == 1:
        cuts = parting.cuts.copy()
        at = int(rng.integers(len(cuts)))
        cuts[at] = rng.integers(-9, 10, 2) if rng.random() < 0.5 else cuts[at, ::-1]
        return replace(parting, cuts=cuts)
    clashes = list(parting.clashes)
    at = int(rng.integers(len(clashes)))
    clashes[at] = _mutate_clash(clashes[at], rng, nodes)
    return replace(parting, clashes=tuple(clashes))


def _mutate_lemma(lemma: Lemma, rng: np.random.Generator, nodes: int) -> Lemma:
    """Other cases, or other suppositions."""
    part = str(rng.choice(["used", "unused", "cases"]))
    rows = getattr(lemma, part)
    if len(rows) == 0:
        return lemma
    return replace(lemma, **{part: _mutate_rows(rows, rng, nodes)})


def mutate(certificate: Certificate, rng: np.random.Generator, nodes: int) -> Certificate:
    """One change, or a few, of a certificate; the claim is often raised a little beside it."""
    if certificate.pulls is not None and rng.random() < 0.7:
        certificate = replace(certificate, pulls=_mutate_vectors(certificate.pulls, rng))
    if certificate.hole is not None and rng.random() < 0.7:
        certificate = replace(certificate, hole=_mutate_vectors(certificate.hole, rng))
    if certificate.windings and rng.random() < 0.7:
        windings = list(certificate.windings)
        at = int(rng.integers(len(windings)))
        windings[at] = _mutate_winding(windings[at], rng)
        certificate = replace(certificate, windings=tuple(windings))
    if certificate.bundles and rng.random() < 0.7:
        bundles = list(certificate.bundles)
        at = int(rng.integers(len(bundles)))
        bundles[at] = _mutate_bundle(bundles[at], rng)
        certificate = replace(certificate, bundles=tuple(bundles))
    if certificate.parting is not None and rng.random() < 0.9:
        changed = _mutate_parting(certificate.parting, rng, nodes)
        certificate = replace(certificate, parting=changed)
    if certificate.lemmas and rng.random() < 0.5:
        lemmas = list(certificate.lemmas)
        at = int(rng.integers(len(lemmas)))
        lemmas[at] = _mutate_lemma(lemmas[at], rng, nodes)
        certificate = replace(certificate, lemmas=tuple(lemmas))
    for _ in range(int(rng.integers(1, 3))):
        kind = rng.integers(7)
        if kind == 0:
            certificate = replace(certificate, trial_s=_mutate_number(certificate.trial_s, rng))
        elif kind <= 2 and len(certificate.cases):
            certificate = replace(certificate, cases=_mutate_rows(certificate.cases, rng, nodes))
        elif kind <= 5 and certificate.clashes:
            clashes = list(certificate.clashes)
            at = int(rng.integers(len(clashes)))
            clashes[at] = _mutate_clash(clashes[at], rng, nodes)
            certificate = replace(certificate, clashes=tuple(clashes))
        else:
            certificate = replace(certificate, lost=int(rng.integers(nodes)))
    if rng.random() < 0.7:
        certificate = replace(certificate, bound_s=_mutate_number(certificate.bound_s, rng))
    return certificate


def mutate_text(text: str, rng: np.random.Generator) -> str:
    """One number of a plan file changed, or one piece of it cut out or doubled."""
    data = json.loads(text)
    kind = rng.integers(4)
    if kind == 0:
        name = str(rng.choice(["recovery_time_s", "lower_bound_s", "gap"]))
        data[name] = _mutate_number(float(data[name] or 0.0), rng)
    elif kind == 1:
        data["status"] = str(rng.choice([status.value for status in Status]))
    elif kind == 2:
        row = data["targets_m"][int(rng.integers(len(data["targets_m"])))]
        axis = int(rng.integers(len(row)))
        row[axis] = _mutate_number(row[axis], rng)
    else:
        at = int(rng.integers(len(text)))
        piece = text[at : at + int(rng.integers(1, 6))]
        return text.replace(piece, str(rng.choice(["", piece * 2, "9", "-", "1e9"])), 1)
    return json.dumps(data)
