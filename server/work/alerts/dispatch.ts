/**
 * Enqueues the webhook and the mail of each alert, in one transaction: a crash before its commit
 * leaves the alert waiting, one after it leaves deliveries and mail in their queues.
 */
import type { Sql, TransactionSql } from 'postgres'
import { type ClaimLoop, startClaimLoop } from '../../base/database/claim-loop.ts'
import { newId } from '../../base/lib/ids.ts'
import type { Log } from '../../base/lib/log.ts'
import { enqueueAlertDelivery } from '../webhooks/enqueue.ts'
import { ALERT_NOTIFICATIONS, eventOf } from './alert.ts'
import {
  lockWaiting,
  markDispatched,
  selectRecipients,
  type WaitingAlert,
} from './dispatch-store.ts'
import { insertMail } from './mail/mail-store.ts'
import { describeSubject } from './subject.ts'

const AT_ONCE = 100

/** Starts dispatching. Without `hasMail`, alerts go only to webhooks and the console. */
export function startDispatcher(options: {
  readonly sql: Sql
  readonly log: Log
  readonly hasMail: boolean
}): ClaimLoop {
  const { sql, log, hasMail } = options
  return startClaimLoop({
    sql,
    log,
    name: 'alerts',
    notifications: ALERT_NOTIFICATIONS,
    async claim(background) {
      while ((await dispatchWaiting(background, hasMail)) === AT_ONCE);
    },
    readNextMs: async () => null,
  })
}

/** Dispatches alerts that wait. Returns their number, at most AT_ONCE. */
export function dispatchWaiting(sql: Sql, hasMail: boolean): Promise<number> {
  return sql.begin(async (transaction) => {
    const alerts = await lockWaiting(transaction, AT_ONCE)
    for (const alert of alerts) {
      await enqueueWebhook(transaction, alert)
      if (hasMail) await enqueueMails(transaction, alert)
    }
    if (alerts.length > 0) await markDispatched(transaction, alerts)
    return alerts.length
  })
}

async function enqueueWebhook(transaction: TransactionSql, alert: WaitingAlert): Promise<void> {
  const { account_id: accountId, alert_url: url, kind } = alert
  if (accountId === null || url === null) return
  const body = JSON.stringify({
    event: eventOf(kind),
    alert_id: alert.id.toString(),
    account_id: accountId,
    at: alert.created_at.toISOString(),
    ...describeSubject(alert.subject, alert.currency),
  })
  await enqueueAlertDelivery(transaction, { accountId, url, body })
}

async function enqueueMails(transaction: TransactionSql, alert: WaitingAlert): Promise<void> {
  const { id, kind, account_id: accountId, account_name: name, currency } = alert
  const params = {
    account: name ?? '',
    at: alert.created_at.toISOString(),
    members: describeSubject(alert.subject, currency),
  }
  for (const { id: personId, email, language } of await selectRecipients(transaction, accountId)) {
    const once = `${id}:${personId}`
    const mail = { id: newId('mail'), address: email, language, kind, params, once }
    await insertMail(transaction, mail)
  }
}
