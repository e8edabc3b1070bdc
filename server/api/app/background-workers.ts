/** Background workers: alerts, mail, webhooks, media copier, usage rollup, sealer, housekeeping. */
import type { Sql } from 'postgres'
import { type ClaimLoop, DUE_SECONDS_MAX } from '../../base/database/claim-loop.ts'
import type { Log } from '../../base/lib/log.ts'
import type { SecretBox } from '../../base/lib/secrets/secrets.ts'
import type { Guard } from '../../base/outbound/guard.ts'
import { type Sealer, startSealer } from '../../money/ledger/books/sealer.ts'
import { deleteOldUses } from '../../money/ledger/budgets/budget-store.ts'
import { deleteOldRates } from '../../money/ledger/budgets/limit-store.ts'
import { deleteOldSessions } from '../../money/ledger/holds/container-session-store.ts'
import { deleteExpiredKeys } from '../../money/ledger/store.ts'
import { type LabelIndexes, startLabelIndexes } from '../../money/usage/label-indexes.ts'
import { type Rollup, startRollup } from '../../money/usage/rollup.ts'
import { deleteOldItems } from '../../money/usage/stored-answers-store.ts'
import { recordExpiringKeys } from '../../work/alerts/alert-store.ts'
import { startDispatcher } from '../../work/alerts/dispatch.ts'
import { deleteOldAlerts } from '../../work/alerts/dispatch-store.ts'
import { hurryMails, type MailSender, startMailSender } from '../../work/alerts/mail/mail-sender.ts'
import { deleteOldMails } from '../../work/alerts/mail/mail-store.ts'
import type { Assets } from '../../work/assets/assets.ts'
import type { Copier } from '../../work/assets/copies/copier.ts'
import { hurryCopies } from '../../work/assets/copies/copy-store.ts'
import { hurryConversions } from '../../work/tasks/convert/conversion-store.ts'
import { hurryTasks } from '../../work/tasks/queue-store.ts'
import { deleteOldEvents } from '../../work/tasks/retention-store.ts'
import { hurryDeliveries } from '../../work/webhooks/queue-store.ts'
import { deleteOldDeliveries } from '../../work/webhooks/retention-store.ts'
import { type Sender, startSender } from '../../work/webhooks/sender.ts'
import type { Config } from '../config/config.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { type Housekeeping, type HousekeepingJob, startHousekeeping } from './housekeeping.ts'

const DELIVERIES_AT_ONCE = 500
const EVENTS_AT_ONCE = 5_000
const SESSIONS_AT_ONCE = 5_000
const RATES_AT_ONCE = 5_000
/** Each may have an answer of a megabyte. */
const KEYS_AT_ONCE = 1_000
const USES_AT_ONCE = 5_000
const ITEMS_AT_ONCE = 5_000
const ALERTS_AT_ONCE = 1_000
const HURRIED_AT_ONCE = 1_000
/** Longer than any window of a budget: an alert is never recorded again while it may recur. */
const ALERT_DAYS = 400

export interface BackgroundWorkers {
  readonly sender: Sender
  readonly dispatcher: ClaimLoop
  readonly mailSender: MailSender | undefined
  readonly copier: Copier
  readonly rollup: Rollup
  readonly sealer: Sealer
  readonly housekeeping: Housekeeping
  readonly labelIndexes: LabelIndexes
}

/** Returns undefined in a process that only answers calls, or that has the wrong SECRET_KEY. */
export function startBackgroundWorkers(parts: {
  readonly config: Config
  readonly sql: Sql
  readonly database: Pick<Parameters<typeof startLabelIndexes>[0], 'place'>
  readonly assets: Assets
  readonly secrets: SecretBox
  readonly readiness: { readonly keyProblem: string | undefined }
  readonly guard: Guard
  readonly metrics: Metrics
  readonly log: Log
}): BackgroundWorkers | undefined {
  const { config, sql, database, assets, secrets, guard, metrics, log } = parts
  if (config.role === 'api' || parts.readiness.keyProblem !== undefined) return undefined
  const { mail, publicUrl } = config
  const consoleUrl = config.isPublicUrlSet ? `${publicUrl}/console/` : undefined
  const onMail = metrics.mailAttempt
  return {
    dispatcher: startDispatcher({ sql, log, hasMail: mail !== undefined }),
    mailSender: mail && startMailSender({ sql, log, mail, secrets, consoleUrl, onMail }),
    sender: startSender({ sql, secrets, guard, log, onAttempt: metrics.webhookAttempt }),
    copier: assets.copy(metrics.copied),
    rollup: startRollup({ sql, log }),
    sealer: startSealer({ sql, log }),
    housekeeping: openHousekeeping(config, sql, assets, log),
    labelIndexes: startLabelIndexes({ sql, place: database.place, log }),
  }
}

/** Adds the retention of deliveries, timelines and what vendors keep to the assets' own jobs. */
function openHousekeeping(config: Config, sql: Sql, assets: Assets, log: Log): Housekeeping {
  const { everyMs, deliveryDays, timelineDays } = config.housekeeping
  const retentionJobs = [
    {
      name: 'old deliveries',
      run: () => deleteOldDeliveries(sql, deliveryDays, DELIVERIES_AT_ONCE),
    },
    {
      name: 'old container sessions',
      run: () => deleteOldSessions(sql, SESSIONS_AT_ONCE),
    },
    // Returns 0, so that it is not repeated at once.
    { name: 'expiring keys', run: () => recordExpiringKeys(sql).then(() => 0) },
    { name: 'old mails', run: () => deleteOldMails(sql, deliveryDays, ALERTS_AT_ONCE) },
    { name: 'old alerts', run: () => deleteOldAlerts(sql, ALERT_DAYS, ALERTS_AT_ONCE) },
    { name: 'expired idempotency keys', run: () => deleteExpiredKeys(sql, KEYS_AT_ONCE) },
    { name: 'old rates', run: () => deleteOldRates(sql, RATES_AT_ONCE) },
    { name: 'old end users', run: () => deleteOldUses(sql, USES_AT_ONCE) },
    { name: 'old stored items', run: () => deleteOldItems(sql, ITEMS_AT_ONCE) },
    { name: 'old timelines', run: () => deleteOldEvents(sql, timelineDays, EVENTS_AT_ONCE) },
  ]
  const jobs = [...assets.housekeepingJobs, ...retentionJobs, ...afterClockSetBack(sql)]
  return startHousekeeping({ jobs, everyMs, log })
}

/** Returns the jobs that reschedule work that was due before the clock was set back. */
function afterClockSetBack(sql: Sql): readonly HousekeepingJob[] {
  const queues = {
    tasks: hurryTasks,
    conversions: hurryConversions,
    deliveries: hurryDeliveries,
    copies: hurryCopies,
    mails: hurryMails,
  }
  return Object.entries(queues).map(([name, hurry]) => ({
    name: `${name} that wait too long`,
    run: () => hurry(sql, DUE_SECONDS_MAX, HURRIED_AT_ONCE),
  }))
}
