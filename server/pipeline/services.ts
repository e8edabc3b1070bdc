/** What the pipeline needs from the rest of the gateway; put together in main.ts. */
import type { IncomingMessage } from 'node:http'
import type { Dispatcher } from 'undici'
import type { Identified } from '../accounts/accounts.ts'
import type { CatalogSnapshot } from '../catalog/catalog.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Log } from '../lib/log.ts'
import type { PresentedKey } from '../lib/secrets/api-key.ts'
import type { RequestFile, Upstream } from '../upstreams/upstream.ts'
import type { ChannelHealth } from './load/channel-health.ts'
import type { InFlight } from './load/in-flight.ts'
import type { Limiter } from './load/limiter.ts'
import type { RetryBudget } from './load/retry-budget.ts'
import type { FormReading } from './metering.ts'
import type { PipelineMetrics } from './pipeline-metrics.ts'

/** Time-outs and caps of the data path; config.ts has their defaults and reasons. */
export interface PipelineLimits {
  readonly firstByteTimeoutMs: number
  readonly idleTimeoutMs: number
  /** For an answer that is read whole, and for one that is streamed, however slowly they come. */
  readonly wholeTimeoutMs: number
  readonly streamTimeoutMs: number
  /** A caller that takes nothing for this long is treated as gone. */
  readonly clientStallMs: number
  /** After the caller left, the upstream is read on for at most this long and this much. */
  readonly drainMs: number
  readonly drainBytes: number
  /** How many upstreams may be read on for callers that left. */
  readonly drainSlots: number
  /** A whole answer larger than this is refused. */
  readonly answerBytesMax: number
  readonly callsMax: number
  /** WebSockets to one upstream host. */
  readonly socketsMax: number
  /** The operator's bounds of request bodies: conversations, and all others. */
  readonly chatBytesMax: number
  readonly jsonBytesMax: number
}

/** A form's file, on disk until it is closed. */
export interface ReceivedFile extends RequestFile {
  /** Of the whole file. */
  readonly sha256: Buffer
  /** Also takes it back from the public, where it was published. */
  close(): Promise<void>
}

/** Requests that come as a form: one file and fields, in any order. */
export interface Forms {
  /** Throws GatewayError: 400, 413, 415 and 503; and what the inspector throws. */
  read(
    request: IncomingMessage,
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
    /** Input and output of all its turns together, as stated; null where nobody stated them. */
    readonly tokens: number | null
  }): Promise<void>
  /** Where an answer of this account lies; undefined for anybody else's. */
  find(
    accountId: string,
    id: string,
  ): Promise<{ readonly channelId: string; readonly tokens: number | null } | undefined>
  forget(accountId: string, id: string): Promise<void>
}

export interface Services {
  readonly limits: PipelineLimits
  readonly accounts: { identify(key: PresentedKey): Promise<Identified> }
  readonly catalog: { snapshot(): CatalogSnapshot }
  readonly ledger: Ledger
  readonly storedAnswers: StoredAnswers
  readonly forms: Forms
  readonly upstreams: ReadonlyMap<string, Upstream>
  readonly dispatcher: Dispatcher
  readonly limiter: Limiter
  readonly health: ChannelHealth
  readonly retries: RetryBudget
  readonly inFlight: InFlight
  /** Undefined while paid work is welcome, else why it is not (disk full, clock skew). */
  readonly refusesWork: () => string | undefined
  readonly metrics: PipelineMetrics
  readonly log: Log
}
