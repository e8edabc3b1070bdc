/** `serve` as a real process: from nothing to an answer, and to a clean end. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ROOT, runWith } from './support.ts'

interface Running {
  readonly child: ChildProcess
  readonly environment: NodeJS.ProcessEnv
  readonly ended: Promise<number | null>
  readonly said: () => string
}

function start(t: TestContext, settings: NodeJS.ProcessEnv, ...words: string[]): Running {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-serve-'))
  const environment = {
    ...{ PATH: process.env.PATH, HOME: folder, DATA_DIR: join(folder, 'data') },
    ...{ METRICS_PORT: '0', LOG_LEVEL: 'info', ...settings },
  }
  const script = join(ROOT, 'bin', 'tributary.ts')
  const child = spawn(process.execPath, [script, 'serve', ...words], { env: environment })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part) => {
      text += part
    })
  }
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
    // The database outlives a killed gateway: a command adopts it and stops it.
    await runWith(environment, ['migrate'])
    rmSync(folder, { recursive: true, force: true })
  })
  return { child, environment, ended, said: () => text }
}

async function readDemo({ environment, said }: Running) {
  const path = join(String(environment.DATA_DIR), 'demo.json')
  for (let wait = 0; wait < 600; wait += 1) {
    try {
      return JSON.parse(readFileSync(path, 'utf8'))
    } catch {
      await sleep(100)
    }
  }
  return assert.fail(`no demo.json: ${said()}`)
}

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
  assert.match(running.said(), /^configured: PORT=0 .*; the rest as/)
  const { SECRET_KEY: _none, ...rest } = running.environment
  const after = await runWith(rest, ['account', 'list', '--json'])
  assert.equal(JSON.parse(after.out)[0].id, demo.account_id)
})

test('serve: refusals are one line and 1', async (t) => {
  const running = start(t, { PORT: 'eighty' })
  assert.equal(await running.ended, 1)
  assert.match(running.said(), /^tributary: PORT: must be a whole number from 0 to 65535\n$/)
  const wrong = await runWith(running.environment, ['serve', '--role', 'boss'])
  assert.equal(wrong.code, 2)
})

test('serve: a port that is taken ends it with 1, whatever had been opened', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.after(() => other.close())
  const address = other.address()
  assert.ok(typeof address === 'object' && address)
  const running = start(t, {}, '--port', String(address.port))
  assert.equal(await running.ended, 1)
  assert.match(running.said(), /port \d+ on 127\.0\.0\.1 is taken: stop what listens there/)
})
