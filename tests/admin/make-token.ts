/** Real access tokens for tests of the admin API, each of a new person. */

import { createPasswords } from '../../server/api/sign-in/password-hashes.ts'
import { createPerson } from '../../server/api/sign-in/people/people.ts'
import { putMembership } from '../../server/api/sign-in/person-store.ts'
import { createSignIn, type SignIn } from '../../server/api/sign-in/sign-in.ts'
import { createAccessToken } from '../../server/api/sign-in/tokens/access-tokens.ts'
import { newId } from '../../server/base/lib/ids.ts'
import type { MemberRole } from '../../server/base/lib/member-roles.ts'
import { createSecretBox } from '../../server/base/lib/secrets/secrets.ts'
import type { TestGateway } from '../support/in-process.ts'

export interface TokenWanted {
  /** An operator, or the role in an account. */
  readonly of: 'operator' | { readonly accountId: string; readonly role: MemberRole }
  readonly scope: 'read' | 'write'
  readonly isSensitive: boolean
}

/** Access tokens as they are, over the gateway's database. */
export function openTokens({ sql, url }: TestGateway): SignIn {
  return createSignIn({
    sql,
    baseUrl: () => url,
    isBaseUrlFixed: false,
    trustedProxies: [],
    secrets: createSecretBox(['a-secret-key-that-only-tests-would-ever-use']),
    operatorsNeedFactor: () => false,
  })
}

export async function makeToken({ sql }: TestGateway, wanted: TokenWanted): Promise<string> {
  const { of, scope, isSensitive } = wanted
  const { id } = await createPerson(
    { sql, passwords: createPasswords() },
    {
      email: `${newId('user')}@example.com`,
      name: 'Robin',
      password: null,
      isOperator: of === 'operator',
    },
  )
  if (of !== 'operator') await putMembership(sql, { personId: id, ...of })
  const made = await createAccessToken(sql, {
    personId: id,
    name: 'a script',
    scope,
    isSensitive,
    createdBy: id,
    expiresAt: undefined,
  })
  return made.token
}
