import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { list, rawPost, simulated } from './support.ts'

const sim = simulated()
const BODY = '{"task_id":"t1"}'

function signed(secret: string, timestamp = Math.floor(Date.now() / 1000)) {
  const digest = createHmac('sha256', secret).update(`${timestamp}.${BODY}`).digest('hex')
  return {
    'content-type': 'application/json',
    'x-service-timestamp': String(timestamp),
    'x-service-signature': `sha256=${digest}`,
  }
}

test('it keeps requests by path', async () => {
  await sim.post('/receiver/one', {}, BODY)
  await sim.post('/receiver/two', {}, BODY)
  const { json } = await sim.get('/receiver/log?path=/one')
  assert.deepEqual(
    list(json.entries).map(({ path, body }) => [path, body]),
    [['/one', BODY]],
  )
  await sim.get('/receiver/log', {}, 'DELETE')
  assert.deepEqual(list((await sim.get('/receiver/log')).json.entries), [])
})

test('it checks signatures against the secret of the address', async () => {
  const path = '/receiver/signed?secret=whsec_a'
  assert.equal((await sim.post(path, signed('whsec_a'), BODY)).status, 200)
  assert.equal((await sim.post(path, signed('whsec_b'), BODY)).status, 401)
  const old = signed('whsec_a', Math.floor(Date.now() / 1000) - 600)
  assert.equal((await sim.post(path, old, BODY)).status, 401)
  const { json } = await sim.get('/receiver/log?path=/signed')
  assert.deepEqual(
    list(json.entries).map((entry) => entry.signed),
    [true, false, false],
  )
})

test('it fails as often as each address says', async () => {
  const statuses = async (name: string) => {
    const seen = []
    for (let count = 0; count < 3; count += 1) {
      const path = `/receiver/${name}?sim=status=503;times=2`
      seen.push((await sim.post(path, {}, BODY)).status)
    }
    return seen
  }
  assert.deepEqual(await statuses('first'), [503, 503, 200])
  assert.deepEqual(await statuses('second'), [503, 503, 200])
  assert.equal(list((await sim.get('/receiver/log?path=/first')).json.entries).length, 3)
})

test('it redirects, resets, and sends far too much', async () => {
  const url = `${sim.url}/receiver/x`
  const redirect = await fetch(`${url}?sim=redirect=http://127.0.0.1:1/`, {
    method: 'POST',
    body: BODY,
    redirect: 'manual',
  })
  assert.deepEqual(
    [redirect.status, redirect.headers.get('location')],
    [307, 'http://127.0.0.1:1/'],
  )
  const long = await fetch(`${url}?sim=body-bytes=5000000`, { method: 'POST', body: BODY })
  assert.equal((await long.arrayBuffer()).byteLength, 5_000_000)
  const bomb = await fetch(`${url}?sim=gzip-bomb=8`, { method: 'POST', body: BODY })
  assert.ok(Number(bomb.headers.get('content-length')) < 20_000)
  assert.equal((await bomb.arrayBuffer()).byteLength, 8 * 1024 * 1024)
  await assert.rejects(fetch(`${url}?sim=reset-before-head`, { method: 'POST', body: BODY }))
  assert.equal((await rawPost(url, {}, { a: 1 })).ending, 'complete')
})
