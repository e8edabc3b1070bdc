import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { renewRecoveryCodes } from '../../server/api/sign-in/factors/factors.ts'
import { offerReset } from '../../server/api/sign-in/people/links.ts'
import { untilWaiting } from '../support/database/lock-account.ts'
import { stepOf, totpCode } from './authenticator-app.ts'
import { type Browser, type ConsoleUnderTest, PASSWORD, startConsole } from './support.ts'

/** Six digits that the app shows at no time near the step. */
function wrongFor(secret: string, step: number): string {
  const shown = new Set(Array.from({ length: 301 }, (_, at) => totpCode(secret, step - 150 + at)))
  const codes = Array.from({ length: 302 }, (_, at) => String(at).padStart(6, '0'))
  return codes.find((code) => !shown.has(code)) ?? ''
}

describe('codes as second factor', () => {
  let console: ConsoleUnderTest
  let nowMs = 1_800_000_000_000
  before(async () => {
    console = await startConsole()
    console.setNowMs(nowMs)
  })
  after(() => console.stop())

  /** The next code that was not used yet. */
  function nextCode(secret: string): string {
    nowMs += 30_000
    console.setNowMs(nowMs)
    return totpCode(secret, stepOf(nowMs))
  }

  async function enrol(browser: Browser) {
    const { json } = await browser.send('POST', '/profile/totp')
    const code = nextCode(json.secret)
    const confirmed = await browser.send('POST', '/profile/totp/confirm', { code })
    assert.equal(confirmed.status, 200, JSON.stringify(confirmed.json))
    return { secret: String(json.secret), codes: confirmed.json.recovery_codes as string[], code }
  }

  async function begin(email: string) {
    const browser = console.browser()
    const { json } = await browser.send('POST', '/session', { email, password: PASSWORD })
    assert.deepEqual(json, { status: 'second_factor', methods: ['totp', 'recovery_code'] })
    return browser
  }

  test('a sign-in in progress ends with the password that began it', async () => {
    const { id, email } = await console.person()
    const { secret } = await enrol(await console.signedIn(email))
    const begun = await begin(email)
    const { link } = await offerReset(console.signIn.parts, id, 'test')
    const reset = { token: link.split('#token=')[1], password: 'nine purple elephants' }
    assert.equal((await console.browser().send('POST', '/session/reset', reset)).status, 204)
    const code = nextCode(secret)
    assert.equal((await begun.send('POST', '/session/second-factor', { code })).status, 401)
    assert.equal((await begun.send('GET', '/session')).status, 401)
  })

  test('an app is required after its first code: the password alone is not enough', async () => {
    const { email } = await console.person()
    const [browser, other] = [await console.signedIn(email), await console.signedIn(email)]
    await browser.send('POST', '/profile/totp')
    await console.signedIn(email)
    const wrong = await browser.send('POST', '/profile/totp/confirm', { code: '000000' })
    assert.equal(wrong.status, 400)
    const { secret } = await enrol(browser)
    assert.equal((await other.send('GET', '/session')).status, 401)
    const next = await begin(email)
    assert.equal((await next.send('GET', '/session')).status, 401)
    assert.equal(
      (await next.send('POST', '/session/second-factor', { code: '000000' })).status,
      401,
    )
    const done = await next.send('POST', '/session/second-factor', { code: nextCode(secret) })
    assert.equal(done.json.status, 'signed_in')
    assert.equal((await next.send('GET', '/session')).json.second_factor.totp, true)
  })

  test('a wrong code leaves the secret that the app has scanned, in every window', async () => {
    const { email } = await console.person()
    const [browser, other] = [await console.signedIn(email), await console.signedIn(email)]
    const offer = async (of: typeof browser) => (await of.send('POST', '/profile/totp')).json.secret
    const confirm = async (of: typeof browser, code: string) => {
      const { status, json } = await of.send('POST', '/profile/totp/confirm', { code })
      return { status, error: String(json.error ?? '') }
    }
    const secret = String(await offer(browser))
    assert.equal(await offer(browser), secret)
    const now = stepOf(nowMs)
    assert.match((await confirm(browser, '12 34')).error, /six digits/)
    assert.match((await confirm(browser, totpCode(secret, now - 5))).error, /not the current code/)
    assert.match((await confirm(browser, totpCode(secret, now + 2))).error, /not the current code/)
    assert.match((await confirm(browser, wrongFor(secret, now))).error, /is wrong/)
    assert.equal(await offer(browser), secret)
    // Another browser's secret is its own: the app of this one must not be blamed.
    assert.notEqual(await offer(other), secret)
    const replaced = await confirm(browser, totpCode(secret, now))
    assert.equal(replaced.status, 409)
    assert.match(replaced.error, /another browser/)
    const last = String(await offer(browser))
    assert.equal((await confirm(browser, totpCode(last, now))).status, 200)
    assert.match(
      (await confirm(browser, totpCode(last, now + 1))).error,
      /another window may have confirmed it/,
    )
  })

  test('a code works once, including the one that confirmed the app', async () => {
    const { email } = await console.person()
    const { secret, code } = await enrol(await console.signedIn(email))
    const first = await begin(email)
    assert.equal((await first.send('POST', '/session/second-factor', { code })).status, 401)
    const fresh = nextCode(secret)
    const [second, third] = [await begin(email), await begin(email)]
    const answers = await Promise.all(
      [second, third].map((one) => one.send('POST', '/session/second-factor', { code: fresh })),
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401])
  })

  test('a recovery code works once, however it is typed', async () => {
    const { email } = await console.person()
    const { codes } = await enrol(await console.signedIn(email))
    assert.equal(codes.length, 10)
    const typed = ` ${codes[3]?.toUpperCase().replaceAll('-', ' ')} `
    const first = await begin(email)
    const body = { recovery_code: typed }
    assert.equal((await first.send('POST', '/session/second-factor', body)).status, 200)
    assert.equal((await first.send('GET', '/session')).json.second_factor.recovery_codes_left, 9)
    const again = await begin(email)
    assert.equal((await again.send('POST', '/session/second-factor', body)).status, 401)
    const renewed = await first.send('POST', '/profile/recovery-codes')
    assert.equal(renewed.json.recovery_codes.length, 10)
    const old = { recovery_code: codes[4] }
    assert.equal((await again.send('POST', '/session/second-factor', old)).status, 401)
  })

  test('of two lists of recovery codes that are made at once one counts', async () => {
    const { id, email } = await console.person()
    await enrol(await console.signedIn(email))
    const { sql } = console.signIn.parts
    const { lists } = await sql.begin(async (transaction) => {
      await transaction`select from person where id = ${id} for update`
      const lists = [1, 2].map(() => renewRecoveryCodes(console.signIn.parts, id))
      await untilWaiting(sql, 2)
      return { lists }
    })
    await Promise.all(lists)
    const [left] =
      await sql`select count(*)::int as codes from recovery_code where person_id = ${id}`
    assert.equal(left?.codes, 10)
  })

  test('a sign-in step works once, and only for the person who began it', async () => {
    const { email } = await console.person()
    const { secret } = await enrol(await console.signedIn(email))
    const browser = await begin(email)
    const step = browser.cookie('tributary_step') ?? ''
    const code = nextCode(secret)
    assert.equal((await browser.send('POST', '/session/second-factor', { code })).status, 200)
    const thief = console.browser()
    thief.setCookie('tributary_step', step)
    const replay = await thief.send('POST', '/session/second-factor', { code: nextCode(secret) })
    assert.equal(replay.status, 401)
    const none = await console.browser().send('POST', '/session/second-factor', { code })
    assert.equal(none.status, 401)
  })

  test('a step that is finished twice at once opens one session', async () => {
    const { email } = await console.person()
    const { codes } = await enrol(await console.signedIn(email))
    const [one, two] = [await begin(email), console.browser()]
    two.setCookie('tributary_step', one.cookie('tributary_step') ?? '')
    const answers = await Promise.all([
      one.send('POST', '/session/second-factor', { recovery_code: codes[0] }),
      two.send('POST', '/session/second-factor', { recovery_code: codes[1] }),
    ])
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401])
  })

  test('a step-up requires it as well', async () => {
    const { email } = await console.person()
    const browser = await console.signedIn(email)
    const { secret } = await enrol(browser)
    const prove = (more: object) =>
      browser.send('POST', '/session/step-up', { password: PASSWORD, ...more })
    assert.equal((await prove({})).status, 401)
    assert.equal((await prove({ code: '000000' })).status, 401)
    assert.equal((await prove({ code: nextCode(secret) })).status, 200)
  })

  test('is removed after a step-up, together with the recovery codes', async () => {
    const { id, email } = await console.person()
    const browser = await console.signedIn(email)
    await enrol(browser)
    await console.sql`update console_session set stepped_up_until = now() where person_id = ${id}`
    assert.equal((await browser.send('DELETE', '/profile/totp')).json.type, 'step_up_required')
    await console.sql`
      update console_session set stepped_up_until = now() + interval '1 min' where person_id = ${id}`
    assert.equal((await browser.send('DELETE', '/profile/totp')).status, 204)
    const { json } = await browser.send('GET', '/session')
    assert.equal(json.second_factor.recovery_codes_left, 0)
    await console.signedIn(email)
  })

  test('operators without one can change nothing but set one up', async () => {
    const { id, email } = await console.person({ isOperator: true })
    const browser = await console.signedIn(email)
    assert.equal((await browser.send('GET', '/session')).json.second_factor.missing, true)
    const refused = await browser.send('POST', '/operator/invitations', { email: 'x@example.com' })
    assert.equal(refused.json.type, 'second_factor_required')
    const account = await console.account()
    await console.join(id, account, 'owner')
    const body = { email: 'x@example.com', role: 'member' }
    const path = `/accounts/${account}/invitations`
    assert.equal((await browser.send('POST', path, body)).json.type, 'second_factor_required')
    await enrol(browser)
    assert.equal((await browser.send('POST', path, body)).status, 200)
  })
})
