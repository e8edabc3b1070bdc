/**
 * Node's HTTP server. An `import` of `node:http` reads each of its exports, and those that belong
 * to `fetch` load a second HTTP client: 30 to 60 ms of each start, and 16 MB of each process.
 */
import type * as Http from 'node:http'

export const { createServer, IncomingMessage, ServerResponse, STATUS_CODES } =
  process.getBuiltinModule('node:http')
export type { OutgoingHttpHeaders, Server } from 'node:http'
export type IncomingMessage = Http.IncomingMessage
export type ServerResponse = Http.ServerResponse
