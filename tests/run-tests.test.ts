/**
 * The runner of the tests: it leaves nothing behind, whoever stops reading what it prints, and ends
 * with what failed and why.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { describeFailures } from '../scripts/tests/report.ts'
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

/** Many large failures: their report takes the runner longer than the process takes to end. */
const FAILING = `
import assert from 'node:assert/strict'
import { test } from 'node:test'
for (let count = 1; count <= 300; count += 1) test('no. ' + count, () => assert.fail('x'.repeat(9_999)))
`
/** Errors that nobody catches: in a test that is over, and in one that passes. */
const UNCAUGHT = `
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
test('passes', async () => {
  setImmediate(() => { throw new Error('a listener fell') })
  await sleep(1)
  void Promise.reject(new Error('nobody waited'))
})
test('waits', () => sleep(20))
`
/** Suites of a file, and one that is declared late. */
const NESTED = `
import { before, describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
const steps = []
const note = (step) => () => { steps.push(step) }
before(note('file'))
test('one', note('one'))
for (const name of ['a', 'b']) {
  for (let turns = 0; turns < 20; turns += 1) await turn()
  describe(name, () => {
    before(note('before ' + name))
    describe('inner', () => {
      before(note('before inner ' + name))
      test('of ' + name, note(name))
    })
  })
}
test('order', () => console.log('steps: ' + steps.join()))
`
const FREE_PORT = join(import.meta.dirname, 'support', 'free-port.ts')
/** Takes more ports than two of its kind can without meeting, and keeps them. */
const TAKING = `
const { parentPort, workerData } = require('node:worker_threads')
setInterval(() => undefined, 1_000)
import(workerData).then(async ({ findFreePort }) => {
  const ports = []
  while (ports.length < 200) ports.push(await findFreePort())
  parentPort.postMessage(ports)
})
`
const ENDING = "console.error('no vendor answers'); process.exit(3)"

/** Writes the modules as tests into a folder of their own. Returns a function that runs one. */
function prepareRuns(t: TestContext, modules: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-runner-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(folder, name), text)
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const start = (name: string) => {
    const runner = spawn(
      process.execPath,
      [RUNNER, '--unit', '--slowest', '1', join(folder, name)],
      {
        env: { ...env, PID_FILE: join(folder, 'pid') },
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    )
    t.after(() => runner.kill('SIGKILL'))
    return runner
  }
  return { folder, start }
}

test('a reader that leaves, such as head, ends the run and its processes', async (t) => {
  const { folder, start } = prepareRuns(t, { 'endless.test.mjs': ENDLESS })
  const runner = start('endless.test.mjs')
  const ended = once(runner, 'exit')
  await once(runner.stdout, 'data')
  runner.stdout.destroy()
  assert.deepEqual(await ended, [1, null])
  const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'))
  await until('the end of its process', () => !isRunning(pid))
})

test('a run ends with what failed in two lines each, then why', async (t) => {
  const { start } = prepareRuns(t, { 'bad.test.mjs': FAILING })
  const lines = (await text(start('bad.test.mjs').stdout)).split('\n')
  // The duration is the last word of a process: nothing is lost when it ends.
  assert.ok(lines.some((line) => /^== [\d.]+ s .*bad\.test\.mjs$/.test(line)))
  assert.ok(lines.includes('ℹ fail 300'))
  const end = lines.slice(-100)
  assert.ok(end.some((line) => line.startsWith('== 1 of 1 files failed in ')))
  const first = end.findIndex((line) => line.endsWith('bad.test.mjs: no. 1'))
  assert.match(end[first + 1] ?? '', /^ {2}AssertionError.*: x+ \| at .*bad\.test\.mjs:4:/)
  assert.ok(end.includes('and 285 more, which are above'))
  assert.ok(end.some((line) => /^ {4}at .*bad\.test\.mjs:4:/.test(line)))
})

test('the end of a process is told with what it wrote', async (t) => {
  const { start } = prepareRuns(t, { 'end.test.mjs': ENDING })
  const lines = (await text(start('end.test.mjs').stdout)).trimEnd().split('\n')
  assert.match(lines.at(-2) ?? '', /end\.test\.mjs: its process ended with exit code 3$/)
  assert.equal(lines.at(-1), 'no vendor answers')
})

test('hooks belong to the suite that declares them, however late it does', async (t) => {
  const { start } = prepareRuns(t, { 'nested.test.mjs': NESTED })
  const lines = (await text(start('nested.test.mjs').stdout)).split('\n')
  const steps = 'file,one,before a,before inner a,a,before b,before inner b,b'
  assert.ok(lines.includes(`steps: ${steps}`), lines.join('\n'))
})

test('errors that nobody catches fail the run, and are told', async (t) => {
  const { start } = prepareRuns(t, { 'aside.test.mjs': UNCAUGHT })
  const [, end = ''] = (await text(start('aside.test.mjs').stdout)).split('== 1 of 1 files failed')
  assert.match(end, /aside\.test\.mjs: its process ended with exit code 1\n/)
  for (const words of ['a listener fell', 'nobody waited']) assert.ok(end.includes(words), end)
})

test('processes beside each other are given different ports', async (t) => {
  const given = await Promise.all(
    [1, 2, 3].map(async () => {
      const worker = new Worker(TAKING, { eval: true, workerData: FREE_PORT })
      t.after(() => worker.terminate())
      const [ports] = await once(worker, 'message')
      return ports as number[]
    }),
  )
  assert.equal(new Set(given.flat()).size, 600)
})

test('a failure says what differs, where, and what was expected', () => {
  const rows = Array.from({ length: 500 }, (_, index) => ({ id: index }))
  let error: unknown
  try {
    assert.deepEqual({ charged: '0.01', rows }, { charged: '0.02', rows })
  } catch (thrown) {
    error = thrown
  }
  const told = describeFailures([{ file: 'tests/a.test.ts', test: 'charges', error }])
  const lines = told.split('\n')
  assert.ok(lines.length <= 90)
  assert.equal(lines[0], 'tests/a.test.ts: charges')
  assert.match(lines[1] ?? '', /deep-equal: \| \+ {3}charged: '0\.01', \| - {3}charged: '0\.02'/)
  assert.match(lines[1] ?? '', /at .*run-tests\.test\.ts/)
  assert.ok(lines.includes("+   charged: '0.01',") && lines.includes("-   charged: '0.02',"))
})
