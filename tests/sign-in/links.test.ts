import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { offerReset, openSetUp } from '../../server/api/sign-in/people/links.ts'
import { type ConsoleUnderTest, PASSWORD, startConsole } from './support.ts'

const tokenOf = (link: string) => new URLSearchParams(new URL(link).hash.slice(1)).get('token')

describe('the first set-up', () => {
  let console: ConsoleUnderTest
  before(async () => {
    console = await startConsole()
  })
  after(() => console.stop())

  test('works once, by the newest link alone, and creates an operator', async () => {
    const first = await openSetUp(console.signIn.parts)
    const second = await openSetUp(console.signIn.parts)
    assert.ok(first && second)
    assert.ok(second.link.startsWith(`${console.url}/console/setup#token=`))
    const lifeMs = second.expiresAt.getTime() - Date.now()
    assert.ok(lifeMs > 0 && lifeMs <= 24 * 3_600_000)
    const person = { email: 'root@example.com', name: 'Root', password: PASSWORD, language: 'zh' }
    const send = (token: string | null, more: object = {}) =>
      console.browser().send('POST', '/session/set-up', { ...person, token, ...more })
    assert.equal((await send('x'.repeat(43))).status, 404)
    assert.equal((await send(tokenOf(first.link))).status, 404)
    assert.equal((await send(tokenOf(second.link), { password: 'short' })).status, 400)
    const both = await Promise.all([
      send(tokenOf(second.link)),
      send(tokenOf(second.link), { email: 'other@example.com' }),
    ])
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 404])
    const people = await console.sql`select is_operator, language from person`
    assert.deepEqual([...people], [{ is_operator: true, language: 'zh' }])
    assert.equal(await openSetUp(console.signIn.parts), undefined)
  })

  test('an unused link is invalid once a user exists', async () => {
    const other = await startConsole()
    try {
      const made = await openSetUp(other.signIn.parts)
      await other.person()
      const token = tokenOf(made?.link ?? '')
      const body = { token, email: 'late@example.com', name: 'Late', password: PASSWORD }
      assert.equal((await other.browser().send('POST', '/session/set-up', body)).status, 404)
    } finally {
      await other.stop()
    }
  })
})

describe('invitations', () => {
  let console: ConsoleUnderTest
  before(async () => {
    console = await startConsole()
  })
  after(() => console.stop())

  async function inviteTo(role: 'owner' | 'member', email: string) {
    const accountId = await console.account('Rivers')
    const owner = await console.person()
    await console.join(owner.id, accountId, 'owner')
    const browser = await console.signedIn(owner.email)
    const body = { email, role }
    const { status, json } = await browser.send('POST', `/accounts/${accountId}/invitations`, body)
    assert.equal(status, 200)
    return { accountId, browser, token: tokenOf(json.link) }
  }

  test('add a new user to the account, once', async () => {
    const { accountId, token, browser } = await inviteTo('member', 'new@example.com')
    const guest = console.browser()
    const view = await guest.send('POST', '/session/invitation/view', { token })
    assert.equal(view.json.account_name, 'Rivers')
    assert.deepEqual([view.json.email, view.json.known], ['new@example.com', false])
    const given = { token, name: 'New', password: PASSWORD }
    assert.equal((await guest.send('POST', '/session/invitation', { token })).status, 400)
    assert.equal((await guest.send('POST', '/session/invitation', given)).status, 200)
    const me = await guest.send('GET', '/session')
    assert.deepEqual(me.json.memberships, [
      { account_id: accountId, account_name: 'Rivers', role: 'developer' },
    ])
    assert.equal(me.json.user.operator, false)
    assert.equal((await guest.send('POST', '/session/invitation', given)).status, 404)
    const members = await browser.send('GET', `/accounts/${accountId}/members`)
    assert.equal(members.json.data.length, 2)
  })

  test('an existing user accepts only while signed in as themselves', async () => {
    const known = await console.person()
    const { accountId, token } = await inviteTo('owner', known.email)
    const thief = console.browser()
    const body = { token, name: 'Thief', password: 'a password of a thief' }
    assert.equal((await thief.send('POST', '/session/invitation', body)).status, 409)
    const stranger = await console.signedIn((await console.person()).email)
    assert.equal((await stranger.send('POST', '/session/invitation', { token })).status, 409)
    const browser = await console.signedIn(known.email)
    assert.equal((await browser.send('POST', '/session/invitation', { token })).status, 200)
    const me = await browser.send('GET', '/session')
    assert.equal(me.json.memberships[0].account_id, accountId)
  })

  test('end those of before for the same address and account', async () => {
    const { accountId, browser, token } = await inviteTo('owner', 'twice@example.com')
    const path = `/accounts/${accountId}/invitations`
    const inviteAgain = async (email: string) => {
      const { status, json } = await browser.send('POST', path, { email, role: 'viewer' })
      assert.equal(status, 200, JSON.stringify(json))
      return tokenOf(json.link)
    }
    const statusOf = async (of: string | null) =>
      (await console.browser().send('POST', '/session/invitation/view', { token: of })).status
    const elsewhere = await inviteTo('member', 'twice@example.com')
    const other = await inviteAgain('other@example.com')
    const newest = await inviteAgain('Twice@example.com')
    const statuses = await Promise.all([token, elsewhere.token, other, newest].map(statusOf))
    assert.deepEqual(statuses, [404, 200, 200, 200])
    const atOnce = await Promise.all(Array.from({ length: 8 }, () => inviteAgain('at-once@x.com')))
    const left = (await Promise.all(atOnce.map(statusOf))).filter((status) => status !== 404)
    assert.deepEqual(left, [200])
    const { id, email } = await console.person({ isOperator: true })
    const operator = await console.signedIn(email)
    await console.sql`insert into passkey (id, person_id, name, credential_id, public_key)
      values ('pky_y', ${id}, 'y', 'y', 'y')`
    const toOperate = async () => {
      const invited = { email: 'o@example.com' }
      return tokenOf((await operator.send('POST', '/operator/invitations', invited)).json.link)
    }
    const first = await toOperate()
    assert.deepEqual([await statusOf(await toOperate()), await statusOf(first)], [200, 404])
  })

  test('expire after three days, and can be withdrawn', async () => {
    const late = await inviteTo('member', 'late@example.com')
    await console.sql`update console_link set expires_at = now() where email = 'late@example.com'`
    const view = (token: string | null) =>
      console.browser().send('POST', '/session/invitation/view', { token })
    assert.equal((await view(late.token)).status, 404)
    const { accountId, browser, token } = await inviteTo('member', 'never@example.com')
    const { json } = await browser.send('GET', `/accounts/${accountId}/invitations`)
    assert.equal(json.data.length, 1)
    assert.ok(!JSON.stringify(json).includes(String(token)))
    const days = (Date.parse(json.data[0].expires_at) - Date.now()) / 86_400_000
    assert.ok(days > 2.9 && days <= 3, String(days))
    const path = `/accounts/${accountId}/invitations/${json.data[0].id}`
    const stranger = await inviteTo('member', 'x@example.com')
    const foreign = path.replace(accountId, stranger.accountId)
    assert.equal((await stranger.browser.send('DELETE', foreign)).status, 404)
    assert.equal((await browser.send('DELETE', path)).status, 204)
    assert.equal((await view(token)).status, 404)
  })
})

