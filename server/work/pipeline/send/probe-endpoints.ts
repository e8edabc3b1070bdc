/**
 * Finds out which text endpoints a channel's address serves, free of charge: a GET reaches no
 * model, and most vendors answer it differently for paths that exist. All other endpoints are
 * unknown.
 */
import type { Dispatcher } from 'undici'
import { readErrorBody } from '../../../wire/upstreams/failure.ts'
import type { Upstream } from '../../../wire/upstreams/upstream.ts'
import { openProbeWire } from './probe-channel.ts'

const ENDPOINTS = ['chat/completions', 'responses', 'messages'] as const
/** A path that no vendor has, to see the answer for paths that do not exist. */
const NOWHERE = 'no-such-endpoint'
/** Answers that a path gives because its method or body is wrong, or to a list of its own. */
const PRESENT = new Set([200, 400, 405, 411, 415, 422, 426])

const HINT = 'set responses to "translate" so that calls to /v1/responses work'

type Served = 'yes' | 'no' | 'unknown'
type ServedEndpoints = Readonly<Record<(typeof ENDPOINTS)[number], Served>>

/** Returns undefined for protocols whose endpoints are not in doubt. */
async function readServedEndpoints(
  upstream: Pick<Upstream, 'askAt' | 'eachKey'> | undefined,
  settings: unknown,
  dispatcher: Dispatcher,
): Promise<ServedEndpoints | undefined> {
  const askAt = upstream?.askAt
  if (!askAt) return undefined
  const [keyed = settings] = upstream?.eachKey?.(settings) ?? []
  const wire = openProbeWire(dispatcher)
  const statusAt = async (path: string) => {
    try {
      const response = await askAt(wire, keyed, `/${path}`)
      await readErrorBody(response)
      return response.status
    } catch {
      return undefined
    }
  }
  const [nowhere, ...statuses] = await Promise.all([NOWHERE, ...ENDPOINTS].map(statusAt))
  const verdicts = ENDPOINTS.map((name, index) => {
    return [name, judge(statuses[index], nowhere, statuses)] as const
  })
  return Object.fromEntries(verdicts) as ServedEndpoints
}

/**
 * A 404 proves that an endpoint does not exist only if the vendor answers wrong methods with 405:
 * other routers answer both with 404.
 */
function judge(
  status: number | undefined,
  nowhere: number | undefined,
  all: readonly (number | undefined)[],
): Served {
  if (nowhere !== 404 || status === undefined) return 'unknown'
  if (status === 404) return all.includes(405) ? 'no' : 'unknown'
  return PRESENT.has(status) ? 'yes' : 'unknown'
}

/** Returns the last step of a channel's test; undefined where no endpoint is in doubt. */
export function endpointsOf(
  upstream: Pick<Upstream, 'askAt' | 'eachKey' | 'translates'> | undefined,
  settings: unknown,
  dispatcher: Dispatcher,
): (() => Promise<string>) | undefined {
  if (!upstream?.askAt) return undefined
  return async () => {
    const served = await readServedEndpoints(upstream, settings, dispatcher)
    const text = ENDPOINTS.map((name) => `${name} ${served?.[name] ?? 'unknown'}`).join(', ')
    const isRefused = served?.responses === 'no' && !upstream.translates?.('responses', settings)
    return isRefused ? `${text}; ${HINT}` : text
  }
}
