/** `account`, `key` and `credit` as operators and scripts use them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWellFormedApiKey } from '../../server/base/lib/secrets/api-key.ts'
import { openCommandLine } from './support.ts'

test('accounts: create, list, show, limit, suspend, resume', async (t) => {
  const { run, json } = await openCommandLine(t)
  const empty = await run('account', 'list')
  assert.match(empty.out, /^There are no accounts yet/)
  const name = 'Acme 公司'
  const limits = ['--requests-per-minute', '60']
  const created = await json('account', 'create', '--name', name, '--balance', '12.5', ...limits)
  const { id } = created
  assert.match(id, /^acct_/)
  assert.deepEqual(
    [created.name, created.available, created.currency, created.limits],
    [name, '12.5', 'CNY', { requests_per_minute: 60 }],
  )
  assert.equal((await json('account', 'list')).length, 1)
  const shown = await run('account', 'show', id)
  assert.match(shown.out, /available +12\.5 CNY\n/)
  assert.match(shown.out, /limits +60 requests per minute\n/)
  const change = ['--requests-per-minute', 'none', '--concurrent-calls', '3']
  assert.deepEqual((await json('account', 'limits', id, ...change)).limits, { concurrent_calls: 3 })
  const media = await json('account', 'media', id, '--stored-gb', '100', '--prompts', 'drop')
  assert.deepEqual([media.stored_bytes_max, media.keeps_prompts], [100_000_000_000, false])
  assert.match((await run('account', 'show', id)).out, /storage +100 GB\nprompts +not kept\n/)
  const lifted = await json('account', 'media', id, '--stored-gb', 'none')
  assert.deepEqual([lifted.stored_bytes_max, lifted.keeps_prompts], [null, false])
  const set = ['account', 'set', id, '--allowed-ips']
  const networks = await json(...set, '10.1.2.3/8, 2001:DB8::/32')
  assert.deepEqual(networks.allowed_ips, ['10.0.0.0/8', '2001:db8::/32'])
  assert.match(
    (await run('account', 'show', id)).out,
    /allowed from +10\.0\.0\.0\/8, 2001:db8::\/32\n/,
  )
  const wrong = await run(...set, '10.0.0.0/8,10.0.0.300')
  assert.notEqual(wrong.code, 0)
  assert.match(wrong.err, /"10\.0\.0\.300" must be an address or a network, such as/)
  const key = await json('key', 'create', '--account', id, '--allowed-ips', '203.0.113.7')
  assert.deepEqual(key.allowed_ips, ['203.0.113.7'])
  const opened = await json('key', 'update', key.id, '--allowed-ips', 'none')
  assert.deepEqual([opened.allowed_ips, (await json(...set, 'none')).allowed_ips], [[], []])
  assert.equal((await json('account', 'suspend', id)).status, 'suspended')
  assert.equal((await json('account', 'resume', id)).status, 'active')
})

test('names that people chose cannot act on a terminal', async (t) => {
  const { run, json, sql } = await openCommandLine(t)
  const { id } = await json('account', 'create', '--name', 'a')
  await sql`update account set name = ${'evil\x1b[2J\x9b1m\r\n\u202etxt'} where id = ${id}`
  const lines = (text: string) => text.trimEnd().split('\n').length
  const listed = (await run('account', 'list')).out
  assert.match(listed, /evil \[2J 1m txt/)
  assert.equal(lines(listed), 2)
  const shown = await run('account', 'show', id)
  assert.match(shown.out, /name +evil \[2J 1m txt\n/)
  const inJson = await run('account', 'show', id, '--json')
  assert.match(inJson.out, /evil\\u001b\[2J\\u009b1m\\r\\n/)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be printed.
  const acts = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/
  for (const { out } of [shown, inJson]) assert.doesNotMatch(out, acts)
})

test('an account in a currency that nothing is sold in is warned of, an invented one refused', async (t) => {
  const { run, file } = await openCommandLine(t)
  const settings = { base_url: 'https://vendor.test/v1', api_key: 'k' }
  const channels = [{ id: 'main', upstream: 'openai-compatible', settings }]
  const prices = [{ unit: 'call', amount: '1' }]
  const models = [{ id: 'm', type: 'chat', prices, routes: [{ channel: 'main' }] }]
  assert.equal(
    (await run('apply', file('usd.json', { currency: 'USD', channels, models }))).code,
    0,
  )
  const create = (currency: string) =>
    run('account', 'create', '--name', 'a', '--currency', currency)
  const sold = await create('USD')
  assert.deepEqual([sold.code, sold.err.includes('warning')], [0, false])
  const unsold = await create('EUR')
  assert.equal(unsold.code, 0)
  assert.match(unsold.err, /warning: no model is sold in EUR yet, only in USD/)
  for (const invented of ['XYZ', 'DOL', 'dollars', 'usd']) {
    const { code, err } = await create(invented)
    assert.equal(code, 1)
    assert.match(err, /must be a currency of ISO 4217/)
  }
})

test('the audit log has what the command line changed, by whom', async (t) => {
  const { json, sql } = await openCommandLine(t)
  const { id } = await json('account', 'create', '--name', 'a', '--balance', '5')
  const key = await json('key', 'create', '--account', id)
  await json('key', 'disable', key.id)
  await json('account', 'suspend', id)
  await json('credit', '--account', id, '--amount', '2.5', '--reason', 'invoice 17')
  const rows = await sql<{ actor: string; action: string; target: string; details: object }[]>`
    select actor, action, target, details from audit_log order by id`
  assert.deepEqual(
    rows.map(({ action, target }) => [action, target]),
    [
      ['POST /operator/accounts', id],
      ['POST /accounts/:account_id/keys', id],
      ['POST /accounts/:account_id/keys/:key_id/disable', key.id],
      ['POST /operator/accounts/:account_id/suspend', id],
      ['POST /operator/accounts/:account_id/credits', id],
    ],
  )
  assert.ok(rows.every(({ actor }) => /^cli/.test(actor)))
  assert.deepEqual(rows.at(-1)?.details, {
    amount: '2.5',
    currency: 'CNY',
    kind: 'top_up',
    reason: 'invoice 17',
  })
  assert.ok(!JSON.stringify(rows).includes(key.key))
})

test('a second account of one name is created with a warning', async (t) => {
  const { run, json } = await openCommandLine(t)
  const { id } = await json('account', 'create', '--name', 'Acme')
  const other = await run('account', 'create', '--name', 'Acme', '--currency', 'USD')
  assert.equal(other.code, 0)
  assert.ok(other.err.includes(`other accounts have this name: ${id} (CNY)`), other.err)
  const third = await run('account', 'create', '--name', 'Acme Ltd')
  assert.equal(third.err, '')
})

test('tables are aligned, wide characters included', async (t) => {
  const { run } = await openCommandLine(t)
  await run('account', 'create', '--name', '公司')
  await run('account', 'create', '--name', 'abcdef')
  const [, wide = '', narrow = ''] = (await run('account', 'list')).out.split('\n')
  assert.equal(wide.indexOf('active') + 2, narrow.indexOf('active'))
})

test('keys: create, list, disable, enable, rotate, update', async (t) => {
  const { run, json, file } = await openCommandLine(t)
  const settings = { base_url: 'https://vendor.test/v1', api_key: 'k' }
  const channels = [{ id: 'main', upstream: 'openai-compatible', settings }]
  const free = { type: 'chat', free: true, routes: [{ channel: 'main' }] }
  const models = ['m', 'n'].map((id) => ({ id, ...free }))
  await run('apply', file('two.json', { channels, models }))
  const { id: account } = await json('account', 'create', '--name', 'a', '--balance', '5')
  const terms = ['--models', 'm,n', '--spend-limit', '2.5', '--expires', '30d']
  const wanted = ['--name', 'web', ...terms, '--tags', 'a,b,a']
  const created = await json('key', 'create', '--account', account, ...wanted)
  assert.ok(isWellFormedApiKey(created.key))
  assert.deepEqual([created.models, created.spend_limit, created.name], [['m', 'n'], '2.5', 'web'])
  assert.deepEqual(created.tags, ['a', 'b'])
  const days = (Date.parse(created.expires_at) - Date.now()) / 86_400_000
  assert.ok(days > 29.9 && days < 30.1)
  const listed = await run('key', 'list', '--account', account)
  assert.equal(listed.out.includes(created.key), false)
  assert.match(listed.out, /0 of 2\.5 CNY/)
  assert.equal((await json('key', 'disable', created.id)).state, 'disabled')
  assert.equal((await json('key', 'enable', created.id)).state, 'active')
  const rotated = await json('key', 'rotate', created.id, '--overlap', '1h')
  assert.ok(isWellFormedApiKey(rotated.key))
  assert.equal(rotated.replaces.replaced_by, rotated.id)
  const change = ['--models', 'none', '--spend-limit', 'none', '--expires', '2099-12-31']
  const updated = await json('key', 'update', rotated.id, ...change, '--name', 'app')
  assert.deepEqual(
    [updated.models, updated.spend_limit, updated.expires_at, updated.name],
    [null, null, '2099-12-31T00:00:00.000Z', 'app'],
  )
  const shown = await run('key', 'create', '--account', account)
  assert.match(shown.out, /^key +tr-[0-9A-Za-z]{49}$/m)
  assert.match(shown.out, /Save the key now/)
  const unknown = await run('key', 'create', '--account', account, '--models', 'typo')
  assert.deepEqual([unknown.code, unknown.out], [1, ''])
  assert.match(unknown.err, /the catalog has no model typo: tributary model list/)
  const changed = await run('key', 'update', rotated.id, '--models', 'm,nope')
  assert.match(changed.err, /the catalog has no model nope: /)
  const again = await run('key', 'rotate', created.id)
  assert.deepEqual([again.code, again.out], [1, ''])
  assert.match(again.err, new RegExp(`^tributary: ${created.id} was rotated: use ${rotated.id}\n$`))
})

test('credit: top-up once per event, adjustment, forgiveness, and their refusals', async (t) => {
  const { run, json, sql } = await openCommandLine(t)
  const { id } = await json('account', 'create', '--name', 'a')
  const credit = (...words: string[]) => json('credit', '--account', id, ...words)
  const topUp = ['--amount', '10', '--reason', 'invoice 1', '--event', 'pay_1']
  assert.deepEqual(
    [(await credit(...topUp)).posted, (await credit(...topUp)).posted],
    [true, false],
  )
  const promotion = await credit('--amount', '1', '--reason', 'hello', '--kind', 'promotion')
  assert.equal(promotion.available, '11')
  const back = await credit('--amount', '-0.5', '--reason', 'oops', '--kind', 'adjustment')
  assert.equal(back.available, '10.5')
  const [row] = await sql`select actor, reason from credit where kind = 'adjustment'`
  assert.match(row?.actor, /^cli:/)
  const refused = async (expected: RegExp, ...words: string[]) => {
    const { code, err } = await run('credit', '--account', id, ...words)
    assert.equal(code, 1)
    assert.match(err, expected)
    assert.equal(err.trim().split('\n').length, 1)
  }
  const adjust = ['--reason', 'x', '--kind', 'adjustment', '--amount']
  await refused(/only 10\.5 CNY is available/, ...adjust, '-10.500000001')
  await refused(/amount of zero/, ...adjust, '0')
  await refused(/only an adjustment can be negative/, '--amount', '-1', '--reason', 'x')
  await refused(/1 to 500 characters/, '--amount', '1', '--reason', ' ')
  const forgive = ['--amount', '1', '--reason', 'x', '--kind', 'forgiveness']
  await refused(/only the debt of 0 CNY can be forgiven/, ...forgive)
  const nobody = await run('credit', '--account', 'acct_x', '--amount', '1', '--reason', 'x')
  assert.match(
    nobody.err,
    /^tributary: there is no account acct_x: `account list` shows the ids\n$/,
  )
})
