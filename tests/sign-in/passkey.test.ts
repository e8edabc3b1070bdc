import assert from 'node:assert/strict'
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { untilWaiting } from '../support/database/lock-account.ts'
import { type Authenticator, type Ceremony, createAuthenticator } from './authenticator.ts'
import { type Browser, type ConsoleUnderTest, PASSWORD, startConsole } from './support.ts'

interface RecordedPasskey {
  readonly kind: 'es256' | 'ed25519' | 'rs256'
  readonly credential_id: string
  readonly public_key: string
  readonly private_key: string
}

describe('passkeys', () => {
  let console: ConsoleUnderTest
  before(async () => {
    console = await startConsole()
  })
  after(() => console.stop())

  const origin = () => console.url.replace('127.0.0.1', 'localhost')
  const handle = (id: string) => Buffer.from(id).toString('base64url')

  async function add(browser: Browser, authenticator: Authenticator, lie: Partial<Ceremony> = {}) {
    const { json } = await browser.send('POST', '/profile/passkeys/options')
    const ceremony = { challenge: json.challenge, origin: origin(), domain: json.rp.id, ...lie }
    const credential = authenticator.create(ceremony)
    return browser.send('POST', '/profile/passkeys', { name: 'laptop', credential })
  }

  async function enter(
    browser: Browser,
    authenticator: Authenticator,
    lie: Partial<Ceremony> & { userHandle?: string | undefined } = {},
    place = '/session/passkey',
  ) {
    const { json } = await browser.send('POST', `${place}/options`, {})
    const ceremony = { challenge: json.challenge, origin: origin(), domain: json.rpId, ...lie }
    return browser.send('POST', place, { credential: authenticator.sign(ceremony) })
  }

  /** Creates a person with a passkey. */
  async function holder(kind: 'es256' | 'ed25519' | 'rs256' = 'es256') {
    const person = await console.person()
    const browser = await console.signedIn(person.email)
    const authenticator = createAuthenticator(kind)
    const added = await add(browser, authenticator)
    assert.equal(added.status, 200, JSON.stringify(added.json))
    return { ...person, browser, authenticator, added, userHandle: handle(person.id) }
  }

  for (const kind of ['es256', 'ed25519', 'rs256'] as const) {
    test(`signs in alone (${kind})`, async () => {
      const { email, authenticator, userHandle } = await holder(kind)
      const browser = console.browser()
      const { status, json } = await enter(browser, authenticator, { userHandle })
      assert.equal(status, 200)
      assert.deepEqual(json, { status: 'signed_in', methods: [] })
      const me = await browser.send('GET', '/session')
      assert.equal(me.json.user.email, email)
      assert.equal(me.json.second_factor.passkeys, 1)
      assert.equal(browser.cookie('tributary_step'), undefined)
    })
  }

  test('those of the version before its library keep working', async () => {
    const path = new URL('recorded-passkeys.json', import.meta.url)
    const recorded: RecordedPasskey[] = JSON.parse(readFileSync(path, 'utf8'))
    for (const { kind, credential_id, public_key, private_key } of recorded) {
      const person = await console.person()
      const id = Buffer.from(credential_id, 'base64')
      await console.sql`
        insert into passkey (id, person_id, name, credential_id, public_key, sign_count,
          transports, backed_up)
        values (${`pky_${kind}`}, ${person.id}, 'old', ${id}, ${Buffer.from(public_key, 'base64')},
          0, '{}', false)`
      const key = Buffer.from(private_key, 'base64')
      const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' })
      const pair = { privateKey, publicKey: createPublicKey(privateKey) }
      const authenticator = createAuthenticator(kind, pair, id)
      const lie = { userHandle: handle(person.id) }
      assert.equal((await enter(console.browser(), authenticator, lie)).status, 200, kind)
    }
    assert.equal(recorded.length, 3)
  })

  test('what is stored is what the version before reads', async () => {
    await holder('rs256')
    const [row] = await console.sql`
      select public_key from passkey where name = 'laptop' order by created_at desc limit 1`
    const key = createPublicKey({ key: row?.public_key, format: 'der', type: 'spki' })
    assert.equal(key.asymmetricKeyType, 'rsa')
  })

  test('the first brings recovery codes and ends other sessions', async () => {
    const { email } = await console.person()
    const [here, there] = [await console.signedIn(email), await console.signedIn(email)]
    const added = await add(here, createAuthenticator())
    assert.equal(added.json.recovery_codes.length, 10)
    assert.equal((await there.send('GET', '/session')).status, 401)
    assert.equal((await here.send('GET', '/session')).status, 200)
    assert.equal((await add(here, createAuthenticator())).json.recovery_codes, null)
  })

  test('is a second factor after a password, and for a step-up', async () => {
    const { email, authenticator, userHandle } = await holder()
    const browser = console.browser()
    const first = await browser.send('POST', '/session', { email, password: PASSWORD })
    assert.deepEqual(first.json, { status: 'second_factor', methods: ['passkey', 'recovery_code'] })
    assert.equal((await browser.send('GET', '/session')).status, 401)
    const options = await browser.send('POST', '/session/passkey/options', {})
    assert.equal(options.json.allowCredentials[0].id, authenticator.id)
    assert.equal((await enter(browser, authenticator, { userHandle })).status, 200)
    await console.sql`update console_session set stepped_up_until = now()`
    assert.equal((await browser.send('POST', '/profile/recovery-codes')).status, 403)
    const alone = await browser.send('POST', '/session/step-up', { password: PASSWORD })
    assert.equal(alone.status, 401)
    const proof = await enter(browser, authenticator, { userHandle }, '/session/step-up/passkey')
    assert.ok(Date.parse(proof.json.stepped_up_until) > Date.now())
    assert.equal((await browser.send('POST', '/profile/recovery-codes')).status, 200)
  })

  test('no false statement of a browser or an authenticator signs in', async () => {
    const { authenticator, userHandle } = await holder()
    const other = await holder()
    const lies: Readonly<Record<string, Parameters<typeof enter>[2]>> = {
      'another challenge': { challenge: Buffer.alloc(32, 7).toString('base64url') },
      'another origin': { origin: 'https://evil.example.com' },
      'another port': { origin: 'http://localhost:1' },
      'another domain': { domain: 'evil.example.com' },
      'another ceremony': { type: 'webauthn.create' },
      'inside another page': { crossOrigin: true },
      'nobody there': { flags: 0x04 },
      'nobody verified': { flags: 0x01 },
      'another person': { userHandle: other.userHandle },
      nobody: { userHandle: undefined },
    }
    for (const [name, lie] of Object.entries(lies)) {
      const answer = await enter(console.browser(), authenticator, { userHandle, ...lie })
      assert.equal(answer.status, 401, name)
      assert.equal(answer.json.error, 'this passkey was not accepted: try again', name)
    }
    const impostor = { ...createAuthenticator(), id: authenticator.id }
    const forged = createAuthenticator()
    const forgery = {
      ...forged,
      sign: (given: Ceremony) => ({ ...forged.sign(given), id: impostor.id }),
    }
    assert.equal((await enter(console.browser(), forgery, { userHandle })).status, 401)
    assert.equal((await enter(console.browser(), authenticator, { userHandle })).status, 200)
  })

  test('a response is accepted once', async () => {
    const { authenticator, userHandle } = await holder()
    const browser = console.browser()
    const { json } = await browser.send('POST', '/session/passkey/options', {})
    const step = browser.cookie('tributary_step') ?? ''
    const ceremony = { challenge: json.challenge, origin: origin(), domain: 'localhost' }
    const body = { credential: authenticator.sign({ ...ceremony, userHandle }) }
    assert.equal((await browser.send('POST', '/session/passkey', body)).status, 200)
    const thief = console.browser()
    thief.setCookie('tributary_step', step)
    assert.equal((await thief.send('POST', '/session/passkey', body)).status, 401)
  })

  test('a signature count that does not grow means a copied key', async () => {
    const { authenticator, userHandle } = await holder()
    const at = (count: number) => enter(console.browser(), authenticator, { userHandle, count })
    assert.equal((await at(5)).status, 200)
    assert.equal((await at(5)).status, 401)
    assert.equal((await at(4)).status, 401)
    assert.equal((await at(0)).status, 401)
    assert.equal((await at(6)).status, 200)
  })

  test('is not added with a false ceremony, twice, or without a challenge', async () => {
    const { email } = await console.person()
    const browser = await console.signedIn(email)
    const lies: Partial<Ceremony>[] = [
      { challenge: Buffer.alloc(32, 7).toString('base64url') },
      { origin: 'https://evil.example.com' },
      { domain: 'evil.example.com' },
      { type: 'webauthn.get' },
      { flags: 0x01 },
    ]
    for (const lie of lies) {
      assert.equal(
        (await add(browser, createAuthenticator(), lie)).status,
        400,
        JSON.stringify(lie),
      )
    }
    const attested: Required<Ceremony>['attestation'][] = [
      { fmt: 'packed', attStmt: { alg: -7, sig: Buffer.alloc(70), x5c: [Buffer.alloc(300)] } },
      { fmt: 'apple', attStmt: { x5c: [Buffer.alloc(300)] } },
      { fmt: 'none', attStmt: { alg: -7 } },
      { fmt: 'other' },
      { authData: 'x' },
    ]
    for (const attestation of attested) {
      const { status, json } = await add(browser, createAuthenticator(), { attestation })
      assert.equal(status, 400, JSON.stringify([attestation, json]))
      // Before the library asks the addresses of a certificate for its revocation.
      if ('x5c' in Object(attestation.attStmt)) assert.match(json.error, /nobody asked for/)
    }
    for (const kind of ['p384', 'rsa1024'] as const) {
      assert.equal((await add(browser, createAuthenticator(kind))).status, 400, kind)
    }
    const authenticator = createAuthenticator()
    assert.equal((await add(browser, authenticator)).status, 200)
    assert.equal((await add(browser, authenticator)).status, 409)
    const credential = authenticator.create({
      challenge: 'x',
      origin: origin(),
      domain: 'localhost',
    })
    const unasked = await browser.send('POST', '/profile/passkeys', { name: 'x', credential })
    assert.equal(unasked.status, 409)
  })

  test('is removed by its person alone; the last takes the recovery codes with it', async () => {
    const { browser, authenticator, userHandle, added } = await holder()
    const stranger = await holder()
    const path = `/profile/passkeys/${added.json.id}`
    assert.equal((await stranger.browser.send('DELETE', path)).status, 404)
    const { json } = await browser.send('GET', '/profile/passkeys')
    assert.deepEqual([json.data.length, json.data[0].name], [1, 'laptop'])
    assert.equal((await browser.send('DELETE', path)).status, 204)
    assert.equal((await enter(console.browser(), authenticator, { userHandle })).status, 401)
    const me = await browser.send('GET', '/session')
    assert.deepEqual(me.json.second_factor, {
      totp: false,
      passkeys: 0,
      recovery_codes_left: 0,
      missing: false,
    })
  })

  test('the last way to sign in is kept, also if two are removed at once', async () => {
    const { id, browser, authenticator, userHandle, added } = await holder()
    await console.sql`update person set password_hash = null where id = ${id}`
    const paths = [`/profile/passkeys/${added.json.id}`]
    assert.equal((await browser.send('DELETE', paths[0] ?? '')).status, 409)
    const second = await add(browser, createAuthenticator())
    paths.push(`/profile/passkeys/${second.json.id}`)
    const other = console.browser()
    assert.equal((await enter(other, authenticator, { userHandle })).status, 200)

    const removals = await console.sql.begin(async (transaction) => {
      await transaction`select from person where id = ${id} for update`
      const begun = [browser, other].map((each, n) => each.send('DELETE', paths[n] ?? ''))
      await untilWaiting(console.sql, 2)
      return { begun }
    })
    const answers = await Promise.all(removals.begun)
    assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 409])
    const kept = await console.sql`select from passkey where person_id = ${id}`
    assert.equal(kept.length, 1)
  })

  test('is not offered if the console has no host name', async () => {
    const bare = await startConsole({
      baseUrl: () => 'http://192.0.2.1:8080',
      isBaseUrlFixed: true,
    })
    try {
      const browser = await bare.signedIn((await bare.person()).email)
      assert.equal((await browser.send('GET', '/session')).json.passkeys_possible, false)
      assert.equal((await browser.send('POST', '/profile/passkeys/options')).status, 409)
      assert.equal((await browser.send('POST', '/session/passkey/options', {})).status, 409)
    } finally {
      await bare.stop()
    }
  })
})
