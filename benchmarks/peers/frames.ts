/** Measures streams as their readers see them: the time to the first frame, and late frames. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'undici'
import { quantile } from '../../testbed/results.ts'
import type { Target } from './pace-calls.ts'
import { requestBody } from './wrk.ts'

/** Half of the time between two frames. */
const LATE_MS = 10
const OPEN_WITHIN_MS = 2_000

export interface Frames {
  /** Milliseconds from the request to the first frame, p50. */
  readonly first: number
  /** Share of the frames that came more than 10 ms after the upstream wrote them. */
  readonly late: number
  /** Milliseconds from the upstream's write to the arrival, p99. */
  readonly p99: number
  readonly errors: number
}

/** Opens this many streams, evenly over two seconds, and reads each to its end. */
export async function measureFrames(
  { url, headers, path }: Omit<Target, 'name'>,
  { streams, kilobytes }: { readonly streams: number; readonly kilobytes: number },
): Promise<Frames> {
  const body = requestBody(true, kilobytes)
  const agent = new Agent({ connections: streams, pipelining: 1 })
  const firsts: number[] = []
  const delays: number[] = []
  let errors = 0
  async function read(): Promise<void> {
    const start = performance.now()
    const answer = await agent.request({
      origin: url,
      path,
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    })
    let isFirst = true
    for await (const chunk of answer.body) {
      const now = performance.now()
      if (isFirst) firsts.push(now - start)
      isFirst = false
      for (const [, at] of String(chunk).matchAll(/ at=([\d.]+) /g)) {
        delays.push(performance.timeOrigin + now - Number(at))
      }
    }
  }
  const open: Promise<void>[] = []
  for (let stream = 0; stream < streams; stream += 1) {
    open.push(
      read().catch(() => {
        errors += 1
      }),
    )
    await sleep(OPEN_WITHIN_MS / streams)
  }
  await Promise.all(open)
  await agent.close()
  const late = delays.filter((delay) => delay > LATE_MS).length / Math.max(1, delays.length)
  return { first: quantile(firsts, 0.5), late, p99: quantile(delays, 0.99), errors }
}