describe('a new password by a link', () => {
  let console: ConsoleUnderTest
  before(async () => {
    console = await startConsole()
  })
  after(() => console.stop())

  test('works once within half an hour, ends sessions, and leaves second factors', async () => {
    const { id, email } = await console.person()
    const browser = await console.signedIn(email)
    await browser.send('POST', '/profile/totp')
    await console.sql`update person set totp_secret = totp_pending where id = ${id}`
    const older = await offerReset(console.signIn.parts, id, 'test')
    const made = await offerReset(console.signIn.parts, id, 'test')
    assert.ok(made.expiresAt.getTime() - Date.now() <= 1_800_000)
    const reset = (link: string, password: string) =>
      console.browser().send('POST', '/session/reset', { token: tokenOf(link), password })
    assert.equal((await reset(older.link, 'nine purple elephants')).status, 404)
    assert.equal((await reset(made.link, 'short')).status, 400)
    const done = await reset(made.link, 'nine purple elephants')
    assert.deepEqual([done.status, done.headers.getSetCookie()], [204, []])
    assert.equal((await reset(made.link, 'ten purple elephants')).status, 404)
    assert.equal((await browser.send('GET', '/session')).status, 401)
    const body = { email, password: 'nine purple elephants' }
    const entered = await console.browser().send('POST', '/session', body)
    assert.equal(entered.json.status, 'second_factor')
  })

  test('used twice at once, works once', async () => {
    const { id } = await console.person()
    const { link } = await offerReset(console.signIn.parts, id, 'test')
    const passwords = ['nine purple elephants', 'ten purple elephants']
    const answers = await Promise.all(
      passwords.map((password) =>
        console.browser().send('POST', '/session/reset', { token: tokenOf(link), password }),
      ),
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 404])
  })

  test('is created by operators, but not for other operators', async () => {
    const operator = await console.person({ isOperator: true })
    const colleague = await console.person({ isOperator: true })
    const { id, email } = await console.person()
    const browser = await console.signedIn(operator.email)
    await console.sql`insert into passkey (id, person_id, name, credential_id, public_key)
      values ('pky_x', ${operator.id}, 'x', 'x', 'x')`
    const own = await console.signedIn(email)
    assert.equal((await own.send('POST', `/operator/users/${id}/reset`)).status, 403)
    const path = `/operator/users/${colleague.id}`
    assert.equal((await browser.send('POST', `${path}/reset`)).status, 403)
    assert.equal((await browser.send('PATCH', path, { disabled: true })).status, 403)
    assert.equal((await browser.send('POST', '/operator/users/user_none/reset')).status, 404)
    const { json } = await browser.send('POST', `/operator/users/${id}/reset`)
    assert.match(json.link, /\/console\/reset#token=\w{43}$/)
    const locked = await browser.send('PATCH', `/operator/users/${id}`, { disabled: true })
    assert.equal(locked.status, 204)
    assert.equal((await own.send('GET', '/session')).status, 401)
    const [row] = await console.sql<{ rows: number }[]>`select count(*)::int as rows
      from audit_log where actor = ${operator.id} and action = 'PATCH /operator/users/:user_id'`
    assert.equal(row?.rows, 2)
  })
})
