/** The WebSocket of a wire: only with an open hold, limited per host, and in order. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, type TestContext, test } from 'node:test'
import { WebSocketServer } from 'ws'
import type { SocketRequest } from '../../server/wire/upstreams/wire.ts'
import { Deadline } from '../../server/work/pipeline/send/deadline.ts'
import { openSocket } from '../../server/work/pipeline/send/wire-socket.ts'
import { type AstVendor, startAstVendor } from '../support/ast-vendor.ts'
import { until } from '../support/until.ts'

let vendor: AstVendor
before(async () => {
  vendor = await startAstVendor()
})
after(() => vendor.stop())

const OPTIONS = {
  connectTimeoutMs: 60_000,
  firstByteTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
  deadline: new Deadline(86_400_000),
  socketsMax: 2,
}
const allow = () => undefined

function request(more: Partial<SocketRequest> = {}): SocketRequest {
  return {
    url: `${vendor.url.replace('http', 'ws')}/api/v4/ast/v2/translate`,
    headers: {},
    onMessage: () => undefined,
    onClose: () => undefined,
    ...more,
  }
}

async function open(more: Partial<SocketRequest> = {}, options = OPTIONS, guard = allow) {
  const opening = await openSocket(request(more), options, guard)
  assert.ok(opening.socket)
  return opening.socket
}

test('limited per host; a socket that closes or is refused frees its slot', async () => {
  const first = await open()
  const second = await open()
  await assert.rejects(open(), { kind: 'busy' })
  first.close()
  second.close()
  await until('both to close', () =>
    vendor.sessions.every(({ isClosed }) => isClosed) ? true : undefined,
  )
  vendor.script = { refuse: { status: 403, body: 'no' } }
  for (let time = 0; time < 3; time += 1) {
    const { socket } = await openSocket(request(), OPTIONS, allow)
    assert.equal(socket, undefined)
  }
  vendor.script = {}
  for (let time = 0; time < 3; time += 1) {
    await assert.rejects(open({ headers: { name: 'two\nlines' } }), TypeError)
  }
  const again = await open()
  again.close()
})

test('nothing is sent once the hold is closed', async () => {
  let isOpen = true
  const socket = await open({}, OPTIONS, () => {
    if (!isOpen) throw new Error('no hold')
  })
  await socket.send(Buffer.from([0x10, 0x64]))
  isOpen = false
  await assert.rejects(socket.send(Buffer.from([0x10, 0x64])), /no hold/)
  socket.close()
})

test('a refused connection and a missing name are known not to have been sent', async () => {
  for (const url of ['ws://127.0.0.1:9/', 'ws://no-such-host.invalid/']) {
    await assert.rejects(openSocket(request({ url }), OPTIONS, allow), { kind: 'not_sent' })
  }
})

test('a silent vendor fails the socket, once', async () => {
  const failures: unknown[] = []
  await open(
    { onClose: (failure) => failures.push(failure) },
    { ...OPTIONS, firstByteTimeoutMs: 150 },
  )
  await until('the end', () => (failures.length > 0 ? true : undefined))
  assert.match(String(failures[0]), /no message within 150 ms/)
  await until('its connection to end', () => (vendor.last().isClosed ? true : undefined))
  assert.equal(failures.length, 1)
})

/** Starts a vendor that answers handshakes once `mayAnswer` resolves, and then sends `bytes`. */
async function startSlow(
  t: TestContext,
  mayAnswer: () => Promise<unknown>,
  bytes = Buffer.alloc(0),
): Promise<string> {
  const websockets = new WebSocketServer({ noServer: true })
  const server = createServer()
  server.on('upgrade', (upgrade, socket, head) => {
    socket.on('error', () => undefined)
    const answer = () => {
      websockets.handleUpgrade(upgrade, socket, head, () => socket.write(bytes))
    }
    mayAnswer().then(answer, () => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const one of websockets.clients) one.terminate()
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return `ws://127.0.0.1:${port}/`
}

test('the time to the first message begins after the handshake', async (t) => {
  const begun = performance.now()
  const isLate = () => performance.now() > begun + 120
  const url = await startSlow(t, () => until('more than that time', isLate))
  const failures: unknown[] = []
  const onClose = (failure: unknown) => failures.push(failure)
  await open({ url, onClose }, { ...OPTIONS, firstByteTimeoutMs: 30 })
  await until('the end', () => failures.length > 0)
  assert.match(String(failures[0]), /no message within 30 ms/)
})

test('a handshake without an end is known not to have been sent', async (t) => {
  const url = await startSlow(t, () => new Promise(() => undefined))
  const options = { ...OPTIONS, connectTimeoutMs: 30 }
  await assert.rejects(openSocket(request({ url }), options, allow), {
    kind: 'not_sent',
    message: /handshake has timed out/,
  })
})

test('other work is done between the messages of one chunk', async (t) => {
  const count = 10_000
  const empty = Buffer.alloc(2 * count, Buffer.from([0x82, 0]))
  const url = await startSlow(t, async () => undefined, empty)
  let [messages, turns] = [0, 0]
  const next = () => {
    turns += 1
    turn = setImmediate(next)
  }
  let turn: NodeJS.Immediate = setImmediate(next)
  t.after(() => clearImmediate(turn))
  const onMessage = () => {
    messages += 1
  }
  const socket = await open({ url, onMessage })
  await until('all messages', () => messages === count)
  assert.ok(turns > count / 2, `${turns} turns`)
  socket.close()
})

test('an error in a reader ends the connection, not the process', async () => {
  const failures: unknown[] = []
  const socket = await open({
    onMessage() {
      throw new Error('unreadable')
    },
    onClose: (failure) => failures.push(failure),
  })
  await socket.send(Buffer.from([0x10, 0x64]))
  await until('the end', () => (failures.length > 0 ? true : undefined))
  assert.match(String(failures[0]), /a message that cannot be read/)
})

test('paced messages keep their interval and end with the input', async () => {
  const socket = await open()
  const sent: number[] = []
  const start = performance.now()
  await socket.sendPaced(30, async () => {
    if (sent.length === 5) return undefined
    sent.push(performance.now())
    return Buffer.from([0x10, 0xc8, 0x01])
  })
  const early = sent.filter((at, index) => at - start < index * 30 - 2)
  assert.deepEqual(early, [], 'none left before its time')
  socket.close()
  await assert.rejects(socket.sendPaced(0, async () => Buffer.from([0x10, 0x64])))
})
