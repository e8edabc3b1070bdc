/**
 * A WebSocket of the Responses dialect (docs/protocols/openai.md#responses): each `response.create`
 * is a call of POST /v1/responses through the listener, with its hold, record and log line.
 */
import { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import { ERRORS, GatewayError, invalidField } from '../../../../base/lib/errors.ts'
import { randomText } from '../../../../base/lib/ids.ts'
import {
  isObject,
  type JsonObject,
  member,
  tryParseJson,
  writeJson,
} from '../../../../base/lib/json.ts'
import { IncomingMessage } from '../../../../base/lib/process/node-http.ts'
import { SHARED_BYTES } from '../../../../base/lib/queues/loop-share.ts'
import type { JsonFields } from '../../../../wire/dialects/json-scan.ts'
import {
  type ParsedRequest,
  parseRequestJson,
} from '../../../../wire/dialects/request-json/parse.ts'
import { encodeUnknownResponse } from '../../../../wire/dialects/responses/encode-lost.ts'
import { spliceJson } from '../../../../wire/dialects/splice.ts'
import { parseInTurns } from '../../../../work/pipeline/request/read-request.ts'
import type { Waiting } from '../../../../work/pipeline/services.ts'
import type { PlainServices } from '../../endpoint.ts'
import type { SocketUser } from '../../sockets.ts'
import { encodeSocketError, MessageResponse } from './message-response.ts'
import { repeatable, TurnMemory, toItems } from './remembered-turn.ts'
import { SocketFlow } from './socket-flow.ts'

/** Headers of the handshake that say nothing about the calls on its connection. */
const OF_HANDSHAKE = new RegExp(
  [
    '^(?:connection|upgrade|host|origin|accept|accept-encoding|transfer-encoding|expect',
    'idempotency-key|(?:sec-websocket|content)-.*)$',
  ].join('|'),
)

/** Time without a message and without a response after which a connection is closed. */
const IDLE_MS = 10 * 60_000
/** Age after which a connection is closed, between two responses. */
const AGE_MS = 60 * 60_000
/** A connection whose peer does not answer a ping within this time is ended. */
const PING_MS = 30_000

const NORMAL = 1000
const GOING_AWAY = 1001

const TOO_MUCH = 'the messages of this account are too large together: send fewer at once'

/** Members of the message that are not members of the request. */
const OF_MESSAGE = ['type', 'generate', 'stream_id']
const ENDING = /"type":\s*"response\.(?:completed|incomplete)"/
/** The event of an error, or one that holds nothing else (ARK). */
const FAILURE = /^\{\s*(?:"sequence_number":\s*\d+,\s*)?"(?:error":|type":\s*"error")/
const IN_PROGRESS = {
  message: 'a response is running on this connection: wait for its end, or open another',
  code: 'response_in_progress',
}
/** Refusals that apply to all further messages as well: of the key, and of too many messages. */
const SLOWING: ReadonlySet<number> = new Set([401, 403, 429])
/** The type of an event is among its first members. */
const HEAD_LENGTH = 200

export interface ResponseSessionOptions {
  readonly socket: WebSocket
  /** The WebSocket is read from it. */
  readonly connection: Socket
  readonly handshake: IncomingMessage
  readonly path: string
  readonly accountId: string
  /**
   * Runs `work` for a message, and counts it if it is refused. Rejects as `work`, with 401 or 403
   * once the key is revoked, or with 429 if too much of its caller was refused.
   */
  readonly enter: (message: Arrived, work: (count: Count) => Promise<void>) => Promise<void>
  readonly services: Pick<
    PlainServices,
    'sockets' | 'storedAnswers' | 'log' | 'memory' | 'limits' | 'whileAway'
  >
}

/** A message whose connection may end while it waits. */
type Arrived = Waiting & { readonly bytes: number }

/** Counts a message that is not a call of its own. Rejects with 429 over the caller's limits. */
type Count = () => Promise<void>

/** All items of a call's input, and the size of the message that requested it. */
interface WholeInput {
  readonly items: readonly unknown[]
  readonly messageBytes: number
}

interface Message {
  readonly value: JsonObject
  readonly body: Buffer
  readonly fields: JsonFields
}

export class ResponseSession implements SocketUser {
  private readonly options: ResponseSessionOptions
  private readonly memory: TurnMemory
  private readonly flow: SocketFlow
  private readonly ping: NodeJS.Timeout
  private readonly age: NodeJS.Timeout
  private idle: NodeJS.Timeout
  private running: MessageResponse | undefined
  /** A message is being read, or its response is running. */
  private isBusy = false
  /** The vendor of the running response has sent an error, behind which it may still send more. */
  private hasFailed = false
  private isAlive = true
  private isClosed = false
  private isEnding = false
  private isTooOld = false

  constructor(options: ResponseSessionOptions) {
    this.options = options
    const { socket, connection, accountId, services } = options
    const { memory, limits } = services
    this.memory = new TurnMemory(accountId, memory)
    const onDrained = () => this.running?.drained()
    const stallMs = limits.clientStallMs
    this.flow = new SocketFlow({ socket, connection, accountId, memory, stallMs, onDrained })
    this.idle = this.startIdle()
    this.age = setTimeout(() => this.onAge(), AGE_MS)
    this.ping = setInterval(() => this.onPing(), PING_MS)
    socket.on('message', (data: Buffer) => void this.onMessage(data))
    socket.on('pong', () => {
      this.isAlive = true
    })
    socket.on('error', () => socket.terminate())
    socket.on('close', () => this.onClose())
  }

  closeWhenIdle(): void {
    this.isEnding = true
    this.endIfIdle()
  }

  private async onMessage(data: Buffer): Promise<void> {
    if (this.hasFailed) {
      // The caller goes on, as one of a POST that disconnects from its error.
      this.running?.leave()
      this.onEnded()
    }
    const { socket } = this.options
    // A message that crosses our close gets no answer, so it must cost nothing.
    if (socket.readyState !== socket.OPEN) return
    this.isAlive = true
    this.restartIdle()
    const isNext = !this.isBusy
    this.isBusy = true
    const arrived = this.arrive(data.length)
    try {
      await this.options.enter(arrived, async (count) => {
        if (isNext) return this.create(data, count, arrived)
        await count()
        throw new GatewayError('invalid_request', IN_PROGRESS)
      })
    } catch (error) {
      this.sendError(error)
      if (error instanceof GatewayError && SLOWING.has(error.status)) this.flow.slowDown()
      if (isNext) this.onEnded()
    }
  }

  /** A message waits as long as its connection is open, however old that is. */
  private arrive(bytes: number): Arrived {
    const isGone = () => this.isClosed
    return {
      bytes,
      startedAt: performance.now(),
      get end() {
        return isGone() || undefined
      },
    }
  }

  /** Starts the response that a message asks for. Throws GatewayError. */
  private async create(data: Buffer, count: Count, arrived: Arrived): Promise<void> {
    const parsed = await this.parse(data)
    // The endpoint refuses it in its own words.
    if (!parsed.ok) {
      this.run(data, { items: [], messageBytes: data.length })
      return
    }
    const message = { body: data, ...parsed }
    const { value } = message
    const problem = problemOf(value)
    if (problem || value.generate === false) await count()
    if (problem) throw problem
    const own = toItems(value.input)
    const items = await this.continueTurn(value, own, arrived)
    if (this.isClosed) return
    const input = { items: items ?? own, messageBytes: data.length }
    if (value.generate === false) this.warmUp(value, input)
    else this.run(toBody(message, items), input)
  }

  /** Parses a message, a large one in turns. Throws 429 or 503 without room for it meanwhile. */
  private async parse(data: Buffer): Promise<ParsedRequest> {
    if (data.length < SHARED_BYTES) return parseRequestJson(data)
    const { accountId, services } = this.options
    const { bytes: budget, loop } = services.memory
    const portion = budget.portion(accountId, 'request')
    if (!portion.grow(data.length)) throw portion.refuse(data.length, TOO_MUCH)
    try {
      await loop.turn(accountId)
      return await parseInTurns(data, services.memory, accountId)
    } finally {
      portion.release()
    }
  }

  /**
   * Returns the whole input of a request that continues the last response of this connection;
   * undefined if its vendor stores that response, or for any other request.
   */
  private async continueTurn(
    { previous_response_id: id }: JsonObject,
    own: readonly unknown[],
    arrived: Arrived,
  ): Promise<readonly unknown[] | undefined> {
    if (typeof id !== 'string') return undefined
    const { accountId, services } = this.options
    const turn = this.memory.find(id)
    if (!turn) return undefined
    const find = () => services.storedAnswers.find(accountId, id)
    if (await services.whileAway(arrived, find)) return undefined
    return [...turn.items, ...own]
  }

  /** Runs a call of the endpoint. */
  private run(body: Buffer, input: WholeInput): void {
    const { handshake, path, services, socket } = this.options
    const request = createMessageRequest(handshake, path, body)
    this.running = new MessageResponse(request, {
      send: (text) => {
        const head = text.slice(0, HEAD_LENGTH)
        if (ENDING.test(head)) this.remember(text, input)
        if (FAILURE.test(head)) this.hasFailed = true
        return this.flow.send(text)
      },
      ended: () => this.onEnded(),
      terminate: () => socket.terminate(),
    })
    services.sockets.handle(request, this.running)
  }

  /**
   * Answers a request that generates nothing: it sends the next request's input in advance, free of
   * charge.
   */
  private warmUp({ model }: JsonObject, { items, messageBytes }: WholeInput): void {
    const id = `resp_${randomText(48)}`
    const name = typeof model === 'string' ? model : ''
    const started = { id, model: name, state: 'in_progress', message: null } as const
    const response = encodeUnknownResponse({ ...started, createdAt: new Date() })
    this.memory.keep({ id, items }, messageBytes)
    const begun = { ...response, background: false }
    const completed = { ...begun, status: 'completed', usage: NO_USAGE }
    this.sendEvent({ type: 'response.created', sequence_number: 0, response: begun })
    this.sendEvent({ type: 'response.completed', sequence_number: 1, response: completed })
    this.onEnded()
  }

  private remember(text: string, { items, messageBytes }: WholeInput): void {
    const response = member(tryParseJson(Buffer.from(text)), 'response')
    if (!isObject(response) || typeof response.id !== 'string') return
    const all = [...items, ...repeatable(response.output)]
    this.memory.keep({ id: response.id, items: all }, messageBytes)
  }

  private sendEvent(event: JsonObject): void {
    this.flow.send(JSON.stringify(event))
  }

  /** Anything but a GatewayError is a fault of the gateway: its cause is logged and not sent. */
  private sendError(thrown: unknown): void {
    const isKnown = thrown instanceof GatewayError
    if (!isKnown) this.options.services.log.error({ error: thrown }, 'a WebSocket message failed')
    const error = isKnown ? thrown : new GatewayError('internal')
    const { type } = ERRORS[error.row]
    const { code = null, param = null, retryAfterSeconds } = error.details
    const stated = { type, message: error.message, code, param }
    this.sendEvent(encodeSocketError(error.status, stated, retryAfterSeconds))
  }

  private onEnded(): void {
    if (this.isClosed) return
    this.running = undefined
    this.isBusy = false
    this.hasFailed = false
    this.restartIdle()
    this.endIfIdle()
  }

  private endIfIdle(): void {
    if (this.isBusy) return
    if (this.isEnding) this.options.socket.close(GOING_AWAY, 'the service is restarting')
    else if (this.isTooOld) this.endOld()
  }

  private endOld(): void {
    const message = 'this connection has lasted for an hour: open another'
    const code = 'websocket_connection_limit_reached'
    this.sendError(new GatewayError('invalid_request', { message, code }))
    this.options.socket.close(NORMAL)
  }

  private startIdle(): NodeJS.Timeout {
    return setTimeout(() => this.onIdle(), IDLE_MS)
  }

  private restartIdle(): void {
    clearTimeout(this.idle)
    this.idle = this.startIdle()
  }

  private onIdle(): void {
    if (!this.isBusy) this.options.socket.close(NORMAL, 'idle')
  }

  private onAge(): void {
    this.isTooOld = true
    this.endIfIdle()
  }

  private onPing(): void {
    const { socket } = this.options
    // The caller may not read its answers either; the time to wait for that is limited.
    if (socket.isPaused) return
    if (!this.isAlive) {
      socket.terminate()
      return
    }
    this.isAlive = false
    socket.ping()
  }

  private onClose(): void {
    this.isClosed = true
    clearTimeout(this.idle)
    clearTimeout(this.age)
    clearInterval(this.ping)
    this.memory.forget()
    this.running?.leave()
  }
}

const NO_USAGE = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
}

/** Returns the refusal of a message that the endpoint itself would accept. */
function problemOf({ type, background }: JsonObject): GatewayError | undefined {
  if (type !== 'response.create') return invalidField('type', 'only response.create is supported')
  if (background !== true) return undefined
  return invalidField('background', 'not over a WebSocket: send a POST')
}

/** Returns the request: the message without its own members, streamed, with the whole input. */
function toBody({ body, fields }: Message, items: readonly unknown[] | undefined): Buffer {
  const input = items && { input: writeJson(items) }
  return spliceJson(body, fields, {
    set: { stream: 'true', ...input },
    remove: items ? [...OF_MESSAGE, 'previous_response_id'] : OF_MESSAGE,
  })
}

/** Returns a POST request with the handshake's other headers, in particular its credentials. */
function createMessageRequest(
  handshake: IncomingMessage,
  path: string,
  body: Buffer,
): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  const kept = Object.entries(handshake.headers).filter(([name]) => !OF_HANDSHAKE.test(name))
  request.method = 'POST'
  request.url = path
  request.headers = { ...Object.fromEntries(kept), 'content-type': 'application/json' }
  request.push(body)
  request.push(null)
  request.complete = true
  return request
}
