import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { rekeyTotp } from '../../server/api/sign-in/factors/factors.ts'
import { createPasswords } from '../../server/api/sign-in/password-hashes.ts'
import { invite } from '../../server/api/sign-in/people/links.ts'
import { createAccessToken } from '../../server/api/sign-in/tokens/access-tokens.ts'
import { createSecretBox, type SecretBox } from '../../server/base/lib/secrets/secrets.ts'
import { stepOf, totpCode } from './authenticator-app.ts'
import { type ConsoleUnderTest, PASSWORD, startConsole } from './support.ts'

describe('credentials of a person', () => {
  let console: ConsoleUnderTest
  before(async () => {
    console = await startConsole()
  })
  after(() => console.stop())

  async function dump(): Promise<string> {
    const tables = await console.sql<{ name: string }[]>`
      select tablename as name from pg_tables where schemaname = 'public'`
    const parts: string[] = []
    for (const { name } of tables) {
      const rows = await console.sql`select t::text as row from ${console.sql(name)} t`
      parts.push(...rows.map(({ row }) => String(row)))
    }
    return parts.join('\n')
  }

  test('are in no table in plain text', async () => {
    const { email } = await console.person()
    const browser = await console.signedIn(email)
    await console.browser().send('POST', '/session', { email, password: 'typed by mistake 1' })
    const atLogin = { email: 'secret-as@address.example', password: PASSWORD }
    await console.browser().send('POST', '/session', atLogin)
    const { secret } = (await browser.send('POST', '/profile/totp')).json
    const code = totpCode(secret, stepOf(Date.now()))
    const { recovery_codes } = (await browser.send('POST', '/profile/totp/confirm', { code })).json
    const next = console.browser()
    await next.send('POST', '/session', { email, password: PASSWORD })
    const invited = await invite(console.signIn.parts, {
      email: 'guest@example.com',
      to: 'operators',
      createdBy: 'test',
    })
    const { id: personId } = await console.person({ isOperator: true })
    const { token } = await createAccessToken(console.sql, {
      personId,
      name: 'x',
      scope: 'write',
      isSensitive: true,
      createdBy: personId,
      expiresAt: undefined,
    })
    const canaries = [
      token,
      token.slice(4),
      PASSWORD,
      'typed by mistake 1',
      'secret-as@address.example',
      secret,
      ...recovery_codes,
      ...recovery_codes.map((one: string) => one.replaceAll('-', '')),
      browser.cookie('tributary_session'),
      next.cookie('tributary_step'),
      invited.link.split('token=')[1],
    ]
    const text = await dump()
    assert.ok(text.includes(email), 'the dump has rows')
    for (const canary of canaries) {
      assert.ok(canary && !text.includes(canary), canary)
      const hex = Buffer.from(canary).toString('hex')
      assert.ok(!text.includes(hex), `${canary} as bytes`)
    }
  })

  test('the audit log has successful and failed sign-ins, and cannot be changed', async () => {
    const { id, email } = await console.person()
    await console.browser().send('POST', '/session', { email, password: 'not the right one' })
    await console.signedIn(email)
    const rows = await console.sql<{ actor: string | null; action: string; ip: string }[]>`
      select actor, action, ip from audit_log
      where actor = ${id} or target = ${id} order by id`
    assert.deepEqual(
      [...rows],
      [
        { actor: null, action: 'sign-in failed', ip: '127.0.0.1' },
        { actor: id, action: 'sign-in', ip: '127.0.0.1' },
      ],
    )
    await assert.rejects(console.sql`update audit_log set actor = 'x'`, /append-only/)
    await assert.rejects(console.sql`delete from audit_log`, /append-only/)
    await assert.rejects(console.sql`truncate audit_log`, /append-only/)
  })

  test('an authenticator’s secret is sealed again with a new key', async () => {
    const { id, email } = await console.person()
    await (await console.signedIn(email)).send('POST', '/profile/totp')
    const old = 'a-secret-key-that-only-tests-would-ever-use'
    const both = createSecretBox(['a-newer-secret-key-that-only-tests-would-use', old])
    const rekey = (box: SecretBox) =>
      console.sql.begin((transaction) => rekeyTotp(transaction, box))
    const first = await rekey(both)
    assert.ok(first.changed >= 1)
    assert.equal((await rekey(both)).changed, 0)
    const [row] = await console.sql<{ totp_pending: Buffer }[]>`
      select totp_pending from person where id = ${id}`
    const fresh = createSecretBox(['a-newer-secret-key-that-only-tests-would-use'])
    const pending = fresh.open(row?.totp_pending ?? Buffer.alloc(0), `totp:${id}`)
    assert.match(pending, /^[A-Z2-7]{32}:ses_\w+$/, 'the secret, and the session that it is for')
    await rekey(createSecretBox([old, 'a-newer-secret-key-that-only-tests-would-use']))
  })
})

describe('hashes of passwords', () => {
  test('are argon2id with its costs, and only the right password fits', async () => {
    const passwords = createPasswords()
    const hash = await passwords.hash(PASSWORD)
    assert.match(hash, /^\$argon2id\$v=19\$m=65536,t=3,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
    assert.notEqual(hash, await passwords.hash(PASSWORD))
    assert.deepEqual(await passwords.verify(PASSWORD, hash), { isRight: true, isStale: false })
    assert.equal((await passwords.verify(`${PASSWORD} `, hash)).isRight, false)
    assert.equal((await passwords.verify(PASSWORD, null)).isRight, false)
  })

  test('of lower costs are still read, and known to be old', async () => {
    // Made with the reference implementation's parameters of another time.
    const passwords = createPasswords(async (_password, _salt, { memoryKb, passes, parallelism }) =>
      Buffer.alloc(32, `${memoryKb},${passes},${parallelism}`),
    )
    const bytes = Buffer.alloc(32, '1024,1,1').toString('base64').replace(/=+$/, '')
    const old = `$argon2id$v=19$m=1024,t=1,p=1$${'A'.repeat(22)}$${bytes}`
    assert.deepEqual(await passwords.verify('any', old), { isRight: true, isStale: true })
  })

  test('at most two are derived at once, and a full queue refuses further ones', async () => {
    let running = 0
    let most = 0
    const passwords = createPasswords(async () => {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      return Buffer.alloc(32)
    })
    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, () => passwords.verify('any', null)),
    )
    assert.equal(most, 2)
    const refused = outcomes.filter(({ status }) => status === 'rejected')
    assert.equal(refused.length, 58)
    assert.equal((await passwords.verify('any', null)).isRight, false)
  })
})
