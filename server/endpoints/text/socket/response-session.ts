/**
 * A WebSocket of the Responses dialect (docs/protocols/openai.md#responses): each `response.create`
 * is a call of POST /v1/responses through the listener, with its hold, record and log line.
 */
import type { IncomingMessage } from 'node:http'
import type { WebSocket } from 'ws'
import { type JsonFields, parseRequestJson } from '../../../dialects/json-scan.ts'
import { encodeUnknownResponse } from '../../../dialects/responses/encode-lost.ts'
import { spliceJson } from '../../../dialects/splice.ts'
import { ERRORS, GatewayError, invalidField } from '../../../lib/errors.ts'
import { randomText } from '../../../lib/ids.ts'
import { isObject, type JsonObject, member, tryParseJson } from '../../../lib/json.ts'
import type { PlainServices } from '../../endpoint.ts'
import type { SocketUser } from '../../sockets.ts'
import { createMessageRequest } from './message-request.ts'
import { encodeSocketError, MessageResponse } from './message-response.ts'
import { repeatable, TurnMemory, toItems } from './remembered-turn.ts'

/** Time without a message and without a response after which a connection is closed. */
const IDLE_MS = 10 * 60_000
/** Age after which a connection is closed, between two responses. */
const AGE_MS = 60 * 60_000
/** A connection whose peer does not answer a ping within this time is ended. */
const PING_MS = 30_000
/** Bytes that may wait for a slow reader before the upstream is paused. */
const WAITING_BYTES_MAX = 1024 * 1024

const NORMAL = 1000
const GOING_AWAY = 1001

/** Members of the message that are not members of the request. */
const OF_MESSAGE = ['type', 'generate', 'stream_id']
const ENDING = /"type":\s*"response\.(?:completed|incomplete)"/
/** The type of an event is among its first members. */
const HEAD_LENGTH = 200

export interface ResponseSessionOptions {
  readonly socket: WebSocket
  readonly handshake: IncomingMessage
  readonly path: string
  readonly accountId: string
  readonly services: Pick<PlainServices, 'sockets' | 'storedAnswers' | 'log'>
}

interface Message {
  readonly value: JsonObject
  readonly body: Buffer
  readonly fields: JsonFields
}

export class ResponseSession implements SocketUser {
  private readonly options: ResponseSessionOptions
  private readonly memory = new TurnMemory()
  private readonly ping: NodeJS.Timeout
  private readonly age: NodeJS.Timeout
  private idle: NodeJS.Timeout
  private running: MessageResponse | undefined
  /** A message is being read, or its response is running. */
  private isBusy = false
  private isAlive = true
  private isClosed = false
  private isEnding = false
  private isTooOld = false

  constructor(options: ResponseSessionOptions) {
    this.options = options
    const { socket } = options
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
    this.isAlive = true
    this.restartIdle()
    if (this.isBusy) {
      const message = 'a response is running on this connection: wait for its end, or open another'
      this.sendError(new GatewayError('invalid_request', { message, code: 'response_in_progress' }))
      return
    }
    this.isBusy = true
    try {
      await this.create(data)
    } catch (error) {
      this.sendError(error)
      this.onEnded()
    }
  }

  /** Starts the response that a message asks for. Throws GatewayError. */
  private async create(data: Buffer): Promise<void> {
    const parsed = parseRequestJson(data)
    // The endpoint refuses it in its own words.
    if (!parsed.ok) {
      this.run(data, [])
      return
    }
    const message = { body: data, ...parsed }
    const { value } = message
    if (value.type !== 'response.create') {
      throw invalidField('type', 'only response.create is supported')
    }
    if (value.background === true) {
      throw invalidField('background', 'not over a WebSocket: send a POST')
    }
    const items = await this.continueTurn(message)
    if (this.isClosed) return
    if (value.generate === false) this.warmUp(value, items ?? toItems(value.input))
    else this.run(toBody(message, items), items ?? toItems(value.input))
  }

  /**
   * Returns the whole input of a request that continues the last response of this connection;
   * undefined if its vendor stores that response, or for any other request.
   */
  private async continueTurn({ value }: Message): Promise<readonly unknown[] | undefined> {
    const { previous_response_id: id } = value
    if (typeof id !== 'string') return undefined
    const { accountId, services } = this.options
    const turn = this.memory.find(id)
    if (!turn || (await services.storedAnswers.find(accountId, id))) return undefined
    return [...turn.items, ...toItems(value.input)]
  }

  /** Runs a call of the endpoint; `items` is its whole input. */
  private run(body: Buffer, items: readonly unknown[]): void {
    const { handshake, path, services, socket } = this.options
    const request = createMessageRequest(handshake, path, body)
    this.running = new MessageResponse(request, {
      send: (text) => {
        if (ENDING.test(text.slice(0, HEAD_LENGTH))) this.remember(text, items)
        return this.send(text)
      },
      ended: () => this.onEnded(),
      terminate: () => socket.terminate(),
    })
    services.sockets.handle(request, this.running)
  }

  /** Answers a request that generates nothing: it sends the input of the next ahead, for free. */
  private warmUp({ model }: JsonObject, items: readonly unknown[]): void {
    const id = `resp_${randomText(48)}`
    const name = typeof model === 'string' ? model : ''
    const started = { id, model: name, state: 'in_progress', message: null } as const
    const response = encodeUnknownResponse({ ...started, createdAt: new Date() })
    this.memory.keep({ id, items })
    const begun = { ...response, background: false }
    const completed = { ...begun, status: 'completed', usage: NO_USAGE }
    this.sendEvent({ type: 'response.created', sequence_number: 0, response: begun })
    this.sendEvent({ type: 'response.completed', sequence_number: 1, response: completed })
    this.onEnded()
  }

  private remember(text: string, items: readonly unknown[]): void {
    const response = member(tryParseJson(Buffer.from(text)), 'response')
    if (!isObject(response) || typeof response.id !== 'string') return
    this.memory.keep({ id: response.id, items: [...items, ...repeatable(response.output)] })
  }

  private sendEvent(event: JsonObject): void {
    this.send(JSON.stringify(event))
  }

  /** Anything but a GatewayError is a fault of the gateway: its cause is logged and not sent. */
  private sendError(thrown: unknown): void {
    const isKnown = thrown instanceof GatewayError
    if (!isKnown) this.options.services.log.error({ error: thrown }, 'a WebSocket message failed')
    const error = isKnown ? thrown : new GatewayError('internal')
    const { type } = ERRORS[error.row]
    const { code = null, param = null } = error.details
    this.sendEvent(encodeSocketError(error.status, { type, message: error.message, code, param }))
  }

  private send(text: string): boolean {
    const { socket } = this.options
    if (socket.readyState !== socket.OPEN) return true
    socket.send(text, () => {
      if (socket.bufferedAmount === 0) this.running?.drained()
    })
    return socket.bufferedAmount < WAITING_BYTES_MAX
  }

  private onEnded(): void {
    if (this.isClosed) return
    this.running = undefined
    this.isBusy = false
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

/** Returns the request: the message without its own members, streamed, with the whole input. */
function toBody({ body, fields }: Message, items: readonly unknown[] | undefined): Buffer {
  const input = items && { input: JSON.stringify(items) }
  return spliceJson(body, fields, {
    set: { stream: 'true', ...input },
    remove: items ? [...OF_MESSAGE, 'previous_response_id'] : OF_MESSAGE,
  })
}
