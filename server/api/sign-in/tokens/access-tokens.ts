/**
 * Access tokens, with which scripts use the admin API on a person's behalf. Each request looks its
 * token up, so that revoking a token or changing its person's role takes effect everywhere at once.
 */
import type { IncomingMessage } from 'node:http'
import type { Sql, TransactionSql } from 'postgres'
import { withTransaction } from '../../../base/database/transaction.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import { newId } from '../../../base/lib/ids.ts'
import { OperatorError } from '../../../base/lib/operator-error.ts'
import {
  createTokenText,
  displayAccessToken,
  hashAccessToken,
  isWellFormedAccessToken,
} from '../../../base/lib/secrets/access-token.ts'
import { isWellFormedApiKey } from '../../../base/lib/secrets/api-key.ts'
import type { SignInParts } from '../parts.ts'
import type { Session } from '../sessions/session.ts'
import { describePerson } from '../sessions/sessions.ts'
import {
  countLiveTokens,
  type FoundToken,
  findToken,
  insertToken,
  type NewTokenRow,
  revokeToken,
  selectTokens,
  type TokenRow,
  type TokenScope,
  touchToken,
} from './access-token-store.ts'

const TOKEN_DAYS_DEFAULT = 90
const DAY_MS = 86_400_000
const LIVE_TOKENS_MAX = 50
const NAME_MAX = 100

/**
 * Returns the text after `Bearer` in the Authorization header; undefined for an absent header or
 * another scheme, which may be meant for a proxy in front of the console.
 */
export function readBearer({ headers }: IncomingMessage): string | undefined {
  const { authorization = '' } = headers
  return /^bearer(?: |$)/i.test(authorization) ? authorization.slice(6).trim() : undefined
}

/**
 * Returns what the token may do. Throws 401, and 429 for an address that has sent many invalid
 * ones.
 */
export async function identifyToken(
  parts: SignInParts,
  request: IncomingMessage,
  text: string,
): Promise<Session> {
  const { sql, throttle, addresses, operatorsNeedFactor } = parts
  const row = isWellFormedAccessToken(text)
    ? await findToken(sql, hashAccessToken(text))
    : undefined
  if (!row) {
    // Only invalid tokens are counted, so that they never block a valid one.
    await throttle.take('token', addresses.networkOf(request))
    throw new GatewayError('unauthenticated', { message: explain(text) })
  }
  if (row.is_stale) await touchToken(sql, row.id)
  return describe(row, text, operatorsNeedFactor())
}

function explain(text: string): string {
  return isWellFormedApiKey(text)
    ? 'this is an API key: the admin API takes access tokens (tra-…), created in the settings'
    : 'this access token is unknown, revoked or expired'
}

function describe(row: FoundToken, text: string, operatorsNeedFactor: boolean): Session {
  return {
    sessionId: row.id,
    ...describePerson(row, operatorsNeedFactor),
    steppedUpUntil: undefined,
    token: {
      id: row.id,
      name: row.token_name,
      display: displayAccessToken(text),
      scope: row.scope,
      isSensitive: row.is_sensitive,
      expiresAt: row.expires_at,
    },
  }
}

export interface NewToken {
  readonly personId: string
  readonly name: string
  readonly scope: TokenScope
  readonly isSensitive: boolean
  /** Undefined: 90 days. Null: never. */
  readonly expiresAt: Date | null | undefined
  /** A person's id, or `cli:name`. */
  readonly createdBy: string
}

/** A token with its text, which cannot be shown again. */
export interface CreatedToken extends TokenRow {
  readonly token: string
}

/**
 * Throws OperatorError for a person without rights, with too many tokens, or for a time in the
 * past.
 */
export async function createAccessToken(sql: Sql, newToken: NewToken): Promise<CreatedToken> {
  const now = Date.now()
  const { expiresAt = new Date(now + TOKEN_DAYS_DEFAULT * DAY_MS) } = newToken
  if (expiresAt && expiresAt.getTime() <= now) {
    throw new OperatorError('the expiry must be in the future')
  }
  if (newToken.name.trim() === '' || newToken.name.length > NAME_MAX) {
    throw new OperatorError(`a token needs a name of at most ${NAME_MAX} characters`)
  }
  const token = createTokenText()
  const id = newId('tok')
  await withTransaction(sql, (transaction) =>
    addToken(transaction, {
      id,
      person_id: newToken.personId,
      name: newToken.name,
      scope: newToken.scope,
      is_sensitive: newToken.isSensitive,
      created_by: newToken.createdBy,
      expires_at: expiresAt,
      tokenHash: hashAccessToken(token),
      display: displayAccessToken(token),
    }),
  )
  return { ...(await showToken(sql, id)), token }
}

async function addToken(transaction: TransactionSql, row: NewTokenRow): Promise<void> {
  if ((await countLiveTokens(transaction, row.person_id)) >= LIVE_TOKENS_MAX) {
    throw new OperatorError(`there are ${LIVE_TOKENS_MAX} access tokens: revoke one first`)
  }
  if (await insertToken(transaction, row)) return
  throw new OperatorError('a token needs a person who is an operator or belongs to an account')
}

/** Throws OperatorError if there is none. */
export async function showToken(sql: Sql, id: string): Promise<TokenRow> {
  const [row] = await selectTokens(sql, { id, limit: 1 })
  if (!row) throw new OperatorError(`there is no access token ${id}: tributary token list`)
  return row
}

/** Throws 404 if there is no such token, or it is not of the person in `personId`. */
export async function endAccessToken(sql: Sql, id: string, personId?: string): Promise<void> {
  if (await revokeToken(sql, id, personId)) return
  throw new GatewayError('not_found', { message: 'no such access token' })
}
