/** Tests a channel's key with a free request of its vendor. */
import type { Dispatcher } from 'undici'
import { asString, member, tryParseJson } from '../../lib/json.ts'
import { readErrorBody } from '../../upstreams/failure.ts'
import type { Upstream } from '../../upstreams/upstream.ts'
import type { Wire } from '../../upstreams/wire.ts'
import { openReadingWire } from './wire.ts'

const PROBE_MS = 10_000
const MESSAGE_LENGTH_MAX = 200

/**
 * Returns a function that sends the request with each key; undefined if the vendor has no free one.
 */
export function probeOf(
  upstream: Pick<Upstream, 'probe' | 'eachKey'> | undefined,
  settings: unknown,
  dispatcher: Dispatcher,
): (() => Promise<string>) | undefined {
  const probe = upstream?.probe
  if (!probe) return undefined
  const [first = settings, ...others] = upstream?.eachKey?.(settings) ?? []
  return async () => {
    let verdict = ''
    for (const keyed of [first, ...others]) verdict = await tryKey(probe, keyed)
    return verdict
  }

  async function tryKey(send: NonNullable<Upstream['probe']>, keyed: unknown): Promise<string> {
    const wire = openReadingWire({
      dispatcher,
      firstByteTimeoutMs: PROBE_MS,
      idleTimeoutMs: PROBE_MS,
      totalTimeoutMs: PROBE_MS,
      socketsMax: 1,
    })
    const addresses: string[] = []
    const noting: Wire = {
      ...wire,
      send(request) {
        // Without the query, which may hold a key.
        const { origin, pathname } = new URL(request.url)
        addresses.push(`${origin}${pathname}`)
        return wire.send(request)
      },
    }
    const response = await send(noting, keyed)
    const body = await readErrorBody(response)
    return judge(response.status, readMessage(body), addresses)
  }
}

/** Throws if the key does not work; vendors refuse wrong keys with 400, 401 or 403. */
function judge(status: number, message: string | undefined, addresses: readonly string[]): string {
  const reason = message === undefined ? '' : `: ${message}`
  const tried = addresses.join(' and ')
  // The second address is that of calls, which a GET cannot try.
  const isOfCalls = addresses.length > 1
  if (status === 404 && isOfCalls) {
    throw new Error(
      `nothing is at ${tried} (404): does the base_url end as the vendor says, usually in /v1?`,
    )
  }
  if (isOfCalls && status !== 401 && status !== 403) {
    return `not tested: the vendor has no list of models; ${tried} answered ${status}`
  }
  if (status < 300) return `the vendor accepts the key at ${tried}`
  if (status === 404 || status === 405) {
    return `not tested: the vendor has no such request at ${tried} (${status})`
  }
  if (status === 401 || status === 403 || status === 400) {
    throw new Error(`the vendor refuses the key (${status})${reason}`)
  }
  throw new Error(`the vendor answered ${status}${reason}`)
}

function readMessage(body: Buffer): string | undefined {
  const answer = tryParseJson(body)
  const message =
    asString(member(member(answer, 'error'), 'message')) ?? asString(member(answer, 'message'))
  return message?.slice(0, MESSAGE_LENGTH_MAX)
}
