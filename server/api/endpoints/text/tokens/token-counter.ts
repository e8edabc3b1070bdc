/**
 * Counts the tokens of texts in a thread of its own, so that neither loading the tokenizer nor
 * counting any text blocks the event loop. The thread starts at first need and ends when it has
 * been idle.
 */
import { Worker } from 'node:worker_threads'
import { estimateTokens } from '../../../../base/lib/text/estimate-tokens.ts'
import { sampleTexts } from './sample-texts.ts'

export interface CountOrder {
  readonly id: number
  readonly text: string
}

export interface Counted {
  readonly id: number
  readonly tokens: number
}

/** A thread without work for this long ends, and its memory is free. */
const IDLE_MS = 60_000
/** A count that takes longer is replaced by an estimate from the length. */
const WAIT_MS_MAX = 3_000
/** More counts than this at once are replaced by estimates. */
const WAITING_MAX = 100
/**
 * Beyond this, counts that callers request are estimated, so that the thread stays available for
 * charges.
 */
export const FREE_WAITING_MAX = 4

let worker: Worker | undefined
let idle: NodeJS.Timeout | undefined
let lastId = 0
const waiting = new Map<number, (tokens: number | undefined) => void>()

/** Returns the tokens of all texts together; an estimate while `waitingMax` wait. Never rejects. */
export async function countInThread(
  texts: readonly string[],
  waitingMax = WAITING_MAX,
): Promise<number> {
  const { text, times } = sampleTexts(texts)
  if (text === '') return 0
  const tokens = waiting.size < waitingMax ? await order(text) : undefined
  return Math.ceil((tokens ?? estimateTokens(text)) * times)
}

function order(text: string): Promise<number | undefined> {
  lastId += 1
  const id = lastId
  clearTimeout(idle)
  return new Promise((resolve) => {
    const timer = setTimeout(() => end(id, undefined), WAIT_MS_MAX)
    waiting.set(id, (tokens) => {
      clearTimeout(timer)
      resolve(tokens)
    })
    worker ??= start()
    worker.postMessage({ id, text } satisfies CountOrder)
  })
}

function start(): Worker {
  const started = new Worker(new URL('./thread.ts', import.meta.url))
  started.on('message', ({ id, tokens }: Counted) => end(id, tokens))
  // An error ends the thread; the next count starts another.
  started.on('error', () => {})
  started.on('exit', () => {
    if (worker !== started) return
    worker = undefined
    for (const id of waiting.keys()) end(id, undefined)
  })
  started.unref()
  return started
}

function end(id: number, tokens: number | undefined): void {
  waiting.get(id)?.(tokens)
  waiting.delete(id)
  if (waiting.size > 0) return
  clearTimeout(idle)
  idle = setTimeout(stop, IDLE_MS).unref()
}

function stop(): void {
  const stopped = worker
  worker = undefined
  stopped?.terminate()
}
