/** Callers by tokens of a directory: what they may do, and every token that is refused. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import { changeKey, setKeyDisabled } from '../../../server/money/accounts/manage-keys.ts'
import { startTestGateway, type Tenant, type TestGateway } from '../../support/in-process.ts'
import { startTestIssuer, type TestIssuer } from '../../support/servers/token-issuer.ts'
import { until } from '../../support/until.ts'

const CHAT = '/v1/chat/completions'
const body = { model: 'sim-chat', max_tokens: 16, messages: [{ role: 'user', content: 'hi' }] }
const seconds = () => Math.floor(Date.now() / 1000)
let gateway: TestGateway
let okta: TestIssuer
let home: Tenant

before(async () => {
  gateway = await startTestGateway({ ALLOW_PRIVATE_TARGETS: '1' })
  okta = await startTestIssuer()
  home = await gateway.tenant()
  await trust()
})
after(async () => {
  await gateway.stop()
  await okta.stop()
})

const trust = (change: object = {}) =>
  gateway.apply({ token_issuers: [{ ...own(), ...change }] }, 'issuers')
const own = () => ({
  id: 'okta',
  issuer: okta.url,
  audience: 'tributary',
  jwks_uri: `${okta.url}/keys`,
  account: home.accountId,
})
const ask = async (token: string) => {
  const { status, json } = await gateway.post(CHAT, token, body)
  return { status, message: json?.error?.message ?? '' }
}
const person = async (email: string, accountId: string) => {
  const id = `usr_${email.replace(/\W/g, '')}`
  await gateway.sql`insert into person (id, email, name) values (${id}, ${email}, 'p')`
  await gateway.sql`
    insert into membership (person_id, account_id, role) values (${id}, ${accountId}, 'member')`
  return id
}
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

test('a token is a caller as a key is: in both headers, charged, recorded, with one row', async () => {
  const [first, second] = [await okta.token(), await okta.token({ jti: '2' })]
  const answer = await gateway.post(CHAT, first, body)
  assert.equal(answer.status, 200)
  assert.equal((await gateway.record(answer, first)).status, 'succeeded')
  const headers = { 'x-api-key': second }
  assert.equal((await gateway.fetch('/v1/balance', { headers })).status, 200)
  const differing = { authorization: `Bearer ${first}`, 'x-api-key': second }
  assert.equal((await gateway.fetch('/v1/balance', { headers: differing })).status, 401)
  assert.equal((await ask(second)).status, 200)
  const rows = await gateway.sql`
    select k.account_id, k.purpose, k.issuer, k.subject, count(c.*)::int as calls
    from api_key k join call c on c.key_id = k.id where k.subject = 'kim' group by k.id`
  const { accountId } = home
  assert.deepEqual(
    [...rows],
    [{ account_id: accountId, purpose: 'subject', issuer: 'okta', subject: 'kim', calls: 2 }],
  )
  const secret = await gateway.fetch('/v1/webhook-secret', { key: first })
  assert.ok([403, 404].includes(secret.status), 'whoever has a token reads no secrets')
  assert.equal(okta.fetches(), 1, 'keys are not fetched for each call')
})

test('a signature that fits is refused if its algorithm is not listed', async () => {
  const token = await okta.token({ sub: 'lee' })
  await trust({ algorithms: ['RS256'] })
  const { status, message } = await ask(token)
  await trust()
  assert.equal(status, 401)
  assert.match(message, /is signed with "ES256", not with one of RS256/)
  assert.equal((await ask(token)).status, 200)
})

test('tokens that are not what they claim are refused, in the form of the dialect', async () => {
  const [head = '', claims = '', signature = ''] = (await okta.token()).split('.')
  const now = seconds()
  const hmac = (key: string) =>
    createHmac('sha256', key)
      .update(`${part({ alg: 'HS256', kid: okta.publicKey().kid })}.${claims}`)
      .digest('base64url')
  const swapped = (key: string) =>
    `${part({ alg: 'HS256', kid: okta.publicKey().kid })}.${claims}.${hmac(key)}`
  const twice = (text: string) => Buffer.from(text).toString('base64url')
  const stranger = await startTestIssuer()
  const wrong: Record<string, string> = {
    'alg none': `${part({ alg: 'none' })}.${claims}.`,
    'alg none with a signature': `${part({ alg: 'none' })}.${claims}.${signature}`,
    'HS256 with the public key': swapped(JSON.stringify(okta.publicKey())),
    'HS256 with its x': swapped(okta.publicKey().x ?? ''),
    'a key that is not published': await okta.token({}, { kid: 'no' }),
    'other claims': `${head}.${part({ iss: okta.url, aud: 'tributary', sub: 'root', exp: now + 60 })}.${signature}`,
    'a cut signature': `${head}.${claims}.${signature.slice(0, -4)}`,
    'no signature': `${head}.${claims}.`,
    'another issuer': await okta.token({ iss: 'https://evil.example' }),
    'an issuer with a slash': await okta.token({ iss: `${okta.url}/` }),
    'the keys of a stranger': await stranger.token({ iss: okta.url }),
    'its own key in the header': await stranger.token(
      { iss: okta.url },
      { jwk: stranger.publicKey(), kid: okta.publicKey().kid },
    ),
    'its own address of keys': await stranger.token(
      { iss: okta.url },
      { jku: `${stranger.url}/keys`, x5u: `${stranger.url}/x`, kid: stranger.publicKey().kid },
    ),
    'another audience': await okta.token({ aud: 'other' }),
    'no audience': await okta.token({ aud: null }),
    'an audience of another type': await okta.token({ aud: { tributary: true } }),
    'no exp': await okta.token({ exp: null }),
    'an exp of another type': await okta.token({ exp: `${now + 3600}` }),
    expired: await okta.token({ exp: now - 61 }),
    'not yet valid': await okta.token({ nbf: now + 120 }),
    'an nbf of another type': await okta.token({ nbf: 'now' }),
    'no sub': await okta.token({ sub: null }),
    'a sub of another type': await okta.token({ sub: 7 }),
    'an empty sub': await okta.token({ sub: '' }),
    'a sub with NUL': await okta.token({ sub: 'a\u0000b' }),
    'a long sub': await okta.token({ sub: 's'.repeat(256) }),
    'a critical header': await okta.token({}, { crit: ['exp'], exp: 1 }).catch(() => 'a.b.c'),
    'a claim twice': `${head}.${twice(`{"iss":"${okta.url}","sub":"a","sub":"b"}`)}.${signature}`,
    'a header twice': `${twice('{"alg":"none","alg":"ES256"}')}.${claims}.${signature}`,
    'a kid of another type': `${part({ alg: 'ES256', kid: 7 })}.${claims}.${signature}`,
    'no JSON': `${twice('{')}.${twice('{')}.x`,
    'a list': `${part([])}.${part([])}.x`,
    'five parts': 'a.b.c.d.e',
    'a huge one': await okta.token({ pad: 'x'.repeat(9_500) }),
  }
  for (const [name, token] of Object.entries(wrong)) {
    const { status, message } = await ask(token)
    assert.equal(status, 401, `${name}: ${status} ${message}`)
    assert.match(message, /^invalid (token|or missing API key)/, name)
  }
  assert.equal(stranger.fetches(), 0, 'no address of a token is fetched')
  await stranger.stop()
  const messages = await gateway.post('/v1/messages', wrong.expired ?? '', body)
  assert.equal(messages.json.type, 'auth_error')
  const within = [await okta.token({ exp: now - 50 }), await okta.token({ nbf: seconds() + 50 })]
  for (const token of within) assert.equal((await ask(token)).status, 200, 'a minute of skew')
  const [left] = await gateway.sql`
    select count(*)::int as count from api_key where subject in ('root', 'a', 'b', '')`
  assert.equal(left?.count, 0)
})

test('claims give account, member, tags and end user, or a 403', async () => {
  const other = await gateway.tenant()
  const member = await person('kim@example.com', other.accountId)
  await trust({
    account: { claim: 'org', accounts: { acme: other.accountId, gone: 'acct_gone' } },
    member: { claim: 'email' },
    tags: { claim: 'realm.groups' },
    end_user: { claim: 'https://acme.example/user' },
  })
  const claims = {
    org: 'acme',
    email: 'Kim@example.com',
    realm: { groups: ['web', 'ops'] },
    'https://acme.example/user': 'kim#1',
  }
  const token = await okta.token(claims)
  const answer = await gateway.post(CHAT, token, { ...body, user: 'somebody else' })
  assert.equal(answer.status, 200)
  const record = await gateway.record(answer, token)
  assert.deepEqual([record.tags, record.end_user], [['web', 'ops'], 'kim#1'])
  const [row] = await gateway.sql`
    select account_id, created_by from api_key where subject = 'kim' and created_by is not null`
  assert.deepEqual(row, { account_id: other.accountId, created_by: member })
  const none = await okta.token({ ...claims, realm: null })
  assert.deepEqual((await gateway.record(await gateway.post(CHAT, none, body), none)).tags, [])
  const wrong: Record<string, object> = {
    'another word': { org: 'other' },
    'a member of Object': { org: 'constructor' },
    'the id itself': { org: other.accountId },
    'an account that is gone': { org: 'gone' },
    'no account': { org: null },
    'accounts as a list': { org: ['acme'] },
    'no address': { email: null },
    'a stranger': { email: 'eve@example.com' },
    'an address that is not verified': { email_verified: false },
    'an address with a Kelvin sign for k': { email: '\u212Aim@example.com' },
    'a group that is no tag': { realm: { groups: ['a,b'] } },
    'groups of another type': { realm: { groups: [7] } },
    'too many groups': { realm: { groups: Array.from({ length: 9 }, (_, at) => `g${at}`) } },
    'no end user': { 'https://acme.example/user': null },
  }
  for (const [name, change] of Object.entries(wrong)) {
    const { status, message } = await ask(await okta.token({ ...claims, ...change }))
    assert.equal(status, 403, `${name}: ${status} ${message}`)
  }
  await gateway.sql`delete from membership where person_id = ${member}`
  await until('a member who has left', async () => (await ask(token)).status === 403 || undefined)
  await trust()
})

test('limits and models are those of the issuer, unless its subject has others', async () => {
  await trust({ models: ['other-model'], limits: { requests_per_minute: 1 } })
  const token = await okta.token({ sub: 'limited' })
  assert.equal((await ask(token)).status, 403)
  await trust({ limits: { requests_per_minute: 1 } })
  await until('another definition', async () => (await ask(token)).status !== 403 || undefined)
  assert.equal((await ask(token)).status, 429)
  const [row] = await gateway.sql<{ id: string }[]>`
    select id from api_key where subject = 'limited'`
  await changeKey(gateway.sql, row?.id ?? '', {
    limits: { requests_per_minute: 100 },
    spendLimitNanos: 0n,
  })
  await until('a spend limit', async () => (await ask(token)).status === 402 || undefined)
  await trust()
})

test('a disabled subject is out, whatever token it has; so is an issuer without its entry', async () => {
  const token = await okta.token({ sub: 'leaver' })
  assert.equal((await ask(token)).status, 200)
  const [row] = await gateway.sql<{ id: string }[]>`select id from api_key where subject = 'leaver'`
  await setKeyDisabled(gateway.sql, row?.id ?? '', true)
  await until('a disabled subject', async () => (await ask(token)).status === 403 || undefined)
  assert.equal((await ask(await okta.token({ sub: 'leaver', jti: 'new' }))).status, 403)
  await setKeyDisabled(gateway.sql, row?.id ?? '', false)
  await until('an enabled subject', async () => (await ask(token)).status === 200 || undefined)
  await gateway.apply({ token_issuers: [] }, 'issuers')
  await until('no issuer', async () => (await ask(token)).status === 401 || undefined)
  await trust()
  await until('the issuer again', async () => (await ask(token)).status === 200 || undefined)
})

test('a stream outlives its token', async () => {
  const token = await okta.token({ sub: 'streamer' })
  const sent = { method: 'POST', key: token, body: JSON.stringify({ ...body, stream: true }) }
  const headers = { 'content-type': 'application/json' }
  const stream = await gateway.fetch(CHAT, { ...sent, headers })
  assert.equal(stream.status, 200)
  const [row] = await gateway.sql<{ id: string }[]>`
    select id from api_key where subject = 'streamer'`
  await setKeyDisabled(gateway.sql, row?.id ?? '', true)
  await until('a disabled subject', async () => (await ask(token)).status === 403 || undefined)
  assert.match(await stream.text(), /\[DONE\]/)
})

test('an issuer by discovery, and one that is away', async () => {
  const fresh = await startTestIssuer()
  const { jwks_uri: _, ...rest } = { ...own(), id: 'fresh', issuer: fresh.url }
  await gateway.apply({ token_issuers: [own(), rest] }, 'issuers')
  fresh.fail(500)
  const away = await gateway.post(CHAT, await fresh.token(), body)
  assert.equal(away.status, 503)
  assert.ok(Number(away.headers.get('retry-after')) > 0)
  const again = await startTestIssuer()
  const second = { ...rest, id: 'again', issuer: again.url }
  await gateway.apply({ token_issuers: [own(), second] }, 'issuers')
  assert.equal((await ask(await again.token())).status, 200)
  again.fail(500)
  assert.equal((await ask(await again.token({ sub: 'other' }))).status, 200, 'its last keys serve')
  await trust()
  await Promise.all([fresh.stop(), again.stop()])
})
