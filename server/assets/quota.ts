/** How much an account may keep in storage: uploads and what its tasks made together. */
import type { Sql, TransactionSql } from 'postgres'
import { GatewayError } from '../errors.ts'
import { lockAccountStorage, readStoredBytesMax, sumStoredBytes } from './quota-store.ts'

const GIGABYTE = 1_000_000_000

export interface Quota {
  /** What may still be stored, at least 0. */
  left(accountId: string): Promise<number>
  /** Others who store for the same account wait until the transaction ends. */
  enter(transaction: TransactionSql, accountId: string): Promise<void>
  /**
   * In the transaction that writes a row of so many bytes, before it is written: throws 413 when
   * they are too many. It enters first, so that no two count on the same room.
   */
  claim(transaction: TransactionSql, accountId: string, bytes: number): Promise<void>
}

/** `bytesMax` is for accounts without a limit of their own. */
export function createQuota(sql: Sql, bytesMax: number): Quota {
  async function limitOf(one: Sql | TransactionSql, accountId: string): Promise<number> {
    return Number((await readStoredBytesMax(one, accountId)) ?? bytesMax)
  }
  return {
    async left(accountId) {
      const stored = Number(await sumStoredBytes(sql, accountId))
      return Math.max(0, (await limitOf(sql, accountId)) - stored)
    },
    enter: lockAccountStorage,
    async claim(transaction, accountId, bytes) {
      await lockAccountStorage(transaction, accountId)
      const stored = Number(await sumStoredBytes(transaction, accountId))
      const limit = await limitOf(transaction, accountId)
      if (stored + bytes > limit) throw storageFull(limit)
    },
  }
}

function storageFull(bytesMax: number): GatewayError {
  const message =
    `this account may keep ${bytesMax / GIGABYTE} GB of files and media: ` +
    'delete some that are not needed any more'
  return new GatewayError('too_large', { message, code: 'storage_full' })
}
