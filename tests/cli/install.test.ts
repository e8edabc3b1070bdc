/** `npm start` and `npm test` install what is missing, and never lose what is there. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { until } from '../support/until.ts'
import { CONSOLE_TABLES } from '../tidy/rules.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const NPM_FAILS = 'echo ci >> "$CALLS"; rm -rf node_modules; exit 7'
/** Installs as npm does: the record of what is installed comes last. */
const NPM_INSTALLS = `echo ci >> "$CALLS"
while [ -e "$GATE" ]; do sleep 0.05; done
mkdir -p node_modules/one && echo '{}' > node_modules/one/package.json
echo "$RECORD" > node_modules/.package-lock.json`
const VITE_BUILDS = `
const fs = require('node:fs')
fs.appendFileSync(process.env.CALLS, 'build\\n')
fs.mkdirSync(process.argv[process.argv.indexOf('--outDir') + 1])
const timer = setInterval(() => fs.existsSync(process.env.GATE) || clearInterval(timer), 50)`
const LOCK = {
  packages: {
    '': { name: 'clone' },
    'node_modules/one': { version: '1.0.0', integrity: 'sha512-one' },
    'node_modules/checker': { version: '1.0.0', integrity: 'sha512-two', dev: true },
    'node_modules/other-platform': { version: '1.0.0', optional: true },
  },
}
const RECORD = { packages: { 'node_modules/one': LOCK.packages['node_modules/one'] } }

interface Clone {
  readonly folder: string
  /** How often npm was called. */
  readonly calls: () => number
  readonly gate: string
  readonly install: (options?: { readonly uid?: number }) => Promise<Outcome>
  /** What `npm start` does before the gateway. */
  readonly prepare: () => Promise<Outcome>
}

interface Outcome {
  readonly code: number | null
  readonly said: string
}

/** A folder with the scripts, a lockfile, a console that is built, and a stand-in for npm. */
function makeClone(t: TestContext, npm: string): Clone {
  const folder = mkdtempSync(join(tmpdir(), 'tributary clone '))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const scripts = ['scripts/install', 'scripts/install.mjs', 'scripts/build']
  for (const path of [...scripts, ...CONSOLE_TABLES]) {
    cpSync(join(ROOT, path), join(folder, path), { recursive: true })
  }
  const [bin, calls, gate] = ['bin', 'calls', 'gate'].map((name) => join(folder, name))
  mkdirSync(String(bin))
  writeFileSync(join(String(bin), 'npm'), `#!/bin/sh\n${npm}\n`, { mode: 0o755 })
  writeFileSync(String(calls), '', { mode: 0o666 })
  writeFileSync(join(folder, 'package.json'), '{}')
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(LOCK))
  mkdirSync(join(folder, 'console', 'dist'), { recursive: true })
  chmodSync(folder, 0o755)
  const env = {
    ...process.env,
    PATH: `${bin}:${process.env.PATH}`,
    CALLS: calls,
    GATE: gate,
    RECORD: JSON.stringify(RECORD),
  }
  async function run(args: readonly string[], uid?: number): Promise<Outcome> {
    const user = uid === undefined ? {} : { uid, gid: uid }
    const child = spawn(process.execPath, args, { cwd: folder, env, ...user })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text) => {
      said += text
    })
    const [code] = await once(child, 'close')
    return { code, said }
  }

  const script = `await (await import('./scripts/install.mjs')).install({ everything: false })`
  return {
    folder,
    gate: String(gate),
    calls: () => readFileSync(String(calls), 'utf8').split('\n').length - 1,
    install: ({ uid } = {}) => run(['--input-type=module', '-e', script], uid),
    prepare: () => run(['scripts/install.mjs', '--production']),
  }
}

/** What `npm ci` leaves for this lockfile, and a file by which the tree is known again. */
function writeTree(folder: string, record: object = RECORD): string {
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, 'one'), { recursive: true })
  writeFileSync(join(modules, 'one', 'package.json'), '{}')
  writeFileSync(join(modules, '.package-lock.json'), JSON.stringify(record))
  writeFileSync(join(modules, 'one', 'mine'), '')
  return join(modules, 'one', 'mine')
}

function leftovers(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith('.installing'))
}

