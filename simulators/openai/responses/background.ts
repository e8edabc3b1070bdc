// Background responses: they wait, run and end by the clock, with or without a connection, and are
// billed at their end. Streams replay past events and follow new ones.
import { type Json, text } from '../../kernel/checks.ts'
import { namedEvent } from '../../kernel/events.ts'
import {
  type Charge,
  type Exchange,
  type LiveReply,
  Refused,
  type Reply,
  whole,
} from '../../kernel/exchange.ts'
import type { Platform } from '../../kernel/platform.ts'
import { oddityNames } from '../../kernel/scenario.ts'
import { lostAnswer } from '../../tasks/lost-answer.ts'
import { type ResponseAnswer, responseObject } from './answer.ts'
import { responseSteps, type Step } from './stream.ts'

const QUEUE_MS = 50
const RUN_MS = 200
/** Without `store` a response can be polled for ten minutes. */
const UNSTORED_MS = 600_000

export const BACKGROUND_SCENARIOS = oddityNames({
  'shows-usage': { description: 'a cancelled or failed background response states its usage' },
  'ends-at-cancel': { description: 'a background response is complete when it is cancelled' },
})

type Status = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled'

interface Parts {
  response: ResponseAnswer
  usage: unknown
  charge: Charge
}

export class BackgroundJob {
  readonly id: string
  private status: Status = 'queued'
  private readonly sent: string[] = []
  private readonly followers = new Set<() => void>()
  private generated = 0
  private polls = 0
  private last: Step | undefined
  private readonly endedAt = { ms: Number.POSITIVE_INFINITY }
  private readonly exchange: Exchange
  private readonly parts: Parts
  private readonly platform: Platform
  private readonly onEnd: (final: Json) => void

  constructor(exchange: Exchange, parts: Parts, platform: Platform, onEnd: (final: Json) => void) {
    this.exchange = exchange
    this.parts = parts
    this.platform = platform
    this.onEnd = onEnd
    this.id = parts.response.id
    this.begin()
  }

  /** Returns the current object. */
  show(): Json {
    const { response } = this.parts
    const done = this.status === 'completed' || this.status === 'incomplete'
    const before = responseObject(response, done, done ? this.parts.usage : null)
    if (done) return { ...before, background: true }
    const spent = this.hasEnded && this.exchange.scenario.has('shows-usage')
    return {
      ...before,
      status: this.status,
      background: true,
      ...(spent ? { usage: this.spentUsage() } : {}),
      ...(this.status === 'failed'
        ? { error: { code: 'server_error', message: 'The model failed.' } }
        : {}),
    }
  }

  /** Counts as a poll, which may be answered by the scenario's `poll-storm`. */
  poll(): Json {
    this.polls += 1
    const { scenario } = this.exchange
    if (this.polls <= (scenario.number('poll-storm') ?? 0)) {
      throw new Refused({ status: 429, retryAfterSeconds: 1, message: 'Too many requests.' })
    }
    if (this.polls <= (scenario.number('poll-errors') ?? 0)) {
      throw new Refused({ status: 500, message: 'The server had an error.' })
    }
    return this.show()
  }

  get isReadable(): boolean {
    const { scenario } = this.exchange
    if (scenario.has('vanishes') && this.hasEnded) return false
    const isStored = this.parts.response.request.store !== false
    return isStored || Date.now() - this.endedAt.ms <= UNSTORED_MS * this.platform.timeScale
  }

  get hasEnded(): boolean {
    return this.status !== 'queued' && this.status !== 'in_progress'
  }

  /**
   * Ends an unfinished response; output generated until then is billed, and all of it where the
   * scenario lets it be complete at this moment.
   */
  cancel(): void {
    if (this.hasEnded) return
    if (this.last && this.exchange.scenario.has('ends-at-cancel')) this.end('completed', this.last)
    else this.end('cancelled')
  }

  /** Sends the events after number `after`, past and future. */
  follow(after: number, cutAfter?: number): LiveReply {
    return {
      kind: 'live',
      status: 200,
      headers: { 'cache-control': 'no-cache' },
      cutAfter,
      start: (write, end) => {
        let next = after + 1
        const pump = () => {
          for (; next < this.sent.length; next += 1) write(this.sent[next] ?? '')
          if (this.hasEnded) end()
        }
        this.followers.add(pump)
        pump()
        return () => this.followers.delete(pump)
      },
    }
  }

