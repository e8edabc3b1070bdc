/** The runtime's `fetch` with an end, for libraries that bring no client of their own. */

/** For the head of an answer, and so for the body of the request before it. */
const ANSWER_MS = 60_000

/**
 * A service that does not answer must not hold up anybody for ever; the body of its answer has the
 * runtime's own limit on silence. Redirects are errors.
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
