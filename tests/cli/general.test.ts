/** The command line as a whole: help, exit codes, books, records, and the embedded database. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Command } from 'commander'
import { describeCommandFailure } from '../../bin/lib/failure.ts'
import { createProgram } from '../../bin/lib/run.ts'
import { createCaller, spend } from '../accounts/support.ts'
import { programEnvironment } from '../support/processes.ts'
import { openCommandLine, ROOT, runProgram, runWith } from './support.ts'

const environment = { ...programEnvironment(), HOME: tmpdir() }
const run = (...words: string[]) => runWith(environment, words)

test('help is printed to standard output', async () => {
  const help = await run('--help')
  assert.equal(help.code, 0)
  for (const name of ['apply', 'account', 'key', 'credit', 'audit', 'routes', 'migrate']) {
    assert.match(help.out, new RegExp(`^  ${name}`, 'm'))
  }
  const commands = [['key', 'create'], ['credit'], ['apply'], ['account', 'create'], ['simulate']]
  for (const words of commands) {
    const { code, out } = await run(...words, '--help')
    assert.equal(code, 0)
    assert.match(out, /Examples?:/, words.join(' '))
  }
})

test('every command prints its help, in 80 columns', async () => {
  const program = await createProgram(undefined)
  const pending: Command[] = [program]
  let count = 0
  for (let one = pending.pop(); one; one = pending.pop()) {
    let help = ''
    one.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 80 })
    one.outputHelp()
    assert.match(help, /^Usage: tributary/)
    for (const line of help.split('\n')) assert.ok(line.length <= 80, `${one.name()}: ${line}`)
    pending.push(...one.commands)
    count += 1
  }
  assert.ok(count > 80, `${count} commands`)
})

test('it prints its version', async () => {
  const { code, out } = await runProgram(environment, ['--version'])
  assert.equal(code, 0)
  assert.match(out, /^\d+\.\d+\.\d+\n$/)
})

test('a wrong command line exits with 2 and says what is wrong', async () => {
  const wrong: [string[], RegExp][] = [
    [['frobnicate'], /unknown command 'frobnicate'/],
    [['key', 'create'], /required option '--account <account>'/],
    [['account', 'create', '--name', 'x', '--balance', '1e3'], /Write a decimal such as 12\.5/],
    [['account', 'create', '--name', 'x', '--balance', '-1'], /It cannot be negative/],
    [['key', 'update', 'k', '--expires', 'soon'], /Write 2030-12-31.* 30 days from now/],
    [['key', 'update', 'k', '--expires', '2030-02-30'], /Write 2030-12-31/],
    [['usage', 'list', '--account', 'a', '--from', '2030-01-31T08:00'], /30d for 30 days ago/],
    [['key', 'rotate', 'k', '--overlap', '1 day'], /Write a duration/],
    [['account', 'limits', 'a', '--concurrent-calls', '0'], /whole number from 1/],
    [['credit', '--account', 'a', '--amount', '1', '--reason', 'r', '--kind', 'gift'], /choices/],
    [['simulate', '--port', '70000'], /Write a port/],
    [['account', 'list', '--jsn'], /unknown option '--jsn'/],
  ]
  for (const [index, [words, expected]] of wrong.entries()) {
    const start = index === 0 ? runProgram : runWith
    const { code, out, err } = await start(environment, words)
    assert.deepEqual([code, out], [2, ''], words.join(' '))
    assert.match(err, expected)
  }
})

test('serve ends if a package is missing, and says what completes the installation', async (t) => {
  const { environment: own } = await openCommandLine(t)
  const missing = `import { registerHooks } from 'node:module'
    const code = 'ERR_MODULE_NOT_FOUND'
    const message = "Cannot find package 'find-my-way' imported from here"
    registerHooks({ resolve(name, context, next) {
      if (name === 'find-my-way') throw Object.assign(new Error(message), { code })
      return next(name, context)
    } })`
  const hook = `data:text/javascript,${encodeURIComponent(missing)}`
  const set = { ...own, NODE_OPTIONS: `--import=${hook}`, PORT: '0', METRICS_PORT: '0' }
  // The program of a whole run is one bundle, which lacks nothing.
  const tree = join(ROOT, 'bin', 'tributary.ts')
  const { code, err } = await runProgram(set, ['serve'], tree)
  assert.equal(code, 1)
  assert.match(err, /find-my-way.*npm start.*npm ci/)
})

test('a full disk is named with what to do', () => {
  const failure = (code: string) =>
    describeCommandFailure(Object.assign(new Error('full'), { code }))
  assert.equal(failure('53100'), 'tributary: full: free space on the disk of the database')
  assert.match(failure('ENOSPC'), /^tributary: full: free space on the disk of DATA_DIR, or of the/)
})

test('a failed command exits with 1 and one line', async () => {
  const unreachable = {
    ...environment,
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    SECRET_KEY: 'x'.repeat(32),
  }
  const away = await runProgram(unreachable, ['account', 'list'])
  assert.equal(away.code, 1)
  assert.match(away.err, /^tributary: cannot reach the database of DATABASE_URL: .*\n$/)
  const misconfigured = await runWith({ ...environment, PORT: 'x' }, ['account', 'list'])
  assert.equal(misconfigured.code, 1)
  assert.match(misconfigured.err, /^tributary: PORT: must be a whole number .*\n$/)
})

test('audit: clean books are 0, a cent too many is 1', async (t) => {
  const { run: here, json, sql } = await openCommandLine(t)
  const { account, key } = await createCaller(sql)
  await spend(sql, { accountId: account.id, keyId: key.id, held: 10n, charged: 4n })
  const clean = await here('audit')
  assert.equal(clean.code, 0, clean.err)
  assert.match(clean.out, /^I1 .* ok$/m)
  assert.equal((await json('audit')).ok, true)
  await sql`update balance set available = available + 1`
  const broken = await here('audit')
  assert.equal(broken.code, 1)
  assert.match(broken.out, /^I2 .* BROKEN$/m)
  assert.match(broken.out, new RegExp(`^I2 +${account.id}: `, 'm'))
  assert.equal((await here('audit', '--json')).code, 1)
})

test('usage: the records of an account, and one of them explained', async (t) => {
  const { run: here, json, sql } = await openCommandLine(t)
  const { account, key } = await createCaller(sql)
  await spend(sql, { accountId: account.id, keyId: key.id, held: 10n, charged: 4n })
  const [record, ...others] = await json('usage', 'list', '--account', account.id, '--from', '1h')
  assert.deepEqual(others, [])
  assert.deepEqual(await json('usage', 'list', '--account', account.id, '--to', '1h'), [])
  assert.deepEqual([record.held, record.charged], ['0.00000001', '0.000000004'])
  const shown = await json('usage', 'show', record.request_id)
  assert.deepEqual(
    shown.ledger.map(({ step }: { step: string }) => step),
    ['hold', 'charge', 'return'],
  )
  const line = { unit: 'input_token', quantity: 2_000, unit_price: '2', per: 1_000_000 }
  const tried = { channel: 'main', outcome: 'failed', status: 500, reason: 'it is down' }
  await sql`update call set lines = ${sql.json([{ ...line, amount: '0.004' }])},
    attempts = ${sql.json([tried])} where request_id = ${record.request_id}`
  const { out } = await here('usage', 'show', record.request_id)
  assert.match(out, /charged +0\.000000004 CNY/)
  assert.match(out, /^basis +usage: usage stated by the upstream$/m)
  assert.match(out, /^ *2,000 +input token +× 2 CNY per 1,000,000 input tokens +0\.004$/m)
  assert.match(out, /^main +failed +500 +it is down$/m)
  assert.ok(!out.includes('{'), out)
  const ofKey = (id: string) => json('usage', 'list', '--account', account.id, '--key', id)
  assert.deepEqual([(await ofKey(key.id)).length, (await ofKey('key_x')).length], [1, 0])
  assert.deepEqual(await json('usage', 'list', '--account', account.id, '--model', 'other'), [])
  await spend(sql, { accountId: account.id, keyId: key.id, held: 7n, charged: null, open: true })
  const ofStatus = async (status: string) => {
    const rows = await json('usage', 'list', '--account', account.id, '--status', status)
    return rows.map(({ held }: { held: string }) => held)
  }
  assert.deepEqual(await ofStatus('running'), ['0.000000007'])
  assert.deepEqual(await ofStatus('succeeded'), ['0.00000001'])
  assert.deepEqual(await ofStatus('failed'), [])
  assert.match((await here('usage', 'show', 'req_x')).err, /there is no call req_x/)
  assert.match((await here('usage', 'list', '--account', 'x')).err, /there is no account x/)
})

test('config --database shows what a server is set to, also one that is refused', async (t) => {
  const { run, json, sql, environment } = await openCommandLine(t)
  const good = await run('config', '--database')
  assert.equal(good.code, 0, good.err)
  assert.match(good.out, /^SETTING +VALUE +VERDICT +WHAT TO DO\n/)
  assert.match(good.out, /\nsynchronous_commit +off +ok\n/)
  const name = new URL(environment.DATABASE_URL ?? '').pathname.slice(1)
  await sql.unsafe(`alter database "${name}" set default_transaction_read_only = on`)
  const bad = await run('config', '--database')
  assert.equal(bad.code, 1)
  assert.match(bad.out, /\ndefault_transaction_read_only +on +refused +this database is read-only/)
  await sql.unsafe(`alter database "${name}" reset default_transaction_read_only`)
  await sql.unsafe(`alter database "${name}" set track_counts = off`)
  const found: readonly { name: string; verdict: string; message: string }[] = await json(
    'config',
    '--database',
  )
  const [setting] = await sql`select current_setting('autovacuum') as autovacuum`
  const warned = new Map(
    found.flatMap(({ name, verdict, message }) => (verdict === 'warning' ? [[name, message]] : [])),
  )
  // The run's own server has autovacuum off.
  const names = [...(setting?.autovacuum === 'off' ? ['autovacuum'] : []), 'track_counts']
  assert.deepEqual([...warned.keys()], names)
  assert.match(warned.get('track_counts') ?? '', /^track_counts is off, so nothing removes/)
  assert.ok(found.every(({ verdict }) => verdict !== 'refused'))
})

test('migrate lists its changes; config masks secrets', async (t) => {
  const { run: here, json, environment: own } = await openCommandLine(t)
  assert.match((await here('migrate')).out, /^The database is up to date\.\n$/)
  assert.deepEqual(await json('migrate'), { applied: [], functions: [], newer: [] })
  const { out } = await here('config')
  assert.equal(out.includes(own.SECRET_KEY ?? ''), false)
  assert.match(out, /^PORT +8080 \(default\)/m)
})

test('simulate runs until it is stopped', async () => {
  const script = join(ROOT, 'bin', 'tributary.ts')
  const words = [script, 'simulate', '--port', '0', '--json']
  const child = spawn(process.execPath, words, { env: environment })
  const said = await new Promise<string>((resolve) => child.stdout.once('data', resolve))
  const answer = await fetch(`${JSON.parse(String(said)).url}/sim`)
  assert.equal(answer.status, 200)
  await answer.text()
  child.kill('SIGTERM')
  const code = await new Promise((resolve) => child.once('exit', resolve))
  assert.equal(code, 0)
})

test('without DATABASE_URL a command starts the embedded database and stops it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-cli-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const own = { ...environment, DATA_DIR: join(folder, 'data') }
  const nightly = [
    ['audit'],
    ['backup', '--to', folder],
    ['archive', 'create', '--older-than', '5w'],
  ]
  for (const words of nightly) {
    const { code, err } = await runWith(own, words)
    assert.equal(code, 1, words.join(' '))
    assert.match(err, /^tributary: there is no database in .*data: set DATA_DIR or DATABASE_URL/)
    assert.equal(existsSync(own.DATA_DIR), false)
  }
  const created = await runProgram(own, ['account', 'create', '--name', 'x', '--json'])
  assert.equal(created.code, 0, created.err)
  assert.match(created.err, /creating the embedded database/)
  const listed = await runWith(own, ['account', 'list', '--json'])
  assert.equal(JSON.parse(listed.out)[0].id, JSON.parse(created.out).id)
})
