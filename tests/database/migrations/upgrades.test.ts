/**
 * A database of 0.2.0 goes through every migration since, one after the other, while calls of that
 * version run on it: none fails, and the books are exact at the end.
 */
import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Sql } from 'postgres'
import { migrate, readMigrations } from '../../../server/base/database/migrations/migrate.ts'
import { isUnavailable } from '../../../server/base/database/unavailable.ts'
import { audit } from '../../../server/money/ledger/audit/audit.ts'
import { MIGRATIONS, makeEmpty, makeFolder, settle } from '../backup/support.ts'

/** The newest migration of 0.2.0. */
const RELEASED = '0016'
const ACCOUNT = 'acct_upgraded'
const CREDIT = 1_000_000_000n
const AMOUNT = 100n
const CHARGE = 40n

/** As gateways of 0.2.0 call the ledger: the signatures of then, and nothing of this version. */
async function take(sql: Sql, id: string, taskId: string | null): Promise<void> {
  const [row] = await sql<{ refused: string[] }[]>`
    select ledger_take(
      ${[id]}::text[], ${[`req_${id}`]}::text[], ${[ACCOUNT]}::text[], array['key'],
      ${[taskId === null ? 'own_released' : null]}::text[], ${[taskId]}::text[], array['chat'],
      array['model'], array[null]::bigint[], ${[String(AMOUNT)]}::bigint[], '[{}]'::jsonb, null, null, null,
      null, null) as refused`
  assert.deepEqual(row?.refused, [])
}

async function close(sql: Sql, id: string, taskId: string | null): Promise<void> {
  const [row] = await sql<{ refused: string[] }[]>`
    select ledger_close(
      ${[id]}::text[], ${[ACCOUNT]}::text[], ${[String(CHARGE)]}::bigint[], array['succeeded'],
      array['usage'], array[false], array[null]::bigint[], array[null]::bigint[],
      array[null]::text[], ${[taskId]}::text[], '[{"lines": [], "attempts": []}]'::jsonb,
      '{}') as refused`
  assert.deepEqual(row?.refused, [])
}

/** A task whose work goes on at the vendor, with its hold. */
async function startTask(sql: Sql, id: string): Promise<void> {
  await take(sql, `hold_${id}`, id)
  await sql`
    insert into task (id, kind, account_id, key_id, request_id, hold_id, endpoint, model, state,
      request, quantities, facts, attempt_id, channel_id, expires_at)
    values (${id}, 'video', ${ACCOUNT}, 'key', ${`req_hold_${id}`}, ${`hold_${id}`}, 'chat',
      'model', 'processing', '{}', '{}', '{}', ${`att_${id}`}, 'channel', now() + interval '1 day')`
  await sql`
    insert into task_attempt (id, task_id, number, channel_id, channel_version, upstream_model,
      state, upstream_id)
    values (${`att_${id}`}, ${id}, 1, 'channel', 1, 'model', 'accepted', ${`up_${id}`})`
}

async function finishTask(sql: Sql, id: string): Promise<void> {
  await sql`
    update task set state = 'succeeded', finished_at = now(), due_at = null where id = ${id}`
  await close(sql, `hold_${id}`, id)
}

/** As gateways do while a migration has the locks: the ledger gives up after 300 ms. */
async function repeat(work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isUnavailable(error)) throw error
    }
  }
}

/** Calls of 0.2.0, one after the other, until it is told to stop. */
function startCalls(sql: Sql, name: string): { stop(): Promise<number> } {
  let isOver = false
  async function run(): Promise<number> {
    for (let count = 0; ; count += 1) {
      if (isOver && count > 0) return count
      const id = `hold_${name}_${count}`
      await repeat(() => take(sql, id, null))
      await repeat(() => close(sql, id, null))
    }
  }
  const running = run()
  return {
    stop() {
      isOver = true
      return running
    },
  }
}

async function readBalance(sql: Sql) {
  const [row] = await sql<{ available: bigint; held: bigint; debt: bigint }[]>`
    select available, held, debt from balance where account_id = ${ACCOUNT}`
  return { ...row }
}

test('calls of 0.2.0 go on through every migration since, and the books stay exact', async (t) => {
  const { sql } = await makeEmpty(t)
  // Without functions beside it: they come with the version, after the last migration.
  const folder = join(makeFolder(t), 'migrations')
  mkdirSync(folder)
  const all = readMigrations(MIGRATIONS)
  const copy = (name: string) => copyFileSync(join(MIGRATIONS, name), join(folder, name))
  for (const { name } of all) if (name.slice(0, 4) <= RELEASED) copy(name)
  await migrate(sql, folder)
  await sql`insert into account (id, name) values (${ACCOUNT}, 'test')`
  await sql`insert into balance (account_id, currency) values (${ACCOUNT}, 'CNY')`
  await sql`
    select ledger_credit('credit', ${ACCOUNT}, 'top_up', ${CREDIT.toString()}::bigint, 'test', 'test', null)`
  await sql`select ledger_renew('own_released', '', interval '1 hour', interval '1 hour')`

  let closed = 0n
  const steps = all.filter(({ name }) => name.slice(0, 4) > RELEASED)
  assert.ok(steps.length > 0)
  for (const { name } of [...steps, { name: undefined }]) {
    const step = name?.slice(0, 4) ?? 'functions'
    await take(sql, `hold_open_${step}`, null)
    await startTask(sql, `task_${step}`)
    const calls = startCalls(sql, step)
    if (name !== undefined) copy(name)
    const { applied } = await migrate(sql, name === undefined ? MIGRATIONS : folder)
    assert.deepEqual(applied, name === undefined ? [] : [name])
    closed += BigInt(await calls.stop())
    // What was open before the migration is closed after it; half of the rest waits for the end.
    if (closed % 2n === 0n) {
      await close(sql, `hold_open_${step}`, null)
      await finishTask(sql, `task_${step}`)
      closed += 2n
    }
    const [open] = await sql<{ sum: bigint }[]>`
      select coalesce(sum(amount), 0)::bigint as sum from hold where state = 'open'`
    const held = open?.sum ?? 0n
    const expected = { available: CREDIT - closed * CHARGE - held, held, debt: 0n }
    assert.deepEqual(await readBalance(sql), expected, `after ${step}`)
  }

  const open = await sql<{ id: string; task_id: string | null }[]>`
    select id, task_id from hold where state = 'open'`
  const own = open.filter(({ task_id }) => task_id === null).map(({ id }) => id)
  await settle(sql, own, Number(CHARGE))
  for (const { task_id } of open) if (task_id !== null) await finishTask(sql, task_id)
  closed += BigInt(open.length)
  const available = CREDIT - closed * CHARGE
  assert.deepEqual(await readBalance(sql), { available, held: 0n, debt: 0n })
  const { ok, checks } = await audit(sql)
  assert.ok(ok, JSON.stringify(checks.filter((check) => !check.ok)))
})
