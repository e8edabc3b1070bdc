/** Two gateways on one database: a token that is revoked at one is invalid at the other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../../server/api/config/config.ts'
import { createPasswords } from '../../server/api/sign-in/password-hashes.ts'
import { createPerson } from '../../server/api/sign-in/people/people.ts'
import { createAccessToken } from '../../server/api/sign-in/tokens/access-tokens.ts'
import { type Gateway, serve } from '../../server/main.ts'
import { createTestDatabase } from '../support/postgres.ts'

const PASSWORD = 'a river runs through 7 hills'
const SECRET_KEY = 'a-secret-key-that-only-tests-would-ever-use'

function start(url: string): Promise<Gateway> {
  return serve(
    loadConfig({
      DATABASE_URL: url,
      SECRET_KEY,
      PORT: '0',
      HOST: '127.0.0.1',
      METRICS_PORT: '0',
      LOG_LEVEL: 'silent',
    }),
  )
}

test('a token revoked at one gateway is refused at the other at once', async (t) => {
  const database = await createTestDatabase()
  const { sql } = database
  const first = await start(database.url)
  const second = await start(database.url)
  t.after(async () => {
    await Promise.all([first.stop({ drainMs: 2_000 }), second.stop({ drainMs: 2_000 })])
    await database.drop()
  })
  const { id, email } = await createPerson(
    { sql, passwords: createPasswords() },
    { email: 'kim@example.com', name: 'Kim', isOperator: true, password: PASSWORD },
  )
  const made = await createAccessToken(sql, {
    personId: id,
    name: 'x',
    scope: 'read',
    isSensitive: false,
    createdBy: id,
    expiresAt: undefined,
  })
  const statuses = () =>
    Promise.all(
      [first, second].map(async ({ url }) => {
        const headers = { authorization: `Bearer ${made.token}` }
        return (await fetch(`${url}/admin/v1/operator/accounts`, { headers })).status
      }),
    )
  assert.deepEqual(await statuses(), [200, 200])

  const own = { 'x-tributary-console': '1', 'content-type': 'application/json' }
  const signedIn = await fetch(`${second.url}/admin/v1/session`, {
    method: 'POST',
    headers: own,
    body: JSON.stringify({ email, password: PASSWORD }),
  })
  const cookie = signedIn.headers.getSetCookie().map((line) => line.split(';')[0])
  const revoked = await fetch(`${second.url}/admin/v1/operator/tokens/${made.id}`, {
    method: 'DELETE',
    headers: { ...own, cookie: cookie.join('; ') },
  })
  assert.equal(revoked.status, 204)
  assert.deepEqual(await statuses(), [401, 401])
})
