/**
 * The PostgreSQL client of the whole gateway: amounts are bigint, and a statement to a server that
 * is gone or does not respond fails within about two seconds; a patient client waits as long as the
 * server takes.
 */
import type { Sql, TransactionSql } from 'postgres'
import { beginGuarded } from './begin.ts'
import { type Listening, listenForever } from './listen.ts'
import {
  type ClientOptions,
  type ConnectionEvents,
  type DatabasePlace,
  openClient,
} from './open-client.ts'
import { watchSilence } from './silence.ts'

/** Grace period for running statements after another connection of their pool was lost. */
const CLOSE_SECONDS = 1

/**
 * Opens a pool; it connects at the first statement. All its connections are replaced once one is
 * lost: statements that wait for a lost server fail at once, and the client's own reconnecting,
 * which can leave a connection hanging, is not relied on.
 */
export function connect(place: DatabasePlace, options: ClientOptions = {}): Sql {
  let ended = false
  const listeners: Listening[] = []
  let current = open()
  const watch =
    options.connections === 1 || options.patient
      ? undefined
      : watchSilence(
          // Patient, so that its time never ends together with that of connections of the pool: the
          // client drops no statement that waits if all its connections have just given up.
          () => openSingle({ name: 'tributary sentinel', patient: true }),
          () => renew(0),
        )

  function openSingle(more: ClientOptions, events: ConnectionEvents = {}): Sql {
    return openClient(place, { ...options, connections: 1, ...more }, events)
  }

  function open(): Sql {
    const opened: Sql = openClient(place, options, {
      onclose: () => {
        if (opened === current) renew(CLOSE_SECONDS)
      },
    })
    return opened
  }

  function renew(closeSeconds: number): void {
    if (ended) return
    const old = current
    current = open()
    void old.end({ timeout: closeSeconds })
  }

  const own: Readonly<Record<PropertyKey, unknown>> = {
    begin(...args: [Work] | [string, Work]) {
      const [mode, work] = args.length === 1 ? ['', args[0]] : args
      return beginGuarded(current, mode, work)
    },
    async end(how?: { timeout?: number }) {
      ended = true
      const unlistened = listeners.map((listening) => listening.unlisten())
      await Promise.all([current.end(how), watch?.stop(), ...unlistened])
    },
    async listen(channel: string, onMessage: (payload: string) => void, onListening?: () => void) {
      const open = (events: ConnectionEvents) => openSingle({ name: 'tributary listener' }, events)
      const listening = await listenForever(open, channel, { onMessage, onListening })
      listeners.push(listening)
      return listening
    },
    reserve() {
      throw new Error('reserve is not supported, since lost connections are replaced: use begin')
    },
  }
  return new Proxy(current, {
    apply(_first, self, args) {
      watch?.touch()
      return Reflect.apply(current, self, args)
    },
    get(_first, key) {
      watch?.touch()
      return own[key] ?? Reflect.get(current, key)
    },
  })
}

type Work = (transaction: TransactionSql) => unknown
