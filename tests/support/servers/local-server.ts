/** A plain HTTP server on loopback: a vendor, a receiver or a file server of one test. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface LocalServer {
  /** The origin, without a slash at its end. */
  readonly url: string
  readonly port: number
  readonly server: Server
  /** Cuts what is open and closes. */
  readonly stop: () => Promise<void>
}

/** Listens on a free port; a listener that throws cuts its connection. */
export async function startServer(
  listener: (...event: Parameters<RequestListener>) => unknown = () => {},
): Promise<LocalServer> {
  const server = createServer(async (request, response) => {
    try {
      await listener(request, response)
    } catch {
      request.socket.destroy()
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const stop = async () => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  return { url: `http://127.0.0.1:${port}`, port, server, stop }
}

/** Reads a request's body as text. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = await request.toArray()
  return Buffer.concat(chunks).toString()
}
