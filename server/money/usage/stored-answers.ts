/**
 * Answers stored at vendors and their items: the account that may name them, and their channel.
 */
import type { Sql } from 'postgres'
import {
  deleteStoredAnswer,
  findStoredAnswer,
  findStoredItems,
  insertStoredAnswer,
  insertStoredItems,
} from './stored-answers-store.ts'

/** The accepted form of vendors' ids. */
const ID = /^[A-Za-z0-9_-]{1,200}$/
/** Vendors' ids for other stored objects have more characters. */
const ITEM_ID = /^[\w.:-]{1,200}$/
/** Asked before ids enter a set, which compares each long one with all others of its length. */
const isItemId = (id: string) => ITEM_ID.test(id)
const ITEMS_MAX = 1_000
/**
 * Longer than vendors keep answers, and longer than conversations that send all of their turns
 * last.
 */
const DAYS = { stored: 40, unstored: 2 }

/** See StoredAnswers in pipeline/services.ts. */
export function createStoredAnswers(sql: Sql) {
  return {
    async remember(answer: {
      readonly id: string
      readonly accountId: string
      readonly channelId: string
      readonly tokens: number | null
    }): Promise<void> {
      if (ID.test(answer.id)) await insertStoredAnswer(sql, answer)
    },
    async find(accountId: string, id: string) {
      if (!ID.test(id)) return undefined
      const row = await findStoredAnswer(sql, accountId, id)
      return row && { channelId: row.channel_id, tokens: row.tokens }
    },
    forget: (accountId: string, id: string) => deleteStoredAnswer(sql, accountId, id),
    async rememberItems(items: {
      readonly ids: readonly string[]
      readonly answerId: string
      readonly accountId: string
      readonly channelId: string
      readonly tokens: number | null
      readonly isStored: boolean
    }): Promise<void> {
      const ids = [...new Set(items.ids.filter(isItemId))].slice(0, ITEMS_MAX)
      const days = items.isStored ? DAYS.stored : DAYS.unstored
      if (ids.length > 0) await insertStoredItems(sql, { ...items, ids, days })
    },
    async findItems(accountId: string, ids: readonly string[]) {
      const named = [...new Set(ids.filter(isItemId))]
      const rows = named.length === 0 ? [] : await findStoredItems(sql, accountId, named)
      return new Map(
        rows.map(({ id, channel_id: channelId, answer_id: answerId, tokens }) => {
          return [id, { channelId, answerId, tokens }] as const
        }),
      )
    },
  }
}
