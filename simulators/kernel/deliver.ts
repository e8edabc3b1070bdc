// Delivers a reply to the client, plays the scenario's faults, and writes the book when a vendor
// would bill: once the answer is generated, whether or not the client reads it.

import { BodyWriter } from './body-writer.ts'
import type { Book, Units } from './book.ts'
import { reframe } from './events.ts'
import type {
  Charge,
  Exchange,
  Failure,
  Frame,
  LiveReply,
  Reply,
  StreamReply,
  WholeReply,
} from './exchange.ts'
import { nextTurn, sleep } from './sleep.ts'

export interface Delivery {
  book: Book
  timeScale: number
  /** The number of events per socket write in a stream without delays. */
  eventsPerWrite: number
}

const BILLS = ['full', 'delivered', 'none'] as const
type Bill = (typeof BILLS)[number]
type GeneratedReply = WholeReply | StreamReply

/** Answers at once if nothing is scripted: the path that benchmarks use. */
export function deliver(exchange: Exchange, reply: Reply, delivery: Delivery): void {
  const { response, scenario } = exchange
  if (reply.kind === 'live') {
    follow(exchange, reply)
    return
  }
  if (reply.kind === 'whole' && scenario.empty) {
    record(exchange, delivery.book, { ...outcome(reply, 'full'), reply })
    const headers = head(exchange, reply)
    headers['content-length'] = Buffer.byteLength(reply.body)
    response.writeHead(reply.status, headers).end(reply.body)
    return
  }
  delivery.book.begin()
  const running = new Running(exchange, reply, delivery)
  running
    .run()
    .catch((cause) => {
      console.error('simulator: delivery failed', cause)
      response.destroy()
    })
    .finally(() => delivery.book.end())
}

function follow(exchange: Exchange, reply: LiveReply): void {
  const { response } = exchange
  response.writeHead(reply.status, head(exchange, reply))
  let remaining = reply.cutAfter ?? Number.POSITIVE_INFINITY
  const stop = reply.start(
    (frame) => {
      if (response.destroyed || remaining < 0) return
      remaining -= 1
      if (remaining >= 0) response.write(frame)
      else setImmediate(() => response.socket?.resetAndDestroy())
    },
    () => void response.end(),
  )
  response.on('close', stop)
}

function head(exchange: Exchange, reply: Reply): Record<string, string | number> {
  const headers: Record<string, string | number> = {
    'content-type': reply.kind === 'whole' ? 'application/json' : 'text/event-stream',
    [exchange.vendor.requestIdHeader]: exchange.requestId,
    ...reply.headers,
  }
  if (exchange.scenario.has('no-content-type')) delete headers['content-type']
  return headers
}

function outcome(reply: GeneratedReply, bill: Bill): { units: Units; billed: boolean } {
  if (!reply.charge || bill === 'none') return { units: {}, billed: false }
  return { units: reply.charge.units, billed: true }
}

interface BookedWork {
  reply: GeneratedReply
  units: Units
  billed: boolean
  reason?: string | undefined
}

function record(exchange: Exchange, book: Book, work: BookedWork): void {
  const { reply } = work
  const refused = reply.status >= 400 || (reply.kind === 'whole' && reply.reason !== undefined)
  if (!reply.charge && !refused) return
  const reason = work.reason ?? (reply.kind === 'whole' ? reply.reason : undefined)
  const clientId =
    exchange.request.headers['x-client-request-id'] ?? exchange.request.headers['x-api-request-id']
  book.write({
    vendor: exchange.vendor.name,
    operation: exchange.operation,
    request_id: exchange.requestId,
    model: reply.charge?.model ?? '',
    units: work.units,
    billed: work.billed,
    status: reply.status,
    reason,
    marker: exchange.script.marker,
    ...(typeof clientId === 'string' ? { client_request_id: clientId } : {}),
    ...(reply.charge?.reported === undefined ? {} : { reported: reply.charge.reported }),
  })
}

