/**
 * Changes rows continually: answers of very different sizes stored for Idempotency-Keys, keys that
 * are created, changed and rotated, and deletes that leave holes for later rows.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { connect } from '../../server/base/database/connection/client.ts'
import type { DatabasePlace } from '../../server/base/database/connection/open-client.ts'
import { changeKey, createKey, rotateKey } from '../../server/money/accounts/manage-keys.ts'
import type { Random } from '../../testbed/random.ts'

export interface Churn {
  stop(): Promise<void>
}

const WIDTHS: readonly [number, ...number[]] = [0, 3, 40, 300, 900, 1_900, 2_500, 7_000, 60_000]
const PAUSE_MS = 150
const INSERTED = 12
const DELETED_OF_TEN = 3

export function startChurn(place: DatabasePlace, accountId: string, random: Random): Churn {
  const sql = connect(place, { connections: 2, patient: true, statementTimeoutMs: 0 })
  const stopping = new AbortController()
  const working = work()

  async function work(): Promise<void> {
    for (let round = 0; !stopping.signal.aborted; round += 1) {
      await insertAnswers(sql, accountId, round, random)
      await deleteAnswers(sql, random.integer(0, 9))
      if (round % 5 === 0) await changeKeys(sql, accountId, random)
      // Without a truncation, which would wait for the backup that is reading the table.
      if (round % 8 === 0) await sql`vacuum (truncate false) idempotency`
      await sleep(PAUSE_MS)
    }
  }
  return {
    async stop() {
      stopping.abort()
      await working
      await sql.end({ timeout: 1 })
    },
  }
}

async function insertAnswers(
  sql: Sql,
  accountId: string,
  round: number,
  random: Random,
): Promise<void> {
  for (let index = 0; index < INSERTED; index += 1) {
    const name = `churn-${round}-${index}`
    const body = random.bytes(random.pick(WIDTHS))
    await sql`
      insert into idempotency
        (account_id, key, route, fingerprint, request_id, hold_id, state, body)
      values (${accountId}, ${name}, 'POST /v1/search', ${random.bytes(32)}, ${`req_${name}`},
        ${`hold_${name}`}, 'finished', ${body})`
  }
}

async function deleteAnswers(sql: Sql, digit: number): Promise<void> {
  await sql`
    delete from idempotency
    where key like 'churn-%' and (hashtext(key) & 1023) % 10
      in (${digit}, ${(digit + 1) % 10}, ${(digit + DELETED_OF_TEN - 1) % 10})`
}

async function changeKeys(sql: Sql, accountId: string, random: Random): Promise<void> {
  const name = 'k'.repeat(random.integer(1, 100))
  const key = await createKey(sql, { accountId, name, spendLimitNanos: 1_000_000_000n })
  await changeKey(sql, key.id, { models: ['m'.repeat(random.integer(1, 200))] })
  await rotateKey(sql, key.id, 60)
}
