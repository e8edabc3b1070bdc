/** Content for a caller who leaves while it is opened. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { sendContent } from '../../../server/api/endpoints/files/send-content.ts'
import type { Context } from '../../../server/base/http/context.ts'

test('the content is closed for a caller that left while it was opened', async (t) => {
  const body = Readable.from(['0123456789'])
  const { promise: sent, resolve, reject } = Promise.withResolvers<void>()
  const send = async (request: IncomingMessage, response: ServerResponse) => {
    const parts = { request, response, requestId: 'req_1', timings: {}, policy: {} }
    const context = parts as unknown as Context
    const left = once(response, 'close')
    await sendContent(context, {
      id: 'file_1',
      length: 10,
      contentType: 'text/plain',
      filename: 'a.txt',
      modifiedAt: new Date(0),
      async read() {
        caller.destroy()
        await left
        return body
      },
    })
  }
  const server = createServer((request, response) => {
    send(request, response).then(resolve, reject)
  }).listen(0, '127.0.0.1')
  t.after(() => server.close().closeAllConnections())
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  const caller = connect(port, '127.0.0.1')
  caller.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await sent
  assert.ok(body.destroyed)
})
