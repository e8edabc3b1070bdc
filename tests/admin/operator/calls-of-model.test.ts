/** Operators' list of a model's calls, which reads only the hours that have any. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { selectCallPage } from '../../../server/api/admin/operator/work/store.ts'
import { createAccount } from '../../../server/money/accounts/manage-accounts.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'
import { countAllCalls } from '../../usage/count-all.ts'

type Query = Parameters<typeof selectCallPage>[1]

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

/** Adds calls of three models, of which one is rare, over some days, several in each second. */
async function addCalls(from: number, count: number): Promise<void> {
  const { id } = await createAccount(database.sql, { name: 'Acme', actor: 'test' })
  await database.sql`
    insert into call (request_id, hold_id, account_id, key_id, endpoint, model, status, basis,
      currency, held, charged, returned, attempts, created_at, finished_at)
    select 'req_' || n, 'hold_' || n, ${id}, 'key', 'chat',
      case when n % 97 = 0 then 'rare' else 'model-' || n % 2 end,
      case when n % 5 = 0 then 'failed' else 'succeeded' end, 'usage', 'CNY', 10, 3, 7,
      case when n % 7 > 0 then '[{"channel": "main"}]'::jsonb else '[]' end, at, at
    from generate_series(${from}::int, ${from + count - 1}::int) n
    cross join lateral (select date_trunc('second', now())
      - interval '4 days' + n / 3 * interval '7 minutes' as at) t`
}

/** The ids of all pages. */
async function readPages(query: Partial<Query>): Promise<string[]> {
  const ids: string[] = []
  for (let cursor: string | undefined; ; ) {
    const rows = await selectCallPage(database.sql, { limit: 20, ...query, cursor } as Query)
    ids.push(...rows.slice(0, 20).map(({ request_id: id }) => id))
    if (rows.length <= 20) return ids
    cursor = ids.at(-1)
  }
}

test('pages of a model are those of the whole list, counted or not', async () => {
  const { sql } = database
  await addCalls(0, 1_200)
  await countAllCalls(sql)
  await addCalls(1_200, 600)
  const at = (days: number) => new Date(Date.now() - days * 86_400_000)
  for (const filter of [
    {},
    { status: 'failed' as const },
    { from: at(3), to: at(1) },
    { from: at(3.4), endpoint: 'chat' },
  ]) {
    const { status, from, to } = filter as Partial<Query>
    for (const model of ['rare', 'model-1', 'unknown']) {
      const expected = await sql<{ request_id: string }[]>`
        select request_id from call
        where model = ${model} and (${status ?? null}::text is null or status = ${status ?? ''})
          and created_at >= ${from ?? at(99)} and created_at < ${to ?? at(-99)}
        order by created_at desc, request_id desc`
      const found = await readPages({ ...filter, model })
      assert.deepEqual(
        found,
        expected.map(({ request_id: id }) => id),
        `${model} ${JSON.stringify(filter)}`,
      )
      assert.equal(found.length > 0, model !== 'unknown')
    }
  }
})

test('only hours that the figures name are read, however many calls there are', async () => {
  const { sql } = database
  await countAllCalls(sql)
  const all = (await readPages({ model: 'rare' })).length
  const forgotten = await sql`
    delete from channel_hour where model = 'rare' and hour > now() - interval '2 days'`
  assert.ok(forgotten.count > 0)
  const left = (await readPages({ model: 'rare' })).length
  assert.ok(left > 0 && left < all, `${left} of ${all}`)
})
