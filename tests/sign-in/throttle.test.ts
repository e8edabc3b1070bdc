import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createThrottle } from '../../server/api/sign-in/rates/throttle.ts'
import { returnAttempt, takeOne } from '../../server/api/sign-in/rates/throttle-store.ts'
import { type ConsoleUnderTest, PASSWORD, startConsole } from './support.ts'

const WRONG = 'certainly not the right one'
/** One network address for each: the proxy in front is believed. */
const from = (address: string) => ({ 'x-forwarded-for': address })

describe('guessing passwords', () => {
  let console: ConsoleUnderTest
  before(async () => {
    console = await startConsole({ trustedProxies: ['127.0.0.1'] })
  })
  after(() => console.stop())

  test('1,000 logins against one account: 20 at most are compared, others sign in', async () => {
    const { email } = await console.person()
    const other = await console.person()
    const before = console.derivations()
    const browser = console.browser()
    const statuses = new Map<number, number>()
    let sent = 0
    const guess = async () => {
      while (sent < 1_000) {
        sent += 1
        const headers = from(`10.${sent >> 16}.${(sent >> 8) & 255}.${sent & 255}`)
        const body = { email, password: `${WRONG} ${sent}` }
        const { status } = await browser.send('POST', '/session', body, headers)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }
    const others = async () => {
      for (let time = 0; time < 20; time += 1) {
        const body = { email: other.email, password: PASSWORD }
        const answer = await console
          .browser()
          .send('POST', '/session', body, from(`192.168.1.${time}`))
        assert.equal(answer.status, 200)
      }
    }
    await Promise.all([...Array.from({ length: 40 }, guess), others()])
    const compared = console.derivations() - before - 20
    assert.ok(compared <= 20, `${compared} compared`)
    assert.equal(statuses.get(401), compared)
    assert.equal(statuses.get(429), 1_000 - compared)
    const right = await browser.send('POST', '/session', { email, password: PASSWORD })
    assert.equal(right.status, 429)
    assert.ok(Number(right.headers.get('retry-after')) > 0)
    const [log] = await console.sql<{ rows: number }[]>`
      select count(*)::int as rows from audit_log where action = 'sign-in failed'`
    assert.equal(log?.rows, compared)
  })

  test('an address that tries many names runs out as well', async () => {
    const before = console.derivations()
    const begun = performance.now()
    for (let guess = 0; guess < 70; guess += 1) {
      const body = { email: `unknown${guess}@example.com`, password: WRONG }
      await console.browser().send('POST', '/session', body, from('203.0.113.7'))
    }
    const compared = console.derivations() - before
    // One is restored every ten seconds.
    const restored = Math.ceil((performance.now() - begun) / 10_000)
    assert.ok(compared >= 50 && compared <= 50 + restored, String(compared))
  })

  test('frequent successful sign-ins are not limited', async () => {
    const { email } = await console.person()
    for (let time = 0; time < 30; time += 1) await console.signedIn(email)
  })

  test('guesses of others do not prevent a step-up', async () => {
    const { email } = await console.person()
    const browser = await console.signedIn(email)
    for (let guess = 0; guess < 12; guess += 1) {
      const body = { email, password: WRONG }
      await console.browser().send('POST', '/session', body, from(`198.51.100.${guess}`))
    }
    const proof = await browser.send('POST', '/session/step-up', { password: PASSWORD })
    assert.equal(proof.status, 200)
    const statuses: number[] = []
    for (let guess = 0; guess < 12; guess += 1) {
      const headers = from(`198.51.100.${100 + guess}`)
      const body = { password: WRONG }
      statuses.push((await browser.send('POST', '/session/step-up', body, headers)).status)
    }
    assert.deepEqual(statuses.slice(9), [401, 429, 429])
  })

  test('a large body without a session is not read', async () => {
    const body = { email: 'a@example.com', password: 'x'.repeat(70_000) }
    assert.equal((await console.browser().send('POST', '/session', body)).status, 413)
  })

  test('guesses of second factors are limited as well', async () => {
    const { id, email } = await console.person()
    const browser = await console.signedIn(email)
    await browser.send('POST', '/profile/totp')
    await console.sql`update person set totp_secret = totp_pending where id = ${id}`
    const next = console.browser()
    await next.send('POST', '/session', { email, password: PASSWORD })
    const statuses: number[] = []
    for (let guess = 0; guess < 15; guess += 1) {
      const { status } = await next.send('POST', '/session/second-factor', { code: 'no code' })
      statuses.push(status)
    }
    assert.equal(statuses.filter((status) => status === 401).length, 10)
    assert.equal(statuses.filter((status) => status === 429).length, 5)
  })
})

describe('a rate in the database', () => {
  let console: ConsoleUnderTest
  const rate = { burst: 10, everySeconds: 90 }
  before(async () => {
    console = await startConsole()
  })
  after(() => console.stop())

  test('gives 20 in any 15 minutes, for all gateways together', async () => {
    const { sql } = console
    let taken = 0
    for (let seconds = 0; seconds < 900; seconds += 15) {
      while ((await takeOne(sql, 'k', rate)) === undefined) taken += 1
      await sql`update throttle set full_at = full_at - interval '15 seconds' where key = 'k'`
    }
    // The last one is fifteen seconds away, which a busy machine may take.
    assert.ok(taken === 19 || taken === 20, String(taken))
  })

  test('of invitations: does not speak of signing in', async () => {
    const throttle = createThrottle(console.sql, () => 0)
    const takeMany = async () => {
      for (let count = 0; count < 60; count += 1) await throttle.take('invitation', 'kim')
    }
    await assert.rejects(takeMany, /^GatewayError: too many invitations by mail: try again later$/)
  })

  test('states the time to wait, and takes attempts back', async () => {
    for (let time = 0; time < 10; time += 1) await takeOne(console.sql, 'again', rate)
    const wait = (await takeOne(console.sql, 'again', rate)) ?? 0
    assert.ok(wait > 45 && wait <= 90, String(wait))
    await returnAttempt(console.sql, 'again', rate)
    assert.equal(await takeOne(console.sql, 'again', rate), undefined)
  })
})
