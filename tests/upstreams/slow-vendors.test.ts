/**
 * Every method of every upstream ends with the time of its wire, also if its vendor sends a byte at
 * a time without end. The table is the list of upstreams: a new adapter is in it at once.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { after, test } from 'node:test'
import { Agent } from 'undici'
import { parseCatalogFile } from '../../server/money/catalog/apply/file.ts'
import { admitHold } from '../../server/money/ledger/holds/hold.ts'
import { parseRequestJson } from '../../server/wire/dialects/request-json/parse.ts'
import { UPSTREAMS } from '../../server/wire/upstreams/index.ts'
import { withChannel } from '../../server/wire/upstreams/task-driver.ts'
import type { CallRequest, Operation, Upstream } from '../../server/wire/upstreams/upstream.ts'
import type { Wire } from '../../server/wire/upstreams/wire.ts'
import { Deadline } from '../../server/work/pipeline/send/deadline.ts'
import { openWire } from '../../server/work/pipeline/send/wire.ts'
import { serviceAccountOf } from '../../simulators/google/tokens.ts'
import { drip } from '../support/servers/drip.ts'
import { startServer } from '../support/servers/local-server.ts'

const TOTAL_MS = 200
const DRIP_MS = 50
/** Heads before bodies without end. */
const HEADS = [
  [200, 'application/json'],
  [200, 'text/event-stream'],
  [200, 'audio/mpeg'],
  [500, 'application/json'],
  [401, 'text/html'],
] as const

const vendor = await startServer((request, response) => {
  const [status, type] = HEADS[Number(request.headers['x-head'])] ?? [500, '']
  request.resume()
  response.writeHead(status, { 'content-type': type })
  void drip(response, DRIP_MS, () => ' ')
})
const dispatcher = new Agent()
after(async () => {
  await dispatcher.destroy()
  await vendor.stop()
})

const FILE = join(import.meta.dirname, '..', '..', 'catalog', 'simulators.json')
const simulated = parseCatalogFile('simulators.json', readFileSync(FILE, 'utf8'), {
  SIMULATORS_URL: vendor.url,
}).content.channels
const SETTINGS: Readonly<Record<string, unknown>> = {
  bedrock: { region: 'us-east-1', api_key: 'k' },
  'anthropic-vertex': {
    base_url: vendor.url,
    service_account: serviceAccountOf(vendor.url),
    location: 'global',
  },
  ...Object.fromEntries(simulated.map(({ upstream, settings }) => [upstream, settings])),
}

const CONVERSATION = { messages: [{ role: 'user', content: 'hi' }], max_tokens: 10 }
const INPUT = { input: 'hi' }
const PROMPT = { prompt: 'hi' }
const BODIES: Readonly<Record<Operation, object>> = {
  chat: CONVERSATION,
  messages: CONVERSATION,
  responses: INPUT,
  compaction: INPUT,
  embedding: INPUT,
  moderation: INPUT,
  completion: PROMPT,
  image: PROMPT,
  'image-edit': PROMPT,
  'image-variation': {},
  contents: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
  'contents-embedding': { content: { parts: [{ text: 'hi' }] } },
  interpretation: { mode: 's2t', source_language: 'zh', target_language: 'en' },
  rerank: { query: 'hi', documents: ['one'] },
  search: { Query: 'hi' },
  speech: { req_params: { text: 'hi', speaker: 's', audio_params: { format: 'mp3' } } },
  synthesis: { input: 'hi', voice: 'v' },
  transcription: {},
}
const RECORDING = Buffer.concat([Buffer.from('RIFF\x24\0\0\0WAVEfmt '), Buffer.alloc(64)])

function requestOf(operation: Operation, stream: boolean): CallRequest {
  const body = Buffer.from(JSON.stringify({ model: 'm', ...BODIES[operation] }))
  const parsed = parseRequestJson(body)
  assert.ok(parsed.ok)
  const { fields, value } = parsed
  return {
    body,
    fields,
    value,
    file: {
      bytes: RECORDING.length,
      seconds: 1,
      read: async (buffer, position) => RECORDING.copy(buffer, 0, position),
      publish: async (name) => `${vendor.url}/${name}`,
    },
    headers: {},
    requestId: 'req_1',
    createdAtSeconds: 1,
    model: 'm',
    stream,
    estimateInputTokens: () => 1,
  }
}

