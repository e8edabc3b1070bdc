/** A gateway with the simulated vendor of background responses behind it, and short waits. */
import assert from 'node:assert/strict'
import OpenAI from 'openai'
import type { Simulators } from '../../../simulators/index.ts'
import {
  startTestGateway,
  type Tenant,
  type TestAnswer,
  type TestGateway,
} from '../../support/in-process.ts'
import { until } from '../../support/until.ts'
import { QUICK } from '../stage.ts'

export const RESPONSES = '/v1/responses'
/** Of the model `held`: nano-units for one token, read and written. */
const INPUT_NANOS = 1_000_000n
const OUTPUT_NANOS = 10_000_000n

export interface BackgroundStage {
  readonly gateway: TestGateway
  client(tenant: Tenant, maxRetries?: number): OpenAI
  create(tenant: Tenant, input: string, more?: object, headers?: object): Promise<TestAnswer>
  /** The task of a response, as the database has it. */
  task(id: string): Promise<BackgroundRow>
  /** Once it has ended. */
  ended(id: string): Promise<BackgroundRow>
  /** What the vendor's own book says that the calls with a marker are worth. */
  worth(marker: string): { readonly nanos: bigint; readonly jobs: number }
  /** What this account was charged for creations. */
  charged(tenant: Tenant): Promise<bigint>
  stop(): Promise<void>
}

export interface BackgroundRow {
  readonly id: string
  readonly state: string
  readonly error_code: string | null
  readonly charged: bigint | null
  readonly status: string | null
  readonly basis: string | null
  readonly held: bigint
  /** The reason of an upstream cost that is not charged. */
  readonly uncharged: string | null
}

export async function startBackgroundStage(
  environment: Readonly<Record<string, string>> = {},
): Promise<BackgroundStage> {
  const gateway = await startTestGateway({
    ...QUICK,
    ALLOW_PRIVATE_TARGETS: 'true',
    ...environment,
  })
  await gateway.apply(catalog(gateway.simulators.url))

  async function task(id: string): Promise<BackgroundRow> {
    const [row] = await gateway.sql<BackgroundRow[]>`
      select t.id, t.state, t.error_code, c.charged, c.status, c.basis, h.amount as held,
        o.reason as uncharged
      from task t join task_attempt a on a.id = t.attempt_id join hold h on h.id = t.hold_id
      left join call c on c.hold_id = t.hold_id
      left join uncharged_cost o on o.task_id = t.id
      where t.kind = 'response' and (t.id = ${id} or a.upstream_id = ${id})`
    assert.ok(row, `no task of ${id}`)
    return row
  }

  return {
    gateway,
    client: (tenant, maxRetries = 2) =>
      new OpenAI({ apiKey: tenant.key, baseURL: `${gateway.url}/v1`, maxRetries }),
    create: (tenant, input, more = {}, headers = {}) => {
      const body = { model: 'held', input, background: true, max_output_tokens: 500, ...more }
      return gateway.post(RESPONSES, tenant.key, body, headers)
    },
    task,
    ended: (id) =>
      until(`the end of ${id}`, async () => {
        const row = await task(id)
        return row.charged === null ? undefined : row
      }),
    worth: (marker) => worthOf(gateway.simulators.book, marker),
    async charged({ accountId }) {
      const [row] = await gateway.sql<{ sum: bigint }[]>`
        select coalesce(sum(charged), 0)::bigint as sum from call where account_id = ${accountId}`
      return row?.sum ?? 0n
    },
    stop: () => gateway.stop(),
  }
}

/** What the vendor's own book says that the background responses with a marker are worth. */
export function worthOf(
  book: Simulators['book'],
  marker: string,
): { readonly nanos: bigint; readonly jobs: number } {
  // An answer that was lost has an entry of its own, which is no job.
  const entries = book.entries({ marker }).filter(({ request_id: id }) => id.startsWith('resp_'))
  const billed = entries.filter((one) => one.billed)
  const nanos = billed.reduce((sum, { units }) => {
    const input = BigInt((units.input_token ?? 0) + (units.cached_input_token ?? 0))
    return sum + input * INPUT_NANOS + BigInt(units.output_token ?? 0) * OUTPUT_NANOS
  }, 0n)
  return { nanos, jobs: entries.length }
}

function catalog(simulators: string): object {
  const settings = { base_url: `${simulators}/openai/v1`, api_key: 'sim-openai-key' }
  const prices = [
    { unit: 'input_token', per: 1, amount: '0.001' },
    { unit: 'output_token', per: 1, amount: '0.01' },
  ]
  const model = (id: string, ...channels: readonly string[]) => ({
    id,
    type: 'chat',
    prices,
    routes: channels.map((channel) => ({ channel, upstream_model: 'sim-chat' })),
  })
  return {
    channels: [
      { id: 'passing', upstream: 'openai-compatible', settings },
      {
        id: 'translating',
        upstream: 'openai-compatible',
        settings: { ...settings, responses: 'translate' },
      },
    ],
    models: [model('held', 'passing'), model('translated', 'translating')],
  }
}