  private begin(): void {
    const { scenario } = this.exchange
    const { timers, timeScale } = this.platform
    const queued = { ...this.show() }
    this.emit({ type: 'response.created', response: queued })
    this.emit({ type: 'response.queued', response: queued })
    const queueMs = (scenario.number('queue-time') ?? QUEUE_MS) * timeScale
    timers.after(queueMs, () => {
      if (this.hasEnded) return
      this.status = 'in_progress'
      this.run()
    })
  }

  private run(): void {
    const { scenario } = this.exchange
    const { timers, timeScale } = this.platform
    const [, ...steps] = responseSteps(this.parts.response, this.parts.usage)
    this.last = steps.pop()
    const runMs = (scenario.number('run-time') ?? RUN_MS) * timeScale
    const stepMs = scenario.has('never-ends') ? 50 : runMs / Math.max(1, steps.length)
    const next = () => {
      if (this.hasEnded) return
      const step = steps.shift()
      if (step) this.take(step)
      else if (!scenario.has('never-ends')) {
        this.end(scenario.has('fail-task') ? 'failed' : 'completed', this.last)
        return
      }
      timers.after(stepMs, next)
    }
    next()
  }

  private take({ data, units = 0 }: Step): void {
    this.generated += units
    this.emit(data)
  }

  private end(status: 'completed' | 'failed' | 'cancelled', last?: Step): void {
    const isWhole = status === 'completed'
    const type = isWhole ? text(last?.data.type) : `response.${status}`
    this.status = type === 'response.incomplete' ? 'incomplete' : status
    this.endedAt.ms = Date.now()
    this.bill(isWhole)
    // A cancelled stream just ends.
    if (status !== 'cancelled') this.emit({ type, response: this.show() })
    else for (const pump of this.followers) pump()
    this.onEnd(this.show())
  }

  private bill(isWhole: boolean): void {
    const { charge } = this.parts
    const { exchange } = this
    const isBegun = isWhole || this.generated > 0
    const isBilled = isBegun && this.status !== 'failed'
    const part = { ...charge.units, output_token: this.generated }
    const shown = this.exchange.scenario.has('shows-usage')
    this.platform.book.write({
      vendor: exchange.vendor.name,
      operation: exchange.operation,
      request_id: this.id,
      model: charge.model,
      units: isBilled || (isBegun && shown) ? (isWhole ? charge.units : part) : {},
      billed: isBilled || (isBegun && shown),
      status: 200,
      ...(isWhole ? {} : { reason: this.status }),
      marker: exchange.script.marker,
      reported: isWhole ? this.parts.usage : null,
    })
  }

  private spentUsage(): Json {
    const { input, cached } = this.parts.response.answer.tokens
    return {
      input_tokens: this.generated > 0 ? input : 0,
      input_tokens_details: { cached_tokens: this.generated > 0 ? cached : 0 },
      output_tokens: this.generated,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: this.generated > 0 ? input + this.generated : 0,
    }
  }

  private emit({ type, ...rest }: Json): void {
    const numbered = { type, sequence_number: this.sent.length, ...rest }
    this.sent.push(String(namedEvent(text(type), numbered).data))
    for (const pump of this.followers) pump()
  }
}

/** Returns the answer to the creation: the object, or the stream of events. */
export function answerCreation(exchange: Exchange, job: BackgroundJob): Reply {
  const { scenario, json } = exchange
  const lost = lostAnswer(exchange)
  if (lost) return lost
  const streams = (json as Json).stream === true
  if (!streams) return whole(200, job.show())
  const cut = scenario.has('reset-mid') ? scenario.position('reset-mid', 3) : undefined
  return job.follow(-1, cut)
}

/** GET: the object, or with `stream=true` the events after `starting_after`. */
export function readJob(exchange: Exchange, job: BackgroundJob): Reply {
  const query = new URLSearchParams(exchange.query)
  if (query.get('stream') !== 'true') return whole(200, job.poll())
  return job.follow(Number(query.get('starting_after') ?? -1))
}
