/** What the task engine needs from parts that it does not know: deliveries and the URL guard. */
import type { TransactionSql } from 'postgres'
import type { ResultContent } from '../assets/library/keep-content.ts'
import type { TaskKind } from '../upstreams/task-driver.ts'
import type { TaskRow } from './task.ts'

export interface TaskWebhook {
  readonly accountId: string
  readonly taskId: string
  readonly kind: TaskKind
  readonly url: string
  /** The bytes that every attempt sends. */
  readonly body: string
}

/** How far the announcement of a task's end has come. */
export interface CallbackState {
  readonly status: string
  readonly attempts: number
}

/** An attempt to deliver, for the timeline. */
export interface DeliveryAttempt {
  readonly at: Date
  readonly number: number
  readonly outcome: string
  readonly status: number | null
}

/** What is known of a caller's file, ours or anybody's. */
export interface MeasuredUrl {
  readonly bytes: number | undefined
  readonly type: string | undefined
  /** Of a recording of our own, where its header is certain. */
  readonly seconds?: number | undefined
}

export interface TaskPorts {
  /** Writes the delivery inside the transaction that ends the task. */
  readonly enqueueDelivery?: (
    transaction: TransactionSql,
    delivery: TaskWebhook,
  ) => Promise<unknown>
  /** What is wrong with a URL that a caller named, or undefined when it may be used. */
  readonly judgeUrl?: (url: string) => Promise<string | undefined>
  /**
   * What a URL leads to; undefined when nobody says. `missing`: to a file of our own that is not
   * there. Rejects only when the database is away.
   */
  readonly measureUrl?: (url: string) => Promise<MeasuredUrl | 'missing' | undefined>
  /** Where a vendor may report on this attempt; undefined where no vendor reaches us. */
  readonly vendorCallbackUrl?: (attemptId: string) => string | undefined
  readonly callbackState?: (taskId: string) => Promise<CallbackState | undefined>
  readonly callbackAttempts?: (taskId: string) => Promise<readonly DeliveryAttempt[]>
  /** Runs inside the transaction in which a task succeeds, for example to add it to a gallery. */
  readonly onSucceeded?: (
    transaction: TransactionSql,
    task: TaskRow,
    kept: readonly ResultContent[],
  ) => Promise<void>
  /** Stores content of a result before the task ends; throws GatewayError when it cannot. */
  readonly keepContent?: (accountId: string, content: Buffer) => Promise<ResultContent>
  /** Removes such content again. Never rejects. */
  readonly discard?: (kept: ResultContent) => Promise<void>
}
