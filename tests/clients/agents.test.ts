/**
 * The requests of command-line agents with their default settings, on the plainest models that an
 * operator can add: two prices and one route, at upstreams of each dialect. `agents/` has the shape
 * of what each agent sent: all members and tools; texts, schemas and ids are replaced.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { serviceAccountOf } from '../../simulators/google/tokens.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/in-process.ts'

type Upstream = 'chat' | 'responses' | 'messages' | 'bedrock' | 'vertex'

interface AgentRequest {
  readonly name: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: { readonly stream?: boolean }
  /** What `x-tributary-ignored` names at an upstream; null: there is no such header. */
  readonly ignored: Readonly<Partial<Record<Upstream, string | null>>>
}

interface Agent {
  readonly agent: string
  readonly version: string
  readonly requests: readonly AgentRequest[]
}

const FOLDER = join(import.meta.dirname, 'agents')
const AGENTS = readdirSync(FOLDER).map((file): Agent => {
  return JSON.parse(readFileSync(join(FOLDER, file), 'utf8'))
})

/** The last event of a stream, by the endpoint. */
const ENDS: readonly (readonly [path: RegExp, end: RegExp])[] = [
  [/chat\/completions/, /data: \[DONE\]\n\n$/],
  [/messages/, /event: message_stop\n.*\n\n$/],
  [/responses/, /"type":"response\.completed".*\n\n$/],
]

/** Nano-units of a token. */
const INPUT_NANOS = 150n
const OUTPUT_NANOS = 600n

/** Models with two prices and one route. */
function plainCatalog(simulators: string) {
  const price = (unit: string, amount: string) => ({ unit, per: 1_000_000, amount })
  const prices = [price('input_token', '0.15'), price('output_token', '0.60')]
  const model = (id: Upstream, channel: string, upstream: string) => {
    return { id, type: 'chat', prices, routes: [{ channel, upstream_model: upstream }] }
  }
  const settings = {
    base_url: `${simulators}/openai/v1`,
    api_key: 'sim-openai-key',
    responses: 'translate',
  }
  return {
    channels: [
      { id: 'chat-only', upstream: 'openai-compatible', settings },
      {
        id: 'vertex',
        upstream: 'anthropic-vertex',
        settings: {
          base_url: `${simulators}/google`,
          service_account: serviceAccountOf(simulators),
        },
      },
      {
        id: 'bedrock',
        upstream: 'bedrock',
        settings: {
          base_url: `${simulators}/bedrock`,
          region: 'us-east-1',
          access_key_id: 'AKIASIMULATOR',
          secret_access_key: 'sim-bedrock-secret',
        },
      },
    ],
    models: [
      model('chat', 'chat-only', 'sim-chat'),
      model('responses', 'sim-openai', 'sim-chat'),
      model('messages', 'sim-anthropic', 'sim-claude'),
      model('vertex', 'vertex', 'sim-claude@20260101'),
      model('bedrock', 'bedrock', 'us.anthropic.sim-claude-v1:0'),
    ],
  }
}

describe('agents with their default settings', () => {
  let gateway: TestGateway
  let key: string
  before(async () => {
    gateway = await startTestGateway()
    await gateway.apply(plainCatalog(gateway.simulators.url), 'plain')
    key = (await gateway.tenant()).key
  })
  after(() => gateway.stop())

  const send = ({ path, headers, body }: AgentRequest, model: string): Promise<TestAnswer> =>
    gateway.post(path, key, { ...body, model }, headers)

  /** Requires a charge of what the vendor billed since. */
  async function expectCharge(answer: TestAnswer, since: number): Promise<void> {
    await gateway.simulators.book.settled()
    const [bill, ...more] = gateway.simulators.book.entries({ since })
    assert.equal(more.length, 0)
    const { input_token: input = 0, output_token: output = 0 } = bill?.units ?? {}
    const nanos = BigInt(input) * INPUT_NANOS + BigInt(output) * OUTPUT_NANOS
    const { charged, basis, review } = await gateway.record(answer, key)
    assert.equal(Number(charged), Number(nanos) / 1e9)
    assert.deepEqual([basis, review, nanos > 0n], ['usage', false, true])
  }

  for (const { agent, version, requests } of AGENTS) {
    for (const request of requests) {
      for (const [upstream, ignored] of Object.entries(request.ignored)) {
        test(`${agent} ${version}, ${request.name}, over ${upstream}`, async () => {
          const since = gateway.simulators.book.entries().at(-1)?.sequence ?? 0
          const answer = await send(request, upstream)
          assert.equal(answer.status, 200, answer.text)
          assert.equal(answer.headers.get('x-tributary-ignored'), ignored)
          if (request.path.includes('count_tokens')) {
            assert.ok(answer.json.input_tokens > 0)
            return
          }
          const [, end] = ENDS.find(([path]) => path.test(request.path)) ?? []
          if (request.body.stream) assert.match(answer.text, end ?? /^$/)
          await expectCharge(answer, since)
        })
      }
    }
  }
})