class Running {
  private readonly exchange: Exchange
  private readonly reply: GeneratedReply
  private readonly delivery: Delivery
  private readonly disconnected = new AbortController()
  private generated = 0
  private recorded = false

  constructor(exchange: Exchange, reply: GeneratedReply, delivery: Delivery) {
    this.exchange = exchange
    this.reply = reply
    this.delivery = delivery
    exchange.response.on('close', () => {
      if (!exchange.response.writableFinished) this.disconnected.abort()
    })
  }

  async run(): Promise<void> {
    const { exchange, reply } = this
    const { response, scenario } = exchange
    await this.wait(scenario.number('delay-head'))
    if (this.stopped) return this.record('delivered', 'client went away')
    if (scenario.has('reset-before-head') || scenario.has('close-before-head')) {
      this.record('none', 'connection lost before the head')
      if (scenario.has('reset-before-head')) response.socket?.resetAndDestroy()
      else response.socket?.destroySoon()
      return
    }
    const frames = reply.kind === 'stream' ? reframe(reply, scenario) : wholeFrames(exchange, reply)
    const writer = this.open(frames)
    if (scenario.has('delay-first-byte')) {
      response.flushHeaders()
      await this.wait(scenario.number('delay-first-byte'))
    }
    await this.send(frames, writer)
  }

  private open(frames: Frame[]): BodyWriter {
    const { exchange, reply } = this
    const { scenario, response } = exchange
    const headers = head(exchange, reply)
    const total = () => frames.reduce((sum, frame) => sum + Buffer.byteLength(frame.data), 0)
    if (reply.kind === 'whole') headers['content-length'] = total()
    if (!response.destroyed) response.writeHead(reply.status, headers)
    const beforeEnd = scenario.number('cut-before-end')
    const limit =
      beforeEnd === undefined
        ? (scenario.number('cut-after-bytes') ?? Number.POSITIVE_INFINITY)
        : Math.max(0, total() - beforeEnd)
    const dripMs = (scenario.number('drip') ?? 0) * this.delivery.timeScale
    return new BodyWriter(response, scenario, { limit, dripMs })
  }

  private async send(frames: Frame[], writer: BodyWriter): Promise<void> {
    const { response } = this.exchange
    const lastGrowing = frames.findLastIndex((frame) => frame.units !== undefined)
    if (lastGrowing < 0 && !this.failing) this.record('full')
    for (const [index, frame] of frames.entries()) {
      if (await this.struck(index, frames, writer)) return
      await this.pace(index)
      if (this.stopped) return this.record('delivered', 'client went away')
      this.generated += frame.units ?? 0
      if (index === lastGrowing && !this.failing) this.record('full')
      if (!this.disconnected.signal.aborted) await writer.write(frame.data)
      if (writer.cut) return this.record('full', 'connection cut')
    }
    if (await this.struck(frames.length, frames, writer)) return
    this.record('full')
    if (!this.disconnected.signal.aborted) response.end()
  }

  /** Plays faults between two events. Returns true if the answer is over. */
  private async struck(index: number, frames: Frame[], writer: BodyWriter): Promise<boolean> {
    const { scenario, response } = this.exchange
    if (scenario.empty) return false
    const last = index === frames.length
    const strikes = (name: string, otherwise: number) =>
      scenario.has(name) && (index === scenario.position(name, otherwise) || last)
    if (strikes('reset-mid', 2)) {
      this.record('full', 'connection reset')
      await writer.reset()
      return true
    }
    if (strikes('stall-mid', 2)) {
      await this.clientGone()
      this.record('delivered', 'stalled')
      return true
    }
    const at = Math.min(scenario.number('at') ?? 2, frames.length)
    if (this.reply.kind === 'stream' && scenario.has('error-mid') && index === at) {
      this.record('none', 'error inside the stream')
      for (const frame of this.errorFrames(this.reply)) await writer.write(frame.data)
      response.end()
      return true
    }
    if (scenario.has('endless') && this.reply.kind === 'stream' && endsGrowth(frames, index)) {
      await this.neverEnd(frames, writer)
      return true
    }
    return false
  }

