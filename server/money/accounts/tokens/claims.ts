/** The meaning of a token's claims: an account, a member, tags and an end user. */
import { problemOfTags } from '../../../base/lib/call-labels.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import { isObject } from '../../../base/lib/json.ts'
import { foldsIntoAscii } from '../../../base/lib/text/folds-into-ascii.ts'
import type { TokenIssuer } from '../../../base/lib/token-issuer.ts'
import { refuseToken } from './read-token.ts'

export type Claims = Readonly<Record<string, unknown>>

export interface SubjectFacts {
  readonly subject: string
  readonly accountId: string
  /** The address of the member; undefined if its issuer names none. */
  readonly email: string | undefined
  readonly tags: readonly string[]
  readonly endUser: string | undefined
}

const ACCOUNT = /^acct_[A-Za-z0-9]{1,100}$/
/** Texts that the database stores. */
const TEXT = /^[^\p{Cc}\p{Cs}]{1,500}$/u
const SUBJECT_LENGTH_MAX = 255

/** Throws 401 without a usable `sub`, and 403 for claims that lack what the rules require. */
export function readClaims(issuer: TokenIssuer, claims: Claims): SubjectFacts {
  const { sub } = claims
  if (typeof sub !== 'string' || sub.length > SUBJECT_LENGTH_MAX || !TEXT.test(sub)) {
    throw refuseToken(`needs a "sub" of 1 to ${SUBJECT_LENGTH_MAX} characters`)
  }
  const { member, end_user: endUser } = issuer
  return {
    subject: sub,
    accountId: readAccount(issuer.account, claims),
    email: member && readEmail(member.claim, claims),
    tags: issuer.tags ? readTags(issuer.tags.claim, claims) : [],
    endUser: endUser && readText(endUser.claim, claims),
  }
}

function readAccount(rule: TokenIssuer['account'], claims: Claims): string {
  if (typeof rule === 'string') return rule
  const value = readText(rule.claim, claims)
  const { accounts } = rule
  if (accounts && Object.hasOwn(accounts, value)) return accounts[value] ?? ''
  if (accounts || !ACCOUNT.test(value)) throw refuseClaim(rule.claim, 'names no account')
  return value
}

/**
 * An address that the issuer marks as unverified is refused, since anybody could have typed it.
 * Members are found by addresses in lower case.
 */
function readEmail(name: string, claims: Claims): string {
  const email = readText(name, claims)
  if (name === 'email' && [false, 'false'].includes(claims.email_verified as boolean | string)) {
    throw refuseClaim(name, 'is not verified')
  }
  if (foldsIntoAscii(email))
    throw refuseClaim(name, 'has a letter that is easily taken for another')
  return email
}

/** A subject that is in no group may lack the claim. */
function readTags(name: string, claims: Claims): string[] {
  const value = readClaim(name, claims) ?? []
  const list: unknown[] = Array.isArray(value) ? value : [value]
  const tags = list.filter((one) => typeof one === 'string')
  if (tags.length < list.length) throw refuseClaim(name, 'must be a text or a list of texts')
  const problem = problemOfTags(tags)
  if (problem) throw refuseClaim(name, `gives no tags: ${problem}`)
  return [...new Set(tags)]
}

function readText(name: string, claims: Claims): string {
  const value = readClaim(name, claims)
  if (value === undefined) throw refuseClaim(name, 'is missing')
  if (typeof value !== 'string' || !TEXT.test(value)) throw refuseClaim(name, 'must be a text')
  return value
}

/**
 * Names of claims may contain dots, as URLs do: a claim with the whole name takes precedence over a
 * path.
 */
function readClaim(name: string, claims: Claims): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let value: unknown = claims
  for (const part of name.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, part)) return undefined
    value = value[part]
  }
  return value
}

function refuseClaim(name: string, problem: string): GatewayError {
  return new GatewayError('forbidden', { message: `the token’s claim "${name}" ${problem}` })
}
