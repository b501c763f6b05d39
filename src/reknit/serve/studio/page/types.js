/**
 * Shapes of the data that the page handles: the service's JSON as it is.
 *
 * @typedef {{positions_m: number[][], destroyed: number[], radio_range_m: number,
 *   max_speed_mps: number | number[], names?: string[] | null, anchors?: number[],
 *   [demand: string]: any}} Scenario
 * @typedef {{times_s: number[], positions_m: number[][][], subnets: number[],
 *   reconnected_at_s: number | null, path_lengths_m: number[]}} Flight
 * @typedef {{links: number[][], forces: number[][]}} Clash
 * @typedef {{bound_s: number, trial_s: number, cases: number[][], clashes: Clash[],
 *   apart?: number[] | null, pulls?: number[][] | null, hole?: number[] | null,
 *   crowd?: number[] | null, bundles?: {links: number[][]}[],
 *   parting?: {clashes: Clash[]} | null}} Certificate
 * @typedef {{status: string, recovery_time_s: number, lower_bound_s: number, gap: number | null,
 *   targets_m: number[][], certificate: Certificate, details: Object<string, any>}} Plan
 * @typedef {{planner: string, compute_s: number, plan: Plan | null, flight: Flight,
 *   metrics: Object<string, any>, belief?: Belief | null, phases?: Phase[]}} Recovery
 * @typedef {{time_s: number, uavs: number[]}} Strike A further loss, seconds after the damage.
 * @typedef {{begin: number, scenario: Scenario, recovery: Recovery}} Phase
 *   The flight from the damage or from a strike on, and the swarm as it was then.
 * @typedef {{observer: number, status: string[], apart_m: number[][]}} Belief
 *   What one UAV holds of everybody at each frame: a digit of `HELD` per UAV, and how far the
 *   place it believes in is from the true one.
 * @typedef {{targets_m: number[][] | null, recovery_time_s: number | null,
 *   lower_bound_s: number | null}} Preview
 * @typedef {{fraction: number, message: string, preview: Preview | null}} Status
 * @typedef {{planner: string, recovery: Recovery | null, problem: string | null,
 *   fraction: number, message: string, preview: Preview | null, history: Preview[],
 *   abort: AbortController | null}} Run
 */
export {};
