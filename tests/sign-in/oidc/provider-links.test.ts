/** Linking an identity to a person, and the operators' providers. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TransactionSql } from 'postgres'
import { createSecretBox, createSecretKey } from '../../../server/base/lib/secrets/secrets.ts'
import { until } from '../../support/until.ts'
import { startLyingProvider } from './lying-provider.ts'
import { openStage } from './stage.ts'

const stage = openStage()
const { comeBack, goThrough, operator, sessionOf, settings, somebody, start } = stage

describe('linking', () => {
  test('is an act of the person who is signed in, in one browser', async () => {
    const { email, id } = await stage.console.person()
    const browser = await stage.console.signedIn(email)
    const claims = somebody({ email: 'elsewhere@acme.example', email_verified: false })
    const begin = async () =>
      (await browser.send('POST', '/profile/identities', { provider: 'env' })).json.location
    const stolen = stage.provider.signIn(await begin(), claims)
    const other = stage.console.browser()
    other.setCookie('tributary_provider', browser.cookie('tributary_provider') ?? '')
    assert.equal((await comeBack(other, stolen)).reason, 'expired')
    const back = stage.provider.signIn(await begin(), claims)
    assert.equal(
      (await comeBack(browser, back)).location,
      `${stage.console.url}/console/settings#linked`,
    )
    const { json } = await browser.send('GET', '/profile/identities')
    assert.deepEqual(
      json.data.map((one: { provider: string; name: string }) => [one.provider, one.name]),
      [['env', 'Acme']],
    )
    const later = stage.console.browser()
    assert.equal((await goThrough(later, claims)).status, 303)
    assert.equal((await sessionOf(later)).user.id, id)
    await stage.console.sql`
      update console_session set stepped_up_until = now() - interval '1 second'
      where person_id = ${id}`
    for (const [method, path] of [
      ['POST', '/profile/identities'],
      ['DELETE', '/profile/identities/env'],
    ] as const) {
      const { status } = await later.send(method, path, { provider: 'env' })
      assert.equal(status, 403, 'without a fresh proof')
    }
    await stage.console.sql`
      update console_session set stepped_up_until = now() + interval '10 minutes'
      where person_id = ${id}`
    // Nobody else gets the identity, and without a password nobody loses their last way in.
    const second = await stage.console.signedIn((await stage.console.person()).email)
    const third = await second.send('POST', '/profile/identities', { provider: 'env' })
    const taken = stage.provider.signIn(third.json.location, claims)
    assert.equal((await comeBack(second, taken)).reason, 'linked_elsewhere')
    await stage.console.sql`update person set password_hash = null where id = ${id}`
    assert.equal((await browser.send('DELETE', '/profile/identities/env')).status, 409)
    await stage.console.sql`update person set password_hash = 'x' where id = ${id}`
    assert.equal((await browser.send('DELETE', '/profile/identities/env')).status, 204)
    assert.equal((await goThrough(stage.console.browser(), claims)).reason, 'no_email')
  })

  test('a stranger’s account under a victim’s address is not the victim’s', async () => {
    settings.isSignUpOpen = true
    const stranger = await stage.console.person({ email: 'victim@acme.example' })
    const victim = somebody({ email: stranger.email })
    assert.equal((await goThrough(stage.console.browser(), victim)).reason, 'known_address')
    const identities = await stage.console.sql`
      select 1 from person_identity where person_id = ${stranger.id}`
    assert.equal(identities.length, 0)
  })
})

describe('providers of operators', () => {
  const PATH = '/operator/sign-in-providers'

  test('know nobody by the subject of another', async () => {
    const { id, email } = await stage.console.person()
    const claims = somebody({ email })
    const own = await stage.console.signedIn(email)
    const begun = await own.send('POST', '/profile/identities', { provider: 'env' })
    await comeBack(own, stage.provider.signIn(begun.json.location, claims))
    const second = await startLyingProvider()
    const body = { name: 'Second', issuer: second.issuer, client_id: 'tributary' }
    const { json: added } = await (await operator()).send('POST', PATH, body)
    const browser = stage.console.browser()
    const location = await start(browser, `/sign-in/oidc/${added.id}`)
    const unknown = await comeBack(browser, second.signIn(location, { sub: claims.sub }))
    assert.equal(unknown.reason, 'not_invited')
    const again = await start(browser, `/sign-in/oidc/${added.id}`)
    const sameAddress = await comeBack(browser, second.signIn(again, claims))
    assert.equal(sameAddress.reason, 'known_address')
    assert.equal((await goThrough(browser, claims)).status, 303)
    assert.equal((await sessionOf(browser)).user.id, id)
    await stage.console.sql`delete from identity_provider where id = ${added.id}`
    await second.stop()
  })

  test('keep every change, and stay deleted', async () => {
    const browser = await operator()
    const body = { name: 'Third', issuer: stage.provider.issuer, client_id: 'third' }
    const { json: created } = await browser.send('POST', PATH, body)
    const { sql } = stage.console
    /** Sends a change that has to wait for `before`, which is under way. */
    const changeAfter = (before: (transaction: TransactionSql) => Promise<unknown>) =>
      sql.begin(async (transaction) => {
        await before(transaction)
        const sent = browser.send('PATCH', `${PATH}/${created.id}`, { disabled: true })
        await until('a change that waits', async () => {
          const [row] = await sql`select count(*)::int as waiting from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`
          return row?.waiting === 1
        })
        return { sent }
      })
    const renamed = await changeAfter(
      (transaction) => transaction`
        update identity_provider set name = 'Renamed' where id = ${created.id}`,
    )
    const { json: changed } = await renamed.sent
    assert.deepEqual([changed.name, changed.disabled], ['Renamed', true])
    const removed = await changeAfter(
      (transaction) => transaction`delete from identity_provider where id = ${created.id}`,
    )
    assert.equal((await removed.sent).status, 404)
    assert.equal((await sql`select from identity_provider where id = ${created.id}`).length, 0)
  })

  test('are added, changed, offered while they can be reached, and removed', async () => {
    const browser = await operator()
    const body = {
      name: 'Second',
      issuer: stage.provider.issuer,
      client_id: 'second',
      client_secret: 'a secret of the second client',
    }
    const { json: created, status } = await browser.send('POST', PATH, body)
    assert.equal(status, 200, JSON.stringify(created))
    assert.deepEqual([created.has_secret, created.problem], [true, null])
    assert.ok(!JSON.stringify(created).includes('a secret of'))
    const [row] = await stage.console.sql`
      select encode(client_secret, 'escape') as secret from identity_provider`
    assert.ok(!row?.secret.includes('a secret of'))
    const offered = async () =>
      (await stage.console.browser().send('GET', '/sign-in/oidc')).json.data.map(
        (one: { name: string }) => one.name,
      )
    assert.deepEqual(await offered(), ['Acme', 'Second'])
    const change = (what: object) => browser.send('PATCH', `${PATH}/${created.id}`, what)
    assert.equal((await change({ name: 'Renamed' })).json.has_secret, true)
    const moved = (await change({ issuer: `${stage.provider.issuer}/` })).json
    assert.match(moved.problem, /write the issuer exactly like this/)
    assert.deepEqual(await offered(), ['Acme'])
    await change({ issuer: stage.provider.issuer, disabled: true })
    assert.deepEqual(await offered(), ['Acme'])
    const path = `/sign-in/oidc/${created.id}`
    assert.equal((await stage.console.browser().send('GET', path)).status, 404)
    for (const wrong of [
      { issuer: 'http://login.example.com' },
      { issuer: 'https://a:b@login.example.com' },
      { issuer: 'ftp://login.example.com' },
      { scopes: 'email' },
      { rules: [{ when: {}, operator: true }] },
    ]) {
      assert.equal((await change(wrong)).status, 400, JSON.stringify(wrong))
    }
    const lost = createSecretBox([createSecretKey()]).seal('x', 'of a lost key')
    await stage.console.sql`
      update identity_provider set disabled_at = null, client_secret = ${lost}
      where id = ${created.id}`
    assert.deepEqual(await offered(), ['Acme'])
    assert.equal((await stage.console.browser().send('GET', path)).status, 404)
    const [, unreadable] = (await browser.send('GET', PATH)).json.data
    assert.match(unreadable.problem, /^its client secret: sealed with key/)
    assert.equal((await change({ client_secret: 'set again' })).json.problem, null)
    assert.deepEqual(await offered(), ['Acme', 'Renamed'])
    assert.equal((await browser.send('DELETE', `${PATH}/${created.id}`)).status, 204)
    assert.equal((await browser.send('DELETE', `${PATH}/${created.id}`)).status, 404)
  })

  test('are tested by their issuer, which says what is wrong', async () => {
    const browser = await operator()
    const test = async (issuer: string) =>
      (await browser.send('POST', `${PATH}/discover`, { issuer })).json
    const { problem, ...found } = await test(stage.provider.issuer)
    assert.equal(problem, null)
    assert.deepEqual(
      [found.authorization_endpoint, found.ends_sessions],
      [`${stage.provider.issuer}/authorize`, true],
    )
    const { callback_url: callback } = (await browser.send('GET', PATH)).json
    assert.equal(callback, `${stage.console.url}/admin/v1/sign-in/oidc/callback`)
    assert.match(
      (await test(`${stage.provider.issuer}/`)).problem,
      /write the issuer exactly like this/,
    )
    assert.match((await test('http://evil.example')).problem, /must begin with https/)
    assert.equal((await test('http://127.0.0.1:1')).problem, 'the connection was refused')
    // A document for all tenants names a pattern in place of itself.
    stage.provider.lies = { metadata: { issuer: 'https://login.example/{tenantid}/v2.0' } }
    assert.notEqual((await test(stage.provider.issuer)).problem, null)
    stage.provider.lies = { metadata: { issuer: 1 } }
    assert.notEqual((await test(stage.provider.issuer)).problem, null)
  })

  test('are tested as well where they state what is of another type', async () => {
    const browser = await operator()
    const test = async (metadata: Record<string, unknown>) => {
      stage.provider.lies = { metadata }
      const { issuer } = stage.provider
      const { status, json } = await browser.send('POST', `${PATH}/discover`, { issuer })
      assert.deepEqual([status, json.problem], [200, null], JSON.stringify(metadata))
      return json
    }
    assert.deepEqual((await test({ scopes_supported: 7 })).scopes, [])
    assert.deepEqual((await test({ scopes_supported: ['openid', 7, null] })).scopes, ['openid'])
    const algorithms = { id_token_signing_alg_values_supported: {} }
    assert.deepEqual((await test(algorithms)).algorithms, [])
    assert.equal((await test({ authorization_endpoint: 7 })).authorization_endpoint, null)
    await test({ token_endpoint_auth_methods_supported: 7 })
  })

  test('are tried out with claims', async () => {
    const browser = await operator()
    const tried = await browser.send('POST', `${PATH}/try`, {
      rules: [{ when: { groups: 'proj-*' }, account_by: 'groups', role: 'billing' }],
      claims: { groups: ['proj-a'] },
    })
    assert.deepEqual(tried.json, { operator: false, accounts: ['proj-a'], role: 'billing' })
    for (const rule of [
      { when: {} },
      { when: { hd: 'a' }, operator: true, role: { toString: 1 } },
    ]) {
      const wrong = { rules: [rule], claims: {} }
      assert.equal((await browser.send('POST', `${PATH}/try`, wrong)).status, 400)
    }
  })
})
