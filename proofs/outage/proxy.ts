/**
 * A faulty proxy in front of PostgreSQL, as a socket that a gateway uses like its database's. It
 * can hold back a gateway's bytes and deliver them later, even after the gateway has given up; drop
 * the answers to executed statements, or that to one commit; and cut all connections.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabasePlace } from '../../server/base/database/connection/open-client.ts'
import { dialServer, throughSocket } from '../../tests/support/database/chosen-postgres.ts'

export interface FaultyProxy {
  /** DATABASE_URL through this proxy. */
  readonly url: string
  /** Holds back everything that gateways send from now on; the returned function delivers it. */
  holdBack(): () => void
  /**
   * Drops the answers to the ledger's statements together with their connection; the returned
   * function ends this.
   */
  dropAnswers(): () => void
  /**
   * Drops the next answer with `end` to statements about a hold, which are committed, together with
   * their connection. Resolves when it is dropped.
   */
  loseAnswer(end: 'SELECT' | 'COMMIT'): Promise<void>
  /** Cuts all connections until the returned function is called. */
  cut(): () => void
  close(): Promise<void>
}

const PORT = 5432
const LEDGER = /ledger_(take|close|correct)/
const HOLD_ID = /hold_\w{16}/

export async function openProxy(place: DatabasePlace): Promise<FaultyProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-proxy-'))
  const pairs = new Set<Pair>()
  const state: State = { isHeld: false, isDropping: false }
  let isCut = false
  const server = createServer((client) => {
    if (isCut) {
      client.destroy()
      return
    }
    const pair = new Pair(client, dialServer(place), state)
    pairs.add(pair)
    pair.ended = () => pairs.delete(pair)
  })
  await new Promise<void>((resolve) => {
    server.listen(join(folder, `.s.PGSQL.${PORT}`), resolve)
  })
  return {
    url: throughSocket(place, folder, PORT),
    holdBack() {
      state.isHeld = true
      return () => {
        state.isHeld = false
        for (const pair of [...pairs]) pair.deliver()
      }
    },
    dropAnswers() {
      state.isDropping = true
      return () => {
        state.isDropping = false
      }
    },
    loseAnswer(end) {
      const lost = Promise.withResolvers<void>()
      state.losing = { end, lost: lost.resolve }
      return lost.promise
    },
    cut() {
      isCut = true
      for (const pair of [...pairs]) pair.destroy()
      return () => {
        isCut = false
      }
    },
    async close() {
      server.close()
      for (const pair of [...pairs]) pair.destroy()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface State {
  isHeld: boolean
  isDropping: boolean
  losing?: { readonly end: string; readonly lost: () => void } | undefined
}

class Pair {
  ended: () => void = () => undefined
  private readonly client: Socket
  private readonly server: Socket
  private readonly state: State
  private held: Buffer[] = []
  private isMoney = false
  /** True once a hold has been named since answers may be lost. */
  private isNamed = false

  constructor(client: Socket, server: Socket, state: State) {
    this.client = client
    this.server = server
    this.state = state
    client
      .on('data', this.onRequest)
      .on('close', this.onClientGone)
      .on('error', () => undefined)
    server
      .on('data', this.onAnswer)
      .on('close', this.onServerGone)
      .on('error', () => undefined)
  }

  deliver(): void {
    for (const bytes of this.held) this.server.write(bytes)
    this.held = []
    if (this.client.destroyed) this.server.end()
  }

  destroy(): void {
    this.client.destroy()
    this.server.destroy()
    this.ended()
  }

  private readonly onRequest = (bytes: Buffer): void => {
    // Statements are prepared once: a batch is recognised by its text or by the ids of its holds.
    this.isMoney = LEDGER.test(bytes.toString('latin1')) || bytes.includes('hold_')
    if (this.state.losing && HOLD_ID.test(bytes.toString('latin1'))) this.isNamed = true
    if (this.state.isHeld) this.held.push(bytes)
    else this.server.write(bytes)
  }

  private readonly onAnswer = (bytes: Buffer): void => {
    const { isDropping, losing } = this.state
    if (losing && this.isNamed && bytes.includes(losing.end)) {
      this.state.losing = undefined
      this.destroy()
      losing.lost()
    } else if (isDropping && this.isMoney) this.destroy()
    else this.client.write(bytes)
  }

  private readonly onClientGone = (): void => {
    // Held bytes still arrive, as from a network that had stalled.
    if (this.held.length === 0) this.destroy()
  }

  private readonly onServerGone = (): void => this.destroy()
}
