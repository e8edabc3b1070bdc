/** The storage quota of an account, over its uploads and its tasks' results together. */
import type { Sql, TransactionSql } from 'postgres'
import { GatewayError } from '../../base/lib/errors.ts'
import { lockAccountStorage, readStoredBytesMax, sumStoredBytes } from './quota-store.ts'

const GIGABYTE = 1_000_000_000

export interface StorageUsage {
  readonly storedBytes: number
  readonly limitBytes: number
}

export interface Quota {
  read(accountId: string): Promise<StorageUsage>
  /** Returns how many bytes may still be stored; never negative. */
  remainingBytes(accountId: string): Promise<number>
  /** Makes other writers for the same account wait until the transaction ends. */
  lock(transaction: TransactionSql, accountId: string): Promise<void>
  /**
   * Checks the quota inside the transaction that will insert a row of this size. Throws 413 when
   * the quota is exceeded. Locks first, so that no two writers claim the same free space.
   */
  claim(transaction: TransactionSql, accountId: string, bytes: number): Promise<void>
}

/** `bytesMax` applies to accounts without a limit of their own. */
export function createQuota(sql: Sql, bytesMax: number): Quota {
  async function read(connection: Sql | TransactionSql, accountId: string): Promise<StorageUsage> {
    const storedBytes = Number(await sumStoredBytes(connection, accountId))
    const limitBytes = Number((await readStoredBytesMax(connection, accountId)) ?? bytesMax)
    return { storedBytes, limitBytes }
  }
  return {
    read: (accountId) => read(sql, accountId),
    async remainingBytes(accountId) {
      const { storedBytes, limitBytes } = await read(sql, accountId)
      return Math.max(0, limitBytes - storedBytes)
    },
    lock: lockAccountStorage,
    async claim(transaction, accountId, bytes) {
      await lockAccountStorage(transaction, accountId)
      const { storedBytes, limitBytes } = await read(transaction, accountId)
      if (storedBytes + bytes > limitBytes) throw storageFull(limitBytes)
    },
  }
}

function storageFull(bytesMax: number): GatewayError {
  const message =
    `this account may keep ${bytesMax / GIGABYTE} GB of files and media: ` +
    'delete some that are not needed any more'
  return new GatewayError('too_large', { message, code: 'storage_full' })
}
