/** `apply`, `model`, `channel`, `routes`: the catalog from the command line. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { createSecretBox, createSecretKey } from '../../server/base/lib/secrets/secrets.ts'
import { openCommandLine, runWith } from './support.ts'

const channel = {
  id: 'main',
  upstream: 'openai-compatible',
  settings: { base_url: 'https://vendor.test/v1', api_key: 'sk-this-is-a-secret-key' },
}
const model = {
  id: 'small',
  type: 'chat',
  prices: [
    { unit: 'input_token', per: 1_000_000, amount: '0.15' },
    { unit: 'output_token', per: 1_000_000, amount: '9', when: { input_tokens: { below: 9 } } },
    { unit: 'output_token', per: 1_000_000, amount: '12' },
  ],
  routes: [{ channel: 'main' }],
}

test('apply prints what changed, then that nothing did', async (t) => {
  const { run, json, file } = await openCommandLine(t)
  const shop = file('shop.json', { channels: [channel], models: [model] })
  const dry = await run('apply', shop, '--dry-run')
  assert.equal(
    dry.out,
    '+ channel main\n+ model small\n' +
      '    = 0.15 CNY per 1,000,000 input tokens\n' +
      '    = 9 CNY per 1,000,000 output tokens when {"input_tokens":{"below":9}}\n' +
      '    = 12 CNY per 1,000,000 output tokens\n' +
      '2 added; nothing was written\n',
  )
  const first = await run('apply', shop)
  assert.match(first.out, /2 added; the catalog is at revision 1\n$/)
  const second = await run('apply', shop)
  assert.deepEqual([second.code, second.out], [0, 'no changes\n'])
  const other = file('other.json', { models: [{ ...model, id: 'big' }] })
  assert.equal((await json('apply', other)).revision, '2')
  const both = await run('apply', shop, '--replace')
  assert.equal(both.out, '- model big\n1 retired; the catalog is at revision 3\n')
})

test('apply names every mistake with its file and path, and writes nothing', async (t) => {
  const { run, json, file } = await openCommandLine(t)
  const bad = file('bad.json', { models: [{ ...model, prices: [{ unit: 'call', amount: 1 }] }] })
  const broken = file('broken.json', '{"models": ')
  const { code, out, err } = await run('apply', bad, broken, '/nowhere.json')
  assert.deepEqual([code, out], [1, ''])
  assert.match(err, /bad\.json: models\[0\]\.prices\[0\]\.amount: must be a decimal string/)
  assert.match(err, /broken\.json: not valid JSON/)
  assert.match(err, /\/nowhere\.json: there is no such file/)
  assert.equal(err.includes('    at '), false)
  const lost = await run('apply', file('lost.json', { models: [model] }))
  assert.match(
    lost.err,
    /lost\.json: models\[0\]\.routes\[0\]\.channel: there is no channel "main"/,
  )
  assert.deepEqual(await json('model', 'list'), [])
})

test('a file is read in one way, or refused', async (t) => {
  const { run, json, file } = await openCommandLine(t)
  const list = (prices: string) => `{"price_lists": [{"id": "gold", "prices": ${prices}}]}`
  const rule = (factor: string) => `{"of": "parent", "factor": "${factor}"}`
  const refusals: readonly (readonly [string, RegExp])[] = [
    [
      list(`{"a": ${rule('0.9')}, "b,[": ${rule('1')}, "\\u0061": ${rule('0.1')}}`),
      /bad\.json: price_lists\[0\]\.prices\.a: appears twice/,
    ],
    [
      '{"accounts": [{"name": "a"}, {"name": "b", "keys": [], "keys": []}]}',
      /bad\.json: accounts\[1\]\.keys: appears twice/,
    ],
  ]
  for (const [text, message] of refusals) {
    const { code, err } = await run('apply', file('bad.json', text))
    assert.equal(code, 1)
    assert.match(err, message)
  }
  const shop = file('shop.json', { channels: [channel], models: [model] })
  const text = readFileSync(shop, 'utf8')
  writeFileSync(shop, Buffer.from(`\ufeff${text}`, 'utf16le'))
  assert.match((await run('apply', shop)).err, /shop\.json: the file is not UTF-8/)
  writeFileSync(shop, `\ufeff${text.replaceAll('},', '},\r\n')}`)
  assert.equal((await run('apply', shop)).code, 0)
  assert.equal((await json('model', 'list')).length, 1)
})

test('own prices of an account come from a file', async (t) => {
  const { run, json, file } = await openCommandLine(t)
  await run('apply', file('shop.json', { channels: [channel], models: [model] }))
  const { id } = await json('account', 'create', '--name', 'a')
  const own = file('own.json', { default: { of: 'parent', factor: '2' } })
  const [price] = await json('account', 'prices', id, '--set', own)
  assert.deepEqual(price.prices[0].amount, '0.3')
  const refusals: readonly (readonly [string, RegExp])[] = [
    ['/nowhere.json', /\/nowhere\.json: there is no such file\n$/],
    [file('broken.json', '{"prices": '), /broken\.json: .*JSON/],
    [file('list.json', '[]'), /list\.json: must be an object with "default"/],
    [
      file('wrong.json', { default: { of: 'parent', factor: 'half' } }),
      /wrong\.json: default\.factor: /,
    ],
    [file('unknown.json', { prices: { none: 'hidden' } }), /unknown\.json: prices\.none: .*none/],
  ]
  for (const [path, expected] of refusals) {
    const { code, err } = await run('account', 'prices', id, '--set', path)
    assert.equal(code, 1)
    assert.match(err, expected)
  }
  const [kept] = await json('account', 'prices', id)
  assert.equal(kept.prices[0].amount, '0.3')
  const shown = await run('account', 'prices', id)
  assert.match(shown.out, /^small +own:\S+ +\d+ +parent × 2 +0\.3 CNY per .* always/m)
  assert.match(shown.out, /^ +18 CNY per .* {2}\{".+\}$/m)
})

test('models and channels are listed and shown, secrets masked', async (t) => {
  const { run, json, file } = await openCommandLine(t)
  const planned = { from: '2099-01-01T08:00:00+08:00', prices: model.prices.slice(0, 1) }
  const models = [{ ...model, planned_prices: [planned] }]
  await run('apply', file('shop.json', { channels: [channel], models }))
  const listed = await run('model', 'list', '--type', 'chat')
  assert.match(
    listed.out,
    /small .* 0\.15 CNY per 1,000,000 input tokens, 12 CNY per .* 1 with conditions/,
  )
  assert.deepEqual(await json('model', 'list', '--type', 'search'), [])
  const shown = await json('model', 'show', 'small')
  assert.deepEqual([shown.prices.length, shown.routes[0].upstream_model], [3, 'small'])
  assert.match(shown.planned[0].version, /^[1-9]\d*$/)
  assert.match(
    (await run('model', 'show', 'small')).out,
    /always\n\nPRICE FROM 2099-01-01 00:00:00 UTC +WHEN\n0\.15 CNY per 1,000,000 input tokens/,
  )
  const { out: channels } = await run('channel', 'list')
  assert.match(channels, /main +openai-compatible +active +no call .* 1 +shop/)
  const details = await run('channel', 'show', 'main')
  assert.match(details.out, /api_key +••••-key\n/)
  assert.equal(details.out.includes('this-is-a-secret'), false)
  assert.match((await run('model', 'show', 'none')).err, /^tributary: there is no model none\n$/)
  assert.match(
    (await run('channel', 'show', 'none')).err,
    /^tributary: there is no channel none\n$/,
  )
})

test('rekey moves every secret to the newest key, and the old one can go', async (t) => {
  const { run, file, environment } = await openCommandLine(t)
  await run('apply', file('shop.json', { channels: [channel] }))
  const [fresh, old] = [createSecretKey(), environment.SECRET_KEY]
  const show = async (secretKey: string) => {
    const own = { ...environment, SECRET_KEY: secretKey }
    return (await runWith(own, ['channel', 'show', 'main'])).out
  }
  assert.match(await show(fresh), /unreadable: sealed with key/)
  const both = { ...environment, SECRET_KEY: `${fresh},${old}` }
  const done = await runWith(both, ['rekey', '--json'])
  assert.deepEqual(JSON.parse(done.out), { changed: 1, kept: 0, dropped: 0 })
  const again = await runWith(both, ['rekey'])
  assert.equal(again.out, '0 secrets encrypted again, 1 had the newest key.\n')
  assert.match(await show(fresh), /api_key +••••-key/)
  const { code, err } = await run('rekey')
  assert.equal(code, 1)
  assert.match(err, /^tributary: sealed with key [0-9a-f]{8}, which SECRET_KEY does not hold: /)
  assert.match(
    err,
    /set SECRET_KEY=NEW,OLD, the key used before as OLD; if that key is lost, --drop/,
  )
})

test('rekey --drop-lost removes what a lost key sealed, and new secrets take its place', async (t) => {
  const { run, json, file, folder, sql, environment } = await openCommandLine(t)
  const shop = file('shop.json', { channels: [channel] })
  await run('apply', shop)
  const { id: account } = await json('account', 'create', '--name', 'Ann', '--balance', '5')
  const before = await json('webhook', 'rotate', '--account', account)
  const signing = (await run('checkpoint', 'public-key')).out
  assert.equal((await run('checkpoint', '--out', `${folder}/before.json`)).code, 0)
  await json('user', 'create', '--email', 'kim@example.com', '--name', 'Kim')
  const sealed = createSecretBox([createSecretKey()]).seal('x', 'y')
  await sql`update person set totp_secret = ${sealed}`
  await sql`
    insert into identity_provider (id, name, issuer, client_id, client_secret)
    values ('idp_1', 'Acme', 'https://login.example.com', 'c', ${sealed})`
  const lost = { ...environment, SECRET_KEY: createSecretKey() }
  const on = (...words: string[]) => runWith(lost, words)
  assert.equal((await run('backup', '--to', `${folder}/copy`)).code, 0)
  const refused = await on('restore', '--from', `${folder}/copy`, '--verify')
  assert.match(refused.err, /does not open 6 of the 6 secrets .*client secrets of sign-in provider/)
  assert.match((await on('rekey')).err, /--drop-lost removes what it sealed\n$/)
  const counted = await on('rekey', '--drop-lost', '--dry-run')
  assert.match(counted.out, /^0 .* 0 have .*\n5 that no key opens would be removed\.\n$/)
  const done = JSON.parse((await on('rekey', '--drop-lost', '--json')).out)
  assert.deepEqual(done, { changed: 0, kept: 0, dropped: 5 })
  assert.match((await on('rekey')).out, /^0 secrets encrypted again, 2 had the newest key\.\n$/)
  assert.match((await on('channel', 'show', 'main')).out, /base_url +https:/)
  assert.match((await on('apply', shop)).out, /^~ channel main \(settings\)$/m)
  assert.match((await on('channel', 'show', 'main')).out, /api_key +••••-key/)
  const shown = JSON.parse((await on('webhook', 'secret', '--account', account, '--json')).out)
  assert.notEqual(shown.secret, before.secret)
  assert.equal(shown.previous_valid_until, null)
  assert.equal((await sql`select from person where totp_secret is not null`).length, 0)
  assert.notEqual((await on('checkpoint', 'public-key')).out, signing)
  assert.equal((await on('checkpoint', '--out', `${folder}/after.json`)).code, 0)
  assert.equal((await on('audit')).code, 0)
})

test('routes is the table of contents of the API', async (t) => {
  const { json, run } = await openCommandLine(t)
  const routes: { method: string; path: string }[] = await json('routes')
  assert.ok(routes.some(({ method, path }) => method === 'POST' && path === '/v1/chat/completions'))
  assert.match((await run('routes')).out, /^METHOD +PATH/)
})