  private errorFrames(reply: StreamReply): Frame[] {
    const { scenario } = this.exchange
    const failure = failureOf(this.exchange, scenario.number('status') ?? 500)
    return reply.error(scenario.text('error-mid') ?? 'nested', failure)
  }

  private async neverEnd(frames: Frame[], writer: BodyWriter): Promise<void> {
    const growing = frames.filter((frame) => frame.units !== undefined)
    for (let turn = 0; !this.disconnected.signal.aborted && !writer.cut; turn += 1) {
      const frame = growing[turn % growing.length]
      if (!frame) break
      await writer.write(frame.data)
      this.generated += frame.units ?? 0
      await this.wait(this.exchange.chunkDelayMs || 2)
    }
    this.record('delivered', 'never ending')
  }

  /** Faults after which the full amount must not be booked while the body is being written. */
  private get failing(): boolean {
    const { scenario } = this.exchange
    if (scenario.empty) return false
    return ['stall-mid', 'error-mid', 'endless'].some((name) => scenario.has(name))
  }

  private get stopped(): boolean {
    return this.disconnected.signal.aborted && this.exchange.scenario.has('stops-on-cancel')
  }

  private async pace(index: number): Promise<void> {
    const { exchange, delivery } = this
    if (exchange.chunkDelayMs > 0) await this.wait(exchange.chunkDelayMs)
    else if (exchange.scenario.has('burst') || index % delivery.eventsPerWrite > 0) return
    else await nextTurn()
  }

  /** A disconnect ends the wait only if it ends the generation. */
  private async wait(ms: number | undefined): Promise<void> {
    if (!ms) return
    const stops = this.exchange.scenario.has('stops-on-cancel')
    await sleep(ms * this.delivery.timeScale, stops ? this.disconnected.signal : undefined)
  }

  private async clientGone(): Promise<void> {
    const { signal } = this.disconnected
    if (signal.aborted) return
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  }

  private record(bill: Bill, reason?: string): void {
    if (this.recorded) return
    this.recorded = true
    const billMode = this.exchange.scenario.text('bill')
    const decided = BILLS.find((one) => one === billMode) ?? bill
    const work = outcome(this.reply, decided)
    const { charge } = this.reply
    if (charge?.grows && work.billed && decided === 'delivered') {
      work.units = { ...charge.units, [charge.grows]: this.generated }
    }
    record(this.exchange, this.delivery.book, { ...work, reply: this.reply, reason })
  }
}

/** Returns true for the frame after which nothing more is generated. */
function endsGrowth(frames: Frame[], index: number): boolean {
  return index === frames.findLastIndex((frame) => frame.units !== undefined) + 1
}

/** Returns a whole body as a single frame, so that the same faults apply to it. */
function wholeFrames(exchange: Exchange, reply: WholeReply): Frame[] {
  const { scenario } = exchange
  let body = reply.body
  if (scenario.has('huge-line') && typeof body === 'string' && body.startsWith('{')) {
    body = `{"padding":"${'x'.repeat(scenario.number('huge-line') ?? 0)}",${body.slice(1)}`
  }
  if (scenario.has('bad-chunk')) body = body.slice(0, Math.floor(body.length / 2))
  return [{ data: body, ...growth(reply.charge) }]
}

function growth(charge: Charge | undefined): { units?: number } {
  return charge?.grows ? { units: charge.units[charge.grows] ?? 0 } : {}
}

/** Describes a scenario's failure in terms that every vendor folder understands. */
export function failureOf(exchange: Exchange, status: number): Failure {
  const { scenario } = exchange
  return {
    status,
    code: scenario.text('error-code'),
    message: scenario.text('error-message'),
    retryAfterSeconds: scenario.number('retry-after'),
  }
}
