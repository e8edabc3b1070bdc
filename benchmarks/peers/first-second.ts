/**
 * The first second of calls after a start: an open load, so that a late answer delays no later
 * call. The slowest counts: some caller meets it after each restart.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'undici'
import type { Target } from './pace-calls.ts'
import { requestBody } from './wrk.ts'

const CALLS = 100
const APART_MS = 10
const LARGE_KILOBYTES = 300

interface Sent {
  readonly kind: string
  readonly body: string
}

export interface FirstCall {
  readonly kind: string
  /** When it was due, from the start of the load. */
  readonly dueMs: number
  readonly ms: number
  /** The gateway's Server-Timing. */
  readonly timing: string
}

const SMALL = [requestBody(false), requestBody(true)].map((body, index): Sent => {
  return { kind: index === 0 ? 'whole' : 'streamed', body }
})
const LARGE = [false, true].map((stream): Sent => {
  return {
    kind: `of 300 KB${stream ? ', streamed' : ''}`,
    body: requestBody(stream, LARGE_KILOBYTES),
  }
})

/** Sends 100 calls of 1 KB within a second, every other one streamed, and two of 300 KB. */
export async function callForASecond(target: Target): Promise<readonly FirstCall[]> {
  const agent = new Agent({ connections: 256, pipelining: 1 })
  const open: Promise<FirstCall>[] = []
  const start = performance.now()
  const plan = Array.from({ length: CALLS }, (_, index) => {
    return { sent: SMALL[index % SMALL.length] as Sent, dueMs: index * APART_MS }
  })
  const large = LARGE.map((sent, index) => ({ sent, dueMs: 105 + index * 400 }))
  const ordered = [...plan, ...large].toSorted((a, b) => a.dueMs - b.dueMs)
  for (const { sent, dueMs } of ordered) {
    while (performance.now() - start < dueMs) await sleep(1)
    open.push(call(agent, target, sent, { start, dueMs }))
  }
  const calls = await Promise.all(open)
  await agent.close()
  return calls
}

async function call(
  agent: Agent,
  { url, path, headers }: Target,
  { kind, body }: Sent,
  { start, dueMs }: { readonly start: number; readonly dueMs: number },
): Promise<FirstCall> {
  const answer = await agent.request({
    origin: url,
    path,
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  })
  await answer.body.dump({ limit: 1024 * 1024 })
  if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}`)
  const timing = String(answer.headers['server-timing'] ?? '')
  return { kind, dueMs, ms: performance.now() - start - dueMs, timing }
}
