/**
 * Transactions that survive the loss of their connection. The client (postgres 3.4) writes its
 * `rollback` or `commit` to the lost connection, which ends the process with an uncaught TypeError;
 * here only the transaction fails.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Sql, TransactionSql } from 'postgres'
import { noteClient } from './copied-rows.ts'

export type Work = (transaction: TransactionSql) => unknown

/** Like `sql.begin`: an optional mode, then the work. Rejects if the connection is lost. */
export function beginGuarded(sql: Sql, mode: string, work: Work): Promise<unknown> {
  let lost: unknown
  const result = sql.begin(mode, (transaction) => {
    const guarded = guard(transaction, () => lost)
    noteClient(guarded, sql)
    return runGuarded(guarded, work, () => lost)
  })
  result.catch((error: unknown) => {
    lost = error
  })
  return result
}

async function runGuarded(
  transaction: TransactionSql,
  work: Work,
  lost: () => unknown,
): Promise<unknown> {
  try {
    const result = await work(transaction)
    // The client has already rejected; returning here would make it write a commit.
    return lost() === undefined ? result : await forever()
  } catch (error) {
    // A lost connection rejects its statement first and the transaction a moment later.
    await nextTurn()
    if (lost() !== undefined) return await forever()
    throw error
  }
}

function forever(): Promise<never> {
  return new Promise<never>(() => undefined)
}

/** Returns the transaction with a guard that rejects statements once its connection is lost. */
function guard(transaction: TransactionSql, lost: () => unknown): TransactionSql {
  const refuse = () => {
    if (lost() !== undefined) throw lost()
  }
  return new Proxy(transaction, {
    apply(target, self, args) {
      refuse()
      return Reflect.apply(target, self, args)
    },
    get(target, key) {
      refuse()
      return Reflect.get(target, key)
    },
  })
}
