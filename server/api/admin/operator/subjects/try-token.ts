/**
 * Tries out a pasted token: says why it would be refused, and what its claims grant. Nothing is
 * stored.
 */
import { GatewayError, invalidField } from '../../../../base/lib/errors.ts'
import { mayHaveKeys } from '../../../../base/lib/member-roles.ts'
import { accountExists } from '../../../../money/accounts/key-store.ts'
import { readClaims, type SubjectFacts } from '../../../../money/accounts/tokens/claims.ts'
import { takeApart } from '../../../../money/accounts/tokens/read-token.ts'
import { judgeClaims, type StatedClaims } from '../../../sign-in/claim-rules.ts'
import { listProviders } from '../../../sign-in/people/providers/providers.ts'
import { selectMembers } from '../../../sign-in/person-store.ts'
import type { AdminServices } from '../../services.ts'

export async function tryToken(services: AdminServices, pasted: string) {
  const token = pasted.replace(/^Bearer\s+/i, '')
  const claims = readPasted(token)
  const hasIssuers = services.catalog.snapshot().issuers.length > 0
  const refusal = hasIssuers
    ? await refusalOf(services.accounts.checkToken(token))
    : 'no token issuer is set: list one under token_issuers in a catalog file'
  const giving = giveOf(services, claims)
  const problem = refusal ?? (giving && (await findMissing(services, giving.facts)))
  return {
    claims,
    problem: problem ?? null,
    gives: giving && {
      issuer: giving.issuer,
      account_id: giving.facts.accountId,
      member: giving.facts.email ?? null,
      tags: [...giving.facts.tags],
      end_user: giving.facts.endUser ?? null,
    },
    signs_in: await judgeSignIn(services, claims),
  }
}

function readPasted(token: string): StatedClaims {
  try {
    return takeApart(token).claims
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    throw invalidField('token', `is not a token: ${error.message}`)
  }
}

async function refusalOf(check: Promise<unknown>): Promise<string | undefined> {
  try {
    await check
    return undefined
  } catch (error) {
    if (error instanceof GatewayError) return error.message
    throw error
  }
}

/** An expired token still shows what its claims granted. */
function giveOf({ catalog }: AdminServices, claims: StatedClaims) {
  const audiences = [claims.aud].flat()
  const issuer = catalog
    .snapshot()
    .issuers.find((one) => one.issuer === claims.iss && audiences.includes(one.audience))
  if (!issuer) return null
  try {
    return { issuer: issuer.id, facts: readClaims(issuer, claims) }
  } catch (error) {
    if (error instanceof GatewayError) return null
    throw error
  }
}

async function findMissing(
  { sql }: AdminServices,
  { accountId, email }: SubjectFacts,
): Promise<string | undefined> {
  if (!(await accountExists(sql, accountId))) return `the account ${accountId} does not exist`
  if (email === undefined) return undefined
  const members = await selectMembers(sql, accountId)
  const own = members.find((member) => member.email.toLowerCase() === email.toLowerCase())
  if (own && !own.disabled && mayHaveKeys(own.role)) return undefined
  return `${email} is not a member of the account who may make calls`
}

async function judgeSignIn({ signIn: { parts } }: AdminServices, claims: StatedClaims) {
  const providers = (await listProviders(parts)).filter(({ issuer }) => issuer === claims.iss)
  return providers.map((provider) => {
    const verified = claims.email_verified === true || provider.trustsEmail
    const { email: _, ...others } = claims
    const { operator, accounts, role } = judgeClaims(provider.rules, verified ? claims : others)
    const memberRole = accounts.length > 0 ? role : null
    return { provider: provider.name, operator, accounts: [...accounts], role: memberRole }
  })
}
