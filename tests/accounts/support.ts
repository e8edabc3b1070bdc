/** Shared by tests of accounts: a database of their own and helpers that fill it. */
import type { TestContext } from 'node:test'
import type { Sql } from 'postgres'
import { isLocked } from '../../server/base/database/unavailable.ts'
import type { Log } from '../../server/base/lib/log.ts'
import { type Accounts, createAccounts } from '../../server/money/accounts/identify.ts'
import { createAccount } from '../../server/money/accounts/manage-accounts.ts'
import { createKey, type NewKey } from '../../server/money/accounts/manage-keys.ts'
import { closeHolds, takeHolds } from '../../server/money/ledger/posting/move-store.ts'
import { holdRow, settleRow } from '../ledger/support.ts'
import { createTestDatabase } from '../support/postgres.ts'

const ignore = () => undefined
const silent: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore }

export async function openDatabase(context: TestContext): Promise<Sql> {
  const database = await createTestDatabase()
  context.after(() => database.drop())
  return database.sql
}

/** An account with 100 units and one key. */
export async function createCaller(sql: Sql, wanted: Partial<NewKey> = {}) {
  const account = await createAccount(sql, {
    name: 'test',
    openingBalanceNanos: 100_000_000_000n,
    actor: 'test',
  })
  return { account, key: await createKey(sql, { accountId: account.id, ...wanted }) }
}

/** The same database, as seen by an instance whose notifications never arrive. */
export function deaf(sql: Sql): Sql {
  const listen = async () => ({ state: undefined, unlisten: async () => undefined })
  return new Proxy(sql, {
    get: (target, name, receiver) =>
      name === 'listen' ? listen : Reflect.get(target, name, receiver),
  })
}

/** The same database, counting look-ups and notifications; `failing` makes look-ups reject. */
export function counted(sql: Sql) {
  const state = {
    queries: 0,
    answers: 0,
    failing: false,
    hanging: false,
    /** Delays answers that PostgreSQL has given already, which are counted. */
    gate: undefined as Promise<void> | undefined,
    isListening: false,
    notifications: 0,
  }
  const listen: Sql['listen'] = (channel, onMessage, onListening) =>
    sql.listen(
      channel,
      (payload) => {
        onMessage(payload)
        state.notifications += 1
      },
      () => {
        onListening?.()
        state.isListening = true
      },
    )
  const proxy = new Proxy(sql, {
    get: (target, name, receiver) =>
      name === 'listen' ? listen : Reflect.get(target, name, receiver),
    apply(target, self, args) {
      state.queries += 1
      if (state.failing) return Promise.reject(new Error('connection refused'))
      if (state.hanging) return new Promise(() => undefined)
      const { gate } = state
      const answer = Reflect.apply(target, self, args)
      if (!gate) return answer
      return answer.then((rows: unknown) => {
        state.answers += 1
        return gate.then(() => rows)
      })
    },
  })
  return { sql: proxy, state }
}

export function startInstance(
  context: TestContext,
  sql: Sql,
  nowMs: () => number = () => performance.now(),
): Accounts {
  const accounts = createAccounts({ sql, log: silent, nowMs })
  context.after(() => accounts.stop())
  return accounts
}

/** Takes and settles one hold as the ledger does. */
export async function spend(
  sql: Sql,
  call: { accountId: string; keyId: string; held: bigint; charged: bigint | null; open?: boolean },
): Promise<void> {
  const hold = holdRow(call, { amount: call.held.toString() })
  await onceFree(() => takeHolds(sql, [hold]))
  if (!call.open) await onceFree(() => closeHolds(sql, [settleRow(hold, call.charged)]))
}

/** A statement waits 300 ms for a balance. Then it has done nothing: the ledger sends it again. */
async function onceFree(send: () => Promise<unknown>): Promise<void> {
  for (;;) {
    const isDone = await send().then(
      () => true,
      (error: unknown) => {
        if (!isLocked(error)) throw error
        return false
      },
    )
    if (isDone) return
  }
}
