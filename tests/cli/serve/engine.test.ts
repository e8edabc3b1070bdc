/** What the start relies on in Node and in its engine. */
import assert from 'node:assert/strict'
import { executionAsyncResource } from 'node:async_hooks'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { ENGINE_FLAGS, keepTickShape } from '../../../bin/lib/engine-flags.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')

/** Runs a module in a process of its own, and returns what it prints as JSON. */
function run(code: string, flags: readonly string[] = []): unknown {
  const args = [...flags, '--input-type=module', '--eval', code]
  const { stdout } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })
  return JSON.parse(stdout)
}

test('the kept object is queued by process.nextTick and has the shape of later ones', async () => {
  const kept = keepTickShape()
  const later: object[] = []
  process.nextTick(() => later.push(executionAsyncResource()))
  await new Promise(setImmediate)
  const [tick] = kept
  assert.ok(tick && 'callback' in tick && 'args' in tick)
  assert.ok(Object.getOwnPropertySymbols(tick).length >= 2, 'it has the computed keys')
  setFlagsFromString('--allow-natives-syntax')
  const haveSameShape = new Function('one', 'other', 'return %HaveSameMap(one, other)')
  setFlagsFromString('--no-allow-natives-syntax')
  assert.equal(haveSameShape(tick, later[0]), true)
})

test('the flags of the process leave the compiled form of Node’s own modules in use', () => {
  const tag = `import { cachedDataVersionTag } from 'node:v8'
    console.log(cachedDataVersionTag())`
  assert.equal(run(tag, ENGINE_FLAGS), run(tag))
  assert.notEqual(run(tag, ['--expose-gc']), run(tag))
})

test('the late flags can be set while the process runs, and collect young objects', () => {
  const late = `import { setLateFlags } from './bin/lib/engine-flags.ts'
    setLateFlags()
    const gone = new WeakRef({})
    await new Promise(setImmediate)
    gc({ type: 'minor' })
    console.log(JSON.stringify([gone.deref() === undefined]))`
  assert.deepEqual(run(late), [true])
})

test('a start without calls loads no HTTP client of Node’s own', () => {
  const look = `console.log(process.moduleLoadList.some((name) => name.includes('undici')))`
  assert.equal(run(`await import('./server/main.ts')\n${look}`), false)
  assert.equal(run(`import 'node:http'\n${look}`), true)
})
