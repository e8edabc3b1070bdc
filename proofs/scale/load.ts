/** Steady load on the gateways: calls, every tenth of them a stream, and a video task a second. */
import { until } from '../../tests/support/until.ts'

const PER_SECOND = 100
const EVERY_MS = 1_000 / PER_SECOND
const STREAM_EVERY = 10
const TASK_EVERY = 100
const TIMEOUT_MS = 60_000
const TASKS_TIMEOUT_MS = 120_000
const TASK_MODEL = 'doubao-seedance-2-0-260128'
const STREAM_SCRIPT = '[[chunks:20]] [[chunk-delay:100]]'

export interface Load {
  /** One line for each call or task that failed. */
  readonly failures: string[]
  /** Starts no further calls. Resolves to their numbers once all calls and tasks have ended. */
  finish(): Promise<Finished>
}

interface Finished {
  readonly calls: number
  readonly tasks: number
  /** Calls per second; fewer than 100 if this process was short of processor time. */
  readonly perSecond: number
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

/** Sends 100 calls a second to `url` until `finish` is called. */
export function startLoad(url: string, key: string): Load {
  const failures: string[] = []
  const taskIds: string[] = []
  const calls: Promise<void>[] = []
  const startedAt = performance.now()
  const timer = setInterval(() => {
    const number = calls.length
    const call = number % TASK_EVERY === 1 ? createTask() : complete(number % STREAM_EVERY === 0)
    calls.push(call.catch((error) => void failures.push(String(error))))
  }, EVERY_MS)

  async function complete(isStream: boolean): Promise<void> {
    const answer = await send(url, key, isStream ? STREAM_SCRIPT : 'hi', isStream)
    const text = await answer.text()
    const isWhole = !isStream || text.endsWith('data: [DONE]\n\n')
    if (answer.status !== 200 || !isWhole) failures.push(`${answer.status} ${text.slice(0, 200)}`)
  }

  async function createTask(): Promise<void> {
    const content = [{ type: 'text', text: 'a river [[run-time:5000]]' }]
    const answer = await post(`${url}/v1/videos/generations`, key, { model: TASK_MODEL, content })
    const text = await answer.text()
    if (answer.status === 200) taskIds.push((JSON.parse(text) as { id: string }).id)
    else failures.push(`task: ${answer.status} ${text.slice(0, 200)}`)
  }

  async function endOfTask(id: string): Promise<void> {
    const headers = { authorization: `Bearer ${key}` }
    const status = await until(
      'the end of a task',
      async () => {
        const answer = await fetch(`${url}/v1/videos/generations/${id}`, { headers })
        const { status } = (await answer.json()) as { status: string }
        return ['queued', 'processing'].includes(status) ? undefined : status
      },
      TASKS_TIMEOUT_MS,
    )
    if (status !== 'succeeded') failures.push(`task ${id}: ${status}`)
  }

  return {
    failures,
    async finish() {
      clearInterval(timer)
      const seconds = (performance.now() - startedAt) / 1_000
      await Promise.all(calls)
      const ends = taskIds.map((id) => endOfTask(id).catch((error) => failures.push(String(error))))
      await Promise.all(ends)
      const perSecond = Math.round(calls.length / seconds)
      return { calls: calls.length, tasks: taskIds.length, perSecond }
    },
  }
}

/** Replaces each gateway in turn, under load, by what `start` gives for its port. */
export async function replaceEach<T extends Replaceable>(
  gateways: T[],
  failures: string[],
  start: (port: number) => Promise<T>,
): Promise<void> {
  for (const [index, gateway] of gateways.entries()) {
    gateway.signal('SIGTERM')
    const exit = await gateway.exited
    if (exit.code !== 0) failures.push(`a gateway ended with ${exit.code ?? exit.signal}`)
    gateways[index] = await start(gateway.port)
  }
}

interface Replaceable {
  readonly port: number
  readonly exited: Promise<{ code: number | null; signal: string | null }>
  signal(name: 'SIGTERM'): void
}