type Use = (wire: Wire) => Promise<unknown>

/** Lists the methods of an upstream that send. */
function* methodsOf(upstream: Upstream, settings: unknown): Generator<[string, Use]> {
  const call = { settings, upstreamModel: 'm' }
  for (const [name, adapter] of Object.entries(upstream.calls)) {
    const operation = name as Operation
    for (const stream of [false, true]) {
      yield [
        `${operation}${stream ? ', streamed' : ''}`,
        async (wire) => {
          const answer = await adapter(wire, { ...call, request: requestOf(operation, stream) })
          await finished(answer.body.resume())
        },
      ]
    }
  }
  const { stored, probe, listModels, askAt } = upstream
  if (stored)
    yield [
      'stored',
      (wire) => stored(wire, settings, { action: 'get', id: 'i', query: '' }).then(drain),
    ]
  if (probe) yield ['probe', (wire) => probe(wire, settings).then(drain)]
  if (listModels) yield ['listModels', (wire) => listModels(wire, settings).then(drain)]
  if (askAt) yield ['askAt', (wire) => askAt(wire, settings, '/x').then(drain)]
  for (const [kind, declared] of Object.entries(upstream.tasks ?? {})) {
    const driver = withChannel(declared, settings)
    const reference = { ...call, upstreamId: 'id' }
    yield [`poll of ${kind}`, (wire) => driver.poll(wire, reference)]
    if (driver.cancel) yield [`cancel of ${kind}`, async (wire) => driver.cancel?.(wire, reference)]
    if (driver.list)
      yield [
        `list of ${kind}`,
        async (wire) => driver.list?.(wire, { ...call, since: new Date(0) }),
      ]
    const attempt = { id: 'att_1' }
    if (driver.recover)
      yield [`recover of ${kind}`, async (wire) => driver.recover?.(wire, { ...call, attempt })]
  }
}

const drain = ({ body }: Awaited<ReturnType<Wire['send']>>) => finished(body.resume())

const tokenAnswer = () => ({
  status: 200,
  headers: {},
  body: Readable.from([Buffer.from(JSON.stringify({ access_token: 'a-token' }))]),
})

/** Opens a wire that reaches the slow vendor, whatever address is named. */
function openSlow(head: number) {
  const hold = admitHold({ id: 'hold_1', requestId: 'r', accountId: 'a', amountNanos: 1n })
  const times = {
    connectTimeoutMs: 60_000,
    firstByteTimeoutMs: 60_000,
    idleTimeoutMs: 60_000,
    socketsMax: 100,
  }
  const wire = openWire(hold, { dispatcher, ...times, deadline: new Deadline(TOTAL_MS) })
  let sent = 0
  const at = (url: string) => `${vendor.url}${new URL(url).pathname}`
  const slow = <R extends { url: string; headers: object }>(request: R) => {
    sent += 1
    return {
      ...request,
      url: at(request.url),
      headers: { ...request.headers, 'x-head': `${head}` },
    }
  }
  return {
    sent: () => sent,
    wire: {
      ...wire,
      // The first of many calls asks for the token of all.
      send: async (request) => (request.forCredential ? tokenAnswer() : wire.send(slow(request))),
      openSocket: (request) => {
        const { url, ...rest } = slow(request)
        return wire.openSocket({ ...rest, url: url.replace('http', 'ws') })
      },
    } satisfies Wire,
  }
}

test('every method of every upstream', async () => {
  const cases = [...UPSTREAMS].flatMap(([name, upstream]) => {
    assert.ok(SETTINGS[name], `${name} has settings in this test`)
    const methods = [...methodsOf(upstream, upstream.settings.parse(SETTINGS[name]))]
    assert.ok(methods.length > 0, `${name} has methods that send`)
    return methods.flatMap(([method, use]) =>
      HEADS.map((_, head) => ({ method: `${name}: ${method}`, use, head })),
    )
  })
  const unreached = await Promise.all(
    cases.map(async ({ method, use, head }) => {
      const { wire, sent } = openSlow(head)
      const error = await use(wire).catch((cause: unknown) => cause)
      return sent() > 0 ? [] : [`${method}: ${String(error)}`]
    }),
  )
  assert.deepEqual(unreached.flat(), [], 'each method has sent')
})
