/** Lets one planner mend the swarm, phase by phase if strikes interrupt it. */

import { runJob } from "./api.js";
import { joined, struckSwarm } from "./phases.js";

/** @import { Phase, Run, Scenario, Strike } from "./types.js" */

/**
 * Plan and fly with the run's planner; afterwards the run has its recovery or its problem.
 * @param {Run} run
 * @param {{scenario: Scenario} & Object<string, any>} body What is asked of the service.
 * @param {Strike[]} strikes
 * @param {() => void} onChange Something of the run is new.
 * @returns {Promise<unknown>} What went wrong, if something did.
 */
export async function mendOne(run, body, strikes, onChange) {
  if (!run.abort) return null;
  const { signal } = run.abort;
  /** @type {Phase[]} */
  const phases = [];
  let swarm = body.scenario;
  /** @type {unknown} */
  let fault = null;
  try {
    for (const strike of [{ time_s: 0, uavs: [] }, ...strikes]) {
      const before = phases[phases.length - 1];
      if (before) swarm = struckSwarm(before, strike);
      const asked = { ...body, scenario: swarm, planner: run.planner };
      const recovery = await runJob("/v1/recoveries", asked, ({ fraction, message, preview }) => {
        run.fraction = (phases.length + fraction) / (strikes.length + 1);
        run.message = message;
        if (preview && !before) {
          run.preview = preview;
          run.history.push({ ...preview, targets_m: null });
        }
        onChange();
      }, signal);
      phases.push({ begin: strike.time_s, scenario: swarm, recovery });
    }
    run.recovery = joined(phases);
  } catch (error) {
    const isCancelled = error instanceof DOMException && error.name === "AbortError";
    run.problem = isCancelled ? "Cancelled." : error instanceof Error ? error.message : String(error);
    fault = error;
  }
  run.abort = null;
  onChange();
  return fault;
}
