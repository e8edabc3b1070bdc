/**
 * Identifies callers by a token of their company's directory. A token is checked once; then its
 * subject is looked up like a key, so that limits, budgets, holds and records work in the same way.
 */
import type { Sql } from 'postgres'
import { GatewayError } from '../../../base/lib/errors.ts'
import { newId } from '../../../base/lib/ids.ts'
import type { TokenIssuer } from '../../../base/lib/token-issuer.ts'
import type { Caller } from '../accounts.ts'
import type { CachedKey } from '../key-cache.ts'
import type { LookUps } from '../look-ups.ts'
import { type CheckedToken, checkToken } from './check-token.ts'
import { createIssuerKeys, type IssuerKeysOptions } from './issuer-keys.ts'
import { saveSubject } from './subject-store.ts'

export interface TokensOptions extends IssuerKeysOptions {
  readonly sql: Sql
  readonly issuers: () => readonly TokenIssuer[]
  readonly lookUps: Pick<LookUps, 'find'>
  /** The time of day, in milliseconds since 1970. */
  readonly dateMs?: () => number
}

export interface Tokens {
  /** `name` is the hash of the token. Throws 401, 403 or 503, or as a look-up does. */
  find(token: string, name: string): Promise<CachedKey>
  /** Checks a token without a look-up of its subject. Throws 401, 403 or 503. */
  check(token: string): Promise<CheckedToken>
}

const CHECKED_MAX = 20_000

export function createTokens(options: TokensOptions): Tokens {
  const { sql, issuers, lookUps, nowMs, dateMs = Date.now } = options
  const keys = createIssuerKeys(options)
  const known = new Map<string, CheckedToken>()

  async function save({ issuer, facts, hash }: CheckedToken): Promise<void> {
    const { subject, accountId, email = null } = facts
    const row = { keyId: newId('key'), hash, issuer: issuer.id, subject, accountId, email }
    const missing = await saveSubject(sql, row)
    if (missing === undefined) return
    const message =
      missing === 'account'
        ? `the account ${accountId} of this token does not exist`
        : `${email} is not a member of this token’s account who may make calls`
    throw new GatewayError('forbidden', { message })
  }

  /** A checked token is checked again once its issuer or the issuer's keys have changed. */
  async function recall(name: string): Promise<CheckedToken | undefined> {
    const checked = known.get(name)
    if (!checked) return undefined
    const issuer = issuers().find(({ id }) => id === checked.issuer.id)
    const isSame = issuer && JSON.stringify(issuer) === JSON.stringify(checked.issuer)
    if (isSame && (await keys.has(issuer, checked.keyName))) return checked
    known.delete(name)
    return undefined
  }

  function remember(name: string, checked: CheckedToken): void {
    known.set(name, checked)
    const [oldest] = known.keys()
    if (known.size > CHECKED_MAX && oldest !== undefined) known.delete(oldest)
  }

  /** A database that was restored to an earlier state may no longer have the subject. */
  async function lookUp(checked: CheckedToken): Promise<CachedKey> {
    const hashName = checked.hash.toString('base64')
    const row = await lookUps.find(checked.hash, hashName)
    if (row.accountId !== null) return row
    await save(checked)
    return await lookUps.find(checked.hash, hashName)
  }

  const check = (token: string) => checkToken(token, { issuers: issuers(), keys, dateMs: dateMs() })

  return {
    check,
    async find(token, name) {
      let checked = await recall(name)
      if (!checked) {
        checked = await check(token)
        await save(checked)
        remember(name, checked)
      }
      const row = await lookUp(checked)
      const endsAtMs = nowMs() + checked.endsAtMs - dateMs()
      const { identified } = row
      return {
        ...row,
        expiresAtMs: Math.min(row.expiresAtMs, endsAtMs),
        identified:
          'caller' in identified
            ? { ...identified, caller: callerOf(identified.caller, checked) }
            : identified,
      }
    },
  }
}

/** The subject's own settings take precedence over those of its issuer. */
function callerOf(row: Caller, { issuer, facts }: CheckedToken): Caller {
  const { tagging } = row
  const tags = [...new Set([...(tagging?.tags ?? []), ...facts.tags])]
  const { allowTags = false, requiredTags = [] } = tagging ?? {}
  return {
    ...row,
    keyLimits: { ...issuer.limits, ...row.keyLimits },
    models: row.models ?? issuer.models,
    ...(tagging || tags.length > 0 ? { tagging: { tags, allowTags, requiredTags } } : {}),
    ...(facts.endUser === undefined ? {} : { endUser: facts.endUser }),
  }
}
