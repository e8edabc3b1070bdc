/** Sends cases as their callers would, concurrently, and records each answer. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import type { Case } from './plan.ts'
import type { Purse } from './stage.ts'
import { NONE_STATED, readStatedCharges, type StatedCharges } from './stated-charges.ts'

export interface Observed {
  readonly testCase: Case
  readonly purse: Purse
  readonly status: number
  readonly requestId: string | undefined
  /** Earlier attempts that got 503 and must not be charged. */
  readonly busyIds: readonly string[]
  /** The time of the last attempt, and of its end. */
  readonly startedMs: number
  readonly endedMs: number
  /** The start of the answer. */
  readonly text: string
  /** The caller asked for `usage.cost`, and the answer is not too long to look for it. */
  readonly isAsked: boolean
  readonly statedCharges: StatedCharges
}

const TEXT_LENGTH_MAX = 4_000
const WHOLE_LENGTH_MAX = 1_000_000
const ANSWER_MS_MAX = 60_000
const TRIES_MAX = 5
const TRY_AGAIN_MS = 500

export interface DriveOptions {
  readonly dispatcher: Dispatcher
  readonly url: string
  readonly concurrency: number
  readonly purseFor: (testCase: Case) => Promise<Purse>
  /** Resolves when a case may be sent. */
  readonly untilDue?: (testCase: Case, purse: Purse) => Promise<void>
  /** Tells a vendor's 503 from the gateway's own. */
  readonly hasArrived?: (caseId: number) => boolean
}

/** Resolves when every case has ended, with or without an answer. */
export async function driveCases(
  cases: readonly Case[],
  options: DriveOptions,
): Promise<Observed[]> {
  const running = new Map<number, Promise<Observed>>()
  const queue = [...cases]
  const worker = async () => {
    for (let testCase = queue.shift(); testCase; testCase = queue.shift()) {
      if (testCase.after !== undefined) await running.get(testCase.after)
      const answer = sendUntilTaken(testCase, options)
      running.set(testCase.id, answer)
      await answer
    }
  }
  await Promise.all(Array.from({ length: options.concurrency }, worker))
  return await Promise.all(running.values())
}

/** Retries after 503, which a gateway answers while its database is slow. */
async function sendUntilTaken(testCase: Case, options: DriveOptions): Promise<Observed> {
  const purse = await options.purseFor(testCase)
  await options.untilDue?.(testCase, purse)
  const busyIds: string[] = []
  for (let attempt = 1; ; attempt += 1) {
    const observed = await send(testCase, purse, options)
    const isVendors =
      testCase.answer.refusal !== undefined && options.hasArrived?.(testCase.id) !== false
    const isBusy = observed.status === 503 && !isVendors
    if (!isBusy || observed.requestId === undefined || attempt > TRIES_MAX)
      return { ...observed, busyIds }
    busyIds.push(observed.requestId)
    await sleep(attempt * TRY_AGAIN_MS)
  }
}

async function send(
  testCase: Case,
  purse: Purse,
  { dispatcher, url }: DriveOptions,
): Promise<Omit<Observed, 'busyIds'>> {
  const startedMs = Date.now()
  const base = {
    testCase,
    purse,
    startedMs,
    status: 0,
    requestId: undefined,
    text: '',
    isAsked: false,
    statedCharges: NONE_STATED,
  }
  try {
    const answer = await dispatcher.request({
      origin: url,
      path: testCase.path,
      method: 'POST',
      headers: {
        authorization: `Bearer ${purse.key}`,
        'content-type': 'application/json',
        ...testCase.headers,
        // The others show that nothing else depends on it.
        ...(testCase.id % 2 === 0 ? { 'x-tributary-cost': 'true' } : {}),
      },
      body: bytesOf(testCase),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    })
    const id = answer.headers['x-request-id']
    const requestId = typeof id === 'string' ? id : undefined
    const whole = await readText(answer.body, testCase.leavesAfter)
    const isAsked = testCase.id % 2 === 0 && whole.length <= WHOLE_LENGTH_MAX
    const statedCharges = readStatedCharges(answer.headers, isAsked ? whole : '')
    const text = whole.slice(0, TEXT_LENGTH_MAX)
    const endedMs = Date.now()
    const told = { text, isAsked, statedCharges }
    return { ...base, endedMs, status: answer.statusCode, requestId, ...told }
  } catch (error) {
    return { ...base, endedMs: Date.now(), text: String(error) }
  }
}

function bytesOf({ dialect, body }: Case): Buffer {
  return Buffer.from(body, dialect === 'transcription' ? 'latin1' : 'utf8')
}

/** Reads to the end; an answer that breaks off counts as well. */
async function readText(
  body: Dispatcher.ResponseData['body'],
  leavesAfter: number | undefined,
): Promise<string> {
  let text = ''
  let bytes = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (text.length <= WHOLE_LENGTH_MAX) text += chunk.toString('utf8')
      if (leavesAfter !== undefined && bytes > leavesAfter) break
    }
  } catch (error) {
    text += `\n[${String(error)}]`
  }
  if (!body.destroyed) body.destroy()
  return text
}
