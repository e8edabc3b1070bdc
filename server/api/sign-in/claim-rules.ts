/**
 * Rules that grant roles by the claims of a provider about a person: at every sign-in, the first
 * rule that matches decides. Claims are untrusted: names are looked up as own properties only, and
 * patterns are matched in linear time.
 */
import { asString, isObject } from '../../base/lib/json.ts'
import { MEMBER_ROLES, type MemberRole, readMemberRole } from '../../base/lib/member-roles.ts'

export type StatedClaims = Readonly<Record<string, unknown>>

/** Values of a claim: one of them, `*` standing for any text; or true, false, a number. */
type Wanted = string | number | boolean | readonly string[]

export interface RoleRule {
  /** Names of claims, a dot leading into an object; all must match. */
  readonly when: Readonly<Record<string, Wanted>>
  readonly operator?: boolean
  /** An account's id. */
  readonly account?: string
  /** The claim whose matching values name accounts, by id or name. */
  readonly account_by?: string
  readonly role?: MemberRole
}

export interface Grant {
  readonly operator: boolean
  /** Ids or names of accounts. */
  readonly accounts: readonly string[]
  readonly role: MemberRole
}

const RULES_MAX = 200
/** People at large companies are in hundreds of groups. */
const VALUES_MAX = 2_000
const TEXT_MAX = 500
const MEMBERS: ReadonlySet<string> = new Set(['when', 'operator', 'account', 'account_by', 'role'])
/** At many providers, people choose these claims themselves. */
const CHOSEN: ReadonlySet<string> = new Set(
  `preferred_username nickname name given_name family_name middle_name profile picture website
  unique_name`.split(/\s+/),
)

/** Returns the rules, or what is wrong with them. */
export function readRules(value: unknown): readonly RoleRule[] | { readonly problem: string } {
  if (!Array.isArray(value)) return { problem: 'must be a list of rules' }
  if (value.length > RULES_MAX) return { problem: `must be at most ${RULES_MAX} rules` }
  const rules: RoleRule[] = []
  for (const [index, entry] of value.entries()) {
    const rule = readRule(entry)
    if (typeof rule === 'string') return { problem: `rule ${index + 1} ${rule}` }
    rules.push(rule)
  }
  return rules
}

/** Returns the rule, or what is wrong with it. */
function readRule(entry: unknown): RoleRule | string {
  if (!isObject(entry)) return 'must be an object'
  const unknown = Object.keys(entry).find((name) => !MEMBERS.has(name))
  if (unknown) return `has the unknown member "${unknown}"`
  const { when, operator, account, account_by: accountBy, role } = entry
  const problem = problemOfWhen(when) ?? problemOfGrant(entry)
  if (problem) return problem
  const memberRole = role === undefined ? undefined : readMemberRole(asString(role) ?? '')
  if (role !== undefined && !memberRole) return `needs a role: ${MEMBER_ROLES.join(', ')}`
  return {
    when: when as RoleRule['when'],
    ...(operator === true ? { operator } : {}),
    ...(typeof account === 'string' ? { account } : {}),
    ...(typeof accountBy === 'string' ? { account_by: accountBy } : {}),
    ...(memberRole ? { role: memberRole } : {}),
  }
}

function problemOfWhen(when: unknown): string | undefined {
  if (!isObject(when) || Object.keys(when).length === 0) {
    return 'needs "when" with a claim: a rule without one would match everybody'
  }
  for (const [claim, values] of Object.entries(when)) {
    if (CHOSEN.has(claim)) return `tests "${claim}", which people can choose for themselves`
    if (!isWanted(values))
      return `has a "${claim}" that is not a string, list of strings, number or boolean`
    if (isAnything(values)) return `has a "${claim}" that every value matches`
  }
  return undefined
}

function problemOfGrant({
  operator,
  account,
  account_by: by,
  when,
}: StatedClaims): string | undefined {
  if (operator !== undefined && typeof operator !== 'boolean')
    return 'has an operator that is not a boolean'
  if (account !== undefined && typeof account !== 'string')
    return 'has an account that is not an id'
  if (by !== undefined && !(isObject(when) && typeof by === 'string' && Object.hasOwn(when, by))) {
    return 'has an account_by that is not among the claims of its "when"'
  }
  if (!operator && account === undefined && by === undefined) {
    return 'gives nothing: it needs operator, account or account_by'
  }
  return undefined
}

function isWanted(values: unknown): values is Wanted {
  if (typeof values === 'boolean' || typeof values === 'number') return true
  const texts = Array.isArray(values) ? values : [values]
  return (
    texts.length > 0 &&
    texts.every((text) => typeof text === 'string' && text !== '' && text.length <= TEXT_MAX)
  )
}

function isAnything(values: Wanted): boolean {
  const texts = Array.isArray(values) ? values : [values]
  return texts.some((text) => typeof text === 'string' && /^\**$/.test(text))
}

/** Returns what the first matching rule gives. */
export function judgeClaims(rules: readonly RoleRule[], claims: StatedClaims): Grant {
  const rule = rules.find(({ when }) =>
    Object.entries(when).every(([claim, values]) => matching(claims, claim, values).length > 0),
  )
  if (!rule) return { operator: false, accounts: [], role: 'viewer' }
  const { operator = false, account, account_by: by, role = 'developer' } = rule
  const named = by === undefined ? [] : matching(claims, by, rule.when[by] ?? [])
  const accounts = [...(account === undefined ? [] : [account]), ...named]
  return { operator, accounts: [...new Set(accounts)], role }
}

/** Returns the values of a claim that rules can match. */
function matching(claims: StatedClaims, name: string, values: Wanted): string[] {
  const found = readClaim(claims, name)
  const stated = (Array.isArray(found) ? found.slice(0, VALUES_MAX) : [found]).filter(
    (value) => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean',
  )
  if (typeof values === 'boolean' || typeof values === 'number') {
    return stated.filter((value) => value === values).map(String)
  }
  const patterns = typeof values === 'string' ? [values] : values
  return stated.filter(
    (value): value is string =>
      typeof value === 'string' && patterns.some((pattern) => matches(value, pattern)),
  )
}

/** Returns a claim by its whole name or, without one, by the path that its dots make. */
export function readClaim(claims: StatedClaims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let value: unknown = claims
  for (const step of name.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, step)) return undefined
    value = value[step]
  }
  return value
}

/** `*` matches any text; the text between two of them is matched at its first occurrence. */
function matches(value: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return value === pattern
  if (!value.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = value.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return value.length - last.length >= at && value.endsWith(last)
}
