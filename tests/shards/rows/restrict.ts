/**
 * A client whose statements see the rows of the accounts that they name, and no others. Those of
 * tests and those that docs/shard-clean.md lists see all.
 */

import type { Sql, TransactionSql } from 'postgres'
import { covers, readExceptions } from '../lint/read-exceptions.ts'
import { ROLE, SETTING } from './policies.ts'

const ACCOUNT = /(?<![^"])acct_\w+(?![^"])/g
const exceptions = readExceptions()

/** A statement of the client that has not been sent. */
interface Query extends PromiseLike<unknown> {
  strings: readonly string[]
  args: readonly unknown[]
  options: object
  tagged: boolean
  handler: (query: Query) => void
  handle: () => Promise<void>
  resolve: (rows: unknown) => void
  reject: (error: unknown) => void
}

type Work = (transaction: TransactionSql) => Promise<unknown>
type AnySql = Sql | TransactionSql

const clients = new WeakMap<object, Sql>()

/** Returns the restricted face of a client, each time the same. */
export function restrict(sql: Sql): Sql {
  const found = clients.get(sql) ?? face(sql, (query) => sendAlone(sql, query))
  clients.set(sql, found)
  return found
}

function face<Client extends AnySql>(client: Client, prepare: (query: Query) => void): Client {
  const watch = <Value>(value: Value): Value => {
    if (isQuery(value)) prepare(value)
    return value
  }
  const begin = (...args: [Work] | [string, Work]) => {
    const [mode, work] = args.length === 1 ? ['', args[0]] : args
    return (client as Sql).begin(mode, (transaction) => {
      return work(face(transaction, (query) => sendWithin(transaction, query)))
    })
  }
  const savepoint = (work: Work) =>
    (client as TransactionSql).savepoint((inner) => {
      return work(face(inner, (query) => sendWithin(inner, query)))
    })
  return new Proxy(client, {
    apply: (target, self, args) => watch(Reflect.apply(target, self, args)),
    get(target, key) {
      if (key === 'unsafe') {
        return (...args: Parameters<Sql['unsafe']>) => watch(target.unsafe(...args))
      }
      if (key === 'begin' && 'begin' in target) return begin
      if (key === 'savepoint' && 'savepoint' in target) return savepoint
      return Reflect.get(target, key)
    },
  })
}

function isQuery(value: unknown): value is Query {
  return typeof value === 'object' && value !== null && 'handler' in value
}

/** A statement outside of a transaction gets one, in which its accounts are set. */
function sendAlone(sql: Sql, query: Query): void {
  if (seesAll(new Error().stack ?? '')) return
  query.handler = () => {
    const sent = sql.begin(async (transaction) => {
      await set(transaction, query)
      const { strings, args, options } = query
      return query.tagged
        ? await transaction(strings as unknown as TemplateStringsArray, ...(args as never[]))
        : await transaction.unsafe(strings[0] ?? '', args as never[], options)
    })
    sent.then(query.resolve, query.reject)
  }
}

/** Settings and statement are sent at one moment, so that no other comes between. */
function sendWithin(transaction: TransactionSql, query: Query): void {
  const isFree = seesAll(new Error().stack ?? '')
  const { handle } = query
  let isSent = false
  query.handle = () => {
    if (!isSent) (isFree ? lift(transaction) : set(transaction, query)).catch(() => undefined)
    isSent = true
    return handle.call(query)
  }
}

function set(transaction: TransactionSql, query: Query): Promise<unknown> {
  const accounts = accountsOf(query).join(',')
  return transaction`
    select set_config('role', ${ROLE}, true), set_config(${SETTING}, ${accounts}, true)`.execute()
}

function lift(transaction: TransactionSql): Promise<unknown> {
  return transaction`select set_config('role', 'none', true)`.execute()
}

/** Returns the accounts that a statement names: among what is sent, and in JSON that is sent. */
function accountsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(accountsOf)
  if (isQuery(value)) return accountsOf(value.args)
  return typeof value === 'string' ? (value.match(ACCOUNT) ?? []) : []
}

/** The function and the file of a line of a stack. */
const FRAME = /at (?:async )?(?:\S+\.)?(\S+) \(file:\/\/\S*?\/((?:server|tests|bin)\/[^?:)]+)/

/** True for a statement of a test, and for one that is listed, or whose caller in a store is. */
function seesAll(stack: string): boolean {
  const places: string[] = []
  for (const line of stack.split('\n')) {
    const [, name = '', path = ''] = FRAME.exec(line) ?? []
    if (path.startsWith('tests/') && !path.startsWith('tests/shards/rows/')) break
    if (path.endsWith('store.ts')) places.push(`${path} ${name}`)
  }
  return places.length === 0 || places.some((place) => exceptions.some((one) => covers(one, place)))
}
