/** Connects sockets to the database. */
import { connect, type Socket } from 'node:net'

/** If an address moves to another machine, only a new attempt reaches it. */
const AGAIN_MS = 1_500
const SOCKETS_MAX = 4

/** An address as the client passes it on: its first host, or the path of a Unix socket. */
export interface Address {
  readonly host: readonly string[]
  readonly port: readonly number[]
  readonly path?: string | false
}

/** The client reads the name to be checked by TLS from the socket. */
type NamedSocket = Socket & { host?: string }

/**
 * Resolves with a connected socket. If a network address does not answer, further attempts are made
 * beside the first one, until `signal` aborts. Rejects with the first error.
 */
export async function dial({ host, port, path }: Address, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted()
  const [name = ''] = host
  const sockets: Socket[] = []
  const first = Promise.withResolvers<Socket>()

  function start(): void {
    const socket: NamedSocket = path ? connect(path) : connect(port[0] ?? 0, name)
    socket.host = name
    socket.once('connect', () => first.resolve(socket))
    socket.on('error', first.reject)
    sockets.push(socket)
    if (sockets.length > SOCKETS_MAX) sockets.shift()?.destroy()
  }

  const giveUp = () => first.reject(signal.reason)
  signal.addEventListener('abort', giveUp)
  start()
  const timer = path ? undefined : setInterval(start, AGAIN_MS)
  timer?.unref()
  try {
    const socket = await first.promise
    socket.removeListener('error', first.reject)
    return socket
  } finally {
    clearInterval(timer)
    signal.removeEventListener('abort', giveUp)
    const found = await first.promise.catch(() => undefined)
    for (const socket of sockets) if (socket !== found) socket.destroy()
  }
}
