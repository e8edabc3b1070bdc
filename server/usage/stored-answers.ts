/** Answers that vendors keep: who may ask for them again, and where they are. */
import type { Sql } from 'postgres'
import { deleteStoredAnswer, findStoredAnswer, insertStoredAnswer } from './stored-answers-store.ts'

/** Vendors' ids are short words; anything else names nothing. */
const ID = /^[A-Za-z0-9_-]{1,200}$/

/** See StoredAnswers in pipeline/services.ts. */
export function createStoredAnswers(sql: Sql) {
  return {
    async remember(answer: {
      readonly id: string
      readonly accountId: string
      readonly channelId: string
    }): Promise<void> {
      if (ID.test(answer.id)) await insertStoredAnswer(sql, answer)
    },
    async findChannel(accountId: string, id: string): Promise<string | undefined> {
      if (!ID.test(id)) return undefined
      return (await findStoredAnswer(sql, accountId, id))?.channel_id
    },
    forget: (accountId: string, id: string) => deleteStoredAnswer(sql, accountId, id),
  }
}
