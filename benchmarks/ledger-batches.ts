/**
 * Measures PostgreSQL's processor time for a hold and its settlement by the size of their batches,
 * in turns with another checkout: `node benchmarks/ledger-batches.ts --before FOLDER [--rounds 9]`.
 * A batch of one is a call that travels alone: one statement holds, another one settles. With
 * `--budgets N` one account has that many budgets here, and none there: `--before .`.
 */

import { join, resolve } from 'node:path'
import type { Sql } from 'postgres'
import { addBudget } from '../server/money/ledger/budgets/budgets.ts'
import type { openPlace, Place } from '../testbed/laboratory.ts'
import { readOptions } from '../testbed/options.ts'
import { type PairLedger, runPairs } from '../testbed/pairs.ts'
import { findPostmaster } from '../testbed/postmaster.ts'
import { pinTree, readCpuSeconds } from '../testbed/proc.ts'
import { median, readConditions, report, round, table } from '../testbed/results.ts'
import { OTHER_CORE, SERVER_CORE } from './peers/start-peers.ts'

const values = readOptions(import.meta.filename, {
  before: { type: 'string', default: '.' },
  label: { type: 'string', default: 'before' },
  rounds: { type: 'string', default: '9' },
  budgets: { type: 'string', default: '0' },
  name: { type: 'string', default: 'ledger-batches' },
})
const rounds = Number(values.rounds)
/** Pairs in a batch, and batches in a measurement. */
const SIZES = [
  [1, 400],
  [8, 100],
  [64, 20],
  [512, 6],
] as const
const budgets = Number(values.budgets)
const ACCOUNTS = [1, 1_000] as const

interface Checkout extends PairLedger {
  readonly place: Place
  readonly postmaster: number
  readonly sql: Sql
  readonly close: () => Promise<void>
}

const conditions = readConditions(
  budgets === 0
    ? `node benchmarks/ledger-batches.ts --before CHECKOUT --rounds ${rounds}`
    : `node benchmarks/ledger-batches.ts --before . --budgets ${budgets} --rounds ${rounds}`,
)
const before = await open(resolve(values.before))
const after = await open(join(import.meta.dirname, '..'))
const lines: string[] = []
const result: Record<string, object> = {}
try {
  pinTree(process.pid, SERVER_CORE)
  await addBudgets(after)
  for (const accounts of budgets === 0 ? ACCOUNTS : [1]) await compare(accounts)
  lines.push(
    `before: ${values.label}. PostgreSQL's user and system time of a pair in µs, fsync on, medians`,
    `of ${rounds} rounds in turns; ratios are medians of each round's after / before.`,
  )
  report(values.name, conditions, { before: values.label, rounds, ...result }, lines)
} finally {
  await before.close()
  await after.close()
}
async function open(folder: string): Promise<Checkout> {
  const from = (path: string) => import(join(folder, path))
  const laboratory: { openPlace: typeof openPlace } = await from('testbed/laboratory.ts')
  const place = await laboratory.openPlace('http://127.0.0.1:9', {
    accounts: ACCOUNTS[1],
    keys: ACCOUNTS[1],
  })
  const opened = Promise.withResolvers<Sql>()
  const finished = Promise.withResolvers<void>()
  const connected = place.withDatabase((database) => {
    opened.resolve(database)
    return finished.promise
  })
  const sql = await opened.promise
  const postmaster = findPostmaster(place.dataDir)
  if (postmaster === undefined) throw new Error('no database')
  pinTree(postmaster, OTHER_CORE)
  const close = async () => {
    finished.resolve()
    await connected
    await place.close()
  }
  const store = await from('server/money/ledger/posting/move-store.ts')
  const rows = await from('server/money/ledger/posting/rows.ts')
  return { place, postmaster, sql, close, ...store, ...rows }
}

/** Gives the hot account budgets that no call reaches. */
async function addBudgets({ sql, place }: Checkout): Promise<void> {
  const [accountId = ''] = place.accountIds
  for (let count = 0; count < budgets; count += 1) {
    await addBudget(sql, {
      accountId,
      scope: 'account',
      subject: '',
      setBy: 'operator',
      unit: 'money',
      amount: 10n ** 15n,
      period: 'month',
    })
  }
}

async function compare(accounts: number): Promise<void> {
  const rows: (string | number)[][] = []
  for (const [size, batches] of SIZES) {
    const measured: { before: number; after: number }[] = []
    for (let turn = -1; turn < rounds; turn += 1) {
      const pair = {
        before: await measure(before, accounts, size, batches),
        after: await measure(after, accounts, size, batches),
      }
      if (turn >= 0) measured.push(pair)
    }
    const was = median(measured.map((one) => one.before))
    const is = median(measured.map((one) => one.after))
    const ratio = median(measured.map((one) => one.after / one.before))
    result[`${accounts} accounts, ${size}`] = { before: was, after: is, ratio, measured }
    rows.push([size, Math.round(was), Math.round(is), `${round(ratio)}×`])
    console.log(accounts, size, Math.round(was), Math.round(is), round(ratio))
  }
  const name = accounts === 1 ? 'one account, pairs in a batch' : `${accounts} accounts`
  lines.push(...table([[name, 'before', 'after', 'ratio'], ...rows]), '')
}

/** Returns microseconds of a pair. */
async function measure(checkout: Checkout, accounts: number, size: number, batches: number) {
  const start = readCpuSeconds(checkout.postmaster)
  for (let batch = 0; batch < batches; batch += 1) {
    await runBatch(checkout, accounts, size, batch * size)
  }
  return ((readCpuSeconds(checkout.postmaster) - start) * 1e6) / (size * batches)
}

async function runBatch(checkout: Checkout, accounts: number, size: number, from: number) {
  const keys = Array.from({ length: size }, (_, index) => {
    const key = checkout.place.keys[(from + index) % accounts]
    if (!key) throw new Error('no key')
    return key
  })
  await runPairs(checkout.sql, checkout, keys)
}
