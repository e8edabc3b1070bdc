/** Chunks that the gateway frames itself are those that Node would have written. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { writePiece } from '../../server/base/http/reply.ts'

const PIECES = ['a', 'data: é\n\n', '', 'x'.repeat(70_000), '\r\n0\r\n\r\n'].map((piece) =>
  Buffer.from(piece),
)

/** Returns all bytes of the answer to a request whose response `answer` writes. */
async function exchange(
  t: TestContext,
  answer: (response: ServerResponse) => void,
  version = '1.1',
) {
  const server = createServer((_request, response) => {
    response.sendDate = false
    answer(response)
  })
  t.after(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(`GET / HTTP/${version}\r\nhost: localhost\r\nconnection: close\r\n\r\n`)
  return await text(socket)
}

function answerWith(write: (response: ServerResponse, piece: Buffer) => void) {
  return async (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/plain' })
    for (const piece of PIECES) {
      write(response, piece)
      // Node joins what is written in one turn into one chunk.
      await new Promise(setImmediate)
    }
    response.end('last')
  }
}

for (const version of ['1.1', '1.0']) {
  test(`HTTP/${version}: the bytes are those of Node's own framing`, async (t) => {
    const own = await exchange(t, answerWith(writePiece), version)
    const nodes = await exchange(
      t,
      answerWith((response, piece) => response.write(piece)),
      version,
    )
    assert.equal(own, nodes)
    assert.ok(own.length > 70_000)
  })
}

test('pieces of one turn keep their order, and come before the end', async (t) => {
  const answer = await exchange(t, (response) => {
    response.writeHead(200)
    for (const piece of ['one', 'two', 'three']) writePiece(response, Buffer.from(piece))
    response.end('last')
  })
  assert.match(answer, /\r\n\r\n3\r\none\r\n3\r\ntwo\r\n5\r\nthree\r\n4\r\nlast\r\n0\r\n\r\n$/)
})

test('a piece before the head has left is framed too', async (t) => {
  const body = await exchange(t, (response) => {
    response.writeHead(200)
    setImmediate(() => {
      writePiece(response, Buffer.from('late'))
      response.end()
    })
  })
  assert.match(body, /\r\n\r\n4\r\nlate\r\n0\r\n\r\n$/)
})

test('a body of a stated length stays unframed', async (t) => {
  const body = await exchange(t, (response) => {
    response.writeHead(200, { 'content-length': '4' })
    writePiece(response, Buffer.from('four'))
    response.end()
  })
  assert.match(body, /\r\n\r\nfour$/)
})
