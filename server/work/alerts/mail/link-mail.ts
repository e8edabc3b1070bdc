/**
 * Mail with a link that works once. The link is encrypted in the queue: its token is stored in the
 * clear nowhere else either.
 */
import type { TransactionSql } from 'postgres'
import { newId } from '../../../base/lib/ids.ts'
import { isObject } from '../../../base/lib/json.ts'
import type { SecretBox } from '../../../base/lib/secrets/secrets.ts'
import { insertMail, wakeSender } from './mail-store.ts'
import type { LinkKind } from './mail-texts.ts'

export interface LinkMail {
  readonly kind: LinkKind
  readonly address: string
  readonly language: string
  readonly link: string
  readonly expiresAt: Date
  /** The name of the account that it is about, if any. */
  readonly account?: string | undefined
  readonly role?: string | undefined
}

/** Enqueues the mail. Returns false if the address gets too much. */
export async function enqueueLink(
  sql: TransactionSql,
  secrets: SecretBox,
  mail: LinkMail,
): Promise<boolean> {
  const id = newId('mail')
  const { kind, address, language, expiresAt, account = '', role = '' } = mail
  const members = { role, expires_at: expiresAt.toISOString() }
  const sealed = secrets.seal(mail.link, contextOf(id)).toString('base64')
  const params = { account, at: new Date().toISOString(), members, sealed_link: sealed }
  const isEnqueued = await insertMail(sql, { id, address, language, kind, params, once: id })
  if (isEnqueued) await wakeSender(sql)
  return isEnqueued
}

/** Returns the params of a mail with its link among the members, if it has one. */
export function openLinkOf(
  { id, params }: { readonly id: string; readonly params: unknown },
  secrets: SecretBox,
): unknown {
  if (!isObject(params) || typeof params.sealed_link !== 'string') return params
  const link = secrets.open(Buffer.from(params.sealed_link, 'base64'), contextOf(id))
  return { ...params, members: { ...(isObject(params.members) ? params.members : {}), link } }
}

function contextOf(mailId: string): string {
  return `mail:${mailId}`
}
