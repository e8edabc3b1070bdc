// What the tests of asynchronous services share: waiting for a state, and a plain receiver.

import { after } from 'node:test'
import { readBody, startServer } from '../../support/servers/local-server.ts'
import type { Answer, Json } from '../support.ts'

export const isOver = ({ json }: Answer): boolean =>
  !['queued', 'running', 'Preparing', 'Queueing', 'Processing'].includes(String(json.status))

export interface Receiver {
  url: string
  received: Json[]
}

/** Accepts every POST and keeps its JSON body. `answer` makes the body of the reply. */
export async function receiver(answer: (body: Json) => string = () => ''): Promise<Receiver> {
  const received: Json[] = []
  const server = await startServer(async (request, response) => {
    const body: Json = JSON.parse(await readBody(request))
    received.push(body)
    response.end(answer(body))
  })
  after(server.stop)
  return { url: `${server.url}/called`, received }
}
