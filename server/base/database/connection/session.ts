/** One connection to the database, ready for statements. */
import type { Sql } from 'postgres'
import { READ_ONLY } from '../unavailable.ts'
import { beginGuarded, type Work } from './begin.ts'
import {
  type ClientOptions,
  type ConnectionEvents,
  type DatabasePlace,
  openClient,
} from './open-client.ts'
import { prepareSession } from './session-store.ts'
import { waitSlices } from './slices.ts'

const STATEMENT_TIMEOUT_MS = 5_000
/** Time to answer, if the server itself has no statement timeout. */
const OVERDUE_MS = 5_000
/** Time for a server that has come back and begun to answer: it serves all gateways at once. */
const SIGN_IN_MS = 10_000

/** A statement of the client (postgres 3.4): it is sent by its `handler` when it is awaited. */
export interface ClientQuery extends PromiseLike<unknown> {
  handler: (statement: ClientQuery) => void
  readonly executed: boolean
  readonly reject: (error: unknown) => void
}

export class DatabaseSession {
  readonly sql: Sql
  isLost = false
  /** True while a transaction has it. */
  private isReserved = false
  private readonly sent = new Set<ClientQuery>()
  private sinceMs = performance.now()
  private onIdle: (() => void) | undefined
  private readonly send: (statement: ClientQuery) => void
  private readonly answerMsMax: number

  constructor(sql: Sql, statementTimeoutMs: number) {
    this.sql = sql
    this.send = handlerOf(sql)
    this.answerMsMax = statementTimeoutMs === 0 ? Number.POSITIVE_INFINITY : statementTimeoutMs
  }

  /** Statements sent and not answered; infinite while a transaction has it. */
  get load(): number {
    return this.isReserved ? Number.POSITIVE_INFINITY : this.sent.size
  }

  /** Sends a statement; calls `onEnd` once it is answered or lost. */
  run(statement: ClientQuery, onEnd: () => void): void {
    if (this.sent.size === 0) this.sinceMs = performance.now()
    this.sent.add(statement)
    this.send(statement)
    const end = () => {
      this.sent.delete(statement)
      this.rest()
      onEnd()
    }
    statement.then(end, end)
  }

  begin(mode: string, work: Work, onEnd: () => void): Promise<unknown> {
    this.isReserved = true
    const result = beginGuarded(this.sql, mode, work)
    const end = () => {
      this.isReserved = false
      this.rest()
      onEnd()
    }
    result.then(end, end)
    return result
  }

  /** Returns true if it has been idle for this time. */
  isIdleFor(milliseconds: number): boolean {
    return this.load === 0 && performance.now() - this.sinceMs >= milliseconds
  }

  /**
   * Returns true if the server should already have cancelled the statement: the session is then
   * dropped.
   */
  isOverdue(): boolean {
    return this.sent.size > 0 && performance.now() - this.sinceMs >= this.answerMsMax + OVERDUE_MS
  }

  /** Queries have `graceSeconds` to end. Resolves once the server has closed the connection. */
  async close(graceSeconds: number): Promise<void> {
    if (this.load > 0 && graceSeconds > 0) await this.untilIdle(graceSeconds)
    await this.lose(new ConnectionLost('CONNECTION_DESTROYED'), graceSeconds)
  }

  /** Rejects everything that runs: the client forgets statements that wait behind others. */
  async lose(error: unknown = new ConnectionLost('CONNECTION_CLOSED'), graceSeconds = 0) {
    if (this.isLost) return
    this.isLost = true
    const ended = this.sql.end({ timeout: graceSeconds })
    for (const statement of this.sent) statement.reject(error)
    await ended
  }

  private rest(): void {
    this.sinceMs = performance.now()
    if (this.load === 0) this.onIdle?.()
  }

  private async untilIdle(seconds: number): Promise<void> {
    const idle = Promise.withResolvers<void>()
    this.onIdle = idle.resolve
    const timer = setTimeout(idle.resolve, seconds * 1_000)
    await idle.promise
    clearTimeout(timer)
  }
}

class ConnectionLost extends Error {
  readonly code: string

  constructor(code: 'CONNECTION_CLOSED' | 'CONNECTION_DESTROYED') {
    super(`${code}: the connection to the database is lost`)
    this.code = code
  }
}

export interface Opening {
  readonly timeoutMs: number
  /** Aborts when the session is no longer needed. */
  readonly signal: AbortSignal
  /** `onclose` is called once, when the session is lost. */
  readonly events?: ConnectionEvents
}

/**
 * Connects and prepares a session. Rejects with CONNECT_TIMEOUT if it is not ready after
 * `timeoutMs`. After `onadmitted` it has 10 s more.
 */
export async function openDatabaseSession(
  place: DatabasePlace,
  options: Omit<ClientOptions, 'connections' | 'patient'>,
  { timeoutMs, signal, events = {} }: Opening,
): Promise<DatabaseSession> {
  const { statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options
  if (signal.aborted) throw new ConnectionLost('CONNECTION_DESTROYED')
  const isDone = new AbortController()
  const over = AbortSignal.any([signal, isDone.signal])
  const admitted = new AbortController()
  const late = untilLate(timeoutMs, admitted.signal, over).then(() => {
    throw new ConnectTimeout(timeoutMs)
  })
  const onadmitted =
    events.onadmitted &&
    (() => {
      admitted.abort()
      events.onadmitted?.()
    })
  let session: DatabaseSession | undefined
  const onclose = () => {
    if (!session || session.isLost) return
    void session.lose()
    events.onclose?.()
  }
  const dropped = new AbortController()
  const sql = openClient(place, options, { ...events, onclose, onadmitted }, over, dropped.signal)
  try {
    const { isReplica } = await Promise.race([prepareSession(sql, statementTimeoutMs), late])
    if (isReplica && options.primary) throw new OnlyReplica()
    session = new DatabaseSession(sql, statementTimeoutMs)
    return session
  } catch (error) {
    void sql.end({ timeout: 0 })
    dropped.abort()
    throw error
  } finally {
    late.catch(() => undefined)
    isDone.abort()
  }
}

/** Resolves after `timeoutMs`, or 10 s after `admitted` aborts. */
export async function untilLate(
  timeoutMs: number,
  admitted: AbortSignal,
  over: AbortSignal,
): Promise<void> {
  await waitSlices(timeoutMs, AbortSignal.any([admitted, over]))
  if (admitted.aborted) await waitSlices(SIGN_IN_MS, over)
}

/** A name can still lead to a former primary: it is looked up again by the next attempt. */
class OnlyReplica extends Error {
  readonly code = READ_ONLY

  constructor() {
    super('the database is a read-only replica')
  }
}

class ConnectTimeout extends Error {
  readonly code = 'CONNECT_TIMEOUT'

  constructor(timeoutMs: number) {
    super(`CONNECT_TIMEOUT: no connection within ${timeoutMs / 1_000} s`)
  }
}

/** Every statement that a client creates carries its handler, even if it is never sent. */
function handlerOf(sql: Sql): (statement: ClientQuery) => void {
  return (sql.unsafe('') as unknown as ClientQuery).handler
}
