/** Steady load on the gateways: calls, every tenth of them a stream, and a video task a second. */
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../tests/support/until.ts'

const PER_SECOND = 100
const TICK_MS = 10
/** After a pause of this process it catches up at this many times the rate. */
const CATCH_UP = 3
const STREAM_EVERY = 10
const TASK_EVERY = 100
const TIMEOUT_MS = 60_000
const TASKS_TIMEOUT_MS = 120_000
const TASK_MODEL = 'doubao-seedance-2-0-260128'
const STREAM_SCRIPT = '[[chunks:20]] [[chunk-delay:100]]'

export interface Load {
  /** Calls and tasks that failed. */
  readonly failures: Failure[]
  /** Notes what happens to a gateway: failures are told by their time after it. */
  note(event: string): void
  /** Starts no further calls. Resolves to their numbers once all calls and tasks have ended. */
  finish(): Promise<Finished>
}

export interface Failure {
  readonly what: string
  readonly began: string
  readonly failed: string
  /** Status and body of the response, or the error of the connection. */
  readonly answer: string
  readonly beganMs: number
  readonly failedMs: number
}

interface Finished {
  readonly calls: number
  readonly tasks: number
  /** Calls per second; fewer than 100 if this process was short of processor time. */
  readonly perSecond: number
  /** The request ids of the calls that were answered whole. */
  readonly answered: readonly string[]
}

export function send(url: string, key: string, content: string, stream = false): Promise<Response> {
  const messages = [{ role: 'user', content }]
  return post(`${url}/v1/chat/completions`, key, { model: 'sim-chat', stream, messages })
}

function post(url: string, key: string, body: object): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      // A proxy that is configured anew closes the connections that it has kept.
      connection: 'close',
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
}

type Outcome = { readonly id: string } | { readonly failure: string }

async function complete(url: string, key: string, isStream: boolean): Promise<Outcome> {
  const answer = await send(url, key, isStream ? STREAM_SCRIPT : 'hi', isStream)
  const text = await answer.text()
  const isWhole = !isStream || text.endsWith('data: [DONE]\n\n')
  if (answer.status !== 200 || !isWhole) return { failure: describe(answer, text) }
  return { id: answer.headers.get('x-request-id') ?? '' }
}

async function createTask(url: string, key: string): Promise<Outcome> {
  const content = [{ type: 'text', text: 'a river [[run-time:5000]]' }]
  const answer = await post(`${url}/v1/videos/generations`, key, { model: TASK_MODEL, content })
  const text = await answer.text()
  if (answer.status !== 200) return { failure: describe(answer, text) }
  return { id: (JSON.parse(text) as { id: string }).id }
}

async function endTask(url: string, key: string, id: string): Promise<Outcome> {
  const headers = { authorization: `Bearer ${key}` }
  const status = await until(
    'the end of a task',
    async () => {
      const answer = await fetch(`${url}/v1/videos/generations/${id}`, { headers })
      const { status } = (await answer.json()) as { status: string }
      await sleep(200)
      return ['queued', 'processing'].includes(status) ? undefined : status
    },
    TASKS_TIMEOUT_MS,
  )
  return status === 'succeeded' ? { id } : { failure: `${id}: ${status}` }
}

/** Sends `rate` calls a second to `url` until `finish` is called. */
export function startLoad(url: string, key: string, rate: number = PER_SECOND): Load {
  const failures: Failure[] = []
  const taskIds: string[] = []
  const answered: string[] = []
  const calls: Promise<void>[] = []
  const events = [{ event: 'the first call', atMs: performance.now() }]
  const startedAt = performance.now()
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedAt) * rate) / 1_000) + 1
    const mostNow = (CATCH_UP * rate * TICK_MS) / 1_000
    for (let count = 0; count < mostNow && calls.length < due; count += 1) calls.push(begin())
  }, TICK_MS)

  function begin(): Promise<void> {
    const number = calls.length
    if (number % TASK_EVERY === 1) return attempt('task', createTask(url, key), taskIds)
    const isStream = number % STREAM_EVERY === 0
    return attempt(isStream ? 'stream' : 'call', complete(url, key, isStream), answered)
  }

  async function attempt(what: string, work: Promise<Outcome>, ids: string[] = []): Promise<void> {
    const beganMs = performance.now()
    const outcome = await work.catch((error) => ({ failure: describeError(error) }))
    if ('id' in outcome) return void ids.push(outcome.id)
    const { failure: answer } = outcome
    const failedMs = performance.now()
    const [began, failed] = [describeTime(beganMs), describeTime(failedMs)]
    failures.push({ what, began, failed, answer, beganMs, failedMs })
  }

  function describeTime(ms: number): string {
    const last = events.findLast(({ atMs }) => atMs <= ms) ?? {
      event: 'the start',
      atMs: startedAt,
    }
    return `${((ms - last.atMs) / 1_000).toFixed(3)} s after ${last.event}`
  }

  return {
    failures,
    note: (event) => void events.push({ event, atMs: performance.now() }),
    async finish() {
      clearInterval(timer)
      const seconds = (performance.now() - startedAt) / 1_000
      await Promise.all(calls)
      await Promise.all(taskIds.map((id) => attempt('end of a task', endTask(url, key, id))))
      const perSecond = Math.round(calls.length / seconds)
      return { calls: calls.length, tasks: taskIds.length, perSecond, answered }
    },
  }
}

/** The end of a long body says how a stream was cut. */
function describe({ status, headers }: Response, text: string): string {
  const short = text.length > 400 ? `${text.slice(0, 100)} … ${text.slice(-300)}` : text
  const id = headers.get('x-request-id')
  return `${status} ${id === null ? 'not of a gateway' : id}: ${short}`
}

function describeError(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined
  return `${error}${cause ? `: ${cause.message}` : ''}`
}

/** Replaces each gateway in turn, under load, by what `start` gives for its port. */
export async function replaceEach<T extends Replaceable>(
  gateways: T[],
  load: Load,
  start: (port: number) => Promise<T>,
): Promise<void> {
  for (const [index, gateway] of gateways.entries()) {
    const name = `gateway ${index + 1}`
    load.note(`SIGTERM to ${name}`)
    gateway.signal('SIGTERM')
    const { code, signal } = await gateway.exited
    if (code !== 0) load.failures.push(endedBadly(name, `${code ?? signal}\n${gateway.log()}`))
    load.note(`the end of ${name}`)
    gateways[index] = await start(gateway.port)
    load.note(`the readiness of ${name}`)
  }
}

function endedBadly(what: string, answer: string): Failure {
  const now = performance.now()
  return { what, began: '', failed: 'at its end', answer, beganMs: now, failedMs: now }
}

interface Replaceable {
  readonly port: number
  readonly exited: Promise<{ code: number | null; signal: string | null }>
  signal(name: 'SIGTERM'): void
  log(): string
}
