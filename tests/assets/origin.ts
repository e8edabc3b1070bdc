/** A vendor's result store with scripted faults: it fails, stalls, vanishes or redirects. */
import type { ServerResponse } from 'node:http'
import { startServer } from '../support/servers/local-server.ts'

export interface Origin {
  readonly url: string
  /** Requested paths, in order. */
  readonly requests: string[]
  /** Faults of the next requests, before the content is served. */
  readonly faults: Fault[]
  content: Buffer
  stop(): Promise<void>
}

type Fault = (response: ServerResponse, content: Buffer) => void

export const PNG = Buffer.concat([
  Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'),
  Buffer.from([0, 0, 4, 0, 0, 0, 2, 0, 8, 2, 0, 0, 0]),
  Buffer.alloc(200, 7),
])
/** Recognised as one, and long enough to seek in. */
export const MP4 = Buffer.concat([
  Buffer.from('\0\0\0\x18ftypisom\0\0\0\0isommp42', 'latin1'),
  Buffer.from('0123456789'.repeat(20_000)),
])

export async function startOrigin(content: Buffer): Promise<Origin> {
  const origin = { content, requests: [] as string[], faults: [] as Fault[] }
  const server = await startServer((request, response) => {
    origin.requests.push(request.url ?? '')
    const fault = origin.faults.shift()
    if (fault) fault(response, origin.content)
    else response.writeHead(200, { 'content-length': origin.content.length }).end(origin.content)
  })
  return Object.assign(origin, {
    url: server.url,
    stop: server.stop,
  })
}

export const answering =
  (status: number, headers = {}): Fault =>
  (response) =>
    response.writeHead(status, headers).end()

/** Sends half of what it promised, then resets. */
export const breakingOff: Fault = (response, content) => {
  response.writeHead(200, { 'content-length': content.length })
  response.write(content.subarray(0, content.length / 2), () => response.destroy())
}
