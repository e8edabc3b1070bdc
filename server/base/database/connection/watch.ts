/**
 * Watches one server for all clients of this process, over a connection of its own: it receives
 * their notifications, notices a server that stops answering, and finds out when it is back.
 */
import { listenOn, ping } from '../store.ts'
import { Connector, choosePauseMs, type Open } from './connector.ts'
import type { DatabaseSession, Opening } from './session.ts'
import { waitSlices } from './slices.ts'

/** The time between two pings of a server that is in use, and of one that is idle. */
const USED_MS = 500
const UNUSED_MS = 5_000
/** The time to wait for an answer; longer if the last one took long. */
const PATIENCE_MS_MIN = 1_500
const PATIENCE_MS_MAX = 5_000
const PATIENCE_FACTOR = 4
const LISTEN_MS = 2_000

export interface Listener {
  readonly onMessage: (payload: string) => void
  /**
   * Called whenever listening starts, also after a loss: messages may have been missed, so
   * dependent state must be read again.
   */
  readonly onListening?: (() => void) | undefined
}

export interface Listening {
  readonly unlisten: () => Promise<void>
}

/** A client whose statements depend on the server. */
export interface Watched {
  /** The server does not answer: running statements are lost. */
  drop(error: unknown): void
  /** No connection can be opened. */
  refuse(error: unknown): void
  /** Connections can be opened again. */
  welcome(): void
}

/** Opens the connection of the watch. */
export type OpenWatch = (opening: Opening) => Promise<DatabaseSession>

export class ServerWatch {
  private readonly openWatch: OpenWatch
  private readonly connector = new Connector({
    onClosed: (error) => this.onClosed(error),
    onOpened: () => this.onOpened(),
  })
  private readonly clients = new Set<Watched>()
  private readonly channels = new Map<string, Set<Listener>>()
  private readonly stopping = new AbortController()
  private current: DatabaseSession | undefined
  private isConnecting = false
  private losses = 0
  private isUsed = false

  constructor(openWatch: OpenWatch) {
    this.openWatch = openWatch
  }

  /** Opens a session for a client, or rejects immediately while the server accepts none. */
  async open(open: Open): Promise<DatabaseSession> {
    const opened = this.connector.open(open)
    void this.connect()
    return await opened
  }

  /** Returns the number of sessions that a client may open at the same time. */
  atOnce(): number {
    return this.connector.atOnce()
  }

  /** Marks the server as in use: an idle one is hardly checked. */
  touch(): void {
    this.isUsed = true
  }

  add(client: Watched): void {
    this.clients.add(client)
  }

  remove(client: Watched): void {
    this.clients.delete(client)
  }

  /** Resolves once it listens, or after two seconds if it cannot yet; it keeps trying. */
  async listen(channel: string, listener: Listener): Promise<Listening> {
    const first = Promise.withResolvers<void>()
    const onListening = () => {
      listener.onListening?.()
      first.resolve()
    }
    const own = { onMessage: listener.onMessage, onListening }
    const others = this.channels.get(channel) ?? new Set()
    this.channels.set(channel, others.add(own))
    void this.connect()
    const session = this.current
    // A connection that is lost meanwhile is replaced by one that listens.
    if (session) void listenOn(session.sql, channel).then(onListening, () => undefined)
    await Promise.race([first.promise, waitSlices(LISTEN_MS)])
    return { unlisten: async () => void others.delete(own) }
  }

  async stop(): Promise<void> {
    const last = this.current
    this.current = undefined
    this.stopping.abort()
    await last?.close(0)
  }

  /** Connects if there is no connection, or if others cannot be opened. */
  private async connect(): Promise<void> {
    const { signal } = this.stopping
    if (this.isConnecting) return
    this.isConnecting = true
    // There is a pause before asking again a server that admits connections and then ends them.
    if (this.losses > 1) await waitSlices(choosePauseMs(this.losses), signal)
    for (let failures = 1; this.isWanted(); failures += 1) {
      const startMs = performance.now()
      try {
        this.adopt(await this.connector.probe((...how) => this.openOwn(...how)))
      } catch {
        // After an unanswered attempt no further pause is needed.
        const waitedMs = performance.now() - startMs
        await waitSlices(Math.max(0, choosePauseMs(failures) - waitedMs), signal)
      }
    }
    this.isConnecting = false
  }

  private isWanted(): boolean {
    return !this.stopping.signal.aborted && (!this.current || this.connector.isClosed())
  }

  private async openOwn(
    timeoutMs: number,
    unless: AbortSignal,
    onadmitted: () => void,
  ): Promise<DatabaseSession> {
    const signal = AbortSignal.any([this.stopping.signal, unless])
    const onclose = () => this.lose(session)
    const onnotify = (channel: string, payload: string) => {
      for (const { onMessage } of this.channels.get(channel) ?? []) onMessage(payload)
    }
    const events = { onclose, onnotify, onadmitted }
    const session = await this.openWatch({ timeoutMs, signal, events })
    return session
  }

  private adopt(session: DatabaseSession): void {
    const replaced = this.current
    this.current = session
    void replaced?.close(0)
    if (this.stopping.signal.aborted) void session.close(0)
    else void this.serve(session).catch(() => this.lose(session))
  }

  private lose(session: DatabaseSession): void {
    if (session !== this.current) return
    this.current = undefined
    this.losses += 1
    void session.close(0)
    void this.connect()
  }

  /** Listens, and pings until the session is replaced or lost. */
  private async serve(session: DatabaseSession): Promise<void> {
    const channels = [...this.channels.keys()]
    const listening = Promise.all(channels.map((channel) => listenOn(session.sql, channel)))
    let took = await takes(listening, PATIENCE_MS_MAX)
    if (took !== 'silent') this.sayListening()
    while (took !== 'silent' && session === this.current) {
      await this.untilDue(session)
      this.isUsed = false
      const patienceMs = Math.max(PATIENCE_MS_MIN, took * PATIENCE_FACTOR)
      took = await takes(ping(session.sql), Math.min(patienceMs, PATIENCE_MS_MAX))
      this.losses = 0
    }
    if (took === 'silent') this.onSilence(session)
  }

  private sayListening(): void {
    for (const listeners of this.channels.values()) {
      for (const { onListening } of listeners) onListening?.()
    }
  }

  private async untilDue(session: DatabaseSession): Promise<void> {
    for (let waitedMs = 0; waitedMs < UNUSED_MS; waitedMs += USED_MS) {
      await waitSlices(USED_MS, this.stopping.signal)
      if (this.isUsed || session !== this.current) return
    }
  }

  private onSilence(session: DatabaseSession): void {
    if (session !== this.current) return
    const error = new ServerSilent()
    this.connector.close(error)
    for (const client of this.clients) client.drop(error)
    this.lose(session)
  }

  private onClosed(error: unknown): void {
    for (const client of this.clients) client.refuse(error)
    void this.connect()
  }

  private onOpened(): void {
    for (const client of this.clients) client.welcome()
  }
}

/** Resolves with the milliseconds that `work` took, or `silent` once it takes over `limitMs`. */
async function takes(work: Promise<unknown>, limitMs: number): Promise<number | 'silent'> {
  const startMs = performance.now()
  const done = work.then(() => performance.now() - startMs)
  return await Promise.race([done, waitSlices(limitMs).then(() => 'silent' as const)])
}

class ServerSilent extends Error {
  readonly code = 'ETIMEDOUT'

  constructor() {
    super('ETIMEDOUT: the database does not answer')
  }
}
