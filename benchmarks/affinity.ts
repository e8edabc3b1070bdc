/**
 * Measures the cached share of input tokens with and without session affinity: conversations over a
 * model with four accounts of one vendor, whose simulator has a prompt cache for each account.
 * Calls go to two gateways in turn, which share no state. `node benchmarks/affinity.ts
 * [--conversations 50] [--turns 8]`.
 */

import { createSecretBox } from '../server/base/lib/secrets/secrets.ts'
import { applyCatalog } from '../server/money/catalog/apply/apply.ts'
import { parseCatalogFile } from '../server/money/catalog/apply/file.ts'
import { UPSTREAMS } from '../server/wire/upstreams/index.ts'
import { openLaboratory } from '../testbed/laboratory.ts'
import { readOptions } from '../testbed/options.ts'
import { readConditions, report, table } from '../testbed/results.ts'

const values = readOptions(import.meta.filename, {
  conversations: { type: 'string', default: '50' },
  turns: { type: 'string', default: '8' },
})
const conversations = Number(values.conversations)
const turns = Number(values.turns)
const SECRET_KEY = 'a-secret-key-of-tests-which-is-long-enough'
const SIMULATED_KEYS = ['', '-2', '-3', '-4'].map((account) => `sim-openai-key${account}`)
const WORDS = 'the river takes every small stream and gives each drop its due count '

interface Naming {
  readonly name: string
  readonly path: string
  readonly body: (session: string) => object
  readonly headers: (session: string) => Readonly<Record<string, string>>
}

const CHAT = '/v1/chat/completions'
const NAMINGS: readonly Naming[] = [
  { name: 'no name (before)', path: CHAT, body: () => ({}), headers: () => ({}) },
  {
    name: 'prompt_cache_key',
    path: CHAT,
    body: (session) => ({ prompt_cache_key: session }),
    headers: () => ({}),
  },
  {
    name: 'metadata.user_id of messages',
    path: '/v1/messages',
    body: (session) => ({ max_tokens: 500, metadata: { user_id: session } }),
    headers: () => ({ 'anthropic-version': '2023-06-01' }),
  },
  {
    name: 'header x-session-id',
    path: CHAT,
    body: () => ({}),
    headers: (session) => ({ 'x-session-id': session }),
  },
]

const conditions = readConditions(
  `node benchmarks/affinity.ts --conversations ${conversations} --turns ${turns}`,
)
const laboratory = await openLaboratory({ shared: true })
await laboratory.withDatabase((sql) =>
  applyCatalog({
    sql,
    environment: {},
    upstreams: Object.fromEntries(UPSTREAMS),
    files: [parseCatalogFile('affinity.json', JSON.stringify(catalog()), {})],
    secrets: createSecretBox([SECRET_KEY]),
  }),
)
const gateways = [await laboratory.startGateway(), await laboratory.startGateway()]
const rows: { name: string; calls: number; input: number; cached: number }[] = []
try {
  for (const [index, naming] of NAMINGS.entries()) rows.push(await measure(naming, index))
} finally {
  await Promise.all(gateways.map((gateway) => gateway.stop()))
  await laboratory.close()
}
finish()

function catalog() {
  const settings = { base_url: `${laboratory.simulators.url}/openai/v1` }
  return {
    source: 'affinity',
    channels: SIMULATED_KEYS.map((key, index) => ({
      id: `account-${index}`,
      upstream: 'openai-compatible',
      settings: { ...settings, api_key: key },
    })),
    models: NAMINGS.map((_, index) => ({
      id: `sim-caching-${index}`,
      type: 'chat',
      prices: [{ unit: 'input_token', per: 1000, amount: '0.001' }],
      routes: SIMULATED_KEYS.map((_key, account) => ({ channel: `account-${account}` })),
    })),
  }
}

/** Sends the turns of all conversations; the vendor's own book has the tokens. */
async function measure(naming: Naming, index: number) {
  const before = (await laboratory.simulators.readBook()).length
  for (let turn = 0; turn < turns; turn += 1) {
    for (let number = 0; number < conversations; number += 1) {
      await call(naming, index, number, turn)
    }
  }
  const book = (await laboratory.simulators.readBook()).slice(before)
  const sum = (unit: string) => book.reduce((total, { units }) => total + (units[unit] ?? 0), 0)
  const cached = sum('cached_input_token')
  const input = sum('input_token') + cached
  return { name: naming.name, calls: book.length, input, cached }
}

async function call({ path, body, headers }: Naming, index: number, number: number, turn: number) {
  const session = `conversation-${number}`
  const gateway = gateways[(number + turn) % gateways.length]
  const answer = await fetch(`${gateway?.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${laboratory.keys[0]?.key}`,
      'content-type': 'application/json',
      ...headers(session),
    },
    body: JSON.stringify({
      model: `sim-caching-${index}`,
      messages: historyOf(session, turn),
      ...body(session),
    }),
  })
  if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`)
  await answer.arrayBuffer()
}

/** Returns a conversation that repeats all earlier turns, as clients send it. */
function historyOf(session: string, turn: number): object[] {
  const said = (number: number) => `${session}, turn ${number}: ${WORDS.repeat(20)}`
  return Array.from({ length: turn + 1 }, (_, number) => [
    { role: 'user', content: said(number) },
    ...(number < turn ? [{ role: 'assistant', content: `Turn ${number} is answered.` }] : []),
  ]).flat()
}

function finish(): void {
  const percent = (part: number, whole: number) => `${((part / whole) * 100).toFixed(1)} %`
  const lines = table([
    ['conversations named by', 'calls', 'input tokens', 'of them cached', 'share'],
    ...rows.map(({ name, calls, input, cached }) => {
      return [name, calls, input, cached, percent(cached, input)]
    }),
  ])
  const most = percent(turns - 1, turns + 1)
  report('affinity', conditions, { rows }, [
    ...lines,
    '',
    'Four channels of equal weight, one prompt cache each, two gateways in turn, figures of the',
    'vendor’s book. Calls without a name are spread as all calls were before. With turns of equal',
    `length at most ${most} of the input has been sent before.`,
  ])
}
