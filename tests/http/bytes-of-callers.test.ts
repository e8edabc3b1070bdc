/** What callers send, and do not read, takes little memory of a gateway, and none from others. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { after, afterEach, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { findFreePort } from '../support/free-port.ts'
import { type Caller, type Stage, startStage } from '../support/gateway.ts'
import { until } from '../support/until.ts'

const MB = 1024 ** 2
/** What attacks may take: some of the gateway's own limit, and what the engine has not collected. */
const GROWTH_MB_MAX = 200
const BODY_BYTES = 62 * MB

let stage: Stage
let metricsUrl: string
/** An account without balance. */
let poor: Caller
let rssMb: number
const sockets: Socket[] = []

before(async () => {
  const port = await findFreePort()
  metricsUrl = `http://127.0.0.1:${port}/metrics`
  stage = await startStage({ env: { METRICS_PORT: String(port), MEMORY_BYTES_MAX: '192MB' } })
  poor = await stage.createCaller('0')
  assert.equal(await askHonestly(), 200)
  rssMb = readRssMb()
})
after(() => stage.stop())
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await until('nothing to be kept', async () => (await keptBytes()) === 0)
})

function readRssMb(): number {
  const { stdout } = spawnSync('ps', ['-o', 'rss=', '-p', String(stage.gateway.pid)])
  return Number(stdout.toString()) / 1024
}

/** Bytes of callers in memory and in files. */
async function keptBytes(): Promise<number> {
  const text = await (await fetch(metricsUrl)).text()
  const values = text.matchAll(/^tributary_(?:memory|spool)_bytes(?:\{.*?\})? (\d+)$/gm)
  return [...values].reduce((sum, [, value]) => sum + Number(value), 0)
}

async function askHonestly(): Promise<number> {
  const messages = [{ role: 'user', content: 'hello' }]
  const answer = await stage.post('/v1/chat/completions', { model: 'sim-chat', messages })
  await answer.text()
  return answer.status
}

function open(request: string): Socket {
  const { hostname, port } = new URL(stage.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  sockets.push(socket)
  socket.write(request)
  return socket
}

/** Sends all of a body but its last byte. */
function holdBack(body: Buffer, headers = ''): Socket {
  const socket = open(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${poor.key.key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n${headers}\r\n`,
  )
  socket.write(body.subarray(0, -1))
  return socket
}

/** Waits until the gateway keeps these bytes, and says how its memory has grown. */
async function growthOnceKept(bytes: number): Promise<number> {
  await until(`${bytes} bytes to be kept`, async () => (await keptBytes()) >= bytes)
  assert.equal(await askHonestly(), 200)
  return readRssMb() - rssMb
}

test('bodies that are held up take no memory, encoded or not', async () => {
  const body = Buffer.from(
    JSON.stringify({ model: 'sim-chat', messages: [], pad: '-'.repeat(BODY_BYTES) }),
  )
  const noise = randomBytes(MB / 2).toString('hex')
  const packed = gzipSync(Buffer.concat([Buffer.from(noise), body.subarray(noise.length)]), {
    level: 1,
  })
  // Within the ratio that a body may expand by.
  assert.ok(packed.length > BODY_BYTES / 100 && packed.length < MB)
  const plain = Array.from({ length: 5 }, () => holdBack(body))
  const encoded = Array.from({ length: 10 }, () => holdBack(packed, 'content-encoding: gzip\r\n'))
  const bytes = plain.length * (body.length - 1) + encoded.length * (packed.length - 1)
  const growthMb = await growthOnceKept(bytes)
  assert.ok(growthMb < GROWTH_MB_MAX, `grew by ${growthMb} MB`)
})

/** A masked frame with the message `{}`. */
const MESSAGE = Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x7b, 0x7d])

test('a WebSocket that is not read is read no further', async () => {
  const key = randomBytes(16).toString('base64')
  const socket = open(
    `GET /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${poor.key.key}\r\n` +
      'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n' +
      `sec-websocket-key: ${key}\r\n\r\n`,
  )
  socket.pause()
  const many = Buffer.concat(Array.from({ length: 2_000_000 }, () => MESSAGE))
  socket.write(many)
  const growthMb = await growthOnceKept(MB / 2)
  assert.ok(socket.writableLength > 0, 'everything was read')
  assert.ok(growthMb < GROWTH_MB_MAX, `grew by ${growthMb} MB`)
})
