/** Sends the mail that is due. */
import type { Sql } from 'postgres'
import { startClaimLoop } from '../../../base/database/claim-loop.ts'
import type { Log } from '../../../base/lib/log.ts'
import type { SecretBox } from '../../../base/lib/secrets/secrets.ts'
import { ALERT_NOTIFICATIONS } from '../alert.ts'
import { openLinkOf } from './link-mail.ts'
import {
  type ClaimedMail,
  claimMails,
  hurryLateMails,
  type MailOutcome,
  recordMail,
} from './mail-store.ts'
import { renderMail } from './render-mail.ts'
import { type MailSettings, SEND_MS, type SendResult, sendMail } from './transport.ts'

/** Delays after each failed attempt; after the last one a mail is given up. */
const MINUTE_MS = 60_000
const MAIL_DELAYS_MS = [1, 5, 30, 120, 360, 1_440].map((minutes) => minutes * MINUTE_MS)
const SLOTS = 4
const LEASE_MARGIN_MS = 30_000

export type OnMail = (outcome: 'sent' | 'retried' | 'dropped') => void

export interface MailSenderOptions {
  readonly sql: Sql
  readonly log: Log
  readonly mail: MailSettings
  /** Opens the links of mail that has one. */
  readonly secrets: SecretBox
  /** The console's address, for the last line of a mail; undefined if it is not known. */
  readonly consoleUrl: string | undefined
  readonly onMail?: OnMail
  /** Replaced in tests. */
  readonly delaysMs?: readonly number[]
  readonly totalMs?: number
  readonly leaseMs?: number
}

export interface MailSender {
  /** Stops claiming and lets running attempts finish within `drainMs`. */
  stop(drainMs?: number): Promise<void>
}

export function startMailSender(options: MailSenderOptions): MailSender {
  const { sql, log, delaysMs = MAIL_DELAYS_MS, totalMs = SEND_MS } = options
  const { leaseMs = totalMs + LEASE_MARGIN_MS } = options
  const stopping = new AbortController()
  const limits = { attemptsMax: delaysMs.length + 1, leaseMs }
  const loop = startClaimLoop({
    sql,
    log,
    name: 'mails',
    notifications: ALERT_NOTIFICATIONS,
    async claim(background, start, running) {
      if (running >= SLOTS) return
      const claimed = await claimMails(background, SLOTS - running, limits)
      for (const mail of claimed) start(attempt(mail), { mail_id: mail.id })
    },
    readNextMs: async () => null,
  })

  async function attempt(mail: ClaimedMail): Promise<void> {
    const result = await send(mail)
    const outcome = toOutcome(result, delaysMs[mail.attempts - 1])
    if (!(await recordMail(sql, mail, outcome))) {
      log.warn({ mail_id: mail.id }, 'the lease of a mail was lost')
    } else report(mail, outcome)
  }

  async function send(mail: ClaimedMail): Promise<SendResult> {
    const text = render(mail)
    if (text === undefined) return { sent: false, error: UNREADABLE, isFinal: true }
    const { signal } = stopping
    return await sendMail(options.mail, { ...mail, ...text }, { signal, totalMs })
  }

  /** Returns undefined if the link was sealed with a key that is no longer configured. */
  function render(mail: ClaimedMail) {
    try {
      const params = openLinkOf(mail, options.secrets)
      return renderMail({ ...mail, params }, options.consoleUrl)
    } catch (error) {
      log.warn({ error, mail_id: mail.id }, 'a mail cannot be read')
      return undefined
    }
  }

  function report({ id, kind }: ClaimedMail, outcome: MailOutcome): void {
    const { state } = outcome
    options.onMail?.(state === 'sent' ? 'sent' : state === 'failed' ? 'dropped' : 'retried')
    const fields = { mail_id: id, kind }
    if (outcome.state === 'sent') log.info(fields, 'a mail was sent')
    else log.warn({ ...fields, reason: outcome.error }, MESSAGES[outcome.state])
  }

  return {
    async stop(drainMs = 5_000) {
      await loop.stop()
      const timer = setTimeout(() => stopping.abort(), drainMs)
      await loop.drain()
      clearTimeout(timer)
    },
  }
}

/** Makes up to `limit` mails due in a minute that are due over `seconds` later than any retry. */
export function hurryMails(sql: Sql, seconds: number, limit: number): Promise<number> {
  return hurryLateMails(sql, { seconds, delaysMs: MAIL_DELAYS_MS, limit })
}

const UNREADABLE = 'its link cannot be opened: was SECRET_KEY changed?'

const MESSAGES = {
  failed: 'a mail was given up',
  pending: 'a mail was not sent: it will be retried',
} as const

function toOutcome(result: SendResult, delayMs: number | undefined): MailOutcome {
  if (result.sent) return { state: 'sent' }
  const { error, isFinal } = result
  if (isFinal || delayMs === undefined) return { state: 'failed', error }
  return { state: 'pending', error, delayMs }
}
