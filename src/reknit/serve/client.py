"""`Client`: plans from a service, checked here."""

from __future__ import annotations

import time
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from reknit import errors
from reknit.base.errors import (
    InvalidInput,
    InvalidParameter,
    MissingExtra,
    ReknitError,
    ServiceError,
)
from reknit.base.values import is_finite
from reknit.plans.files import plan_of
from reknit.plans.plan import Plan
from reknit.plans.status import Status
from reknit.serve.models import Planned, Planners
from reknit.serve.problems import Problem
from reknit.swarm.files import ScenarioFile, scenario_file, scenario_of
from reknit.swarm.scenario import Scenario, check_scenario

if TYPE_CHECKING:
    import httpx

_Model = TypeVar("_Model", bound=BaseModel)
_BUSY = (429, 503)


class Client:
    """Asks a reknit service for plans. Nothing of the service has to be believed.

    Every plan that comes back is verified here, against the scenario as it is here, with the
    same independent checker as `Plan.verify`; one that fails raises `InvalidPlan`.

    Parameters
    ----------
    url
        Of the service, such as ``http://127.0.0.1:8321``.
    token
        What the service asks for when it is not on this machine.
    timeout_s
        Longest wait for one answer.
    patience_s
        How long to go on asking a service that is full or restarting.

    Examples
    --------
    >>> client = reknit.Client("http://127.0.0.1:8321")       # doctest: +SKIP
    >>> client.plan(reknit.generate(seed=7)).status           # doctest: +SKIP
    <Status.OPTIMAL: 'optimal'>
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout_s: float = 120.0,
        patience_s: float = 30.0,
    ) -> None:
        try:
            import httpx
        except ModuleNotFoundError as error:
            raise MissingExtra("the client", "serve") from error
        if token is not None and not isinstance(token, str):
            raise InvalidParameter("token", token, "None or a text")
        for name, seconds in (("timeout_s", timeout_s), ("patience_s", patience_s)):
            if not (is_finite(seconds) and seconds >= 0):
                raise InvalidParameter(name, seconds, "seconds, at least 0")
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._patience_s = patience_s
        try:
            self._http = httpx.Client(base_url=url, headers=headers, timeout=timeout_s)
        except (httpx.InvalidURL, UnicodeError, TypeError) as error:
            raise InvalidParameter("url", url, f"the address of a service ({error})") from None
        if self._http.base_url.scheme not in ("http", "https"):
            raise InvalidParameter("url", url, "an address that begins with http:// or https://")

    def plan(
        self,
        scenario: Scenario,
        planner: str | None = None,
        *,
        seed: int = 0,
        budget_s: float | None = None,
        **parameters: Any,
    ) -> Plan:
        """Where every survivor should fly, as `reknit.plan` would say; verified here.

        Parameters
        ----------
        scenario
            The damaged swarm.
        planner
            A name of `planners`; None: the service's default.
        seed
            Of everything random.
        budget_s
            Seconds of computing; the service has a limit of its own.
        parameters
            The planner's own.

        Returns
        -------
        Plan
            A plan whose every claim has been checked on this side.
        """
        check_scenario(scenario)
        body: dict[str, Any] = {
            "scenario": scenario_file(scenario).model_dump(mode="json"),
            "seed": seed,
            "budget_s": budget_s,
            "parameters": parameters,
        }
        if planner is not None:
            body["planner"] = planner
        answer = self._ask("POST", "/v1/plans", body, Planned)
        try:
            result = replace(
                plan_of(answer.plan), **answer.provenance.model_dump(exclude={"cut_short"})
            )
            if answer.provenance.cut_short and result.status is Status.FEASIBLE:
                result = replace(result, status=Status.DEADLINE)
        except ValueError as error:
            raise ServiceError(f"the service sent no plan: {error}") from None
        result.verify(scenario)
        return result

    def generate(self, **options: Any) -> Scenario:
        """A scenario that the service generates.

        Parameters
        ----------
        options
            Those of `reknit.generate`, by name.

        Returns
        -------
        Scenario
            The same as `reknit.generate` makes of them.
        """
        return scenario_of(self._ask("POST", "/v1/scenarios", options, ScenarioFile))

    def planners(self) -> tuple[str, ...]:
        """Names of the service's planners whose needs are installed there."""
        answer = self._ask("GET", "/v1/planners", None, Planners)
        return tuple(row.name for row in answer.planners if row.ready)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _ask(self, method: str, path: str, body: object, model: type[_Model]) -> _Model:
        import httpx

        until_s = time.monotonic() + self._patience_s
        while True:
            try:
                response = self._http.request(method, path, json=body)
            except (ValueError, TypeError) as error:  # what JSON has no form for
                raise InvalidParameter("parameters", str(error), "values of JSON") from None
            except RuntimeError as error:
                raise ServiceError(f"{self._http.base_url}: {error}") from error
            except httpx.HTTPError as error:
                raise ServiceError(f"{self._http.base_url}: {error}") from error
            if response.status_code not in _BUSY or time.monotonic() >= until_s:
                break
            wait_s = _retry_after_s(response)
            time.sleep(max(0.0, min(wait_s, until_s - time.monotonic())))
        if response.is_success:
            try:
                return model.model_validate_json(response.content)
            except ValidationError as error:
                raise ServiceError(f"the service's answer is none: {error}") from None
        raise _error_of(response)


def _retry_after_s(response: httpx.Response) -> float:
    text = response.headers.get("retry-after", "")
    return float(text) if text.isdigit() and len(text) < 4 else 1.0


def _error_of(response: httpx.Response) -> ReknitError:
    """The error that the service had, of the same type where it was one of reknit's."""
    try:
        answer = Problem.model_validate_json(response.content)
    except ValidationError:
        return ServiceError(f"the service answered {response.status_code}", response.status_code)
    kind = getattr(errors, answer.type.rpartition(":")[2], None)
    if isinstance(kind, type) and issubclass(kind, InvalidInput) and answer.field is not None:
        return kind(answer.field, _Plain(answer.value or ""), answer.allowed or "")
    if kind in (errors.NoPlan, errors.NoSplitFound, errors.NotConnectable, errors.InvalidPlan):
        return kind(answer.detail)  # type: ignore[no-any-return]
    return ServiceError(answer.detail, answer.status)


class _Plain(str):
    """A value that was already written out by the service."""

    def __repr__(self) -> str:
        return str(self)
