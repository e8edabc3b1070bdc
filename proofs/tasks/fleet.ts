/** Several gateways on one database, of which one can be killed and is started again. */

import type { Place } from '../../testbed/laboratory.ts'
import type { Random } from '../../testbed/random.ts'
import type { GatewayProcess } from '../../tests/support/gateway.ts'

export interface Fleet {
  /** Returns a gateway that should be running. */
  pick(): GatewayProcess
  /** Kills one with SIGKILL and starts another in its place. */
  killOne(): Promise<void>
  stop(): Promise<void>
}

export async function startFleet(
  place: Place,
  size: number,
  env: Readonly<Record<string, string>>,
  random: Random,
): Promise<Fleet> {
  const gateways = await Promise.all(Array.from({ length: size }, () => place.startGateway(env)))
  return {
    pick() {
      const [first, ...rest] = gateways
      if (!first) throw new Error('there is no gateway')
      return random.pick([first, ...rest])
    },
    async killOne() {
      const index = random.integer(0, gateways.length - 1)
      await gateways[index]?.kill9()
      gateways[index] = await place.startGateway(env)
    },
    async stop() {
      await Promise.all(gateways.map((gateway) => gateway.stop(5_000)))
    },
  }
}

/**
 * Creates a task and repeats the request under its Idempotency-Key until the answer is final.
 * Resolves to the task's id, or undefined if the gateway reports that it was never created.
 */
export async function createUntilKnown(
  fleet: Fleet,
  key: string,
  model: string,
  text: string,
  patienceMs: number,
): Promise<string | undefined> {
  const deadline = performance.now() + patienceMs
  const body = JSON.stringify({ model, content: [{ type: 'text', text }], ratio: '16:9' })
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'idempotency-key': text,
  }
  while (performance.now() < deadline) {
    const url = `${fleet.pick().url}/v1/videos/generations`
    const answer = await fetch(url, { method: 'POST', headers, body }).catch(() => undefined)
    if (answer?.status === 200) return ((await answer.json()) as { id: string }).id
    const text = await answer?.text().catch(() => '')
    // Repeats only if the gateway is unreachable or does not know the outcome yet.
    if (answer && answer.status < 500 && answer.status !== 409 && answer.status !== 429) {
      throw new Error(`a creation was refused: ${answer.status} ${text}`)
    }
    await new Promise((resolve) => setTimeout(resolve, answer ? 500 : 100))
  }
  return undefined
}
