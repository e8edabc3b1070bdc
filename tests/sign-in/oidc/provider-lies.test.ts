/** Signing in with a provider that lies in every field, and with one that does not. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Lies } from './lying-provider.ts'
import { openStage } from './stage.ts'

const stage = openStage()
const { comeBack, goThrough, isSignedIn, ruled, START, sessionOf, settings, somebody, start } =
  stage

describe('a provider that lies', () => {
  const now = () => Math.floor(Date.now() / 1000)
  const LIES: Readonly<Record<string, () => Lies>> = {
    'iss of another': () => ({ claims: { iss: 'https://evil.example' } }),
    'iss with a slash more': () => ({ claims: { iss: `${stage.provider.issuer}/` } }),
    'no iss': () => ({ claims: { iss: undefined } }),
    'aud of another': () => ({ claims: { aud: 'other' } }),
    'two aud without azp': () => ({ claims: { aud: ['tributary', 'other'] } }),
    'azp of another': () => ({ claims: { azp: 'other' } }),
    'two aud, azp of another': () => ({ claims: { aud: ['tributary', 'x'], azp: 'x' } }),
    'nonce of another': () => ({ claims: { nonce: 'other' } }),
    'no nonce': () => ({ claims: { nonce: undefined } }),
    expired: () => ({ claims: { exp: now() - 120 } }),
    'no exp': () => ({ claims: { exp: undefined } }),
    'not yet': () => ({ claims: { nbf: now() + 600 } }),
    'iat in the future': () => ({ claims: { iat: now() + 600 } }),
    'no iat': () => ({ claims: { iat: undefined } }),
    'no sub': () => ({ claims: { sub: undefined } }),
    'empty sub': () => ({ claims: { sub: '' } }),
    'sub that is a number': () => ({ claims: { sub: 1 } }),
    'sub that is long': () => ({ claims: { sub: 'x'.repeat(256) } }),
    'sub with half of a surrogate pair': () => ({ claims: { sub: 'x\ud800' } }),
    'alg none': () => ({ signature: 'none' }),
    'alg none, by another case': () => ({ signature: 'none', header: { alg: 'nOnE' } }),
    'an HMAC with the public key': () => ({ signature: 'hmac' }),
    'signed by another key': () => ({ signature: 'other' }),
    'a changed signature': () => ({ signature: 'broken' }),
    'unknown kid': () => ({ header: { kid: 'other' } }),
    'a critical header': () => ({ header: { crit: ['x'], x: 1 } }),
    'user info of another sub': () => ({ info: { sub: 'other', email_verified: true } }),
    'no ID token': () => ({
      token: { status: 200, body: '{"access_token":"x","token_type":"Bearer"}' },
    }),
    'no JSON': () => ({ token: { status: 200, body: '<html>' } }),
    'an error': () => ({ token: { status: 400, body: '{"error":"invalid_client"}' } }),
  }
  for (const [name, lies] of Object.entries(LIES)) {
    test(`is refused: ${name}`, async () => {
      ruled([{ when: { hd: 'acme.example' }, operator: true }])
      const browser = stage.console.browser()
      const claims = somebody({ hd: 'acme.example' })
      const back = stage.provider.signIn(await start(browser), claims)
      stage.provider.lies = lies()
      const { status, reason } = await comeBack(browser, back)
      assert.deepEqual([status, reason], [401, 'invalid'])
      assert.equal(await isSignedIn(browser), false)
      const people = await stage.console.sql`select 1 from person where email = ${claims.email}`
      assert.equal(people.length, 0)
    })
  }

  test('is not blamed for being away, and leads back to the page that was asked for', async () => {
    const browser = stage.console.browser()
    const path = encodeURIComponent("/usage?search=it's+a*&key=(%22x%22)")
    const url = await start(browser, `${START}?return_to=${path}`)
    stage.provider.lies = { token: { status: 502, body: '<html>' } }
    const away = await comeBack(browser, stage.provider.signIn(url, somebody()))
    assert.deepEqual([away.status, away.reason], [503, 'unavailable'])
    const target = `${stage.console.url}/console/sign-in?next=${path}`
    assert.ok(away.text.includes(`<a href="${target}#refused=unavailable">`), away.text)
    for (const [error, reason] of [
      ['temporarily_unavailable', 'unavailable'],
      ['access_denied', 'denied'],
    ] as const) {
      const again = stage.provider.signIn(await start(browser), somebody())
      const state = new URLSearchParams(again).get('state')
      const refused = await comeBack(
        browser,
        `?${new URLSearchParams({ error, state: state ?? '' })}`,
      )
      assert.equal(refused.reason, reason)
    }
  })

  test('the same without a lie is accepted', async () => {
    ruled([{ when: { hd: 'acme.example' }, operator: true }])
    const browser = stage.console.browser()
    const { status, location } = await goThrough(browser, somebody({ hd: 'acme.example' }))
    assert.deepEqual([status, location], [303, `${stage.console.url}/console/`])
    assert.equal((await sessionOf(browser)).user.operator, true)
    const { authorization, form } = stage.provider.asked.at(-1) ?? {}
    // RFC 6749, 2.3.1: the two are form-encoded first.
    const [, basic = ''] = authorization?.split(' ') ?? []
    assert.equal(Buffer.from(basic, 'base64').toString(), 'tributary:client+secret%3A+50%25+%26')
    assert.match(form?.get('code_verifier') ?? '', /^[\w-]{43}$/)
  })
})

describe('a browser', () => {
  test('is sent with state, nonce, PKCE, and the address to come back to', async () => {
    const browser = stage.console.browser()
    const url = new URL(await start(browser, `${START}?return_to=/usage`))
    assert.equal(url.origin + url.pathname, `${stage.provider.issuer}/authorize`)
    const query = Object.fromEntries(url.searchParams)
    assert.equal(query.redirect_uri, `${stage.console.url}/admin/v1/sign-in/oidc/callback`)
    assert.deepEqual([query.response_type, query.code_challenge_method], ['code', 'S256'])
    assert.equal(query.scope, 'openid email profile')
    for (const name of ['state', 'nonce', 'code_challenge']) {
      assert.match(query[name] ?? '', /^[\w-]{43}$/, name)
    }
    settings.isSignUpOpen = true
    const { location } = await comeBack(browser, stage.provider.signIn(url.href, somebody()))
    assert.equal(location, `${stage.console.url}/console/usage`)
  })

  test('comes back once, as the one that left, and only with its own state', async () => {
    settings.isSignUpOpen = true
    const browser = stage.console.browser()
    const back = stage.provider.signIn(await start(browser), somebody())
    const other = stage.console.browser()
    await start(other)
    assert.equal((await comeBack(other, back)).reason, 'expired')
    assert.equal((await comeBack(stage.console.browser(), back)).reason, 'expired')
    assert.equal((await comeBack(browser, back)).status, 303)
    assert.equal((await comeBack(browser, back)).reason, 'expired')
    const third = stage.console.browser()
    await start(third)
    assert.equal((await comeBack(third, '?code=x&state=')).reason, 'expired')
    assert.equal((await comeBack(third, '')).reason, 'expired')
  })

  test('comes back to the window that began last, also after an answer to an earlier one', async () => {
    settings.isSignUpOpen = true
    const browser = stage.console.browser()
    const earlier = stage.provider.signIn(await start(browser), somebody())
    const last = stage.provider.signIn(await start(browser), somebody())
    assert.equal((await comeBack(browser, earlier)).reason, 'expired')
    assert.equal((await comeBack(browser, last)).status, 303)
    assert.equal((await comeBack(browser, last)).reason, 'expired')
  })

  test('of a provider that is mixed up with another is refused by `iss`', async () => {
    settings.isSignUpOpen = true
    const browser = stage.console.browser()
    const back = stage.provider.signIn(await start(browser), somebody())
    const mixed = await comeBack(browser, `${back}&iss=https%3A%2F%2Fevil.example`)
    assert.deepEqual([mixed.status, mixed.reason], [401, 'invalid'])
  })

  test('that the provider refused is told so', async () => {
    const browser = stage.console.browser()
    const { searchParams } = new URL(await start(browser))
    const query = new URLSearchParams({
      error: 'access_denied',
      state: searchParams.get('state') ?? '',
    })
    assert.equal((await comeBack(browser, `?${query}`)).reason, 'denied')
  })

  test('is led nowhere but to the console', async () => {
    for (const path of ['//evil.example', '/\\evil.example', 'https://evil.example', '/a\nb']) {
      const query = new URLSearchParams({ return_to: path })
      assert.equal(
        (await stage.console.browser().send('GET', `${START}?${query}`)).status,
        400,
        path,
      )
    }
    assert.equal((await stage.console.browser().send('GET', '/sign-in/oidc/none')).status, 404)
  })
})
