/** Shared by tests of the catalog: two invented upstreams, and a way to apply plain objects. */
import type { TestContext } from 'node:test'
import type { Sql } from 'postgres'
import { z } from 'zod'
import type { Log } from '../../server/base/lib/log.ts'
import { createSecretBox, createSecretKey } from '../../server/base/lib/secrets/secrets.ts'
import { applyCatalog } from '../../server/money/catalog/apply/apply.ts'
import type { ApplyOptions } from '../../server/money/catalog/apply/change.ts'
import { parseCatalogFile } from '../../server/money/catalog/apply/file.ts'
import type { KnownUpstreams } from '../../server/money/catalog/channel-settings.ts'
import { createTestDatabase } from '../support/postgres.ts'

export const upstreams: KnownUpstreams = {
  plain: {
    settings: z.strictObject({
      base_url: z.url(),
      api_key: z.string().min(4),
      retries: z.int().optional(),
    }),
    secrets: ['api_key'],
  },
  other: { settings: z.strictObject({}), secrets: [] },
}

export const secrets = createSecretBox([createSecretKey()])

const ignore = () => undefined
export const silent: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore }

export async function openDatabase(context: TestContext): Promise<Sql> {
  const database = await createTestDatabase()
  context.after(() => database.drop())
  return database.sql
}

export function channel(id: string, settings: object = {}) {
  const base_url = 'https://upstream.test/v1'
  return { id, upstream: 'plain', settings: { base_url, api_key: 'sk-plain-text', ...settings } }
}

export function model(id: string, change: object = {}) {
  return {
    id,
    type: 'chat',
    prices: [
      { unit: 'input_token', per: 1000, amount: '0.10' },
      { unit: 'output_token', per: 1000, amount: '0.3' },
    ],
    routes: [{ channel: 'main' }],
    ...change,
  }
}

/** Returns a catalog of the channel `main` and one model. */
export const simple = { channels: [channel('main')], models: [model('small')] }

export function apply(
  sql: Sql,
  files: Record<string, object | string>,
  options: Partial<ApplyOptions> = {},
) {
  const environment = options.environment ?? {}
  const parsed = Object.entries(files).map(([name, content]) =>
    parseCatalogFile(
      name,
      typeof content === 'string' ? content : JSON.stringify(content),
      environment,
    ),
  )
  return applyCatalog({ sql, files: parsed, upstreams, secrets, environment, ...options })
}

/** Returns one line per change, such as `added channel main`. */
export async function changes(diff: ReturnType<typeof applyCatalog>): Promise<string[]> {
  return (await diff).changes.map(({ change, kind, id, what }) =>
    [change, kind, id, ...(what.length > 0 ? [`(${what.join(', ')})`] : [])].join(' '),
  )
}

/**
 * Lets the time of a plan come: nothing can move a database's clock, so the plan is moved to this
 * moment. Returns its new time.
 */
export async function bringAbout(sql: Sql, at: Date): Promise<Date> {
  return sql.begin(async (change) => {
    // Prices are append-only, which a trigger enforces.
    await change`set local session_replication_role = replica`
    const [row] = await change<{ from: Date }[]>`
      update price set effective_from = date_trunc('milliseconds', clock_timestamp())
      where effective_from = ${at} returning effective_from as "from"`
    if (!row) throw new Error(`no price is planned for ${at.toISOString()}`)
    return row.from
  })
}
