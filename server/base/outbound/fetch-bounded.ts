/** The runtime's `fetch` with a time limit, for libraries without a client of their own. */

/** For the request body and the response head together. */
const ANSWER_MS = 60_000

/**
 * Calls `fetch` with a time limit, and until `stop` aborts; the response body has the runtime's own
 * idle limit. Rejects on redirects.
 */
export async function fetchBounded(
  input: Parameters<typeof fetch>[0],
  init?: RequestInit,
  stop?: AbortSignal,
): Promise<Response> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), ANSWER_MS)
  try {
    const signal = stop ? AbortSignal.any([late.signal, stop]) : late.signal
    return await fetch(input, { ...init, redirect: 'error', signal })
  } finally {
    clearTimeout(timer)
  }
}
