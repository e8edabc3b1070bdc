/**
 * Begins TLS on a connection to the database, as PostgreSQL negotiates it (SSLRequest). The client
 * does so by itself, but removes its listeners from a connection that is abandoned during the
 * handshake; the next write to it then fails with an unhandled error, which ends the process.
 */
import { isIP, type Socket } from 'node:net'
import { type ConnectionOptions, connect } from 'node:tls'

export interface TlsDemand {
  /** True if a server without TLS is used unencrypted. */
  readonly isOptional: boolean
  /** TLS begins at once, without a request (PostgreSQL 17). */
  readonly isDirect: boolean
  readonly options: ConnectionOptions
}

/** The server answered that it has no TLS. */
class NoTls extends Error {
  readonly code = 'NO_TLS'

  constructor() {
    super('the database does not offer TLS')
  }
}

/** Has the client's error code, so that it is treated like any other lost connection. */
class ClosedEarly extends Error {
  readonly code = 'CONNECTION_CLOSED'

  constructor() {
    super('CONNECTION_CLOSED: the database closed the connection before TLS began')
  }
}

const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])
const ACCEPTED = 'S'
const REFUSED = 'N'

/**
 * Resolves with the connection to use, which closes the one below it. Rejects with NoTls,
 * ClosedEarly, the error of either connection, or the reason of `signal`; then both are closed.
 */
export async function secure(
  socket: Socket,
  host: string,
  { isOptional, isDirect, options }: TlsDemand,
  signal: AbortSignal,
): Promise<Socket> {
  const answer = isDirect ? ACCEPTED : await request(socket, signal)
  if (answer === REFUSED && isOptional) return socket.resume()
  if (answer !== ACCEPTED) {
    socket.destroy()
    // Anything else is an error, such as that of a server without a free process.
    throw answer === REFUSED ? new NoTls() : new ClosedEarly()
  }
  const servername = isIP(host) ? {} : { servername: host }
  const alpn = isDirect ? { ALPNProtocols: ['postgresql'] } : {}
  const secured = connect({ socket, ...servername, ...alpn, ...options })
  return await first(secured, 'secureConnect', signal, () => secured)
}

/**
 * Resolves with the byte of the answer, or with more bytes if someone in the middle has added them.
 */
async function request(socket: Socket, signal: AbortSignal): Promise<string> {
  const answered = first(socket, 'data', signal, (chunk: Buffer) => chunk.toString('latin1'))
  socket.write(SSL_REQUEST)
  const answer = await answered
  socket.pause()
  return answer
}

/** Resolves at an event. Closes the socket if it fails or closes before, or `signal` aborts. */
function first<T, Value>(
  socket: Socket,
  event: string,
  signal: AbortSignal,
  read: (value: Value) => T,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown) => {
      stop()
      // Its further events are ignored.
      socket.on('error', () => undefined)
      socket.destroy()
      reject(cause instanceof Error ? cause : new ClosedEarly())
    }
    const onAbort = () => fail(signal.reason)
    const onEvent = (value: Value) => {
      stop()
      resolve(read(value))
    }
    const stop = () => {
      socket.off(event, onEvent).off('error', fail).off('close', fail)
      signal.removeEventListener('abort', onAbort)
    }
    socket.on(event, onEvent).on('error', fail).on('close', fail)
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
  })
}
