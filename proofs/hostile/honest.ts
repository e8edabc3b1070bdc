/**
 * The honest callers, a process of their own: calls of all kinds at a steady rate, whatever becomes
 * of those before. Each is a line of the file. SIGTERM ends it once the last has its answer.
 */
import { createWriteStream } from 'node:fs'
import { Agent } from 'undici'
import { type CallKind, HTTP_KINDS, type Outcome, planCall, sendCall } from '../../testbed/calls.ts'
import { createRandom } from '../../testbed/random.ts'

export interface HonestOrder {
  readonly url: string
  readonly keys: readonly { readonly id: string; readonly key: string }[]
  readonly perSecond: number
  readonly seed: number
  readonly file: string
}

/** One line of the file. */
export interface HonestCall {
  readonly marker: string
  readonly kind: CallKind
  readonly model: string
  /** Milliseconds since 1970 when it was sent. */
  readonly at: number
  readonly milliseconds: number
  readonly outcome: Outcome
  readonly status: number
  readonly requestId: string | undefined
  readonly refusal?: string
}

const TICK_MS = 5

function run({ url, keys, perSecond, seed, file }: HonestOrder): void {
  const random = createRandom(seed)
  const agent = new Agent({ connections: 256, headersTimeout: 120_000, bodyTimeout: 120_000 })
  const lines = createWriteStream(file)
  const startedAt = performance.now()
  let sent = 0
  let open = 0
  let isOver = false

  const finish = () => {
    if (isOver && open === 0) lines.end(() => process.exit(0))
  }
  async function send(): Promise<void> {
    const key = keys[sent % keys.length]
    if (!key) throw new Error('no keys')
    sent += 1
    open += 1
    const at = Date.now()
    const call = planCall(random, `h${sent}`, random.pick(HTTP_KINDS), 0)
    const finished = await sendCall(agent, url, call, key)
    const { usage, path, body, keyId, replayOf, ...seen } = finished
    const line: HonestCall = { ...seen, at }
    lines.write(`${JSON.stringify(line)}\n`)
    open -= 1
    finish()
  }

  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) / 1000) * perSecond
    while (sent < due) void send()
  }, TICK_MS)
  process.once('SIGTERM', () => {
    clearInterval(timer)
    isOver = true
    finish()
  })
}

run(JSON.parse(process.argv[2] ?? '') as HonestOrder)
