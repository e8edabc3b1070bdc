/** How much an account may keep in storage: uploads and what its tasks made together. */
import type { Sql, TransactionSql } from 'postgres'
import { GatewayError } from '../lib/errors.ts'
import { lockAccountStorage, readStoredBytesMax, sumStoredBytes } from './quota-store.ts'

const GIGABYTE = 1_000_000_000

export interface Stored {
  readonly storedBytes: number
  readonly limitBytes: number
}

export interface Quota {
  read(accountId: string): Promise<Stored>
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
  async function read(one: Sql | TransactionSql, accountId: string): Promise<Stored> {
    const storedBytes = Number(await sumStoredBytes(one, accountId))
    const limitBytes = Number((await readStoredBytesMax(one, accountId)) ?? bytesMax)
    return { storedBytes, limitBytes }
  }
  return {
    read: (accountId) => read(sql, accountId),
    async left(accountId) {
      const { storedBytes, limitBytes } = await read(sql, accountId)
      return Math.max(0, limitBytes - storedBytes)
    },
    enter: lockAccountStorage,
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
