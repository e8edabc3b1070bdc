/** `webhook` as operators and scripts use it; the sending itself is a gateway's. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSecretKey } from '../../server/lib/secrets/secrets.ts'
import { enqueueTestDelivery } from '../webhooks/support.ts'
import { openCommandLine, runWith } from './support.ts'

test('secret, rotate, rekey', async (t) => {
  const { run, json, environment } = await openCommandLine(t)
  const { id } = await json('account', 'create', '--name', 'a')
  const first = await json('webhook', 'secret', '--account', id)
  assert.match(first.secret, /^whsec_/)
  assert.deepEqual(await json('webhook', 'secret', '--account', id), first)
  const second = await json('webhook', 'rotate', '--account', id)
  assert.notEqual(second.secret, first.secret)
  assert.match((await run('webhook', 'secret', '--account', id)).out, /signs until .* UTC/)
  const nobody = await run('webhook', 'secret', '--account', 'acct_x')
  assert.deepEqual([nobody.code, nobody.err], [1, 'tributary: there is no account acct_x\n'])
  const next = createSecretKey()
  const both = { ...environment, SECRET_KEY: `${next},${environment.SECRET_KEY}` }
  assert.match((await runWith(both, ['rekey'])).out, /^1 secrets encrypted again/)
  const after = { ...environment, SECRET_KEY: next }
  const shown = await runWith(after, ['webhook', 'secret', '--account', id, '--json'])
  assert.equal(JSON.parse(shown.out).secret, second.secret)
})

test('deliveries, show, redeliver, test', async (t) => {
  const { run, json, sql } = await openCommandLine(t)
  const { id: account } = await json('account', 'create', '--name', 'a')
  assert.match((await run('webhook', 'deliveries', '--account', account)).out, /^There are no/)
  const id = await enqueueTestDelivery(sql, account, 'https://example.com/hook')
  assert.match((await run('webhook', 'deliveries', '--account', account)).out, /pending +0 +task_/)
  const again = await json('webhook', 'redeliver', id)
  assert.equal(again.redelivery_of, id)
  assert.match((await run('webhook', 'show', id)).out, /^delivery +whd_/)
  const tried = await json('webhook', 'test', '--account', account, '--url', 'https://example.com/')
  assert.equal(tried.kind, 'test')
  const listed = await json('webhook', 'deliveries', '--account', account, '--status', 'pending')
  assert.equal(listed.length, 3)
  const inward = await run('webhook', 'test', '--account', account, '--url', 'http://10.0.0.1/')
  assert.match(inward.err, /not public \(private\)/)
  assert.match((await run('webhook', 'show', 'whd_x')).err, /there is no delivery whd_x/)
})
