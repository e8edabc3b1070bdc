/** Reads a JSON document of an address that the operator or an issuer names. */
import type { Guard } from './guard.ts'

const TIME_MS = 5_000
const BYTES_MAX = 1024 * 1024

/**
 * Resolves to the document. Rejects, with a text for the log, for an address that the guard
 * refuses, for redirects, for any status but 200, and beyond 1 MB or 10 seconds.
 */
export async function fetchJson(guard: Guard, url: string): Promise<unknown> {
  const answer = await guard.request({
    url,
    method: 'GET',
    headers: { accept: 'application/json' },
    budgetMs: TIME_MS,
    bodyMs: TIME_MS,
    bodyBytesMax: BYTES_MAX,
  })
  if (answer.outcome !== 'answered') throw new Error(`${url}: ${answer.message}`)
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}`)
  if (answer.truncated) throw new Error(`${url} is too large or took too long to arrive`)
  return JSON.parse(answer.body.toString())
}
