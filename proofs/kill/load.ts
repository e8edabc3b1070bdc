/** An open load: calls start at a fixed rate, however long earlier ones take. */
import { Agent } from 'undici'
import type { CreatedKey } from '../../server/money/accounts/manage-keys.ts'
import { type CallKind, type FinishedCall, planCall, sendCall } from '../../testbed/calls.ts'
import type { Random } from '../../testbed/random.ts'

export interface Load {
  /** Sends one call now, in addition to the rate. */
  send(kind?: CallKind): Promise<FinishedCall>
  /** Starts no new calls; resolves to all of them once each has ended. */
  end(): Promise<readonly FinishedCall[]>
  started(): number
}

/** The number of keys that are reserved for `send`, since a service may take long to come back. */
const KEPT_FOR_SEND = 1 / 2

export interface LoadOptions {
  readonly url: string
  /** Each call takes the next key, which identifies it within a load. */
  readonly keys: readonly CreatedKey[]
  readonly perSecond: number
  readonly markerPrefix: string
  readonly random: Random
}

export function startLoad(options: LoadOptions): Load {
  const { url, keys, markerPrefix, random } = options
  const agent = new Agent({ connections: 500, headersTimeout: 20_000, bodyTimeout: 20_000 })
  const calls: Promise<FinishedCall>[] = []

  function send(kind?: CallKind): Promise<FinishedCall> {
    const key = keys[calls.length]
    if (!key) throw new Error(`a load of more than ${keys.length} calls`)
    const call = planCall(random, `${markerPrefix}-${calls.length}`, kind)
    const finished = sendCall(agent, url, call, key)
    calls.push(finished)
    return finished
  }

  const most = Math.floor(keys.length * (1 - KEPT_FOR_SEND))
  const timer = setInterval(() => {
    if (calls.length < most) void send()
  }, 1000 / options.perSecond)
  return {
    send,
    started: () => calls.length,
    async end() {
      clearInterval(timer)
      const finished = await Promise.all(calls)
      await agent.destroy()
      return finished
    },
  }
}
