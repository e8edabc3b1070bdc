/** Answers stored at vendors: the account that may continue them, and their channel. */
import type { Sql } from 'postgres'
import { deleteStoredAnswer, findStoredAnswer, insertStoredAnswer } from './stored-answers-store.ts'

/** The accepted form of vendors' ids. */
const ID = /^[A-Za-z0-9_-]{1,200}$/

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
  }
}
