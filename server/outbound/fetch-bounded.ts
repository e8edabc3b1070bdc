/** The runtime's `fetch` with a time limit, for libraries without a client of their own. */

/** For the request body and the response head together. */
const ANSWER_MS = 60_000

/**
 * Calls `fetch` with a time limit; the response body has the runtime's own idle limit. Rejects on
 * redirects.
 */
export const fetchBounded: typeof fetch = async (input, init) => {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), ANSWER_MS)
  try {
    return await fetch(input, { ...init, redirect: 'error', signal: late.signal })
  } finally {
    clearTimeout(timer)
  }
}
