/** Access tokens over real sockets: their creation, their end, and their limits. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { changeMember, setDisabled } from '../../server/api/sign-in/people/people.ts'
import { createAccessToken } from '../../server/api/sign-in/tokens/access-tokens.ts'
import { createTokenText } from '../../server/base/lib/secrets/access-token.ts'
import { createApiKey } from '../../server/base/lib/secrets/api-key.ts'
import { type Answer, type Browser, type ConsoleUnderTest, startConsole } from './support.ts'

interface Person {
  readonly id: string
  readonly email: string
  readonly accountId: string
  readonly browser: Browser
}

let console: ConsoleUnderTest
before(async () => {
  console = await startConsole({ operatorsNeedFactor: () => false })
})
after(() => console.stop())

/** An owner of an account of their own, signed in. */
async function owner(): Promise<Person> {
  const person = await console.person()
  const accountId = await console.account()
  await console.join(person.id, accountId, 'owner')
  return { ...person, accountId, browser: await console.signedIn(person.email) }
}

async function create(browser: Browser, body: object): Promise<Answer['json']> {
  const { status, json } = await browser.send('POST', '/profile/tokens', body)
  assert.equal(status, 200, JSON.stringify(json))
  return json
}

/** A script: no cookies, no header of the console's own. */
async function script(token: string, method: string, path: string, body?: object) {
  const response = await fetch(`${console.url}/admin/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, json: text === '' ? undefined : JSON.parse(text) }
}

const works = async (token: string) => (await script(token, 'GET', '/me')).status

describe('an access token', () => {
  test('is shown once, lasts 90 days and reads by default', async () => {
    const { browser, email, accountId } = await owner()
    const made = await create(browser, { name: 'deploy' })
    assert.match(made.token, /^tra-[0-9A-Za-z]{49}$/)
    assert.deepEqual([made.scope, made.sensitive, made.state], ['read', false, 'active'])
    const days = (Date.parse(made.expires_at) - Date.parse(made.created_at)) / 86_400_000
    assert.ok(Math.abs(days - 90) < 0.01, String(days))
    const forever = await create(browser, { name: 'x', scope: 'write', expires_at: null })
    assert.equal(forever.expires_at, null)

    const me = await script(made.token, 'GET', '/me')
    assert.equal(me.json.user.email, email)
    assert.deepEqual(me.json.memberships, [
      { account_id: accountId, account_name: 'Acme', role: 'owner' },
    ])
    assert.deepEqual([me.json.token.id, me.json.token.scope], [made.id, 'read'])
    const listed = (await browser.send('GET', '/profile/tokens')).json.data
    assert.deepEqual(
      listed.map((one: { id: string }) => one.id),
      [forever.id, made.id],
    )
    assert.ok(!JSON.stringify(listed).includes(made.token))
    assert.ok(listed[1].last_used_at)
    assert.equal((await browser.send('GET', '/me')).json.token, null)
  })

  test('is created only after a step-up, with a future expiry, by a person with a role', async () => {
    const { browser, email } = await owner()
    const past = await browser.send('POST', '/profile/tokens', {
      name: 'x',
      expires_at: '2020-01-01T00:00:00Z',
    })
    assert.deepEqual([past.status, past.json.error], [400, 'the expiry must be in the future'])
    await console.sql`update console_session set stepped_up_until = now()
      where person_id = (select id from person where email = ${email})`
    const stale = await browser.send('POST', '/profile/tokens', { name: 'x' })
    assert.deepEqual([stale.status, stale.json.type], [403, 'step_up_required'])
    const nobody = await console.person()
    const refused = await (await console.signedIn(nobody.email)).send('POST', '/profile/tokens', {
      name: 'x',
    })
    assert.equal(refused.status, 400)
  })

  test('there are at most 50 at a time', async () => {
    const { browser, id } = await owner()
    await console.sql`
      insert into access_token (id, person_id, name, token_hash, display, scope, is_sensitive,
        is_operator, created_by)
      select 'tok_' || ${id}::text || n, ${id}, 'n', sha256((${id}::text || n)::bytea), 'd',
        'read', false, false, 'test'
      from generate_series(1, 50) n`
    assert.equal((await browser.send('POST', '/profile/tokens', { name: 'x' })).status, 400)
    await browser.send('DELETE', `/profile/tokens/tok_${id}1`)
    await browser.send('DELETE', `/profile/tokens/tok_${id}2`)
    const several = Array.from({ length: 6 }, () =>
      browser.send('POST', '/profile/tokens', { name: 'x' }),
    )
    const statuses = (await Promise.all(several)).map(({ status }) => status)
    assert.deepEqual(statuses.sort(), [200, 200, 400, 400, 400, 400])
  })
})

describe('what ends an access token', () => {
  test('revocation by its person, and by no other', async () => {
    const [one, other] = [await owner(), await owner()]
    const made = await create(one.browser, { name: 'x' })
    const foreign = await other.browser.send('DELETE', `/profile/tokens/${made.id}`)
    assert.deepEqual([foreign.status, await works(made.token)], [404, 200])
    assert.equal((await one.browser.send('DELETE', `/profile/tokens/${made.id}`)).status, 204)
    assert.equal(await works(made.token), 401)
    const [row] = (await one.browser.send('GET', '/profile/tokens')).json.data
    assert.equal(row.state, 'revoked')
  })

  test('revocation by an operator, who sees all tokens', async () => {
    const { browser, email } = await owner()
    const made = await create(browser, { name: 'found' })
    const operator = await console.person({ isOperator: true })
    const console2 = await console.signedIn(operator.email)
    const { data } = (await console2.send('GET', '/operator/tokens')).json
    const row = data.find((one: { id: string }) => one.id === made.id)
    assert.deepEqual([row.email, row.name], [email, 'found'])
    assert.equal((await console2.send('DELETE', `/operator/tokens/${made.id}`)).status, 204)
    assert.equal(await works(made.token), 401)
  })

  test('its expiry', async () => {
    const { browser } = await owner()
    const made = await create(browser, { name: 'x' })
    await console.sql`update access_token set expires_at = now() where id = ${made.id}`
    assert.equal(await works(made.token), 401)
    assert.equal((await browser.send('GET', '/profile/tokens')).json.data[0].state, 'expired')
  })

  test('a lock of its person: unlocking them does not restore it', async () => {
    const { browser, id } = await owner()
    const made = await create(browser, { name: 'x' })
    await setDisabled(console.sql, id, true)
    assert.equal(await works(made.token), 401)
    await setDisabled(console.sql, id, false)
    assert.equal(await works(made.token), 401)
  })

  test('the loss of its person’s role, even if the role is restored', async () => {
    const { browser, id, email, accountId } = await owner()
    const second = await owner()
    await console.join(second.id, accountId, 'owner')
    const made = await create(browser, { name: 'x', scope: 'write' })
    await changeMember(console.sql, accountId, id, 'none')
    assert.equal(await works(made.token), 401)
    await console.join(id, accountId, 'owner')
    assert.equal(await works(made.token), 401)
    const renewed = await create(await console.signedIn(email), { name: 'y', scope: 'write' })
    assert.equal(await works(renewed.token), 200)
  })
})

describe('the roles of an access token', () => {
  test('of several accounts, the one whose role changed is lost, and later ones are not added', async () => {
    const { browser, id, accountId } = await owner()
    const second = await console.account('Second')
    await console.join(id, second, 'owner')
    const { token } = await create(browser, { name: 'x' })
    const reached = async () =>
      (await script(token, 'GET', '/me')).json.memberships.map(
        (one: { account_id: string }) => one.account_id,
      )
    assert.deepEqual(await reached(), [accountId, second])
    await console.join(id, second, 'developer')
    assert.deepEqual(await reached(), [accountId])
    await console.join(id, second, 'owner')
    await console.join(id, accountId, 'owner')
    await console.join(id, await console.account('Third'), 'owner')
    assert.deepEqual(await reached(), [accountId])
  })

  test('a customer’s does not become an operator’s, nor the reverse', async () => {
    const { browser, id } = await owner()
    const { token } = await create(browser, { name: 'x' })
    await console.sql`update person set is_operator = true where id = ${id}`
    assert.equal((await script(token, 'GET', '/me')).json.user.operator, false)
    assert.equal((await script(token, 'GET', '/operator/users')).status, 403)
    const { token: operators } = await create(browser, { name: 'y' })
    assert.equal((await script(operators, 'GET', '/operator/users')).status, 200)
    await console.sql`update person set is_operator = false where id = ${id}`
    assert.deepEqual([await works(operators), await works(token)], [401, 200])
  })
})

describe('beside cookies', () => {
  test('the token alone counts: a good session does not help a bad one', async () => {
    const [one, other] = [await owner(), await owner()]
    const { token } = await create(one.browser, { name: 'x' })
    const as = (authorization: string) =>
      other.browser.send('GET', '/me', undefined, { authorization })
    assert.equal((await as(`Bearer ${token}`)).json.user.email, one.email)
    assert.equal((await as(`bearer   ${token}`)).json.user.email, one.email)
    for (const bad of [createTokenText(), 'junk', '']) {
      assert.equal((await as(`Bearer ${bad}`)).status, 401, bad)
    }
    // Credentials of another scheme are for a proxy and not for the gateway.
    assert.equal((await as('Basic eDp5')).json.user.email, other.email)
  })

  test('no header of the console is required, and no origin', async () => {
    const { browser, accountId } = await owner()
    const { token } = await create(browser, { name: 'x', scope: 'write' })
    const answer = await fetch(`${console.url}/admin/v1/accounts/${accountId}`, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        origin: 'https://elsewhere.example',
        'sec-fetch-site': 'cross-site',
      },
      body: '{"name":"Renamed"}',
    })
    assert.equal(answer.status, 200)
  })
})

describe('an action of a token', () => {
  test('is in the audit log with its name and last four characters', async () => {
    const { browser, accountId, email } = await owner()
    const { token, id } = await create(browser, { name: 'renamer', scope: 'write' })
    await script(token, 'PATCH', `/accounts/${accountId}`, { name: 'Renamed' })
    await script(token, 'PATCH', '/profile', { name: 'Somebody else' })
    await browser.send('PATCH', `/accounts/${accountId}`, { name: 'By hand' })
    const operator = await console.person({ isOperator: true })
    const reader = await console.signedIn(operator.email)
    const { data } = (await reader.send('GET', `/operator/audit-log?actor=${email}`)).json
    const shown = { id, name: 'renamer', last4: token.slice(-4) }
    const rows = data.map((row: Record<string, unknown>) => [row.action, row.token])
    assert.deepEqual(rows.slice(0, 4), [
      ['PATCH /accounts/:account_id', null],
      ['PATCH /profile', shown],
      ['PATCH /accounts/:account_id', shown],
      ['POST /profile/tokens', null],
    ])
    assert.ok(!JSON.stringify(data).includes(token))
  })

  test('is not sensitive if its operator lacks a required second factor', async () => {
    const strict = await startConsole()
    try {
      const { id } = await strict.person({ isOperator: true })
      const { token } = await createAccessToken(strict.sql, {
        personId: id,
        name: 'x',
        scope: 'write',
        isSensitive: true,
        createdBy: 'cli:test',
        expiresAt: undefined,
      })
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const answer = await fetch(`${strict.url}/admin/v1/operator/accounts`, {
        method: 'POST',
        headers,
        body: '{}',
      })
      assert.equal(answer.status, 403)
      assert.match(await answer.text(), /second_factor_required/)
    } finally {
      await strict.stop()
    }
  })
})

describe('wrong access tokens', () => {
  test('get the reason, and an address that sends many is slowed down; valid ones still work', async () => {
    const other = await startConsole()
    try {
      const person = await other.person()
      await other.join(person.id, await other.account(), 'owner')
      const browser = await other.signedIn(person.email)
      const { token } = (await browser.send('POST', '/profile/tokens', { name: 'x' })).json
      const ask = async (bearer: string) => {
        const headers = { authorization: `Bearer ${bearer}` }
        const answer = await fetch(`${other.url}/admin/v1/me`, { headers })
        return { status: answer.status, body: await answer.text(), headers: answer.headers }
      }
      assert.match((await ask(createApiKey())).body, /this is an API key/)
      const first = await ask(createTokenText())
      assert.deepEqual([first.status, first.headers.get('x-should-retry')], [401, 'false'])
      const statuses: number[] = []
      for (let n = 0; n < 100; n += 1) statuses.push((await ask(`tra-${n}`)).status)
      assert.deepEqual([statuses[0], statuses.at(-1)], [401, 429])
      const flooded = await ask(createTokenText())
      assert.equal(flooded.status, 429)
      assert.ok(Number(flooded.headers.get('retry-after')) >= 1)
      assert.equal((await ask(token)).status, 200)
    } finally {
      await other.stop()
    }
  })
})
