/** Talks to the service. Events are read from a fetch, since an EventSource can send no token. */

/** @import { Status } from "./types.js" */

const TOKEN = "reknit-token";

export class ServiceProblem extends Error {
  /**
   * @param {string} detail
   * @param {number} status 0: the service does not answer.
   * @param {number} retryAfter
   */
  constructor(detail, status, retryAfter = 1) {
    super(detail);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** @param {string} token */
export function rememberToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

/**
 * @param {string} path
 * @param {RequestInit} [options]
 * @returns {Promise<Response>}
 */
async function ask(path, options = {}) {
  const headers = new Headers(options.headers);
  const token = sessionStorage.getItem(TOKEN);
  if (token) headers.set("Authorization", `Bearer ${token}`);
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch (error) {
    if (/** @type {Error} */ (error).name === "AbortError") throw error;
    throw new ServiceProblem("The service does not answer. Is reknit serve running?", 0);
  }
  if (response.ok) return response;
  let detail = `The service answered ${response.status}.`;
  try {
    detail = String((await response.json()).detail ?? detail);
  } catch {
    // An answer without a body says no more than its status.
  }
  throw new ServiceProblem(detail, response.status, Number(response.headers.get("retry-after")) || 1);
}

/**
 * @param {string} path
 * @returns {Promise<any>}
 */
export async function getJson(path) {
  return (await ask(path)).json();
}

/**
 * @param {string} path
 * @param {any} body
 * @param {Object<string, string>} [headers]
 * @param {AbortSignal} [signal]
 */
export async function post(path, body, headers = {}, signal = undefined) {
  return ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
    signal,
  });
}

/**
 * Run a job to its end, told of its progress; aborting the signal cancels it on the service too.
 * @param {string} path
 * @param {any} body
 * @param {(status: Status) => void} progress
 * @param {AbortSignal} signal
 * @returns {Promise<any>}
 */
export async function runJob(path, body, progress, signal) {
  const place = await submit(path, body, progress, signal);
  const cancel = () => void ask(place, { method: "DELETE", keepalive: true }).catch(() => {});
  signal.addEventListener("abort", cancel);
  window.addEventListener("pagehide", cancel); // nobody waits for it any more
  try {
    const response = await ask(`${place}/events`, { signal });
    for await (const status of events(response)) progress(status);
    const result = await (await ask(`${place}/result`, { signal })).json();
    void ask(place, { method: "DELETE" }).catch(() => {});
    return result;
  } finally {
    signal.removeEventListener("abort", cancel);
    window.removeEventListener("pagehide", cancel);
  }
}

/**
 * Hand a job in; when the queue is full, wait as long as the service says.
 * @param {string} path
 * @param {any} body
 * @param {(status: Status) => void} progress
 * @param {AbortSignal} signal
 */
async function submit(path, body, progress, signal) {
  for (;;) {
    try {
      const accepted = await post(path, body, { Prefer: "respond-async" }, signal);
      const place = accepted.headers.get("location");
      if (!place) throw new ServiceProblem("The service gave no place for the job.", accepted.status);
      return place;
    } catch (error) {
      if (!(error instanceof ServiceProblem) || error.status !== 429) throw error;
      progress({ fraction: 0, message: "the service is busy; waiting", preview: null });
      await new Promise((resolve) => setTimeout(resolve, error.retryAfter * 1000));
      signal.throwIfAborted();
    }
  }
}

/**
 * @param {Response} response
 * @returns {AsyncGenerator<Status>}
 */
async function* events(response) {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const data = block.split("\n").find((line) => line.startsWith("data: "));
      if (data) yield JSON.parse(data.slice(6));
    }
  }
}
