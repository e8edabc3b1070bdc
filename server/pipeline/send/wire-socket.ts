/**
 * The WebSocket of a wire: under the same hold, with time-outs, a limit for each host and without
 * redirects. Adapters speak in whole binary messages and have no clock but `sendPaced`.
 */
import type { IncomingMessage } from 'node:http'
import WebSocket from 'ws'
import { UpstreamFailure } from '../../upstreams/failure.ts'
import type { SocketOpening, SocketRequest, WireSocket } from '../../upstreams/wire.ts'

export interface SocketOptions {
  /** For the handshake, and from there to the first message. */
  readonly firstByteTimeoutMs: number
  /** Between two messages, while they are wanted. */
  readonly idleTimeoutMs: number
  readonly socketsMax: number
}

/** Larger than any message of audio or text that a vendor has reason to send. */
const MESSAGE_BYTES_MAX = 4 * 1024 * 1024
const NORMAL_CLOSURE = 1000
/** A vendor that does not answer the closing handshake is not waited for. */
const CLOSE_MS = 2_000

/** Open sockets by host, over all calls. */
const counts = new Map<string, number>()

/** `guard` throws as soon as the hold is closed: then nothing more is sent. */
export function openSocket(
  request: SocketRequest,
  options: SocketOptions,
  guard: () => void,
): Promise<SocketOpening> {
  const { host } = new URL(request.url)
  const count = counts.get(host) ?? 0
  if (count >= options.socketsMax) {
    const message = `${count} connections to ${host} are open`
    return Promise.reject(new UpstreamFailure('busy', { message }))
  }
  const leaveHost = joinHost(host)
  const socket = new WebSocket(request.url, {
    headers: request.headers,
    handshakeTimeout: options.firstByteTimeoutMs,
    followRedirects: false,
    perMessageDeflate: false,
    maxPayload: MESSAGE_BYTES_MAX,
  })
  socket.once('close', leaveHost)
  return new Promise((resolve, reject) => {
    socket.once('open', () => {
      socket.removeAllListeners('error').removeAllListeners('unexpected-response')
      resolve({ socket: attach(socket, request, options, guard) })
    })
    socket.once('unexpected-response', (_request, answer: IncomingMessage) => {
      // What was refused is no socket any more, and never says that it closed.
      leaveHost()
      const { statusCode: status = 0, headers } = answer
      resolve({ socket: undefined, refusal: { status, headers, body: answer } })
    })
    socket.on('error', (cause) => {
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
    const left = (counts.get(host) ?? 1) - 1
    if (left > 0) counts.set(host, left)
    else counts.delete(host)
  }
}

function attach(
  socket: WebSocket,
  request: SocketRequest,
  options: SocketOptions,
  guard: () => void,
): WireSocket {
  let isOver = false
  let idle: NodeJS.Timeout | undefined
  const over = (failure: UpstreamFailure | undefined) => {
    if (isOver) return
    isOver = true
    clearTimeout(idle)
    request.onClose(failure)
  }
  const fail = (message: string, cause?: unknown) => {
    over(new UpstreamFailure('unknown', { message, cause }))
    socket.terminate()
  }
  const expect = (withinMs: number) => {
    clearTimeout(idle)
    idle = setTimeout(() => fail(`no message within ${withinMs} ms`), withinMs)
  }
  expect(options.firstByteTimeoutMs)
  socket.on('message', (data, isBinary) => {
    if (isOver) return
    if (!isBinary || !Buffer.isBuffer(data)) {
      fail('a message that is not binary')
      return
    }
    expect(options.idleTimeoutMs)
    try {
      request.onMessage(data)
    } catch (cause) {
      fail('a message that cannot be read', cause)
    }
  })
  socket.on('error', (cause) => fail(`connection: ${cause.message}`, cause))
  socket.on('close', (code) => {
    if (code === NORMAL_CLOSURE) over(undefined)
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
      if (isOver || !socket.isPaused) return
      expect(options.idleTimeoutMs)
      socket.resume()
    },
    close() {
      if (isOver) return
      isOver = true
      clearTimeout(idle)
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

/** What still arrives is thrown away, also by a socket that was paused. */
function closeInOrder(socket: WebSocket): void {
  socket.removeAllListeners('message')
  socket.resume()
  socket.close(NORMAL_CLOSURE)
  const late = setTimeout(() => socket.terminate(), CLOSE_MS).unref()
  socket.once('close', () => clearTimeout(late))
}
