/**
 * A vendor that sends a byte now and then, in whatever phase, is ended with the time of the wire:
 * timeouts of silence begin anew with each byte.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { after, test } from 'node:test'
import { Agent } from 'undici'
import { admitHold } from '../../../server/money/ledger/holds/hold.ts'
import { readErrorBody } from '../../../server/wire/upstreams/failure.ts'
import { readJsonAnswer } from '../../../server/wire/upstreams/read-json.ts'
import type { Wire, WireResponse } from '../../../server/wire/upstreams/wire.ts'
import { Deadline } from '../../../server/work/pipeline/send/deadline.ts'
import { openWire } from '../../../server/work/pipeline/send/wire.ts'
import { drip } from '../../support/servers/drip.ts'

const DRIP_MS = 5
/** A vendor's pieces after which the time of the wire is over, unless the adapter ends it. */
const PIECES = 3
const OK = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n'
const FAILED = 'HTTP/1.1 500 No\r\ncontent-type: application/json\r\n\r\n'
/** Of RFC 6455. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** The vendor answers with `start` and then with `piece` without end; a deaf one reads slowly. */
interface Script {
  readonly start: (key: string) => string
  readonly piece: string
  readonly isDeaf?: boolean
  /** The adapter ends the time once it is in the phase. */
  readonly endsItself?: boolean
}

let script: Script = { start: () => '', piece: '' }
let deadline = new Deadline(0)
let deaf: Socket | undefined
let closed: Promise<unknown> = Promise.resolve()
/** Ends the time of the wire. */
const end = () => deadline.extend(1)

const vendor = createServer((socket: Socket) => {
  const { start, piece, isDeaf, endsItself } = script
  let pieces = 0
  const count = () => {
    pieces += 1
    if (pieces === PIECES && !endsItself) end()
  }
  closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => undefined)
  deaf?.destroy()
  deaf = isDeaf ? socket : undefined
  if (isDeaf) {
    // It does not learn of the end either, behind what it has not read.
    closed = Promise.resolve()
    void drip(socket, DRIP_MS, () => {
      socket.read(1)
      count()
      return ''
    })
    return
  }
  socket.once('data', (head) => {
    socket.write(start(/sec-websocket-key: (\S+)/i.exec(head.toString())?.[1] ?? ''), 'latin1')
    void drip(socket, DRIP_MS, () => {
      count()
      return Buffer.from(piece, 'latin1')
    })
    socket.resume()
  })
}).listen(0, '127.0.0.1')
await once(vendor, 'listening')
const origin = `127.0.0.1:${(vendor.address() as AddressInfo).port}`
const dispatcher = new Agent()
after(async () => {
  deaf?.destroy()
  await dispatcher.destroy()
  vendor.close()
})

function switchProtocols(key: string): string {
  const accept = createHash('sha1').update(`${key}${GUID}`).digest('base64')
  return `HTTP/1.1 101 Go\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`
}

const ask = (wire: Wire, body: Buffer | Readable = Buffer.from('{}')) => {
  const isStream = body instanceof Readable
  const headers: Record<string, string> = isStream ? { 'content-length': String(2 ** 30) } : {}
  return wire.send({ method: 'POST', url: `http://${origin}/`, headers, body })
}

/** Opens a socket and rejects with what ends it. */
function listen(wire: Wire): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = { url: `ws://${origin}/`, headers: {}, onMessage: () => undefined }
    wire.openSocket({ ...request, onClose: reject }).then((opening) => {
      end()
      if (!opening.socket) readErrorBody(opening.refusal).then(() => resolve(), reject)
    }, reject)
  })
}

const askThen = (read: (response: WireResponse) => Promise<unknown>) => async (wire: Wire) => {
  const response = await ask(wire)
  end()
  await read(response)
}

async function poll(wire: Wire): Promise<void> {
  for (let polls = 0; ; polls += 1) {
    await ask(wire).then(readJsonAnswer)
    if (polls === PIECES) end()
    await wire.wait(DRIP_MS)
  }
}

const ENDLESS = () => new Readable({ read: () => undefined })
const LARGE = Buffer.alloc(64 * 1024 * 1024)
const deafVendor: Script = { start: () => '', piece: '', isDeaf: true }
const drips = (start: string | Script['start'], piece: string): Script => ({
  start: typeof start === 'string' ? () => start : start,
  piece,
})
const until = (script: Script): Script => ({ ...script, endsItself: true })

type Phase = readonly [Script, (wire: Wire) => Promise<unknown>, 'unknown' | 'not_sent' | 'enough']

/** Each phase: what the vendor does, what an adapter does, and what is known then. */
const PHASES: Readonly<Record<string, Phase>> = {
  'a head': [drips('HTTP/1.1 200 OK\r\nx: ', 'x'), ask, 'unknown'],
  'interim heads': [drips('', 'HTTP/1.1 102 Processing\r\n\r\n'), ask, 'unknown'],
  'a request that is read slowly': [deafVendor, (wire) => ask(wire, LARGE), 'unknown'],
  'a request without end': [deafVendor, (wire) => ask(wire, ENDLESS()), 'unknown'],
  'an answer': [until(drips(OK, ' ')), askThen(readJsonAnswer), 'unknown'],
  'an error': [until(drips(FAILED, ' ')), askThen(readErrorBody), 'enough'],
  polls: [
    until(drips('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}', '')),
    poll,
    'unknown',
  ],
  'a handshake': [drips('HTTP/1.1 101 Go\r\nx: ', 'x'), listen, 'not_sent'],
  'a refused handshake': [until(drips(FAILED, ' ')), listen, 'enough'],
  messages: [until(drips(switchProtocols, '\x82\x01x')), listen, 'unknown'],
  pings: [until(drips(switchProtocols, '\x89\x00')), listen, 'unknown'],
  'a message without end': [
    until(drips((key) => `${switchProtocols(key)}\x02\x01x`, '\x00\x01x')),
    listen,
    'unknown',
  ],
}

for (const [phase, [told, use, kind]] of Object.entries(PHASES)) {
  test(phase, async () => {
    script = told
    deadline = new Deadline(600_000)
    const hold = admitHold({ id: 'hold_1', requestId: 'r', accountId: 'a', amountNanos: 1n })
    const times = {
      connectTimeoutMs: 60_000,
      firstByteTimeoutMs: 600_000,
      idleTimeoutMs: 600_000,
      socketsMax: 100,
    }
    const wire = openWire(hold, { dispatcher, ...times, deadline })
    if (kind === 'enough') await use(wire)
    else await assert.rejects(use(wire), { kind })
    await closed
    await assert.rejects(ask(wire), { kind: 'unknown' }, 'nothing more is sent')
  })
}

test('an end can be moved, and is told once to those that still watch', async () => {
  const own = new Deadline(600_000)
  const told: string[] = []
  const over = new Promise<void>((resolve) => own.watch(resolve))
  own.watch(() => told.push('watching'))
  own.watch(() => told.push('gone'))()
  own.extend(1)
  await over
  assert.deepEqual(told, ['watching'])
  assert.ok(own.isOver())
  own.extend(600_000)
  assert.ok(!own.isOver())
})
