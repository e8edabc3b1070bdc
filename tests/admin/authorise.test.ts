/** The role of every route of the admin API, tried by every kind of user. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { authorise, requireStepUp } from '../../server/api/admin/authorise.ts'
import { ADMIN_CONTRACT } from '../../server/api/admin/contract.ts'
import type { CallerRole, Contract } from '../../server/api/admin/route.ts'
import type { Session } from '../../server/api/sign-in/sessions/session.ts'
import { GatewayError } from '../../server/base/lib/errors.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const LATER = new Date('2026-11-21T12:05:00Z')
const ACCOUNT = 'acc_mine'

function makeSession(operator: boolean, role?: 'owner' | 'member', fresh = true): Session {
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
  member: makeSession(false, 'member'),
  owner: makeSession(false, 'owner'),
  operator: makeSession(true),
}

/** What each role's routes answer to each user: a row name of the error table, or `pass`. */
const EXPECTED: Readonly<Record<CallerRole, Readonly<Record<string, string>>>> = {
  public: { nobody: 'pass', stranger: 'pass', member: 'pass', owner: 'pass', operator: 'pass' },
  user: {
    nobody: 'signed_out',
    stranger: 'pass',
    member: 'pass',
    owner: 'pass',
    operator: 'pass',
  },
  member: {
    nobody: 'signed_out',
    stranger: 'not_found',
    member: 'pass',
    owner: 'pass',
    operator: 'pass',
  },
  owner: {
    nobody: 'signed_out',
    stranger: 'not_found',
    member: 'forbidden',
    owner: 'pass',
    operator: 'pass',
  },
  operator: {
    nobody: 'signed_out',
    stranger: 'forbidden',
    member: 'forbidden',
    owner: 'forbidden',
    operator: 'pass',
  },
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
  for (const [role, answers] of Object.entries(EXPECTED)) {
    test(`routes for ${role}`, () => {
      const found = Object.entries(USERS).map(([name, session]) => [
        name,
        judge(role as CallerRole, session),
      ])
      assert.deepEqual(Object.fromEntries(found), answers)
    })
  }

  test('a stale session must step up, once its role is sufficient', () => {
    assert.equal(judge('owner', makeSession(false, 'owner', false), true), 'step_up_required')
    assert.equal(judge('owner', makeSession(false, 'owner'), true), 'pass')
    assert.equal(judge('owner', makeSession(false, 'member', false), true), 'forbidden')
  })

  test('account roles belong to paths that name an account, and to no others', () => {
    const contract: Contract = ADMIN_CONTRACT
    for (const [key, { role }] of Object.entries(contract)) {
      const named = key.includes('/:account_id')
      if (role === 'member' || role === 'owner') assert.ok(named, key)
    }
  })
})
