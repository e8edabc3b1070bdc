/** The services that the pipeline uses; main.ts provides them. */

import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Addresses } from '../../base/http/connections/client-address.ts'
import type { Log } from '../../base/lib/log.ts'
import type { Memory } from '../../base/lib/memory/memory.ts'
import type { FairSlots } from '../../base/lib/queues/fair-slots.ts'
import type { PresentedKey } from '../../base/lib/secrets/api-key.ts'
import type { Identified } from '../../money/accounts/accounts.ts'
import type { CatalogSnapshot } from '../../money/catalog/catalog.ts'
import type { Ledger } from '../../money/ledger/ledger.ts'
import type { RequestFile, Upstream } from '../../wire/upstreams/upstream.ts'
import type { ChannelHealth } from './load/channel-health.ts'
import type { ChannelSpending } from './load/channel-spending.ts'
import type { InFlight } from './load/in-flight.ts'
import type { Limiter } from './load/limiter.ts'
import type { RetryBudget } from './load/retry-budget.ts'
import type { FormReading } from './metering.ts'
import type { PipelineMetrics } from './pipeline-metrics.ts'

/** Timeouts and limits of the data path; config.ts has their defaults and reasons. */
export interface PipelineLimits {
  /** Limits the handshake of a WebSocket. */
  readonly connectTimeoutMs: number
  readonly firstByteTimeoutMs: number
  readonly idleTimeoutMs: number
  /** Maximum time of an answer that is read whole, and of one that is streamed. */
  readonly wholeTimeoutMs: number
  readonly streamTimeoutMs: number
  /** A caller that reads nothing for this long is treated as disconnected. */
  readonly clientStallMs: number
  /** Limits of reading an upstream's answer after its caller disconnected. */
  readonly drainMs: number
  readonly drainBytes: number
  /** Maximum number of answers that are read to their end after their callers have disconnected. */
  readonly drainSlots: number
  /** A larger answer that is read whole is refused. */
  readonly answerBytesMax: number
  /** Maximum number of WebSockets to one upstream host. */
  readonly socketsMax: number
  /** Refused requests of an account; 64 KB of a body count as one more. */
  readonly refusalsPerMinute: number
  /** The operator's limits for request bodies: of conversations, and of all others. */
  readonly chatBytesMax: number
  readonly jsonBytesMax: number
}

/** The file of a form, on disk until it is closed. */
export interface ReceivedFile extends RequestFile {
  /** The part that other models take, or the InvalidRequest for which they cannot. */
  readonly other?: Pick<RequestFile, 'bytes' | 'seconds' | 'read'> | Error
  /** SHA-256 of the whole file. */
  readonly sha256: Buffer
  /** Deletes the file; a published URL stops working. */
  close(): Promise<void>
}

/** Reads forms: one file and fields, in any order. */
export interface Forms {
  /** Throws GatewayError (400, 413, 415 or 503), or the inspector's error. */
  read(
    request: IncomingMessage,
    content: Readable,
    options: {
      readonly accountId: string
      readonly bytesMax: number
      readonly inspector: ReturnType<FormReading['inspect']>
    },
  ): Promise<{ readonly fields: ReadonlyMap<string, string>; readonly file: ReceivedFile }>
}

/** Answers stored at vendors: the account that may continue them, and their channel. */
export interface StoredAnswers {
  remember(answer: {
    readonly id: string
    readonly accountId: string
    readonly channelId: string
    /** Stated input and output tokens of all its turns together; null if unknown. */
    readonly tokens: number | null
  }): Promise<void>
  /** Returns the channel of this account's answer; undefined for any other id. */
  find(
    accountId: string,
    id: string,
  ): Promise<{ readonly channelId: string; readonly tokens: number | null } | undefined>
  forget(accountId: string, id: string): Promise<void>
  /** Remembers ids of the vendor that came with an answer: of items, containers, speech. */
  rememberItems(items: {
    readonly ids: readonly string[]
    /** The tokens of one answer count once for all of its items. */
    readonly answerId: string
    readonly accountId: string
    readonly channelId: string
    /** Stated output tokens of the answer; null if unknown. */
    readonly tokens: number | null
    /** True if the vendor stores the named objects. */
    readonly isStored: boolean
  }): Promise<void>
  /** Returns those of the ids that belong to this account. */
  findItems(accountId: string, ids: readonly string[]): Promise<ReadonlyMap<string, StoredItem>>
}

export interface StoredItem {
  readonly channelId: string
  readonly answerId: string
  readonly tokens: number | null
}

/** Counts the tools that are taken out of requests, for the operator. */
interface TakenOutTools {
  add(model: string, tools: Iterable<{ readonly tool: string; readonly unit: string | null }>): void
  /** Writes what was counted, if the database is available. */
  stop(): Promise<void>
}

/**
 * Runs `attempt`, and repeats it while the database is unavailable: until ADMIT_WAIT_SECONDS after
 * the request arrived, or until its caller leaves. `attempt` must be repeatable. Rejects with its
 * last error.
 */
export type WhileAway = <T>(request: Waiting, attempt: () => Promise<T>) => Promise<T>

/** A request, or a message on a connection of its own. */
export interface Waiting {
  /** performance.now() at its arrival. */
  readonly startedAt: number
  /** Set once its caller no longer waits for it. */
  readonly end?: unknown
}

export interface Services {
  readonly limits: PipelineLimits
  readonly accounts: { identify(key: PresentedKey): Identified | Promise<Identified> }
  /** The network address of a request. */
  readonly addresses: Pick<Addresses, 'of'>
  readonly catalog: { snapshot(): CatalogSnapshot }
  readonly ledger: Ledger
  /** Lets new calls wait for an unavailable database. */
  readonly whileAway: WhileAway
  readonly storedAnswers: StoredAnswers
  readonly takenOut: TakenOutTools
  readonly forms: Forms
  readonly upstreams: ReadonlyMap<string, Upstream>
  readonly dispatcher: Dispatcher
  readonly limiter: Limiter
  readonly health: ChannelHealth
  readonly spending: ChannelSpending
  readonly retries: RetryBudget
  readonly inFlight: InFlight
  /** The running requests with a key, by account. */
  readonly slots: FairSlots
  readonly memory: Memory
  /** Returns the reason to refuse paid work (disk full, clock skew), or undefined. */
  readonly refusesWork: () => string | undefined
  readonly metrics: PipelineMetrics
  readonly log: Log
}
