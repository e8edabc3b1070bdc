/**
 * The PostgreSQL client of the whole gateway: amounts are bigint, and a statement to a server that
 * is gone or does not respond fails within about two seconds. A patient client waits as long as the
 * server takes.
 */
import type { Sql } from 'postgres'
import type { Work } from './begin.ts'
import { type ClientOptions, type DatabasePlace, openClient } from './open-client.ts'
import { Pool } from './pool.ts'
import { type ClientQuery, type DatabaseSession, openDatabaseSession } from './session.ts'
import { type Listening, ServerWatch } from './watch.ts'

const POOL_SIZE = 10
const CONNECT_MS = 2_000
/** A server under load or in recovery may take this long to accept a connection. */
const PATIENT_MS = 30_000
/** The property by which a client keeps what `inBackground` returns. */
const BACKGROUND = Symbol('background')

/**
 * Opens a client; it connects at the first statement. A client of several connections that is not
 * patient shares the watch of its server with the others of this process.
 */
export function connect(place: DatabasePlace, options: ClientOptions = {}): Sql {
  const { connections: size = POOL_SIZE, patient = false } = options
  // Creates the statements, and never connects.
  const front = openClient(place, options)
  const shared = shareWatch(place, options)
  const isWatched = size > 1 && !patient
  const pool = new Pool({
    size,
    ...(isWatched && { atOnce: () => shared.watch().atOnce() }),
    open: (signal, onLost) => {
      const open = async (timeoutMs: number): Promise<DatabaseSession> => {
        const events = { onclose: () => onLost(session) }
        const session = await openDatabaseSession(place, options, { timeoutMs, signal, events })
        return session
      }
      return isWatched ? shared.watch().open(open) : open(patient ? PATIENT_MS : CONNECT_MS)
    },
  })
  if (isWatched) shared.watch().add(pool)
  const listening: Listening[] = []

  const refuse = () => {
    throw new Error('not supported by a client whose connections come and go: use begin')
  }
  const own: Readonly<Record<PropertyKey, unknown>> = {
    async end(how?: { timeout?: number }) {
      await Promise.all(listening.map(({ unlisten }) => unlisten()))
      await pool.end(how?.timeout)
      if (isWatched) shared.watch().remove(pool)
      await shared.release()
    },
    async listen(channel: string, onMessage: (payload: string) => void, onListening?: () => void) {
      const started = await shared.watch().listen(channel, { onMessage, onListening })
      listening.push(started)
      return started
    },
    notify: refuse,
    reserve: refuse,
    file: refuse,
    subscribe: refuse,
    largeObject: refuse,
  }

  /** Returns the client for the statements of calls, or the one for background work. */
  function face(isBackground: boolean, more: Readonly<Record<PropertyKey, unknown>>): Sql {
    const handler = isBackground ? pool.runInBackground : pool.run
    const route = <Value>(value: Value): Value => {
      if (isWatched) shared.watch().touch()
      if (isQuery(value)) value.handler = handler
      return value
    }
    const all: Readonly<Record<PropertyKey, unknown>> = {
      ...more,
      unsafe: (...args: Parameters<Sql['unsafe']>) => route(front.unsafe(...args)),
      begin(...args: [Work] | [string, Work]) {
        const [mode, work] = args.length === 1 ? ['', args[0]] : args
        if (isWatched) shared.watch().touch()
        return pool.begin(mode, work, isBackground)
      },
    }
    return new Proxy(front, {
      apply: (_target, self, args) => route(Reflect.apply(front, self, args)),
      get: (_target, key) => all[key] ?? Reflect.get(front, key),
    })
  }

  return face(false, { ...own, [BACKGROUND]: face(true, own) })
}

/**
 * Returns the same client for background work: where connections are scarce, its statements give
 * way to those of calls. A client without such a variant is returned unchanged.
 */
export function inBackground(sql: Sql): Sql {
  return (sql as Sql & { readonly [BACKGROUND]?: Sql })[BACKGROUND] ?? sql
}

function isQuery(value: unknown): value is ClientQuery {
  return typeof value === 'object' && value !== null && 'handler' in value
}

interface SharedWatch {
  readonly watch: ServerWatch
  holders: number
}

const watches = new Map<string, SharedWatch>()

/** The watch of a server, which is opened when it is first used and stopped by the last holder. */
function shareWatch(place: DatabasePlace, { database }: Pick<ClientOptions, 'database'>) {
  const key = JSON.stringify([place, database])
  let held: SharedWatch | undefined

  function hold(): SharedWatch {
    const options = { name: 'tributary watch', primary: true, ...(database && { database }) }
    const found = watches.get(key) ?? {
      watch: new ServerWatch((opening) => openDatabaseSession(place, options, opening)),
      holders: 0,
    }
    found.holders += 1
    watches.set(key, found)
    return found
  }

  return {
    watch(): ServerWatch {
      held ??= hold()
      return held.watch
    },
    async release(): Promise<void> {
      const released = held
      held = undefined
      if (!released) return
      released.holders -= 1
      if (released.holders > 0) return
      watches.delete(key)
      await released.watch.stop()
    },
  }
}
