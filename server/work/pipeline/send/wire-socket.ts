/**
 * The WebSocket of a wire: under the same hold, with timeouts, a limit per host and no redirects.
 * Adapters exchange whole binary messages and have no clock except `sendPaced`.
 */
import type { IncomingMessage } from 'node:http'
import WebSocket from 'ws'
import { UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import type { SocketOpening, SocketRequest, WireSocket } from '../../../wire/upstreams/wire.ts'
import type { Deadline } from './deadline.ts'

export interface SocketOptions {
  /** Limits the handshake: nothing has been sent before its end, and another route may be tried. */
  readonly connectTimeoutMs: number
  /** Limits the wait for the first message. */
  readonly firstByteTimeoutMs: number
  /** Limits the time between two messages while the socket is not paused. */
  readonly idleTimeoutMs: number
  /** The total time limit of the connection, whatever has been exchanged on it. */
  readonly deadline: Deadline
  readonly socketsMax: number
}

/** Larger than any legitimate message of audio or text. */
const MESSAGE_BYTES_MAX = 4 * 1024 * 1024
const NORMAL_CLOSURE = 1000
const LATE = 'the connection took too long'
/** Maximum wait for the vendor's part of the closing handshake. */
const CLOSE_MS = 2_000

/** Open sockets by host, over all calls. */
const counts = new Map<string, number>()

/** Opens a WebSocket. `guard` is called before each message and throws once the hold is closed. */
export function openSocket(
  request: SocketRequest,
  options: SocketOptions,
  guard: () => void,
): Promise<SocketOpening> {
  const { host } = new URL(request.url)
  const count = counts.get(host) ?? 0
  if (count >= options.socketsMax) {
    const message = `${count} connections to ${host} are already open`
    return Promise.reject(new UpstreamFailure('busy', { message }))
  }
  const socket = new WebSocket(request.url, {
    headers: request.headers,
    handshakeTimeout: options.connectTimeoutMs,
    followRedirects: false,
    perMessageDeflate: false,
    maxPayload: MESSAGE_BYTES_MAX,
    // Thousands of small messages may arrive in one chunk: other work is done between them.
    allowSynchronousEvents: false,
  })
  const leaveHost = joinHost(host)
  socket.once('close', leaveHost)
  return new Promise((resolve, reject) => {
    // The handshake's own time limit restarts with each byte.
    const unwatch = options.deadline.watch(() => {
      reject(new UpstreamFailure('not_sent', { message: LATE }))
      socket.terminate()
    })
    socket.once('open', () => {
      unwatch()
      socket.removeAllListeners('error').removeAllListeners('unexpected-response')
      resolve({ socket: attach(socket, request, options, guard) })
    })
    socket.once('unexpected-response', (_request, answer: IncomingMessage) => {
      unwatch()
      // A refused upgrade emits no close event.
      leaveHost()
      answer.once(
        'close',
        options.deadline.watch(() => answer.destroy(new Error(LATE))),
      )
      const { statusCode: status = 0, headers } = answer
      resolve({ socket: undefined, refusal: { status, headers, body: answer } })
    })
    socket.on('error', (cause) => {
      unwatch()
      reject(new UpstreamFailure('not_sent', { cause, message: `connection: ${cause.message}` }))
    })
  })
}

function joinHost(host: string): () => void {
  counts.set(host, (counts.get(host) ?? 0) + 1)
  let hasLeft = false
  return () => {
    if (hasLeft) return
    hasLeft = true
    const remaining = (counts.get(host) ?? 1) - 1
    if (remaining > 0) counts.set(host, remaining)
    else counts.delete(host)
  }
}

function attach(
  socket: WebSocket,
  request: SocketRequest,
  options: SocketOptions,
  guard: () => void,
): WireSocket {
  let isFinished = false
  let idle: NodeJS.Timeout | undefined
  const finish = (failure: UpstreamFailure | undefined) => {
    if (isFinished) return
    isFinished = true
    stopTimers()
    request.onClose(failure)
  }
  const fail = (message: string, cause?: unknown) => {
    finish(new UpstreamFailure('unknown', { message, cause }))
    socket.terminate()
  }
  const awaitMessage = (withinMs: number) => {
    clearTimeout(idle)
    idle = setTimeout(() => fail(`no message within ${withinMs} ms`), withinMs)
  }
  awaitMessage(options.firstByteTimeoutMs)
  const unwatch = options.deadline.watch(() => fail(LATE))
  const stopTimers = () => {
    clearTimeout(idle)
    unwatch()
  }
  socket.on('message', (data, isBinary) => {
    if (isFinished) return
    if (!isBinary || !Buffer.isBuffer(data)) {
      fail('a message that is not binary')
      return
    }
    awaitMessage(options.idleTimeoutMs)
    try {
      request.onMessage(data)
    } catch (cause) {
      fail('a message that cannot be read', cause)
    }
  })
  socket.on('error', (cause) => fail(`connection: ${cause.message}`, cause))
  socket.on('close', (code) => {
    if (code === NORMAL_CLOSURE) finish(undefined)
    else fail(`closed with ${code}`)
  })
  const send = async (message: Uint8Array) => {
    guard()
    await sendMessage(socket, message)
  }
  return {
    send,
    sendPaced: (everyMs, next) => sendPaced(send, everyMs, next),
    pause() {
      clearTimeout(idle)
      socket.pause()
    },
    resume() {
      if (isFinished || !socket.isPaused) return
      awaitMessage(options.idleTimeoutMs)
      socket.resume()
    },
    close() {
      if (isFinished) return
      isFinished = true
      stopTimers()
      closeInOrder(socket)
    },
  }
}

function sendMessage(socket: WebSocket, message: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.send(message, { binary: true }, (error) => (error ? reject(error) : resolve()))
  })
}

async function sendPaced(
  send: (message: Uint8Array) => Promise<void>,
  everyMs: number,
  next: () => Promise<Uint8Array | undefined>,
): Promise<void> {
  const start = performance.now()
  for (let sent = 0; ; sent += 1) {
    const early = start + sent * everyMs - performance.now()
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early))
    const message = await next()
    if (!message) return
    await send(message)
  }
}

/** Closes the socket in order; messages that still arrive are discarded, also while paused. */
function closeInOrder(socket: WebSocket): void {
  socket.removeAllListeners('message')
  socket.resume()
  socket.close(NORMAL_CLOSURE)
  const late = setTimeout(() => socket.terminate(), CLOSE_MS).unref()
  socket.once('close', () => clearTimeout(late))
}
