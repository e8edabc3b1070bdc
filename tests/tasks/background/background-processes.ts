/** Gateways as processes on one database, and a gate before the vendor of background responses. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import type { Sql } from 'postgres'
import { createKey } from '../../../server/money/accounts/manage-keys.ts'
import { type Simulators, startSimulators } from '../../../simulators/index.ts'
import {
  applyObject,
  createTestAccount,
  type GatewayProcess,
  startGateway,
} from '../../support/gateway.ts'
import { expectSoundBooks } from '../../support/servers/crash-stage.ts'
import { until } from '../../support/until.ts'
import { endLeases, QUICK } from '../stage.ts'
import { RESPONSES, worthOf } from './background-stage.ts'
import { openVendorGate, type VendorGate } from './vendor-gate.ts'

const PRICES = [
  { unit: 'input_token', per: 1, amount: '0.001' },
  { unit: 'output_token', per: 1, amount: '0.01' },
]

export interface EndedTask {
  readonly id: string
  readonly state: string
  readonly error_code: string | null
  readonly charged: bigint
  readonly basis: string
  readonly held: bigint
  /** Entries that closed its hold with a charge. */
  readonly charges: number
}

export interface BackgroundProcesses {
  readonly vendors: Simulators
  readonly gate: VendorGate
  readonly key: string
  start(env?: Readonly<Record<string, string>>): Promise<GatewayProcess>
  /** SIGKILL; what it had claimed is due for another gateway. */
  kill(gateway: GatewayProcess): Promise<void>
  client(gateway: GatewayProcess): OpenAI
  create(gateway: GatewayProcess, input: string, more?: object): Promise<Response>
  ask(gateway: GatewayProcess, id: string, method?: string): Promise<Response>
  /** A response by the vendor's id, once its task has ended. */
  ended(id: string): Promise<EndedTask>
  /** What the vendor's own book says of the calls with a marker. */
  worth(marker: string): { readonly nanos: bigint; readonly jobs: number }
  /** Checks the books; then ends what was started here, and not the database. */
  close(): Promise<void>
}

/** `url` is the DATABASE_URL of the gateways. */
export async function startBackgroundProcesses(
  sql: Sql,
  url: string,
): Promise<BackgroundProcesses> {
  const vendors = await startSimulators({ port: 0 })
  const gate = await openVendorGate(vendors.url)
  const dataDir = mkdtempSync(join(tmpdir(), 'tributary-background-'))
  const gateways: GatewayProcess[] = []
  await applyModel(sql, gate.url)
  const account = await createTestAccount(sql, '1000')
  const { key } = await createKey(sql, { accountId: account.id })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return {
    vendors,
    gate,
    key,
    async start(env = {}) {
      const own = { ...QUICK, ALLOW_PRIVATE_TARGETS: 'true', ...env }
      const gateway = await startGateway({ dataDir, databaseUrl: url, env: own })
      gateways.push(gateway)
      return gateway
    },
    async kill(gateway) {
      await gateway.kill9()
      await endLeases(sql)
    },
    client: (gateway) => new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 }),
    create: (gateway, input, more = {}) => {
      const body = { model: 'held', input, background: true, max_output_tokens: 100, ...more }
      const text = JSON.stringify(body)
      return fetch(gateway.url + RESPONSES, { method: 'POST', headers, body: text })
    },
    ask: (gateway, id, method = 'GET') =>
      fetch(`${gateway.url}${RESPONSES}/${id}`, { method, headers }),
    ended: (id) => until(`the end of ${id}`, () => readEnded(sql, id)),
    worth: (marker) => worthOf(vendors.book, marker),
    async close() {
      for (const gateway of gateways) if (!gateway.hasExited()) await gateway.stop(5_000)
      gate.close()
      await vendors.stop()
      rmSync(dataDir, { recursive: true, force: true })
      await expectSoundBooks(sql)
    },
  }
}

async function applyModel(sql: Sql, vendorUrl: string): Promise<void> {
  const settings = { base_url: `${vendorUrl}/openai/v1`, api_key: 'sim-openai-key' }
  const routes = [{ channel: 'vendor', upstream_model: 'sim-chat' }]
  const content = {
    channels: [{ id: 'vendor', upstream: 'openai-compatible', settings }],
    models: [{ id: 'held', type: 'chat', prices: PRICES, routes }],
  }
  await applyObject(sql, 'background', content)
}

async function readEnded(sql: Sql, id: string): Promise<EndedTask | undefined> {
  const [row] = await sql<EndedTask[]>`
    select t.id, t.state, t.error_code, c.charged, c.basis, h.amount as held, (
      select count(*)::int from entry e where e.posting = t.hold_id and e.step = 'charge') as charges
    from task t join task_attempt a on a.id = t.attempt_id join hold h on h.id = t.hold_id
    join call c on c.hold_id = t.hold_id
    where t.finished_at is not null and (t.id = ${id} or a.upstream_id = ${id})`.catch(() => [])
  return row
}
