/** `budget` as operators and scripts use it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openCommandLine } from './support.ts'

test('budgets: create, list, set, delete', async (t) => {
  const { run, json } = await openCommandLine(t)
  const account = await json('account', 'create', '--name', 'a', '--balance', '10')
  const of = ['--account', account.id]
  assert.match((await run('budget', 'list', ...of)).out, /^This account has no budgets yet/)
  const key = await json('key', 'create', ...of, '--spend-limit', '3')
  const day = ['--period', 'day', '--time-zone', 'Asia/Shanghai']
  const created = await json('budget', 'create', ...of, '--amount', '5.5', ...day)
  assert.match(created.id, /^bud_/)
  const calls = ['--key', key.id, '--amount', '100', '--unit', 'call', '--period', 'week']
  const second = await json('budget', 'create', ...of, ...calls, '--week-start', '7')
  assert.equal((await json('budget', 'set', created.id, '--amount', '7')).amount, '7')
  const listed = await json('budget', 'list', ...of)
  const facts = ['id', 'scope', 'subject', 'unit', 'amount', 'period', 'spent', 'held', 'remaining']
  assert.deepEqual(
    listed.map((row: Record<string, unknown>) => facts.map((fact) => row[fact])),
    [
      [created.id, 'account', null, 'money', '7', 'day', '0', '0', '7'],
      [second.id, 'key', key.id, 'call', '100', 'week', '0', '0', '100'],
      [key.id, 'key', key.id, 'money', '3', 'total', '0', '0', '3'],
    ],
  )
  assert.equal(new Date(listed[0].resets_at).getUTCHours(), 16)
  assert.ok(new Date(listed[0].window_start) <= new Date())
  assert.equal(listed[2].resets_at, null)
  const shown = /^bud_\w+ +account +all +0 +0 +7 +7 CNY +day +refuse +/m
  assert.match((await run('budget', 'list', ...of)).out, shown)
  await json('budget', 'delete', second.id)
  assert.equal((await json('budget', 'list', ...of)).length, 2)
  const refusals: readonly (readonly [readonly string[], RegExp])[] = [
    [['set', key.id, '--amount', '1'], /tributary key update/],
    [['create', ...of, '--amount', '1.5', '--unit', 'call', ...day], /whole number/],
    [['create', ...of, '--amount', '12345678901', ...day], /at most nine digits/],
    [['create', ...of, '--amount', '0.00000000000000000001', ...day], /at most nine digits/],
    [['create', ...of, '--amount', '5', ...day, '--week-start', '3'], /only with --period week/],
    [['create', ...of, '--amount', '5', ...day, '--max-end-users', '3'], /--each-end-user/],
    [['create', ...of, '--amount', '5', ...day, '--models', 'gtp-5'], /no model gtp-5/],
    [['list', '--account', 'acct_none'], /no account acct_none/],
    [['create', ...of, '--key', key.id, '--tag', 'x', '--amount', '1', ...day], /cannot be used/],
  ]
  const tokens = ['--amount', '50000000000', '--unit', 'output_token', '--period', 'month']
  assert.equal((await json('budget', 'create', ...of, ...tokens)).amount, '50000000000')
  for (const [words, expected] of refusals) {
    const { code, err } = await run('budget', ...words)
    assert.notEqual(code, 0)
    assert.match(err, expected)
  }
})
