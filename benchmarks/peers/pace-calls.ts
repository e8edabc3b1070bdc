/**
 * An open load of short calls: a late answer delays no later call, and the time of a call counts
 * from when it was due.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'undici'
import { quantile } from '../../testbed/results.ts'
import type { Peer } from './start-peers.ts'
import { requestBody } from './wrk.ts'

export interface Target extends Pick<Peer, 'name' | 'url' | 'headers'> {
  readonly path: string
}

/** Quantiles in milliseconds; errors are answers other than 200 and broken connections. */
export interface Paced {
  readonly p50: number
  readonly p99: number
  readonly errors: number
}

const BODY = requestBody(false)

/** Sends `perSecond` calls for `seconds`, of 1 KB unless another body is given; waits for all. */
export async function paceCalls(
  target: Target,
  options: { readonly perSecond: number; readonly seconds: number; readonly body?: string },
): Promise<Paced> {
  const { perSecond, seconds, body = BODY } = options
  const agent = new Agent({ connections: 256, pipelining: 1 })
  const times: number[] = []
  const open: Promise<void>[] = []
  let errors = 0
  const start = performance.now()
  for (let started = 0; performance.now() - start < seconds * 1_000; ) {
    const due = Math.ceil(((performance.now() - start) * perSecond) / 1_000)
    for (; started < due; started += 1) {
      const dueAt = start + (started * 1_000) / perSecond
      open.push(
        send(agent, target, body).then((ok) => {
          if (!ok) errors += 1
          times.push(performance.now() - dueAt)
        }),
      )
    }
    await sleep(1)
  }
  await Promise.all(open)
  await agent.close()
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), errors }
}

async function send(agent: Agent, { url, path, headers }: Target, body: string): Promise<boolean> {
  try {
    const answer = await agent.request({
      origin: url,
      path,
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    })
    await answer.body.dump()
    return answer.statusCode === 200
  } catch {
    return false
  }
}
