/** A way to a vendor on which a request can be stopped, and its answer replaced. */
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { startServer } from '../../support/servers/local-server.ts'
import { until } from '../../support/until.ts'

export interface Stopped {
  /** Resolves once the request has come; the vendor does not have it yet. */
  arrived(): Promise<unknown>
  /** Passes it on. With a status, the vendor still gets it, and its answer is replaced. */
  release(status?: number): void
}

export interface VendorGate {
  readonly url: string
  /** Stops the next request of this kind; those after it pass. */
  stopNext(method: string, path: RegExp): Stopped
  close(): void
}

interface Trap {
  readonly method: string
  readonly path: RegExp
  hasArrived: boolean
  readonly released: PromiseWithResolvers<number | undefined>
}

export async function openVendorGate(vendorUrl: string): Promise<VendorGate> {
  const traps: Trap[] = []

  function findTrap({ method, url = '' }: IncomingMessage): Trap | undefined {
    const place = traps.findIndex((trap) => trap.method === method && trap.path.test(url))
    return place === -1 ? undefined : traps.splice(place, 1)[0]
  }

  const server = await startServer(async (incoming, response) => {
    const trap = findTrap(incoming)
    if (trap) trap.hasArrived = true
    pass(incoming, response, vendorUrl, await trap?.released.promise)
  })
  return {
    url: server.url,
    stopNext(method, path) {
      const released = Promise.withResolvers<number | undefined>()
      const trap: Trap = { method, path, released, hasArrived: false }
      traps.push(trap)
      return {
        arrived: () => until(`${method} ${path.source}`, () => trap.hasArrived || undefined),
        release: released.resolve,
      }
    },
    close: () => void server.stop(),
  }
}

function pass(
  incoming: IncomingMessage,
  response: ServerResponse,
  vendorUrl: string,
  status: number | undefined,
): void {
  const { method, url = '', headers } = incoming
  const outgoing = request(vendorUrl + url, { method, headers }, (answer) => {
    if (status === undefined) {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    } else {
      answer.resume()
      const error = { message: 'replaced', type: 'test' }
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error }))
    }
    answer.on('error', () => response.destroy())
  })
  outgoing.on('error', () => response.destroy())
  response.on('close', () => outgoing.destroy())
  incoming.pipe(outgoing)
}
