/**
 * Callers of both gateways: short calls and streams, some with an Idempotency-Key, which are
 * repeated at either gateway while the first one runs or afterwards.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'undici'
import type { CreatedKey } from '../../server/money/accounts/manage-keys.ts'
import { type FinishedCall, type PlannedCall, planCall, sendCall } from '../../testbed/calls.ts'
import type { Random } from '../../testbed/random.ts'
import type { Gateway } from './stage.ts'

/** One request of a caller with all its attempts; each has its own API key. */
export interface CallerRequest {
  readonly call: PlannedCall
  readonly keyId: string
  readonly isNamed: boolean
  readonly attempts: readonly FinishedCall[]
}

const STREAM_MS_MAX = 40_000
/** The number of calls out of ten that have an Idempotency-Key. */
const NAMED = 3
const TRIES = 3
/** Longer than any gateway is paused. */
const PATIENCE_MS = 180_000

export function startLoad(
  stage: {
    readonly gateways: readonly Pick<Gateway, 'process' | 'isUp'>[]
    readonly keys: readonly CreatedKey[]
  },
  random: Random,
  { perSecond, streamMsMax = STREAM_MS_MAX }: { perSecond: number; streamMsMax?: number },
): { end(): Promise<readonly CallerRequest[]> } {
  const agent = new Agent({
    connections: 1_000,
    headersTimeout: PATIENCE_MS,
    bodyTimeout: PATIENCE_MS,
  })
  const requests: Promise<CallerRequest>[] = []
  let isOver = false

  function send(call: PlannedCall, key: CreatedKey, name: string | undefined) {
    const up = stage.gateways.filter((gateway) => gateway.isUp)
    const gateway = up[random.integer(0, up.length - 1)] ?? stage.gateways[0]
    const headers: Record<string, string> = name === undefined ? {} : { 'idempotency-key': name }
    return sendCall(agent, gateway?.process.url ?? '', call, key, headers)
  }

  async function ask(key: CreatedKey, index: number): Promise<CallerRequest> {
    const streamMs = random.next() < 0.3 ? streamMsMax : streamMsMax / 10
    const call = planCall(random, `o-${index}`, undefined, streamMs)
    // A WebSocket has no Idempotency-Key of a single call.
    const isNamed = random.integer(1, 10) <= NAMED && call.kind !== 'responses-socket'
    if (!isNamed) {
      return { call, keyId: key.id, isNamed, attempts: [await send(call, key, undefined)] }
    }
    const tries = [send(call, key, call.marker)]
    for (let more = random.integer(1, TRIES - 1); more > 0 && !isOver; more -= 1) {
      await Promise.race([sleep(random.integer(50, 30_000)), tries.at(-1)])
      tries.push(send(call, key, call.marker))
    }
    return { call, keyId: key.id, isNamed, attempts: await Promise.all(tries) }
  }

  const timer = setInterval(() => {
    const key = stage.keys[requests.length]
    if (key) requests.push(ask(key, requests.length))
  }, 1_000 / perSecond)
  return {
    async end() {
      isOver = true
      clearInterval(timer)
      const all = await Promise.all(requests)
      await agent.destroy()
      return all
    },
  }
}