test('a tree that npm has installed by hand is used as it is', async (t) => {
  const clone = makeClone(t, NPM_FAILS)
  const mine = writeTree(clone.folder)
  assert.equal((await clone.install()).code, 0)
  assert.equal(clone.calls(), 0)
  assert.ok(existsSync(mine))
})

test('a tree that is not that of the lockfile is replaced', async (t) => {
  const one = { version: '0.9.0', integrity: 'sha512-one' }
  const damaged = [
    {},
    { packages: {} },
    { packages: { 'node_modules/one': one } },
    { packages: { 'node_modules/one': { version: '1.0.0', integrity: 'sha512-other' } } },
  ]
  for (const record of damaged) {
    const clone = makeClone(t, NPM_INSTALLS)
    const mine = writeTree(clone.folder, record)
    assert.equal((await clone.install()).code, 0)
    assert.equal(clone.calls(), 1, JSON.stringify(record))
    assert.equal(existsSync(mine), false)
    assert.equal((await clone.install()).code, 0)
    assert.equal(clone.calls(), 1)
    assert.deepEqual(leftovers(clone.folder), [])
  }
})

test('an installation that fails leaves the packages and says what to do', async (t) => {
  const clone = makeClone(t, NPM_FAILS)
  const mine = writeTree(clone.folder, {})
  const { code, said } = await clone.install()
  assert.equal(code, 1)
  assert.match(said, /npm ci failed \(7\).*unchanged.*network/s)
  assert.ok(existsSync(mine))
  assert.deepEqual(leftovers(clone.folder), [])
})

test('starts at the same time in one folder install once', async (t) => {
  const clone = makeClone(t, NPM_INSTALLS)
  writeFileSync(clone.gate, '')
  const starts = [clone.install(), clone.install(), clone.install()]
  await until('npm to run', () => clone.calls() > 0)
  rmSync(clone.gate)
  const outcomes = await Promise.all(starts)
  assert.deepEqual(
    outcomes.map(({ code }) => code),
    [0, 0, 0],
  )
  assert.equal(clone.calls(), 1)
  assert.deepEqual(leftovers(clone.folder), [])
})

test('a start waits for another one that builds the console, however long that takes', async (t) => {
  const clone = makeClone(t, NPM_FAILS)
  const checker = LOCK.packages['node_modules/checker']
  writeTree(clone.folder, { packages: { ...RECORD.packages, 'node_modules/checker': checker } })
  const modules = join(clone.folder, 'node_modules')
  mkdirSync(join(modules, 'checker'))
  writeFileSync(join(modules, 'checker', 'package.json'), '{}')
  mkdirSync(join(modules, 'vite', 'bin'), { recursive: true })
  writeFileSync(join(modules, 'vite', 'bin', 'vite.js'), VITE_BUILDS)
  writeFileSync(clone.gate, '')
  const first = clone.prepare()
  await until('the build', () => clone.calls() > 0)
  const second = clone.prepare()
  // A lock that is not renewed is taken for that of a process that has ended.
  const renewedAt = () => statSync(join(clone.folder, '.installing')).mtimeMs
  const before = renewedAt()
  await until('a renewal of the lock', () => renewedAt() > before)
  rmSync(clone.gate)
  for (const { code } of await Promise.all([first, second])) assert.equal(code, 0)
  assert.equal(clone.calls(), 1)
})

test('a lock of a process that has ended is taken over', async (t) => {
  const clone = makeClone(t, NPM_INSTALLS)
  mkdirSync(join(clone.folder, '.installing'))
  utimesSync(join(clone.folder, '.installing'), 1, 1)
  mkdirSync(join(clone.folder, '.installing-old'))
  assert.equal((await clone.install()).code, 0)
  assert.deepEqual(leftovers(clone.folder), [])
})

const skip = process.getuid?.() === 0 ? false : 'only root can become another user'

test('a user who cannot write the folder is told who can', { skip }, async (t) => {
  const clone = makeClone(t, NPM_INSTALLS)
  const { code, said } = await clone.install({ uid: 65_534 })
  assert.equal(code, 1)
  assert.match(said, /lacks packages.*as its owner/s)
  writeTree(clone.folder)
  assert.equal((await clone.install({ uid: 65_534 })).code, 0)
})
