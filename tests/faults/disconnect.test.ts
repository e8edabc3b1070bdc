/**
 * A caller that disconnects pays for the work done, and no hold remains: the short version of
 * `npm run prove:disconnect`.
 */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { startTestGateway, type Tenant, type TestGateway } from '../support/in-process.ts'
import { rawRequest } from '../support/raw.ts'
import { until } from '../support/until.ts'

let gateway: TestGateway
let tenant: Tenant
before(async () => {
  gateway = await startTestGateway()
  tenant = await gateway.tenant()
})
after(() => gateway.stop())

const CHUNKS = 6
const PACE = `[[chunks:${CHUNKS}]] [[chunk-delay:5]] [[tokens:30]]`
const CALLS = {
  chat: (script: string) => ({
    path: '/v1/chat/completions',
    body: {
      model: 'sim-chat',
      stream: true,
      messages: [{ role: 'user', content: `${script} ${PACE}` }],
    },
  }),
  speech: (script: string) => ({
    path: '/v1/audio/speech/unidirectional?model=seed-tts-2.0',
    body: {
      req_params: {
        text: `A sentence to be spoken. ${script} ${PACE}`,
        speaker: 'zh_female_vv_uranus_bigtts',
        audio_params: {},
      },
    },
  }),
}
type Kind = keyof typeof CALLS

/** Nanos per billed unit in the simulators' catalog. */
const PRICES: Readonly<Record<Kind, Readonly<Record<string, bigint>>>> = {
  chat: { input_token: 150n, output_token: 600n },
  speech: { character: 300_000n },
}
/** A text that occurs once in each frame with content. */
const FRAME: Readonly<Record<Kind, string>> = { chat: '"content"', speech: '"code":0' }

/** Disconnects once `leaves` returns true for the received text, or on `signal`. */
function hangUp(request: string, leaves: (text: string) => boolean, signal?: Promise<unknown>) {
  return new Promise<void>((resolve) => {
    let text = ''
    const socket = connect(gateway.gateway.port, '127.0.0.1', () => socket.write(request))
    void signal?.then(() => socket.destroy())
    socket.on('data', (data) => {
      text += data
      if (leaves(text)) socket.resetAndDestroy()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve())
  })
}

let calls = 0

async function cut(
  kind: Kind,
  marker: string,
  leaves: (text: string) => boolean,
  options: { readonly fault?: string; readonly signal?: Promise<unknown> } = {},
): Promise<void> {
  const { path, body } = CALLS[kind](`[[call:${marker}]] ${options.fault ?? ''}`)
  const request = rawRequest(path, body, { authorization: `Bearer ${tenant.key}` })
  await hangUp(request, leaves, options.signal)
  calls += 1
  const record = await readNewestRecord()
  await gateway.simulators.book.settled()
  const [entry, ...more] = gateway.simulators.book.entries({ marker })
  assert.deepEqual(more, [], 'the upstream was called once')
  assert.ok(entry?.billed)
  const owed = Object.entries(PRICES[kind]).reduce(
    (sum, [unit, nanos]) => sum + nanos * BigInt(entry.units[unit] ?? 0),
    0n,
  )
  assert.equal(record.basis, 'usage')
  assert.equal(record.charged, owed)
  assert.equal((await gateway.balance(tenant.accountId)).held, 0n)
}

/** Returns the tenant's newest call, once all of them are recorded. */
function readNewestRecord(): Promise<{ readonly basis: string; readonly charged: bigint }> {
  return until('the settlement', async () => {
    const rows = await gateway.sql<{ basis: string; charged: bigint }[]>`
      select basis, charged from call where key_id = ${tenant.keyId} order by created_at desc`
    return rows.length === calls ? rows[0] : undefined
  })
}

for (const kind of ['chat', 'speech'] as const) {
  const frames = (text: string) => text.split(FRAME[kind]).length - 1

  test(`${kind}: disconnected before the first byte, charged the upstream's bill`, async () => {
    const { book } = gateway.simulators
    const begun = until('the upstream call', () => (book.open > 0 ? true : undefined))
    const fault = '[[fault:delay-head=200]]'
    await cut(kind, `${kind}-first`, () => false, { fault, signal: begun })
  })

  test(`${kind}: disconnected at the head, charged the upstream's bill`, async () => {
    await cut(kind, `${kind}-head`, () => true)
  })

  test(`${kind}: disconnected in the middle, charged the upstream's bill`, async () => {
    await cut(kind, `${kind}-middle`, (text) => frames(text) >= CHUNKS / 2)
  })

  test(`${kind}: disconnected just before the usage, charged the upstream's bill`, async () => {
    await cut(kind, `${kind}-usage`, (text) => frames(text) >= CHUNKS)
  })
}
