import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestGateway } from '../support/in-process.ts'

test('a gateway without users offers a link that creates its operator', async () => {
  const gateway = await startTestGateway()
  try {
    const link = new URL(gateway.gateway.setUpLink ?? '')
    assert.equal(link.origin, gateway.url)
    assert.equal(link.pathname, '/console/setup')
    const send = (method: string, path: string, body?: object, cookie = '') =>
      fetch(`${gateway.url}/admin/v1${path}`, {
        method,
        headers: {
          'x-tributary-console': '1',
          origin: gateway.url,
          cookie,
          ...(body ? { 'content-type': 'application/json' } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
    const token = new URLSearchParams(link.hash.slice(1)).get('token')
    const person = { email: 'root@example.com', name: 'Root', password: 'nine purple elephants' }
    const made = await send('POST', '/session/set-up', { ...person, token })
    assert.equal(made.status, 200, await made.text())
    const cookie = made.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const me = await send('GET', '/session', undefined, cookie)
    const { user, second_factor } = (await me.json()) as {
      user: { operator: boolean }
      second_factor: { missing: boolean }
    }
    assert.deepEqual([user.operator, second_factor.missing], [true, true])
    assert.equal((await send('GET', '/operator/accounts', undefined, cookie)).status, 200)
    const refused = await send('POST', '/operator/invitations', { email: 'x@y.example' }, cookie)
    assert.equal(((await refused.json()) as { type: string }).type, 'second_factor_required')
    assert.equal((await send('GET', '/session')).status, 401)
  } finally {
    await gateway.stop()
  }
})
