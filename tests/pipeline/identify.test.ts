/** Several callers on one connection, as behind a proxy. */
import assert from 'node:assert/strict'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { createContext } from '../../server/base/http/context.ts'
import { GatewayError } from '../../server/base/lib/errors.ts'
import { createApiKey, presentKey } from '../../server/base/lib/secrets/api-key.ts'
import { identify } from '../../server/work/pipeline/request/identify.ts'
import { testMemory } from '../support/memory.ts'

/** Each key belongs to its own account. */
const accounts = {
  async identify({ name }: { readonly name: string }) {
    return { caller: { accountId: name, keyId: name } as never }
  },
}
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
let connections = 0

const server = createServer(async (incoming, response) => {
  const route = {
    path: '/',
    pattern: '/',
    query: new URLSearchParams(),
    params: {},
    envelope: 'nested' as const,
  }
  try {
    const context = createContext(incoming, response, route, testMemory())
    const caller = await identify(context, {
      accounts,
      addresses: { of: () => '' },
      whileAway: (_context, attempt) => attempt(),
    })
    response.end(caller.accountId)
  } catch (error) {
    assert.ok(error instanceof GatewayError)
    response.end(error.message.endsWith('without quotes') ? 'in another form' : error.row)
  }
}).on('connection', () => {
  connections += 1
})

before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
after(() => {
  agent.destroy()
  server.close()
})

function identifyBy(headers: Record<string, string> | readonly string[]): Promise<string> {
  const { port } = server.address() as AddressInfo
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, agent, headers }, async (answer) => {
      resolve(await readText(answer))
    })
      .on('error', reject)
      .end()
  })
}

test('each request on a connection is identified by its own key, in either header', async () => {
  const [first, second] = [createApiKey(), createApiKey()]
  const [one, other] = [presentKey(first).name, presentKey(second).name]
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
  assert.equal(await identifyBy(bearer(first)), one)
  assert.equal(await identifyBy(bearer(first)), one)
  assert.equal(await identifyBy(bearer(second)), other)
  assert.equal(await identifyBy({}), 'unauthenticated')
  assert.equal(await identifyBy(bearer(first)), one)
  assert.equal(await identifyBy({ 'x-api-key': second }), other)
  assert.equal(await identifyBy({ ...bearer(second), 'x-api-key': second }), other)
  assert.equal(await identifyBy({ ...bearer(first), 'x-api-key': second }), 'unauthenticated')
  assert.equal(await identifyBy({ ...bearer('nonsense'), 'x-api-key': '' }), 'unauthenticated')
  assert.equal(connections, 1)
})

test('a request with different credentials is refused, however it names them', async () => {
  const [first, second] = [createApiKey(), createApiKey()]
  const { name } = presentKey(first)
  const bearer = (key: string) => ['Authorization', `Bearer ${key}`]
  const host = ['Host', 'tributary']
  assert.equal(await identifyBy([...host, ...bearer(first)]), name)
  const others: readonly string[][] = [
    bearer(second),
    ['AUTHORIZATION', 'Basic dXNlcjpzZWNyZXQ='],
    ['x-api-key', second],
    ['x-goog-api-key', second],
  ]
  for (const other of others) {
    const both = [...host, ...bearer(first), ...other]
    assert.equal(await identifyBy(both), 'unauthenticated', other.join(': '))
    assert.equal(await identifyBy([...host, ...other, ...bearer(first)]), 'unauthenticated')
    // As on a connection whose last request had one of them.
    assert.equal(await identifyBy([...host, ...bearer(first)]), name)
    assert.equal(await identifyBy(both), 'unauthenticated', other.join(': '))
  }
  const same = [...bearer(first), 'x-api-key', first, 'x-goog-api-key', first]
  assert.equal(await identifyBy([...host, ...bearer(first), ...same]), name)
  assert.equal(connections, 1)
})

test('a key in another form is refused with how to send it, anything else with no hint', async () => {
  const key = createApiKey()
  const forms: readonly Record<string, string>[] = [
    { authorization: key },
    { authorization: `Bearer "${key}"` },
    { authorization: `Bearer Bearer ${key}` },
    { 'x-api-key': `'${key}'` },
    { 'api-key': key },
  ]
  for (const headers of forms) {
    assert.equal(await identifyBy(headers), 'in another form', JSON.stringify(headers))
  }
  for (const authorization of [
    `Bearer ${key}x`,
    `"tr-${'0'.repeat(49)}"`,
    'Bearer sk-1',
    'Bearer ',
  ]) {
    assert.equal(await identifyBy({ authorization }), 'unauthenticated', authorization)
  }
})
