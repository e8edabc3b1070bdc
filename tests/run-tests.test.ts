/** The runner of the tests: it leaves nothing behind, whoever stops reading what it prints. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from './support/until.ts'

const RUNNER = join(import.meta.dirname, '..', 'scripts', 'run-tests.ts')
/** Says something with each test, more than a pipe takes, and would then wait for ever. */
const ENDLESS = `
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
writeFileSync(process.env.PID_FILE, String(process.pid))
for (let count = 0; count < 2_000; count += 1) test('x'.repeat(100), () => undefined)
test('waits', () => new Promise(() => setInterval(() => undefined, 1_000)))
`

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('a reader that leaves, such as head, ends the run and its processes', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-runner-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'endless.test.mjs')
  const pidFile = join(folder, 'pid')
  writeFileSync(file, ENDLESS)
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const runner = spawn(process.execPath, [RUNNER, '--unit', file], {
    env: { ...env, PID_FILE: pidFile },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.after(() => runner.kill('SIGKILL'))
  const ended = once(runner, 'exit')
  await once(runner.stdout, 'data')
  runner.stdout.destroy()
  assert.deepEqual(await ended, [1, null])
  const pid = Number(readFileSync(pidFile, 'utf8'))
  await until('the end of its process', () => !isRunning(pid))
})
