/** One response over a WebSocket, as the OpenAI SDK creates it, and its events as one text. */
import { once } from 'node:events'
import type { Dispatcher } from 'undici'
import { WebSocket } from 'ws'
import type { FinishedCall, PlannedCall } from './calls.ts'

type Head = Pick<FinishedCall, 'status' | 'requestId' | 'replayOf'>

/** Sends a call and returns its whole answer; `onHead` is called once it begins. */
export type ReceivedText = (
  sending: {
    readonly dispatcher: Dispatcher
    readonly url: string
    readonly call: PlannedCall
    readonly headers: Readonly<Record<string, string>>
  },
  onHead: (head: Head) => void,
) => Promise<string>

/** Events after which no other comes. */
const LAST = new Set(['response.completed', 'response.failed', 'response.incomplete', 'error'])

/** Rejects if the connection fails or closes before the last event. */
export const receiveBySocket: ReceivedText = async ({ url, call, headers }, onHead) => {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${call.path}`, { headers })
  try {
    await once(socket, 'open')
    socket.send(JSON.stringify({ type: 'response.create', ...call.body }))
    return await readEvents(socket, onHead)
  } finally {
    socket.on('error', () => undefined)
    socket.terminate()
  }
}

function readEvents(socket: WebSocket, onHead: (head: Head) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    socket.on('message', (data) => {
      const event = `${data}`
      const { type, status = 200 } = JSON.parse(event)
      if (text === '') onHead({ status, requestId: undefined, replayOf: undefined })
      text += event
      if (LAST.has(type)) resolve(text)
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('closed before its last event')))
  })
}
