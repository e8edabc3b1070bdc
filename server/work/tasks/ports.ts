/**
 * The ports through which the task engine uses webhooks, stored content and the URL guard. Each is
 * required: a forgotten one would silently send no webhook, or keep no result.
 */
import type { TransactionSql } from 'postgres'
import type { TaskKind } from '../../base/lib/kinds-and-states.ts'
import type { ResultContent } from '../assets/library/keep-content.ts'
import type { ConvertSound } from '../assets/sound/convert-sound.ts'
import type { OwnTask } from './store.ts'
import type { TaskRow } from './task.ts'

export interface TaskWebhook {
  readonly accountId: string
  readonly taskId: string
  readonly kind: TaskKind
  readonly url: string
  /** The body that every attempt sends. */
  readonly body: string
}

/** The state of a task's webhook delivery. */
export interface DeliveryState {
  readonly status: string
  readonly attempts: number
}

/** A delivery attempt, for the timeline. */
export interface DeliveryAttempt {
  readonly at: Date
  readonly number: number
  readonly outcome: string
  readonly status: number | null
}

/** Properties of a file that a caller named by URL. */
export interface MeasuredUrl {
  readonly bytes: number | undefined
  readonly type: string | undefined
  /** Duration of a recording in our storage, if its header states it for certain. */
  readonly seconds?: number | undefined
}

export interface TaskPorts {
  /** Writes the delivery inside the transaction that ends the task. */
  readonly enqueueDelivery: (transaction: TransactionSql, delivery: TaskWebhook) => Promise<unknown>
  /** Returns what is wrong with a caller's URL, or undefined if it may be used. */
  readonly judgeUrl: (url: string) => Promise<string | undefined>
  /**
   * Measures the file behind a URL; undefined if its properties are unknown. `missing`: the URL is
   * ours, but the file does not exist. Rejects only when the database is unavailable.
   */
  readonly measureUrl: (url: string) => Promise<MeasuredUrl | 'missing' | undefined>
  /** Returns the vendor callback URL of an attempt; undefined if no vendor can reach us. */
  readonly vendorCallbackUrl: (attemptId: string) => string | undefined
  /** Converts recordings that a vendor does not take; undefined if this gateway cannot. */
  readonly convertSound: ConvertSound | undefined
  /** Removes what was published for a request, in the transaction that ends its task. */
  readonly unpublish: (
    transaction: TransactionSql,
    task: { readonly account_id: string; readonly request_id: string },
  ) => Promise<void>
  readonly deliveryState: (task: OwnTask) => Promise<DeliveryState | undefined>
  readonly deliveryAttempts: (task: OwnTask) => Promise<readonly DeliveryAttempt[]>
  /**
   * Adds the result of a task to the library, inside the transaction in which the task succeeds.
   * Resolves to the result with links that last.
   */
  readonly addToLibrary: (
    transaction: TransactionSql,
    task: TaskRow,
    contents: readonly ResultContent[],
  ) => Promise<TaskRow['result']>
  /** False while this process keeps no files: it makes no calls whose results are bytes. */
  readonly keepsFiles: () => boolean
  /** Stores content of a result before the task ends. Rejects with GatewayError. */
  readonly keepContent: (accountId: string, content: Buffer) => Promise<ResultContent>
  /** Removes stored content that no task adopts. Never rejects. */
  readonly discardContent: (content: ResultContent) => Promise<void>
}
