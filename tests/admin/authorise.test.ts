/** The role of every route of the admin API, tried by every kind of user. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { authorise, requireStepUp } from '../../server/api/admin/authorise.ts'
import { ADMIN_CONTRACT } from '../../server/api/admin/contract.ts'
import { type CallerRole, type Contract, isAccountRole } from '../../server/api/admin/route.ts'
import type { Session } from '../../server/api/sign-in/sessions/session.ts'
import { GatewayError } from '../../server/base/lib/errors.ts'
import type { MemberRole } from '../../server/base/lib/member-roles.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const LATER = new Date('2026-11-21T12:05:00Z')
const ACCOUNT = 'acc_mine'

function makeSession(operator: boolean, role?: MemberRole, fresh = true): Session {
  return {
    sessionId: 'ses_1',
    user: { id: 'usr_1', email: 'a@example.com', name: 'A', language: 'en', operator },
    memberships: role ? [{ accountId: ACCOUNT, accountName: 'Mine', role }] : [],
    steppedUpUntil: fresh ? LATER : undefined,
    secondFactorMissing: false,
  }
}

const USERS: Readonly<Record<string, Session | undefined>> = {
  nobody: undefined,
  stranger: makeSession(false),
  viewer: makeSession(false, 'viewer'),
  billing: makeSession(false, 'billing'),
  developer: makeSession(false, 'developer'),
  owner: makeSession(false, 'owner'),
  operator: makeSession(true),
}

/** Who may call the routes for each role. */
const EXPECTED: Readonly<Record<CallerRole, readonly string[]>> = {
  public: ['nobody', 'stranger', 'viewer', 'billing', 'developer', 'owner', 'operator'],
  user: ['stranger', 'viewer', 'billing', 'developer', 'owner', 'operator'],
  member: ['viewer', 'billing', 'developer', 'owner', 'operator'],
  billing: ['billing', 'owner', 'operator'],
  developer: ['developer', 'owner', 'operator'],
  owner: ['owner', 'operator'],
  operator: ['operator'],
}

/** The refusal of a user who may not call routes for a role. */
function refusal(user: string, role: CallerRole): string {
  if (user === 'nobody') return 'signed_out'
  return user === 'stranger' && role !== 'operator' ? 'not_found' : 'forbidden'
}

function judge(role: CallerRole, session: Session | undefined, stepUp?: true): string {
  try {
    const route = { role, ...(stepUp ? { stepUp } : {}) }
    authorise(route, session, ACCOUNT)
    requireStepUp(route, session, NOW)
    return 'pass'
  } catch (error) {
    assert.ok(error instanceof GatewayError)
    return error.row
  }
}

describe('authorisation', () => {
  for (const [name, allowed] of Object.entries(EXPECTED)) {
    const role = name as CallerRole
    test(`routes for ${role}`, () => {
      for (const [user, session] of Object.entries(USERS)) {
        const expected = allowed.includes(user) ? 'pass' : refusal(user, role)
        assert.equal(judge(role, session), expected, user)
      }
    })
  }

  test('a stale session must step up, once its role is sufficient', () => {
    assert.equal(judge('owner', makeSession(false, 'owner', false), true), 'step_up_required')
    assert.equal(judge('owner', makeSession(false, 'owner'), true), 'pass')
    assert.equal(judge('owner', makeSession(false, 'developer', false), true), 'forbidden')
  })

  test('account roles belong to paths that name an account, and to no others', () => {
    const contract: Contract = ADMIN_CONTRACT
    for (const [key, { role }] of Object.entries(contract)) {
      const named = key.includes('/:account_id')
      if (isAccountRole(role)) assert.ok(named, key)
    }
  })
})
