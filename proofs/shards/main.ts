/**
 * Proves that an engine that is not ours may spread accounts over databases: PL/Proxy sends the
 * calls of the ledger's unchanged functions to the account's database, while either database, both,
 * or the router are killed. Nothing that was answered is lost, and nothing is charged twice.
 * `npm run prove:shards -- [--rounds 20] [--seed N]`. Needs Debian's PL/Proxy.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { readOptions } from '../../testbed/options.ts'
import { createRandom } from '../../testbed/random.ts'
import { readConditions, report, table } from '../../testbed/results.ts'
import { createAccounts, killAndRevive, startShards, whyNoShards } from './cluster.ts'
import { type Account, type Counts, startLoad } from './load.ts'

const SHARDS = 2
const ACCOUNTS_EACH = 10
const OPENING_NANOS = 10n ** 12n
const WORKERS = 12
const CALM_MS = { before: 1_500, after: 500 }

const values = readOptions(import.meta.filename, {
  rounds: { type: 'string', default: '20' },
  seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
})
const refusal = whyNoShards()
if (refusal !== undefined) {
  console.error(refusal)
  process.exit(2)
}
const rounds = Number(values.rounds)
const seed = Number(values.seed)
const conditions = readConditions(`npm run prove:shards -- --rounds ${rounds} --seed ${seed}`)
const random = createRandom(seed)

interface Round extends Counts {
  readonly killed: string
  readonly breaks: readonly string[]
}

const shards = await startShards(SHARDS)
const { servers, sql } = shards
const [first, second] = servers.shards
if (!first || !second) throw new Error('two databases were to start')
const TARGETS = [
  ['one database', [first]],
  ['the other database', [second]],
  ['both databases', [first, second]],
  ['the router', [servers.router]],
] as const
const done: Round[] = []
try {
  const placed = await createAccounts(sql.shards, ACCOUNTS_EACH, OPENING_NANOS)
  const accounts = placed.map((one) => ({ ...one, available: OPENING_NANOS, calls: 0 }))
  for (let number = 0; number < rounds; number += 1) {
    const [killed, targets] = TARGETS[number % TARGETS.length] ?? TARGETS[0]
    const load = startLoad(sql, accounts, { workers: WORKERS, random })
    await sleep(random.integer(CALM_MS.before / 2, CALM_MS.before * 2))
    await Promise.all(targets.map(killAndRevive))
    await sleep(CALM_MS.after)
    await load.stop()
    const breaks = await judge(accounts)
    done.push({ killed, breaks, ...load.counts })
    console.log(`${number + 1}. ${killed}: ${load.counts.holds} holds`, ...breaks)
  }
} finally {
  await shards.stop()
}

/** Compares both databases with what the answers said. */
async function judge(accounts: readonly Account[]): Promise<string[]> {
  const breaks: string[] = []
  for (const [index, shard] of sql.shards.entries()) {
    const { checks } = await audit(shard)
    for (const check of checks) if (!check.ok) breaks.push(`audit: ${JSON.stringify(check)}`)
    breaks.push(
      ...(await compare(
        shard,
        accounts.filter((one) => one.shard === index),
      )),
    )
  }
  return breaks
}

async function compare(shard: Sql, accounts: readonly Account[]): Promise<string[]> {
  const ids = accounts.map(({ id }) => id)
  const rows = await shard<Record<'id' | 'available' | 'held' | 'debt' | 'calls', string>[]>`
    select b.account_id as id, b.available::text, b.held::text, b.debt::text,
      (select count(*) from call c where c.account_id = b.account_id)::text as calls
    from balance b where b.account_id = any(${ids}::text[])`
  const found = new Map(rows.map((row) => [row.id, row]))
  const [strays] = await shard<{ count: number }[]>`
    select count(*)::int as count from hold where account_id <> all(${ids}::text[])`
  const wrong = accounts.flatMap(({ id, available, calls }) => {
    const row = found.get(id)
    const is = row && `${row.available} ${row.held} ${row.debt} ${row.calls}`
    const owed = `${available} 0 0 ${calls}`
    return is === owed ? [] : [`${id}: available, held, debt, calls ${is}, not ${owed}`]
  })
  return strays?.count ? [...wrong, `${strays.count} holds of accounts from elsewhere`] : wrong
}

const good = done.filter(({ breaks }) => breaks.length === 0)
const sum = (of: keyof Counts) => done.reduce((total, round) => total + round[of], 0)
report('prove-shards', conditions, { rounds: done, functions: shards.functions }, [
  `${good.length} of ${rounds} rounds: the books of both databases are what the answers said`,
  `${sum('holds')} holds, ${sum('settlements')} settlements, ${sum('credits')} refunds and ` +
    `${sum('tasks')} tasks over ${SHARDS * ACCOUNTS_EACH} accounts`,
  `${sum('lost')} answers lost: the same was sent again until there was one`,
  `through PL/Proxy, unchanged: ${shards.functions.join(' ')}`,
  '',
  ...table([
    ['killed', 'holds', 'settlements', 'refunds', 'tasks', 'lost answers', 'breaks'],
    ...done.map(({ killed, holds, settlements, credits, tasks, lost, breaks }) => {
      return [killed, holds, settlements, credits, tasks, lost, breaks.length]
    }),
  ]),
  ...done.flatMap(({ breaks }) => breaks),
])
process.exitCode = good.length === rounds ? 0 : 1
