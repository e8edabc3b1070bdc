/** Opens webhook deliveries for the `webhook` commands, and prints one. */
import { openSecretBox } from '../../../server/api/config/secret-key-file.ts'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import { oneLine } from '../../../server/base/lib/text/one-line.ts'
import { accountOfDelivery, type DeliveryRow } from '../../../server/work/webhooks/store.ts'
import { createWebhooks } from '../../../server/work/webhooks/webhooks.ts'
import { printFields, printJson, printTime } from '../../lib/print.ts'
import type { CommandSession } from '../../lib/session.ts'

export interface JsonOption {
  readonly json?: boolean
}

export function openWebhooks({ sql, config }: CommandSession) {
  return createWebhooks(sql, openSecretBox(config))
}

export async function ownerOf({ sql }: CommandSession, id: string): Promise<string> {
  return (await accountOfDelivery(sql, id)) ?? unknown(id)
}

export function unknown(id: string): never {
  throw new OperatorError(`there is no delivery ${id}`)
}

/** Names what a delivery reports: a task, an alert, or a test. */
export function describeTask({ task_id: task, kind }: DeliveryRow): string {
  return task ?? (kind === 'alert' ? 'an alert' : 'a test')
}

export function showOne(row: DeliveryRow, { json }: JsonOption) {
  if (json) return printJson(row)
  printFields({
    delivery: row.id,
    status: row.state,
    task: describeTask(row),
    url: row.url,
    next: row.next_attempt_at && printTime(row.next_attempt_at),
    'sent again as': row.repeated_by,
  })
  for (const one of row.history) {
    const outcome = one.error ?? `${one.outcome ?? 'in progress'} ${one.status ?? ''}`.trim()
    const time = printTime(new Date(one.started_at))
    const latency = one.latency_ms === null ? '' : `  ${one.latency_ms} ms`
    console.log(`${one.number}. ${time}  ${oneLine(outcome)}${latency}`)
  }
}
