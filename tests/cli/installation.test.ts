/** A release is built in one folder and started in another. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'

import { ENGINE_ENVIRONMENT, ENGINE_FLAGS } from '../../bin/lib/engine-flags.ts'

import { CONSOLE_TABLES } from '../tidy/rules.ts'

const ROOT = join(import.meta.dirname, '..', '..')

interface Built {
  readonly consoleProduct: { stampOfSources(): string; isStale(): boolean }
}

/** A folder with the script that builds, and the sources of a console. */
async function makeCopy(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-clone-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'console', 'src'), { recursive: true })
  writeFileSync(join(folder, 'console', 'src', 'page.tsx'), 'export const page = 1')
  for (const path of ['package-lock.json', ...CONSOLE_TABLES]) {
    cpSync(join(ROOT, path), join(folder, path))
  }
  const scripts = join(folder, 'scripts', 'build')
  cpSync(join(ROOT, 'scripts', 'build'), scripts, { recursive: true })
  const { consoleProduct }: Built = await import(pathToFileURL(join(scripts, 'console.mjs')).href)
  return { folder, ...consoleProduct }
}

test('a console that was built in another folder is not built again', async (t) => {
  const built = await makeCopy(t)
  const unpacked = await makeCopy(t)
  assert.equal(unpacked.isStale(), true)
  mkdirSync(join(unpacked.folder, 'console', 'dist'))
  writeFileSync(join(unpacked.folder, 'console', 'dist', 'stamp.txt'), built.stampOfSources())
  assert.equal(unpacked.isStale(), false)
  writeFileSync(join(unpacked.folder, 'console', 'src', 'page.tsx'), 'export const page = 2')
  assert.equal(unpacked.isStale(), true)
  const before = built.stampOfSources()
  writeFileSync(join(built.folder, 'server', 'base', 'lib', 'units.ts'), '')
  assert.notEqual(built.stampOfSources(), before)
})

test('a command loads its own part of the gateway alone', () => {
  const script = `
    import { runCommandLine } from ${JSON.stringify(join(ROOT, 'bin/lib/run.ts'))}
    import { registerHooks } from 'node:module'
    registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) })
    await runCommandLine(['config', '--help'])`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script])
  const loaded = String(stdout)
  assert.match(loaded, /commands\/run\/config\.ts/)
  assert.doesNotMatch(loaded, /commands\/money\/audit\.ts/)
})

test('the help names every command, and a mistyped one gets a suggestion', () => {
  const run = (...words: string[]) =>
    spawnSync(process.execPath, [join(ROOT, 'bin', 'tributary.ts'), ...words], { encoding: 'utf8' })
  const help = run('--help').stdout
  for (const name of ['serve', 'account', 'audit', 'restore', 'config']) {
    assert.match(help, new RegExp(`^ {2}${name}\\b`, 'm'))
  }
  assert.match(run('acount').stderr, /account/)
  assert.equal(run('constructor').status, 2)
})

test('serve runs with the settings of memory, and keeps those of the operator', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-flags-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const preload = join(folder, 'say-flags.cjs')
  const say = 'process._rawDebug(process.pid, process.env[name], ...process.execArgv)'
  const [[name, value] = ['', '']] = Object.entries(ENGINE_ENVIRONMENT)
  writeFileSync(preload, `const name = '${name}'; ${say}`)
  const unset = Object.keys(ENGINE_ENVIRONMENT).map((key) => [key, undefined])
  const clean = { ...process.env, ...Object.fromEntries(unset) }
  let set: Record<string, string> = {}
  /** The process id, the variable and the flags of each program that ran, in order. */
  const run = (options: string, ...words: string[]) => {
    const script = join(ROOT, 'bin', 'tributary.ts')
    const env = { ...clean, ...set, NODE_OPTIONS: `--require ${preload} ${options}` }
    const { stderr } = spawnSync(process.execPath, [script, ...words, '--help'], { env })
    return String(stderr)
      .trim()
      .split('\n')
      .map((line) => line.split(' '))
  }
  const [first, second, ...more] = run('', 'serve')
  assert.deepEqual(first?.slice(1), ['undefined'])
  assert.deepEqual([second, more], [[first?.[0], value, ...ENGINE_FLAGS], []])
  const [, kept] = run('--max-semi-space-size=32', 'serve')
  const others = ENGINE_FLAGS.filter((flag) => !flag.startsWith('--max-semi'))
  assert.deepEqual(kept?.slice(2), others)
  set = { [name]: '65536' }
  assert.equal(run('', 'serve')[1]?.[1], '65536')
  assert.equal(run('', 'audit').length, 1)
})
