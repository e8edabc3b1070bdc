/** Keys and accounts that may be used from some networks only, behind a proxy that is trusted. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, test } from 'node:test'
import { WebSocket } from 'ws'
import { createApiKey } from '../../../server/base/lib/secrets/api-key.ts'
import {
  setAccountAllowedIps,
  setAccountStatus,
} from '../../../server/money/accounts/manage-accounts.ts'
import { changeKey, rotateKey, setKeyDisabled } from '../../../server/money/accounts/manage-keys.ts'
import { createPlaygroundKey } from '../../../server/money/accounts/playground-key.ts'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'

const CHAT = '/v1/chat/completions'
const NETWORKS = ['203.0.113.0/24', '2001:db8::/32']
const body = { model: 'sim-chat', max_tokens: 16, messages: [{ role: 'user', content: 'hi' }] }
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway({ TRUSTED_PROXIES: '127.0.0.1' })
})
after(() => gateway.stop())

const from = (address: string) => ({ 'x-forwarded-for': address })
const ask = async (key: string, address: string) =>
  (await gateway.post(CHAT, key, body, from(address))).status
/** A change of a key is known by notification, and by age if that is lost. */
const known = (key: string, address: string, status: number) =>
  until(`${status} from ${address}`, async () => (await ask(key, address)) === status || undefined)

test('a call is made from the networks of its key, and refused from all others', async () => {
  const { key, accountId } = await gateway.tenant({ key: { allowedIps: NETWORKS } })
  for (const address of ['203.0.113.9', '::ffff:203.0.113.9', '2001:db8:7::1']) {
    assert.equal(await ask(key, address), 200, address)
  }
  const forged = ['198.51.100.1', '203.0.113.9, 198.51.100.1', '203.0.113.9, rubbish']
  for (const address of [...forged, '', '::ffff:198.51.100.1', '2001:db9::1', '203.0.114.1']) {
    assert.equal(await ask(key, address), 403, address)
  }
  const { json } = await gateway.post(CHAT, key, body, from('198.51.100.1'))
  assert.equal(json.error.code, 'address_not_allowed')
  assert.equal(json.error.message, 'calls from 198.51.100.1 are not allowed')
  const messages = await gateway.post('/v1/messages', key, body, from('198.51.100.1'))
  assert.deepEqual([messages.status, messages.json.type], [403, 'permission_error'])
  const [calls] = await gateway.sql`
    select count(*)::int as count from call where account_id = ${accountId}`
  assert.equal(calls?.count, 3, 'a refused call has no hold and no record')
})

test('every other way in is closed too', async () => {
  const { key, accountId } = await gateway.tenant()
  await setAccountAllowedIps(gateway.sql, accountId, NETWORKS)
  const playground = await createPlaygroundKey(gateway.sql, accountId, 'usr_1')
  assert.ok(playground)
  const outside = from('198.51.100.1')
  for (const credential of [key, playground.key]) {
    const paths = ['/v1/models', '/v1/balance', '/v1/usage', '/v1/files', '/v1/usage/req_1']
    for (const path of paths) {
      const { status } = await gateway.fetch(path, { key: credential, headers: outside })
      assert.equal(status, 403, path)
      const inside = await gateway.fetch(path, { key: credential, headers: from('203.0.113.9') })
      assert.ok([200, 404].includes(inside.status), `${path} ${inside.status}`)
    }
    const form = new FormData()
    form.set('file', new Blob(['x']), 'x.wav')
    const upload = { method: 'POST', body: form, key: credential, headers: outside }
    assert.equal((await gateway.fetch('/v1/files', upload)).status, 403)
  }
  const header = { 'x-api-key': key, ...outside }
  assert.equal((await gateway.fetch('/v1/models', { headers: header })).status, 403)
})

test('a WebSocket is refused, and each message of one that is open is decided again', async () => {
  const { key, keyId } = await gateway.tenant({ key: { allowedIps: NETWORKS } })
  const open = (address: string) => {
    const headers = { authorization: `Bearer ${key}`, ...from(address) }
    return new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/responses`, { headers })
  }
  const refused = await new Promise<number>((resolve, reject) => {
    const socket = open('198.51.100.1').on('open', () => reject(new Error('open')))
    socket.on('error', () => undefined)
    socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode ?? 0))
  })
  assert.equal(refused, 403)
  const socket = open('203.0.113.9')
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject))
  await changeKey(gateway.sql, keyId, { allowedIps: ['192.0.2.0/24'] })
  await known(key, '203.0.113.9', 403)
  const answer = new Promise<string>((resolve) =>
    socket.once('message', (data) => resolve(`${data}`)),
  )
  socket.send(JSON.stringify({ type: 'response.create', model: 'sim-chat', input: 'hi' }))
  assert.match(await answer, /address_not_allowed/)
  socket.terminate()
})

test('it is decided before the body is read', async () => {
  const { key } = await gateway.tenant({ key: { allowedIps: NETWORKS } })
  const status = await new Promise<number>((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-length': '1000000' }
    const type = { 'content-type': 'application/json', ...from('198.51.100.1') }
    const sent = request(gateway.url + CHAT, { method: 'POST', headers: { ...headers, ...type } })
    sent.on('error', reject).on('response', (response) => {
      resolve(response.statusCode ?? 0)
      sent.destroy()
    })
    sent.flushHeaders()
  })
  assert.equal(status, 403)
})

test('the account’s networks apply besides the key’s, and a rotation keeps them', async () => {
  const { key, keyId, accountId } = await gateway.tenant({ key: { allowedIps: NETWORKS } })
  await setAccountAllowedIps(gateway.sql, accountId, ['203.0.113.8/29', '192.0.2.0/24'])
  await known(key, '203.0.113.200', 403)
  assert.deepEqual([await ask(key, '203.0.113.9'), await ask(key, '192.0.2.1')], [200, 403])
  const { created } = await rotateKey(gateway.sql, keyId, 60)
  assert.deepEqual(created.allowed_ips, NETWORKS)
  assert.deepEqual(
    [await ask(created.key, '203.0.113.9'), await ask(created.key, '8.8.8.8')],
    [200, 403],
  )
  await setAccountAllowedIps(gateway.sql, accountId, [])
  await changeKey(gateway.sql, keyId, { allowedIps: [] })
  await known(key, '8.8.8.8', 200)
})

test('from elsewhere, nothing tells the state of a key', async () => {
  const { key, keyId, accountId } = await gateway.tenant({ key: { allowedIps: NETWORKS } })
  const refusal = async (credential: string) => {
    const { status, json } = await gateway.post(CHAT, credential, body, from('198.51.100.1'))
    return [status, json.error.message]
  }
  const active = await refusal(key)
  await setAccountStatus(gateway.sql, accountId, 'suspended')
  await until(
    'a suspended account',
    async () => (await ask(key, '203.0.113.9')) === 403 || undefined,
  )
  assert.deepEqual(await refusal(key), active)
  await setKeyDisabled(gateway.sql, keyId, true)
  await known(key, '198.51.100.1', 401)
  assert.deepEqual(await refusal(key), await refusal(createApiKey()))
})
