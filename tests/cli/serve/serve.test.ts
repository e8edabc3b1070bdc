/** `serve` as a real process: from nothing to an answer, and to a clean end. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { runProgram, runWith } from '../support.ts'
import { readDemo, start } from './running.ts'

test('serve: demo mode answers a paid call, commands join it, SIGTERM ends it with 0', async (t) => {
  const running = start(t, {}, '--port', '0')
  const demo = await readDemo(running)
  assert.equal(
    statSync(join(String(running.environment.DATA_DIR), 'demo.json')).mode & 0o777,
    0o600,
  )
  const answer = await fetch(`${demo.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${demo.api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sim-chat', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  assert.equal(answer.status, 200, await answer.text())
  const entered = await fetch(`${demo.base_url}/admin/v1/session`, {
    method: 'POST',
    headers: { 'x-tributary-console': '1', 'content-type': 'application/json' },
    body: JSON.stringify({ email: demo.console.email, password: demo.console.password }),
  })
  assert.deepEqual(await entered.json(), { status: 'signed_in', methods: [] })
  assert.equal(demo.console.url, `${demo.base_url}/console/`)
  const list = ['usage', 'list', '--account', demo.account_id, '--json']
  const { out, err } = await runWith(running.environment, list)
  const [record] = JSON.parse(out || err)
  assert.equal(record.model, 'sim-chat')
  assert.notEqual(record.charged, '0')
  assert.equal((await runWith(running.environment, ['audit'])).code, 0)
  running.child.kill('SIGTERM')
  assert.equal(await running.ended, 0)
  assert.match(running.said(), /^configured: PORT=0 .*; `tributary config` lists/)
  const { SECRET_KEY: _none, ...rest } = running.environment
  const after = await runWith(rest, ['account', 'list', '--json'])
  assert.equal(JSON.parse(after.out)[0].id, demo.account_id)
})

test('serve: continues after the reader of its log has exited', async (t) => {
  const running = start(t, { LOG_LEVEL: 'debug' }, '--port', '0')
  const demo = await readDemo(running)
  running.child.stdout?.destroy()
  for (let request = 0; request < 3; request += 1) {
    assert.equal((await fetch(`${demo.base_url}/healthz`)).status, 200)
  }
  running.child.kill('SIGTERM')
  assert.equal(await running.ended, 0)
})

test('serve: SIGTERM before the start is through ends it in order all the same', async (t) => {
  const running = start(t, {}, '--port', '0')
  // Written while it answers already, and before the rest of it is up.
  await readDemo(running)
  running.child.kill('SIGTERM')
  assert.equal(await running.ended, 0, running.said())
  const lock = join(String(running.environment.DATA_DIR), 'postgres', 'postmaster.pid')
  assert.equal(existsSync(lock), false, 'its database has ended with it')
})

test('serve: a refused start prints one line and exits with 1', async (t) => {
  const running = start(t, { PORT: 'eighty' })
  assert.equal(await running.ended, 1)
  assert.match(running.said(), /^tributary: PORT: must be a whole number from 0 to 65535\n$/)
  const wrong = await runProgram(running.environment, ['serve', '--role', 'boss'])
  assert.equal(wrong.code, 2)
})

test('serve: exits with 1 if a port is taken, at any point of the start', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.after(() => other.close())
  const address = other.address()
  assert.ok(typeof address === 'object' && address)
  const running = start(t, {}, '--port', String(address.port))
  assert.equal(await running.ended, 1)
  assert.match(running.said(), /port \d+ on 127\.0\.0\.1 is taken: stop what listens there/)
})
