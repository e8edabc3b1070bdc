/** `export` and `apply`: the whole configuration as one file, there and back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { saveSubject } from '../../server/money/accounts/tokens/subject-store.ts'
import { openCommandLine, runWith } from './support.ts'

const SECRET = 'sk-this-is-a-secret-key'
const HEADER = 'a-key-in-a-header-of-the-channel'

const shop = {
  source: 'shop',
  channels: [
    {
      id: 'main',
      upstream: 'openai-compatible',
      settings: {
        base_url: 'https://vendor.test/v1',
        api_key: SECRET,
        quirks: { top_k: true },
        headers: { 'x-gateway-key': HEADER, 'x-name': 'env:GATEWAY_NAME' },
      },
    },
    {
      id: 'by-name',
      upstream: 'anthropic',
      settings: { api_key: 'env:OTHER_KEY', stops_on_cancel: true },
    },
  ],
  models: [
    {
      id: 'small',
      type: 'chat',
      prices: [
        { unit: 'input_token', per: 1_000_000, amount: '0.150' },
        { unit: 'output_token', per: 1_000_000, amount: '9', when: { input_tokens: { below: 9 } } },
        { unit: 'output_token', per: 1_000_000, amount: '12' },
      ],
      planned_prices: [
        {
          effective_from: '2190-01-01T00:00:00+08:00',
          prices: [{ unit: 'output_token', per: 1, amount: '1' }],
        },
      ],
      routes: [
        { channel: 'main', upstream_model: 'tiny', weight: 3 },
        {
          channel: 'by-name',
          priority: 1,
          costs: [{ unit: 'input_token', per: 1, amount: '0.1' }],
        },
      ],
      limits: { requests_per_minute: 60, max_output_tokens: 4096 },
      details: { display_name: 'Small', context_window: 128_000 },
    },
  ],
}
const dollars = {
  currency: 'USD',
  models: [
    { id: 'big', type: 'chat', prices: [{ unit: 'call', amount: '1' }], routes: routesTo('main') },
    { id: 'gift', type: 'chat', free: true, routes: routesTo('main') },
  ],
  price_lists: [{ id: 'gold', default: { of: 'parent', factor: '0.9' } }],
}

function routesTo(channel: string) {
  return [{ channel }]
}

async function openShop(t: Parameters<typeof openCommandLine>[0]) {
  const commandLine = await openCommandLine(t)
  const { run, json, file } = commandLine
  await json('apply', file('shop.json', shop), file('dollars.json', dollars))
  const { id: account } = await json('account', 'create', '--name', 'Acme', '--balance', '10')
  await json('account', 'limits', account, '--requests-per-minute', '60')
  await json('account', 'media', account, '--stored-gb', '3', '--prompts', 'drop')
  const web = ['--name', 'web', '--models', 'small', '--spend-limit', '5.5']
  const limits = ['--concurrent-calls', '2', '--expires', '2090-01-01']
  const key = await json('key', 'create', '--account', account, ...web, ...limits)
  const rotated = await json('key', 'rotate', key.id, '--overlap', '2h')
  const off = await json('key', 'create', '--account', account)
  await json('key', 'disable', off.id)
  const other = await json('account', 'create', '--name', '二号', '--currency', 'USD')
  await json('account', 'suspend', other.id)
  await run('account', 'set', other.id, '--price-list', 'gold')
  const exported = async () => (await run('export')).out
  return { ...commandLine, account, key, rotated, off, other, exported }
}

test('what export prints changes nothing where it came from', async (t) => {
  const { run, file, exported } = await openShop(t)
  const text = await exported()
  const applied = await run('apply', file('any-name.json', text), '--dry-run')
  assert.deepEqual(
    [applied.code, applied.out, applied.err.includes('error')],
    [0, 'no changes\n', false],
  )
  for (const secret of [SECRET, HEADER]) assert.ok(!text.includes(secret), secret)
  const { channels, models, accounts } = JSON.parse(text)
  assert.equal(channels[0].settings.api_key, 'env:OTHER_KEY')
  assert.deepEqual(
    models.map((one: { id: string; currency?: string }) => [one.id, one.currency]),
    [
      ['big', undefined],
      ['gift', undefined],
      ['small', 'CNY'],
    ],
  )
  const other = accounts.find((one: { name: string }) => one.name === '二号')
  assert.equal(other.price_list, 'gold')
  const acme = accounts.find((one: { name: string }) => one.name === 'Acme')
  assert.equal(acme.keys.length, 3)
  assert.match(acme.keys[0].hash, /^[0-9a-f]{64}$/)
})

test('an empty database becomes the same: keys work, balances do not travel', async (t) => {
  const from = await openShop(t)
  const text = await from.exported()
  const to = await openCommandLine(t)
  const sameKey = { ...to.environment, SECRET_KEY: from.environment.SECRET_KEY }
  const path = to.file('copy.json', text)
  const applied = await runWith(sameKey, ['apply', path, '--json'])
  assert.equal(applied.code, 0, applied.err)
  const again = await runWith(sameKey, ['export'])
  const withoutSealed = (one: string) => one.replace(/"sealed": \{[^}]*\}/g, '')
  assert.equal(withoutSealed(again.out), withoutSealed(text))
  const sqlState = await to.sql`
    select (select available::text from balance where account_id = ${from.account}) as balance,
      (select counter_key_id from api_key where id = ${from.rotated.id}) as counter,
      (select count(*)::int from price where model_id = 'small') as prices`
  assert.deepEqual({ ...sqlState[0] }, { balance: '0', counter: from.key.id, prices: 2 })
  const shown = await runWith(sameKey, ['channel', 'show', 'main'])
  assert.match(shown.out, /api_key +••••-key/)
  assert.match(shown.out, /headers +\{"x-gateway-key":"••••nnel","x-name":"env:GATEWAY_NAME"\}/)
  assert.ok(!shown.out.includes(HEADER))
})

test('sealed secrets need their SECRET_KEY; names of variables do not', async (t) => {
  const from = await openShop(t)
  const to = await openCommandLine(t)
  const sealed = to.file('sealed.json', await from.exported())
  const refused = await to.run('apply', sealed)
  assert.equal(refused.code, 1)
  assert.match(refused.err, /sealed\.json: channels\[1\]\.sealed: sealed with key [0-9a-f]{8}/)
  const named = await from.run('export', '--secrets', 'env', '--no-accounts')
  assert.equal(named.err, 'set MAIN_API_KEY\nset MAIN_HEADERS_X_GATEWAY_KEY\n')
  const { channels, accounts } = JSON.parse(named.out)
  assert.deepEqual([channels[1].settings.api_key, accounts], ['env:MAIN_API_KEY', undefined])
  const applied = await to.run('apply', to.file('named.json', named.out))
  assert.equal(applied.code, 0, applied.err)
})

test('each secret gets a variable of its own, in lists too', async (t) => {
  const from = await openCommandLine(t)
  const to = await openCommandLine(t)
  const settings = {
    base_url: 'https://vendor.test/v1',
    api_keys: ['first-key', 'second-key'],
    headers: { 'x-a': 'one', x_a: 'two' },
  }
  const channels = [{ id: 'main', upstream: 'openai-compatible', settings }]
  await from.json('apply', from.file('keys.json', { source: 'keys', channels }))
  const { out, err } = await from.run('export', '--secrets', 'env', '--no-accounts')
  const names = ['API_KEYS_1', 'API_KEYS_2', 'HEADERS_X_A', 'HEADERS_X_A_2']
  assert.deepEqual(
    err.trim().split('\n').sort(),
    names.map((name) => `set MAIN_${name}`),
  )
  const { api_keys: keys } = JSON.parse(out).channels[0].settings
  assert.deepEqual(keys, ['env:MAIN_API_KEYS_1', 'env:MAIN_API_KEYS_2'])
  const applied = await to.run('apply', to.file('named.json', out))
  assert.equal(applied.code, 0, applied.err)
})

test('a dry run shows each value before and after, without secrets', async (t) => {
  const { run, file, exported, sql } = await openShop(t)
  const changed = JSON.parse(await exported())
  const [, small] = [changed.models[0], changed.models[2]]
  small.prices[0].amount = '0.2'
  small.limits.requests_per_minute = 90
  delete changed.channels[1].sealed
  changed.channels[1].settings.api_key = 'sk-another-secret-key'
  changed.channels[1].settings.headers = { 'x-gateway-key': 'another-key-in-a-header' }
  const acme = changed.accounts.find((one: { name: string }) => one.name === 'Acme')
  acme.limits = {}
  for (const key of acme.keys) if (key.name === 'web') key.name = 'shop'
  changed.models.splice(0, 1)
  const { out, code } = await run('apply', file('changed.json', changed), '--dry-run')
  assert.equal(code, 0)
  for (const line of [
    '~ channel main (settings)\n',
    '    ~ settings.api_key: •••• → ••••\n',
    '    ~ settings.headers.x-gateway-key: •••• → ••••\n',
    '    - settings.headers.x-name: "env:GATEWAY_NAME"\n',
    '    ~ prices[0].amount: "0.15" → "0.2"\n',
    '    ~ limits.requests_per_minute: 60 → 90\n',
    '- model big\n',
    '    - limits.requests_per_minute: 60\n',
    '    ~ name: "web" → "shop"\n',
    'nothing was written\n',
  ]) {
    assert.ok(out.includes(line), `${line} is not in\n${out}`)
  }
  for (const secret of ['secret-key', 'in-a-header']) assert.ok(!out.includes(secret), secret)
  const [row] = await sql`select limits from account where name = 'Acme'`
  assert.deepEqual(row?.limits, { requests_per_minute: 60 })
})

test('a file that contradicts the database is refused as a whole, with its paths', async (t) => {
  const { run, file, exported, sql, account } = await openShop(t)
  const file2 = JSON.parse(await exported())
  const [acme, second] = [...file2.accounts].sort((one) => (one.id === account ? -1 : 1))
  acme.currency = 'EUR'
  acme.keys[0].hash = 'ab'.repeat(32)
  second.keys = [
    { ...acme.keys[1], id: 'key_new' },
    { id: 'key_x', hash: 'short' },
  ]
  const shape = await run('apply', file('shape.json', file2))
  assert.match(shape.err, /accounts\[\d\]\.keys\[1\]\.hash: must be the SHA-256 of the key/)
  second.keys.pop()
  const { code, err } = await run('apply', file('bad.json', file2))
  assert.equal(code, 1)
  assert.match(err, /accounts\[\d\]\.currency: acct_\w+ pays in CNY, which never changes/)
  assert.match(err, /accounts\[\d\]\.keys\[0\]\.hash: key_\w+ has another hash/)
  assert.match(err, /accounts\[\d\]\.keys\[0\]\.hash: is the hash of key_\w+/)
  const [row] = await sql`select count(*)::int as keys from api_key`
  assert.equal(row?.keys, 3)
})

test('issuers of tokens: there and back, and what is refused; their subjects', async (t) => {
  const { run, json, file, sql } = await openCommandLine(t)
  const issuer = {
    id: 'okta',
    issuer: 'https://acme.okta.com',
    audience: 'tributary',
    jwks_uri: 'https://acme.okta.com/keys',
    algorithms: ['RS256'],
    account: { claim: 'org', accounts: { acme: 'acct_1' } },
    member: { claim: 'email' },
    models: null,
    limits: { requests_per_minute: 5 },
  }
  const apply = (...issuers: object[]) =>
    run('apply', file('directory.json', { source: 'directory', token_issuers: issuers }))
  assert.match((await apply(issuer)).out, /^\+ token issuer okta\n/)
  assert.match((await apply(issuer)).out, /^no changes/)
  const exported = JSON.parse((await run('export')).out)
  assert.deepEqual(exported.token_issuers, [issuer])
  assert.match((await apply({ ...issuer, audience: 'x' })).out, /^~ token issuer okta \(audience\)/)
  const wrong: readonly [object, RegExp][] = [
    [{ ...issuer, algorithms: ['HS256'] }, /algorithms/],
    [{ ...issuer, algorithms: ['none'] }, /algorithms/],
    [{ ...issuer, issuer: 'http://acme.okta.com' }, /must be an https URL/],
    [{ ...issuer, jwks_uri: 'https://a:b@acme.okta.com/' }, /must be an https URL/],
    [{ ...issuer, account: 'acme' }, /account/],
    [{ ...issuer, secret: 'x' }, /secret/],
    [{ ...issuer, audience: undefined }, /audience/],
  ]
  for (const [one, reason] of wrong) {
    const { code, err } = await apply(one)
    assert.deepEqual([code, reason.test(err)], [1, true], err)
  }
  assert.match((await apply(issuer, { ...issuer, id: 'twin' })).err, /has the same issuer/)
  assert.match((await apply(issuer, issuer)).err, /appears twice/)

  const { id: accountId } = await json('account', 'create', '--name', 'Acme')
  for (const subject of ['kim', 'lee']) {
    const hash = Buffer.from(subject)
    const row = { keyId: `key_${subject}`, hash, issuer: 'okta', subject, accountId, email: null }
    assert.equal(await saveSubject(sql, row), undefined)
  }
  const subject = (name: string, ...more: string[]) =>
    json('subject', name, '--issuer', 'okta', ...more)
  const states = (rows: { subject: string; state: string }[]) =>
    rows.map((row) => `${row.subject} ${row.state}`).sort()
  assert.deepEqual(states(await subject('list')), ['kim active', 'lee active'])
  assert.deepEqual(states(await subject('disable', '--subject', 'kim')), ['kim disabled'])
  assert.deepEqual(states(await subject('list')), ['kim disabled', 'lee active'])
  assert.deepEqual(states(await subject('enable')), ['kim active', 'lee active'])
  const unknown = await run('subject', 'disable', '--issuer', 'okta', '--subject', 'eve')
  assert.deepEqual([unknown.code, /no subject "eve" of okta/.test(unknown.err)], [1, true])
  const acts = await sql`select target from audit_log where action like '%/subjects/%'`
  assert.deepEqual(
    acts.map(({ target }) => target),
    ['key_kim', 'key_kim'],
  )
  assert.match((await apply()).out, /^- token issuer okta/)
  assert.deepEqual(await json('key', 'list', '--account', accountId), [])
})
