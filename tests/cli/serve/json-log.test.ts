/** LOG_FORMAT=json: every line that `serve` writes, on both streams, is one JSON object. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { createTestDatabase } from '../../support/postgres.ts'
import { programEnvironment } from '../../support/processes.ts'
import { startServer } from '../../support/servers/local-server.ts'
import { ROOT, runProgram } from '../support.ts'
import { readDemo, start } from './running.ts'

const JSON_LOG = { LOG_FORMAT: 'json' }

interface Line {
  readonly level: number
  readonly time: string
  readonly msg: string
  readonly settings?: readonly string[]
  readonly error?: { readonly message: string; readonly at: readonly string[] }
}

/** Throws for a line that is no JSON object with the members of the log. */
function readLines(text: string): readonly Line[] {
  return text
    .trimEnd()
    .split('\n')
    .map((text) => {
      const line: unknown = JSON.parse(text)
      assert.ok(typeof line === 'object' && line !== null)
      assert.ok('level' in line && 'time' in line && 'msg' in line, text)
      return line as Line
    })
}

test('a first start with its demo, its calls and its end', async (t) => {
  const running = start(t, { ...JSON_LOG, HOLD_QUEUE_MAX: '999' }, '--port', '0')
  const demo = await readDemo(running)
  assert.equal((await fetch(`${demo.base_url}/v1/models`)).status, 401)
  running.child.kill('SIGTERM')
  assert.equal(await running.ended, 0)
  const lines = readLines(running.said())
  const [configured] = lines
  assert.equal(configured?.msg, 'configured')
  assert.ok(configured.settings?.includes('HOLD_QUEUE_MAX=999'), String(configured.settings))
  assert.equal(lines.at(-1)?.msg, 'stopped')
})

test('starts that fail: a wrong setting, no database, a taken port, with workers too', async (t) => {
  const server = await startServer()
  t.after(server.stop)
  const { port } = server
  const database = await createTestDatabase()
  t.after(() => database.drop())
  const good = {
    ...programEnvironment(),
    METRICS_PORT: '0',
    DATABASE_URL: database.url,
    TRIBUTARY_TEST_UNSAFE_DATABASE: '1',
    SECRET_KEY: 'a-secret-key-of-tests-which-is-long-enough',
    PORT: String(port),
    ...JSON_LOG,
  }
  const cases: [NodeJS.ProcessEnv, RegExp][] = [
    [{ PORT: 'x', HOST: ' ' }, /PORT/],
    [{ DATABASE_URL: 'postgres://u:p@127.0.0.1:1/none' }, /cannot reach the database/],
    [{}, /^port \d+ on 127\.0\.0\.1 is taken/],
    [{ WORKERS: '2' }, /^port \d+ on 127\.0\.0\.1 is taken/],
    [{ LOG_LEVEL: 'silent' }, /^port \d+ on 127\.0\.0\.1 is taken/],
  ]
  for (const [wrong, message] of cases) {
    const { code, out, err } = await runProgram({ ...good, ...wrong }, ['serve'])
    assert.equal(code, 1)
    assert.equal(err, '')
    const last = readLines(out).filter(({ level }) => level === 50)
    assert.ok(
      last.some(({ msg }) => message.test(msg)),
      out,
    )
  }
})

test('an uncaught error and a warning of Node', async () => {
  const module = JSON.stringify(join(ROOT, 'bin', 'lib', 'notices.ts'))
  const program = `
    const { createNotices, logWarnings } = await import(${module})
    logWarnings('warn')
    process.emitWarning('one\\ntwo')
    process.once('uncaughtException', (error) => createNotices('json').uncaught(error))
    setImmediate(() => { throw new Error('one\\ntwo') })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program])
  const streams = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text) => {
    streams.out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    streams.err += text
  })
  await once(child, 'close')
  assert.equal(streams.err, '')
  const lines = readLines(streams.out)
  assert.deepEqual(
    lines.map(({ msg, error }) => [msg, error?.message]),
    [
      ['Node warns', 'one\ntwo'],
      ['uncaught error, stopping', 'one\ntwo'],
    ],
  )
  assert.ok(lines[1]?.error?.at.length)
})
