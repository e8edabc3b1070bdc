/** New and known people of a provider: who they are, and what rules give them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setDisabled } from '../../../server/api/sign-in/people/people.ts'
import { ENVIRONMENT_PROVIDER } from '../../../server/api/sign-in/provider.ts'
import { openStage } from './stage.ts'

const stage = openStage()
const {
  comeBack,
  goThrough,
  isSignedIn,
  operator,
  ruled,
  sessionOf,
  settings,
  somebody,
  start,
  START,
} = stage

describe('a new person', () => {
  test('is nobody without an invitation and a rule', async () => {
    const browser = stage.console.browser()
    const refused = await goThrough(browser, somebody())
    assert.deepEqual([refused.status, refused.reason], [403, 'not_invited'])
    assert.equal(await isSignedIn(browser), false)
    settings.isSignUpOpen = true
    assert.equal((await goThrough(browser, somebody())).status, 303)
    const { user, memberships } = await sessionOf(browser)
    assert.deepEqual(
      memberships.map(({ role, account_name }: Record<string, string>) => [role, account_name]),
      [['owner', user.email]],
    )
    const [row] = await stage.console.sql`
      select granted from sign_up where person_id = ${user.id}`
    assert.equal(row?.granted, 5_000_000_000n)
  })

  test('of another domain does not sign up', async () => {
    Object.assign(settings, { isSignUpOpen: true, domains: ['acme.example'] })
    const stranger = somebody({ email: 'eve@acme.example.evil.example' })
    assert.equal((await goThrough(stage.console.browser(), stranger)).reason, 'not_invited')
    assert.equal((await goThrough(stage.console.browser(), somebody())).status, 303)
  })

  test('who signs up accepts the terms before they leave for the provider', async () => {
    Object.assign(settings, { isSignUpOpen: true, terms: 'https://acme.example/terms' })
    const claims = somebody()
    const refused = await goThrough(stage.console.browser(), claims)
    assert.deepEqual([refused.status, refused.reason], [403, 'accept_terms'])
    const browser = stage.console.browser()
    const location = await start(browser, `${START}?accept_terms=true`)
    settings.terms = 'https://acme.example/changed-terms'
    assert.equal(
      (await comeBack(browser, stage.provider.signIn(location, claims))).reason,
      'accept_terms',
    )
    const back = stage.provider.signIn(await start(browser, `${START}?accept_terms=true`), claims)
    assert.equal((await comeBack(browser, back)).status, 303)
    const [row] = await stage.console.sql`select terms, provider_id from sign_up
      where email = ${claims.email}`
    assert.deepEqual({ ...row }, { terms: settings.terms, provider_id: ENVIRONMENT_PROVIDER })
  })

  test('has English where the provider states no usable language', async () => {
    settings.isSignUpOpen = true
    const nested = JSON.parse('['.repeat(5_000) + ']'.repeat(5_000))
    for (const [locale, language] of [
      ['zh-Hans-CN', 'zh'],
      ['de', 'en'],
      [{ toString: 1 }, 'en'],
      [nested, 'en'],
    ]) {
      const browser = stage.console.browser()
      assert.equal((await goThrough(browser, somebody({ locale }))).status, 303)
      assert.equal((await sessionOf(browser)).user.language, language)
    }
  })

  test('needs a verified address, whatever else is stated', async () => {
    settings.isSignUpOpen = true
    for (const more of [
      { email_verified: false },
      { email_verified: 'true' },
      { email_verified: 'false' },
      { email_verified: 1 },
      { email_verified: undefined },
      { email: undefined },
      { email: '' },
      { email: ['a@b.example'] },
      { email: 'a@b.example\nbcc: c@d.example' },
      { email: '\u212Aim@b.example' },
      { email: 'm\u0130a@b.example' },
    ]) {
      const { reason } = await goThrough(stage.console.browser(), somebody(more))
      assert.equal(reason, 'no_email', JSON.stringify(more))
    }
    settings.trustsEmail = true
    const unstated = somebody({ email_verified: undefined })
    assert.equal((await goThrough(stage.console.browser(), unstated)).status, 303)
    const denied = somebody({ email_verified: false })
    assert.equal((await goThrough(stage.console.browser(), denied)).reason, 'no_email')
  })

  test('with an unverified address has no rule by address', async () => {
    ruled([{ when: { email: '*@acme.example' }, operator: true }])
    const unverified = somebody({ email_verified: false })
    assert.equal((await goThrough(stage.console.browser(), unverified)).reason, 'no_email')
    const verified = stage.console.browser()
    assert.equal((await goThrough(verified, somebody())).status, 303)
    assert.equal((await sessionOf(verified)).user.operator, true)
  })

  test('does not get an address from one source and its verification from another', async () => {
    settings.isSignUpOpen = true
    const claims = somebody({ email_verified: undefined })
    const browser = stage.console.browser()
    const back = stage.provider.signIn(await start(browser), claims)
    stage.provider.lies = {
      info: { sub: claims.sub, email: 'own@evil.example', email_verified: true },
    }
    assert.equal((await comeBack(browser, back)).reason, 'no_email')
  })

  test('is never somebody who signs in otherwise with this address', async () => {
    settings.isSignUpOpen = true
    ruled([{ when: { hd: 'acme.example' }, operator: true }])
    const { email } = await stage.console.person()
    const claims = somebody({ hd: 'acme.example', email: email.toUpperCase() })
    const refused = await goThrough(stage.console.browser(), claims)
    assert.deepEqual([refused.status, refused.reason], [409, 'known_address'])
  })

  test('accepts the invitations of its verified address', async () => {
    const accountId = await stage.console.account('Rivers')
    const owner = await stage.console.person()
    await stage.console.join(owner.id, accountId, 'owner')
    const { sub } = somebody()
    const claims = somebody({ sub, email: `kim-${sub.toLowerCase()}@acme.example` })
    const inviting = await stage.console.signedIn(owner.email)
    const path = `/accounts/${accountId}/invitations`
    const body = { email: claims.email.toUpperCase(), role: 'billing' }
    await inviting.send('POST', path, body)
    const unverified = await goThrough(stage.console.browser(), {
      ...claims,
      email_verified: false,
    })
    assert.equal(unverified.reason, 'no_email')
    // Its lower case is the address that is invited.
    const kelvin = claims.email.toUpperCase().replace('K', '\u212A')
    assert.equal(kelvin.toLowerCase(), claims.email)
    const alike = somebody({ email: kelvin })
    assert.equal((await goThrough(stage.console.browser(), alike)).reason, 'no_email')
    const browser = stage.console.browser()
    assert.equal((await goThrough(browser, claims)).status, 303)
    const { memberships, user } = await sessionOf(browser)
    assert.deepEqual(memberships, [
      { account_id: accountId, account_name: 'Rivers', role: 'billing' },
    ])
    assert.deepEqual([user.name, user.operator], ['Ada', false])
    assert.deepEqual((await inviting.send('GET', path)).json.data, [])
  })

  test('of an invitation to operate needs its link, opened in this browser', async () => {
    const inviting = await operator()
    const claims = somebody({ email: undefined })
    const email = `op-${claims.sub}@acme.example`
    const { json } = await inviting.send('POST', '/operator/invitations', { email })
    const token = new URLSearchParams(new URL(json.link).hash.slice(1)).get('token')
    const stated = await goThrough(stage.console.browser(), { ...somebody(), email })
    assert.equal(stated.reason, 'not_invited')
    const browser = stage.console.browser()
    const begun = { token, provider: ENVIRONMENT_PROVIDER }
    const started = await browser.send('POST', '/session/invitation/oidc', begun)
    assert.equal(started.status, 200)
    const back = stage.provider.signIn(started.json.location, claims)
    assert.equal((await comeBack(browser, back)).status, 303)
    const { user } = await sessionOf(browser)
    assert.deepEqual([user.email, user.operator], [email, true])
  })
})

describe('a known person', () => {
  async function known(more: object = {}) {
    const claims = somebody(more)
    const browser = stage.console.browser()
    settings.isSignUpOpen = true
    assert.equal((await goThrough(browser, claims)).status, 303)
    settings.isSignUpOpen = false
    return { claims, browser, id: (await sessionOf(browser)).user.id as string }
  }

  test('is known by issuer and subject alone', async () => {
    const { claims, id } = await known()
    const again = stage.console.browser()
    const moved = { ...claims, email: 'other@acme.example', name: 'Eve' }
    assert.equal((await goThrough(again, moved)).status, 303)
    const { user } = await sessionOf(again)
    assert.deepEqual([user.id, user.email, user.name], [id, claims.email, 'Ada'])
    const swapped = await goThrough(stage.console.browser(), { ...claims, sub: 'reused-address' })
    assert.equal(swapped.reason, 'known_address')
  })

  test('who is locked stays out', async () => {
    const { claims, id, browser } = await known()
    await setDisabled(stage.console.sql, id, true)
    assert.equal(await isSignedIn(browser), false)
    const refused = await goThrough(stage.console.browser(), claims)
    assert.deepEqual([refused.status, refused.reason], [403, 'locked'])
  })

  test('has the roles of the rules at each sign-in, and keeps those given by hand', async () => {
    const [byRule, byName, byHand] = [
      await stage.console.account('by rule'),
      await stage.console.account('proj-a'),
      await stage.console.account('by hand'),
    ]
    const { claims, id } = await known()
    await stage.console.join(id, byHand, 'viewer')
    const sign = async (more: object) => {
      const browser = stage.console.browser()
      assert.equal((await goThrough(browser, { ...claims, ...more })).status, 303)
      const { memberships, user } = await sessionOf(browser)
      const roles = memberships
        .map((one: { account_name: string; role: string }) => [one.account_name, one.role])
        .filter(([name]: string[]) => name !== claims.email)
      return { roles, operator: user.operator, browser }
    }
    ruled([
      { when: { groups: 'admins' }, operator: true, account: byRule, role: 'owner' },
      { when: { groups: 'proj-*' }, account_by: 'groups', role: 'developer' },
      { when: { hd: 'acme.example' }, account: byHand, role: 'owner' },
    ])
    const first = await sign({ groups: ['admins'] })
    assert.equal(first.operator, true)
    assert.deepEqual(first.roles, [
      ['by rule', 'owner'],
      ['by hand', 'viewer'],
    ])
    const second = await sign({ groups: ['proj-a', 'proj-none'] })
    assert.deepEqual(
      [second.operator, second.roles],
      [
        false,
        [
          ['proj-a', 'developer'],
          ['by hand', 'viewer'],
        ],
      ],
    )
    assert.equal(await isSignedIn(first.browser), false)
    const path = `/accounts/${byName}/keys`
    const { json: key } = await second.browser.send('POST', path, {})
    // Another account takes the name: nobody loses a role by that.
    await stage.console.account('proj-a')
    assert.equal((await sign({ groups: ['proj-a'] })).roles[0]?.[0], 'proj-a')
    const third = await sign({ hd: 'acme.example' })
    assert.deepEqual(third.roles, [['by hand', 'viewer']])
    const [row] = await stage.console.sql`select disabled_at from api_key where id = ${key.id}`
    assert.notEqual(row?.disabled_at, null)
  })

  test('of a second factor is asked for it unless the provider states one', async () => {
    const { claims, id } = await known()
    await stage.console.sql`insert into passkey (id, person_id, name, credential_id, public_key)
      values (${`pky_${id}`}, ${id}, 'x', ${id}, 'x')`
    const browser = stage.console.browser()
    const { location } = await goThrough(browser, { ...claims, amr: ['pwd'] })
    assert.equal(location, `${stage.console.url}/console/sign-in#factors=passkey`)
    assert.equal(await isSignedIn(browser), false)
    await goThrough(browser, { ...claims, amr: ['pwd', 'mfa'] })
    assert.equal(await isSignedIn(browser), true)
  })

  test('whose proof is old must step up, at the provider, and as themselves', async () => {
    const { claims } = await known()
    const browser = stage.console.browser()
    const at = Math.floor(Date.now() / 1000) - 3600
    await goThrough(browser, { ...claims, auth_time: at })
    const change = () => browser.send('POST', '/profile/identities', { provider: 'env' })
    assert.equal((await change()).status, 403)
    const begin = async () => {
      const body = { provider: 'env', return_to: '/settings' }
      const { json } = await browser.send('POST', '/session/step-up/oidc', body)
      assert.equal(new URL(json.location).searchParams.get('max_age'), '0')
      return json.location as string
    }
    const stale = stage.provider.signIn(await begin(), { ...claims, auth_time: at })
    assert.equal((await comeBack(browser, stale)).reason, 'invalid')
    const unstated = stage.provider.signIn(await begin(), claims)
    assert.equal((await comeBack(browser, unstated)).reason, 'invalid')
    const fresh = () => ({ auth_time: Math.floor(Date.now() / 1000) })
    const other = await known()
    const foreign = stage.provider.signIn(await begin(), { ...other.claims, ...fresh() })
    assert.equal((await comeBack(browser, foreign)).reason, 'other_person')
    const own = stage.provider.signIn(await begin(), { ...claims, ...fresh() })
    assert.equal((await comeBack(browser, own)).location, `${stage.console.url}/console/settings`)
    assert.equal((await change()).status, 200)
  })

  test('ends the session at the provider too', async () => {
    const { browser, id } = await known()
    const [row] = await stage.console.sql<{ id_token: Buffer }[]>`
      select id_token from console_session where person_id = ${id}`
    assert.ok(row && !row.id_token.includes('eyJ'))
    const { json } = await browser.send('POST', '/session/end')
    const url = new URL(json.location)
    assert.equal(url.origin + url.pathname, `${stage.provider.issuer}/end`)
    assert.equal(url.searchParams.get('id_token_hint')?.split('.').length, 3)
    assert.equal(
      url.searchParams.get('post_logout_redirect_uri'),
      `${stage.console.url}/console/sign-in`,
    )
    assert.equal(await isSignedIn(browser), false)
    // A token of many groups would make an address that servers refuse.
    const { claims } = await known()
    const crowded = stage.console.browser()
    await goThrough(crowded, {
      ...claims,
      groups: Array.from({ length: 200 }, () => claims.sub.padEnd(36)),
    })
    const end = new URL((await crowded.send('POST', '/session/end')).json.location)
    assert.equal(end.searchParams.get('id_token_hint'), null)
    assert.equal(end.searchParams.get('client_id'), 'tributary')
  })
})
