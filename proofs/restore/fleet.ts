/** Three gateways on one PostgreSQL, one of which is killed now and then, and calls to all. */
import { Agent } from 'undici'
import { type FinishedCall, HTTP_KINDS, planCall, sendCall } from '../../testbed/calls.ts'
import type { Laboratory } from '../../testbed/laboratory.ts'
import type { Random } from '../../testbed/random.ts'
import type { GatewayProcess } from '../../tests/support/gateway.ts'

/** A call with the span in which its caller waited, by `performance.now()`. */
export interface TimedCall extends FinishedCall {
  readonly startedMs: number
  readonly endedMs: number
}

export interface Fleet {
  /** Kills one gateway with SIGKILL and starts another in its place. */
  killOne(): Promise<void>
  kills(): number
  /** Returns the calls that have ended so far. */
  finished(): readonly TimedCall[]
  /** Starts no new calls; resolves to all of them after every gateway has stopped. */
  stop(): Promise<readonly TimedCall[]>
}

const GATEWAYS = 3
const STREAM_MS_MAX = 1_500

/** Starts calls at a fixed rate, however long earlier ones take. */
export async function startFleet(
  laboratory: Laboratory,
  options: { readonly perSecond: number; readonly random: Random },
): Promise<Fleet> {
  const { perSecond, random } = options
  const gateways: GatewayProcess[] = []
  for (let index = 0; index < GATEWAYS; index += 1) gateways.push(await laboratory.startGateway())
  const agent = new Agent({ connections: 200, headersTimeout: 20_000, bodyTimeout: 20_000 })
  const calls: Promise<void>[] = []
  const finished: TimedCall[] = []
  let kills = 0

  async function send(number: number): Promise<void> {
    const key = laboratory.keys[number % laboratory.keys.length]
    const gateway = gateways[number % GATEWAYS]
    if (!key || !gateway) return
    const call = planCall(random, `r${number}`, random.pick(HTTP_KINDS), STREAM_MS_MAX)
    const startedMs = performance.now()
    const answered = await sendCall(agent, gateway.url, call, key)
    finished.push({ ...answered, startedMs, endedMs: performance.now() })
  }

  const timer = setInterval(() => calls.push(send(calls.length)), 1000 / perSecond)
  return {
    async killOne() {
      const index = random.integer(0, GATEWAYS - 1)
      kills += 1
      await gateways[index]?.kill9()
      gateways[index] = await laboratory.startGateway()
    },
    kills: () => kills,
    finished: () => finished,
    async stop() {
      clearInterval(timer)
      await Promise.all(calls)
      await agent.destroy()
      await Promise.all(gateways.map((gateway) => gateway.stop()))
      return finished
    },
  }
}
