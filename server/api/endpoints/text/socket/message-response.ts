/**
 * A response whose events are messages of a WebSocket: one message for each event of a stream, and
 * for an error document one `error` event with its status.
 */
import {
  isObject,
  type JsonObject,
  member,
  printValue,
  tryParseJson,
  writeJson,
} from '../../../../base/lib/json.ts'
import {
  type IncomingMessage,
  type OutgoingHttpHeaders,
  ServerResponse,
} from '../../../../base/lib/process/node-http.ts'
import { listResponseEvents } from '../../../../wire/dialects/responses/unfold-body.ts'
import { createSseParser } from '../../../../wire/dialects/sse.ts'

export interface MessageSink {
  /** Returns false if many messages are waiting; `drained` is called when they have left. */
  send(text: string): boolean
  /** The response is over. */
  ended(): void
  /** Ends the connection at once. */
  terminate(): void
}

/** The last event repeats the whole answer, which may contain images. */
const EVENT_BYTES_MAX = 64 * 1024 * 1024

export class MessageResponse extends ServerResponse {
  private readonly sink: MessageSink
  private readonly parser: ReturnType<typeof createSseParser>
  private readonly document: Buffer[] = []
  private sent: OutgoingHttpHeaders = {}
  private isFull = false
  private isOver = false

  constructor(request: IncomingMessage, sink: MessageSink) {
    super(request)
    this.sink = sink
    this.parser = createSseParser({
      limitBytes: EVENT_BYTES_MAX,
      onEvent: ({ data }) => {
        if (data !== '' && data.trim() !== '[DONE]') this.send(data)
      },
      onOverflow: () => sink.terminate(),
    })
  }

  override writeHead(status: number, ...rest: unknown[]): this {
    const headers = rest.at(-1)
    if (isObject(headers)) this.sent = headers as OutgoingHttpHeaders
    return super.writeHead(status, this.sent)
  }

  override write(chunk: unknown): boolean {
    this.take(chunk)
    return !this.isFull
  }

  override end(chunk?: unknown): this {
    if (this.isOver || this.destroyed) return this
    this.take(chunk)
    this.parser.end()
    this.isOver = true
    try {
      if (this.document.length > 0) this.sendDocument(tryParseJson(Buffer.concat(this.document)))
    } finally {
      this.sink.ended()
      this.close()
    }
    return this
  }

  override destroy(): this {
    if (this.destroyed) return this
    this.sink.terminate()
    this.close()
    return this
  }

  /** The messages that were waiting have left. */
  drained(): void {
    if (!this.isFull) return
    this.isFull = false
    this.emit('drain')
  }

  /** The caller has disconnected. */
  leave(): void {
    if (!this.isOver && !this.destroyed) this.close()
  }

  private take(chunk: unknown): void {
    if (!Buffer.isBuffer(chunk)) return
    const type = String(this.sent['content-type'] ?? '')
    if (type.startsWith('text/event-stream')) this.parser.push(chunk)
    else this.document.push(chunk)
  }

  private close(): void {
    this.destroyed = true
    process.nextTick(() => this.emit('close'))
  }

  private send(text: string): void {
    if (!this.sink.send(text)) this.isFull = true
  }

  /** Sends an error, or the events of an answer that the upstream did not stream. */
  private sendDocument(document: unknown): void {
    const events =
      this.statusCode >= 400
        ? [encodeSocketError(this.statusCode, member(document, 'error'), this.sent['retry-after'])]
        : listResponseEvents(isObject(document) ? document : {})
    for (const event of events) this.send(writeJson(event))
  }
}

/** Returns the event of a refused request; clients treat `status` as an HTTP status. */
export function encodeSocketError(
  status: number,
  error: unknown,
  retryAfter?: unknown,
): JsonObject {
  const fallback = { type: 'server_error', message: printValue(error ?? 'the request failed') }
  return {
    type: 'error',
    status,
    error: isObject(error) ? error : fallback,
    ...(retryAfter === undefined ? {} : { headers: { 'retry-after': String(retryAfter) } }),
  }
}
