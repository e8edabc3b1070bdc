/** What an operator sees of a pasted token: what it is refused for, and what it gives. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestIssuer, type TestIssuer } from '../../support/servers/token-issuer.ts'
import { type AdminStage, startAdmin } from '../support.ts'

const TRY = 'POST /operator/token-issuers/try'
let stage: AdminStage
let issuer: TestIssuer
let accountId: string

before(async () => {
  stage = await startAdmin({ ALLOW_PRIVATE_TARGETS: '1' })
  issuer = await startTestIssuer()
  stage.enterOperator('operator')
  accountId = (await stage.house('home')).accountId
  const own = { id: 'okta', issuer: issuer.url, audience: 'tributary' }
  const claims = { tags: { claim: 'groups' }, end_user: { claim: 'sub' } }
  const account = { claim: 'org' }
  const keys = { jwks_uri: `${issuer.url}/keys` }
  await stage.apply({ token_issuers: [{ ...own, ...keys, ...claims, account }] }, 'issuers')
  await stage.sql`
    insert into identity_provider (id, name, issuer, client_id, rules)
    values ('idp_1', 'Okta', ${issuer.url}, 'x',
      '[{"when": {"groups": "ai"}, "operator": true}]')`
})
after(async () => {
  await stage.stop()
  await issuer.stop()
})

const tried = (token: string) => stage.read(TRY, { as: 'operator', body: { token } })

test('a token that is right shows its account, tags and end user, and leaves no trace', async () => {
  const token = await issuer.token({ org: accountId, groups: ['ai'] })
  const { problem, gives, claims, signs_in } = await tried(`Bearer ${token}`)
  assert.equal(problem, null)
  const given = { issuer: 'okta', account_id: accountId, member: null }
  assert.deepEqual(gives, { ...given, tags: ['ai'], end_user: 'kim' })
  assert.equal(claims.org, accountId)
  assert.deepEqual(signs_in, [{ provider: 'Okta', operator: true, accounts: [], role: null }])
  const subjects = await stage.sql`select 1 from api_key where purpose = 'subject'`
  assert.equal(subjects.length, 0)
  assert.ok(!stage.audited.some((row) => JSON.stringify(row).includes(token)))
})

test('a token that is refused shows why, and what its claims would give', async () => {
  const expired = await tried(await issuer.token({ org: accountId, exp: 1 }))
  assert.match(expired.problem ?? '', /has expired/)
  assert.equal(expired.gives?.account_id, accountId)
  const nowhere = await tried(await issuer.token({ org: 'acct_none' }))
  assert.match(nowhere.problem ?? '', /the account acct_none does not exist/)
  const unclear = await tried(await issuer.token())
  assert.match(unclear.problem ?? '', /claim "org" is missing/)
  assert.equal(unclear.gives, null)
  const foreign = await tried(await issuer.token({ iss: 'https://evil.example' }))
  assert.match(foreign.problem ?? '', /an issuer that is not known here/)
  assert.deepEqual(foreign.signs_in, [])
})

test('a text that is no token is a 400', async () => {
  for (const token of ['x', 'a.b.c', '', '.'.repeat(12_000), 'e30.e30.']) {
    const { status } = await stage.ask(TRY, { as: 'operator', body: { token } })
    assert.equal(status, 400, token.slice(0, 20))
  }
})
