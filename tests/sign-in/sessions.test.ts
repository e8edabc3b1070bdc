import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { type ConsoleUnderTest, PASSWORD, startConsole } from './support.ts'

describe('sessions', () => {
  let console: ConsoleUnderTest
  before(async () => {
    console = await startConsole()
  })
  after(() => console.stop())

  async function age(email: string, column: 'seen_at' | 'created_at', minutes: number) {
    await console.sql`
      update console_session set ${console.sql(column)} = now() - make_interval(mins => ${minutes})
      where person_id = (select id from person where email = ${email})`
  }

  test('end half an hour after the last request, which moves the end', async () => {
    const { email } = await console.person()
    const browser = await console.signedIn(email)
    await age(email, 'seen_at', 29)
    assert.equal((await browser.send('GET', '/session')).status, 200)
    const [row] = await console.sql<{ minutes: number }[]>`
      select extract(epoch from now() - seen_at)::int / 60 as minutes from console_session s
      join person p on p.id = s.person_id where p.email = ${email}`
    assert.equal(row?.minutes, 0)
    await age(email, 'seen_at', 31)
    assert.equal((await browser.send('GET', '/session')).status, 401)
  })

  test('are not extended by quiet checks, as those of event streams', async () => {
    const { email } = await console.person()
    const browser = await console.signedIn(email)
    await age(email, 'seen_at', 29)
    const cookie = `tributary_session=${browser.cookie('tributary_session')}`
    const request = { headers: { cookie } } as IncomingMessage
    const seen = await console.signIn.identifySession(request, { quietly: true })
    assert.equal(seen?.user.email, email)
    await console.sql`update console_session set seen_at = seen_at - interval '2 minutes'`
    assert.equal(await console.signIn.identifySession(request, { quietly: true }), undefined)
  })

  test('end twelve hours after the sign-in, however busy they are', async () => {
    const { email } = await console.person()
    const browser = await console.signedIn(email)
    await age(email, 'created_at', 12 * 60 - 1)
    assert.equal((await browser.send('GET', '/session')).status, 200)
    await age(email, 'created_at', 12 * 60 + 1)
    assert.equal((await browser.send('GET', '/session')).status, 401)
  })

  test('a token that was planted before the sign-in is invalid after it', async () => {
    const { email } = await console.person()
    const victim = console.browser()
    const attacker = await console.signedIn((await console.person()).email)
    const planted = attacker.cookie('tributary_session') ?? ''
    victim.setCookie('tributary_session', planted)
    await victim.send('POST', '/session', { email, password: PASSWORD })
    assert.notEqual(victim.cookie('tributary_session'), planted)
    assert.equal((await attacker.send('GET', '/session')).status, 401)
  })

  test('are listed, and ended one by one or all others at once', async () => {
    const { email } = await console.person()
    const [here, there, third] = [
      await console.signedIn(email),
      await console.signedIn(email),
      await console.signedIn(email),
    ]
    const { json } = await here.send('GET', '/profile/sessions')
    assert.equal(json.data.length, 3)
    assert.deepEqual(json.data.map((one: { current: boolean }) => one.current).sort(), [
      false,
      false,
      true,
    ])
    assert.ok(!JSON.stringify(json).includes(there.cookie('tributary_session') ?? 'none'))
    const own = await there.send('GET', '/profile/sessions')
    const id = own.json.data.find((one: { current: boolean }) => one.current).id
    const stranger = await console.signedIn((await console.person()).email)
    assert.equal((await stranger.send('DELETE', `/profile/sessions/${id}`)).status, 404)
    assert.equal((await here.send('DELETE', `/profile/sessions/${id}`)).status, 204)
    assert.equal((await there.send('GET', '/session')).status, 401)
    assert.equal((await here.send('DELETE', '/profile/sessions')).status, 204)
    assert.equal((await third.send('GET', '/session')).status, 401)
    assert.equal((await here.send('GET', '/session')).status, 200)
  })

  test('end at the sign-out, on the server too', async () => {
    const browser = await console.signedIn((await console.person()).email)
    const token = browser.cookie('tributary_session') ?? ''
    assert.equal((await browser.send('DELETE', '/session')).status, 204)
    assert.equal(browser.cookie('tributary_session'), undefined)
    browser.setCookie('tributary_session', token)
    assert.equal((await browser.send('GET', '/session')).status, 401)
  })

  test('end at once when an operator locks the person out', async () => {
    const { id, email } = await console.person()
    const browser = await console.signedIn(email)
    await console.sql`update person set disabled_at = now() where id = ${id}`
    assert.equal((await browser.send('GET', '/session')).status, 401)
  })

  test('a step-up lasts ten minutes', async () => {
    const { id, email } = await console.person()
    const browser = await console.signedIn(email)
    await console.sql`update console_session set stepped_up_until = now() where person_id = ${id}`
    assert.equal((await browser.send('POST', '/profile/totp')).json.type, 'step_up_required')
    const wrong = await browser.send('POST', '/session/step-up', { password: 'wrong wrong wrong' })
    assert.equal(wrong.status, 401)
    assert.equal((await browser.send('POST', '/profile/totp')).status, 403)
    const right = await browser.send('POST', '/session/step-up', { password: PASSWORD })
    const minutes = (Date.parse(right.json.stepped_up_until) - Date.now()) / 60_000
    assert.ok(minutes > 9 && minutes < 11, String(minutes))
    assert.equal((await browser.send('POST', '/profile/totp')).status, 200)
  })

  test('https cookies are bound to the host and secure', async () => {
    const secure = await startConsole({
      baseUrl: () => 'https://console.example.com',
      isBaseUrlFixed: true,
    })
    try {
      const { email } = await secure.person()
      const browser = secure.browser()
      const { headers } = await browser.send('POST', '/session', { email, password: PASSWORD })
      assert.match(
        headers.getSetCookie()[0] ?? '',
        /^__Host-tributary_session=\w{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax; Secure$/,
      )
      assert.equal((await browser.send('GET', '/session')).status, 200)
    } finally {
      await secure.stop()
    }
  })
})
