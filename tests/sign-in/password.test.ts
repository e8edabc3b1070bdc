import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { offerReset } from '../../server/api/sign-in/people/links.ts'
import { setDisabled } from '../../server/api/sign-in/people/people.ts'
import { type ConsoleUnderTest, PASSWORD, startConsole } from './support.ts'

describe('signing in with a password', () => {
  let console: ConsoleUnderTest
  before(async () => {
    console = await startConsole()
  })
  after(() => console.stop())

  test('opens a session that no script can read, and returns the person', async () => {
    const { email } = await console.person({ language: 'zh', name: '金' })
    const browser = console.browser()
    const answer = await browser.send('POST', '/session', { email, password: PASSWORD })
    assert.equal(answer.status, 200)
    assert.deepEqual(answer.json, { status: 'signed_in', methods: [] })
    const cookie = answer.headers.getSetCookie()[0] ?? ''
    assert.match(
      cookie,
      /^tributary_session=[0-9A-Za-z]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/,
    )
    const me = await browser.send('GET', '/session')
    assert.equal(me.status, 200)
    assert.equal(me.json.user.email, email)
    assert.equal(me.json.user.language, 'zh')
    assert.ok(Date.parse(me.json.stepped_up_until) > Date.now())
  })

  test('does not tell a wrong password, an unknown person and a disabled one apart', async () => {
    const { email } = await console.person()
    const gone = await console.person()
    await console.sql`update person set disabled_at = now() where id = ${gone.id}`
    const tries = [
      { email, password: 'not the right one' },
      { email: 'nobody@example.com', password: PASSWORD },
      { email: gone.email, password: PASSWORD },
    ]
    for (const given of tries) {
      const before = console.derivations()
      const { status, json, headers } = await console.browser().send('POST', '/session', given)
      assert.equal(console.derivations() - before, 1, given.email)
      const seen = { status, json, cookies: headers.getSetCookie() }
      assert.deepEqual(seen, {
        status: 401,
        json: { error: 'wrong e-mail address or password', type: 'auth_error' },
        cookies: [],
      })
    }
  })

  test('takes the address in any case, and the password exactly', async () => {
    const { email } = await console.person()
    const wanted = { email: email.toUpperCase(), password: PASSWORD }
    assert.equal((await console.browser().send('POST', '/session', wanted)).status, 200)
    const other = { email, password: PASSWORD.toUpperCase() }
    assert.equal((await console.browser().send('POST', '/session', other)).status, 401)
  })

  test('is changed with the current one, which ends every other session', async () => {
    const { email } = await console.person()
    const [here, elsewhere] = [await console.signedIn(email), await console.signedIn(email)]
    const token = here.cookie('tributary_session')
    const change = { current_password: 'wrong wrong wrong', new_password: 'nine purple elephants' }
    assert.equal((await here.send('POST', '/profile/password', change)).status, 401)
    change.current_password = PASSWORD
    assert.equal((await here.send('POST', '/profile/password', change)).status, 204)
    assert.notEqual(here.cookie('tributary_session'), token)
    assert.equal((await here.send('GET', '/session')).status, 200)
    assert.equal((await elsewhere.send('GET', '/session')).status, 401)
    const old = { email, password: PASSWORD }
    assert.equal((await console.browser().send('POST', '/session', old)).status, 401)
    const fresh = { email, password: 'nine purple elephants' }
    assert.equal((await console.browser().send('POST', '/session', fresh)).status, 200)
  })

  test('a hash of lower costs is replaced at the next sign-in', async () => {
    const { id, email } = await console.person()
    await console.sql`
      update person set password_hash = replace(password_hash, 'm=65536,t=3', 'm=1024,t=1')
      where id = ${id}`
    await console.signedIn(email)
    const [row] = await console.sql<{ hash: string }[]>`
      select password_hash as hash from person where id = ${id}`
    assert.match(row?.hash ?? '', /^\$argon2id\$v=19\$m=65536,t=3,p=1\$/)
    await console.signedIn(email)
  })

  test('short, long, common and own passwords are refused, and say why', async () => {
    const { email } = await console.person({ email: 'marguerite-duras@example.com' })
    const browser = await console.signedIn(email)
    const refused = {
      'short pass': /at least 12/,
      ['x1'.repeat(65)]: /more than 128/,
      password12345: /guess/,
      '123456789012': /guess/,
      'Qwertyuiop!!!': /guess/,
      aaaaaaaaaaaaaa: /guess/,
      'marguerite-duras1': /guess/,
    }
    for (const [password, why] of Object.entries(refused)) {
      const body = { current_password: PASSWORD, new_password: password }
      const { status, json } = await browser.send('POST', '/profile/password', body)
      assert.equal(status, 400, password)
      assert.match(json.error, why)
    }
  })
})

describe('a password that is compared', () => {
  let console: ConsoleUnderTest
  let reached = Promise.withResolvers<void>()
  let goOn = Promise.withResolvers<void>()
  let isHeld = false
  before(async () => {
    console = await startConsole({
      async derive(password, salt) {
        if (isHeld && password === PASSWORD) {
          reached.resolve()
          await goOn.promise
        }
        return createHash('sha256').update(salt).update(password).digest()
      },
    })
  })
  after(() => console.stop())

  /** Signs in, and does `meanwhile` while the password is compared. */
  async function during(email: string, meanwhile: () => Promise<unknown>) {
    reached = Promise.withResolvers()
    goOn = Promise.withResolvers()
    isHeld = true
    const body = { email, password: PASSWORD }
    const signingIn = console.browser().send('POST', '/session', body)
    await reached.promise
    isHeld = false
    await meanwhile().finally(() => goOn.resolve())
    return await signingIn
  }

  const count = async (table: string, id: string) => {
    const [row] = await console.sql<{ rows: number }[]>`
      select count(*)::int as rows from ${console.sql(table)} where person_id = ${id}`
    return row?.rows
  }

  async function reset(id: string): Promise<void> {
    const { link } = await offerReset(console.signIn.parts, id, 'test')
    const body = { token: link.split('#token=')[1], password: 'nine purple elephants' }
    const { status } = await console.browser().send('POST', '/session/reset', body)
    assert.equal(status, 204)
  }

  test('while another replaces it opens no session', async () => {
    const { id, email } = await console.person()
    const answer = await during(email, () => reset(id))
    assert.deepEqual([answer.status, answer.headers.getSetCookie()], [401, []])
    assert.equal(await count('console_session', id), 0)
  })

  test('while another replaces it leads to no second factor', async () => {
    const { id, email } = await console.person()
    await (await console.signedIn(email)).send('POST', '/profile/totp')
    await console.sql`update person set totp_secret = totp_pending where id = ${id}`
    assert.equal((await during(email, () => reset(id))).status, 401)
    assert.equal(await count('sign_in_step', id), 0)
  })

  test('while its person is locked out and let in again opens no session', async () => {
    const { id, email } = await console.person()
    const answer = await during(email, () => setDisabled(console.sql, id, true))
    assert.equal(answer.status, 401)
    await setDisabled(console.sql, id, false)
    assert.equal(await count('console_session', id), 0)
  })
})
