/** `webhook` as operators and scripts use it; the sending itself is a gateway's. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSecretKey } from '../../server/base/lib/secrets/secrets.ts'
import { enqueueAlertDelivery } from '../../server/work/webhooks/enqueue.ts'
import { enqueueTestDelivery, insertDropped } from '../webhooks/support.ts'
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
  assert.deepEqual(
    [nobody.code, nobody.err],
    [1, 'tributary: there is no account acct_x: `account list` shows the ids\n'],
  )
  const next = createSecretKey()
  const both = { ...environment, SECRET_KEY: `${next},${environment.SECRET_KEY}` }
  assert.match((await runWith(both, ['rekey'])).out, /^1 secrets encrypted again/)
  const after = { ...environment, SECRET_KEY: next }
  const shown = await runWith(after, ['webhook', 'secret', '--account', id, '--json'])
  assert.equal(JSON.parse(shown.out).secret, second.secret)
})

test('list, show, resend, test', async (t) => {
  const { run, json, sql } = await openCommandLine(t)
  const { id: account } = await json('account', 'create', '--name', 'a')
  assert.match((await run('webhook', 'deliveries', '--account', account)).out, /^There are no/)
  const id = await enqueueTestDelivery(sql, account, 'https://example.com/hook')
  assert.match((await run('webhook', 'deliveries', '--account', account)).out, /pending +0 +task_/)
  const alert = { accountId: account, url: 'https://example.com/alerts', body: '{}' }
  const near = await run('account', 'set', account, '--alert-url', 'http://127.0.0.1:9/')
  assert.match(near.err, /\(loopback\): ALLOW_PRIVATE_TARGETS=true allows it$/m)
  await sql.begin((transaction) => enqueueAlertDelivery(transaction, alert))
  assert.match((await run('webhook', 'list', '--account', account)).out, / an alert .*\/alerts/)
  await sql`delete from delivery where kind = 'alert'`
  const early = await run('webhook', 'resend', id)
  assert.deepEqual([early.code, /still pending: its next attempt is/.test(early.err)], [1, true])
  await sql`update delivery set state = 'dropped', finished_at = now() where id = ${id}`
  const again = await json('webhook', 'resend', id)
  assert.equal(again.redelivery_of, id)
  assert.equal((await json('webhook', 'redeliver', id)).id, again.id, 'once')
  await sql`
    insert into delivery_attempt (delivery_id, number, started_at, outcome, error)
    values (${id}, 1, now(), 'refused', ${'not of \x1b[2J\r\nhost'})`
  const shown = (await run('webhook', 'show', id)).out
  assert.match(shown, /^delivery +whd_/)
  assert.match(shown, /not of {2}\[2J host/, 'an endpoint’s words do not act on the terminal')
  const tried = await json('webhook', 'test', '--account', account, '--url', 'https://example.com/')
  assert.equal(tried.kind, 'test')
  await sql`insert into delivery_attempt (delivery_id, number, started_at)
    values (${tried.id}, 1, '2026-11-21T09:30:00.5Z')`
  const begun = (await run('webhook', 'show', tried.id)).out
  assert.match(begun, /^1\. 2026-11-21 09:30:00 {2}in progress$/m)
  const listed = await json('webhook', 'deliveries', '--account', account, '--status', 'pending')
  assert.equal(listed.length, 2)
  const inward = await run('webhook', 'test', '--account', account, '--url', 'http://10.0.0.1/')
  assert.match(inward.err, /not public \(private\)/)
  assert.match((await run('webhook', 'show', 'whd_x')).err, /there is no delivery whd_x/)
})

test('the dropped ones of an hour, of all accounts', async (t) => {
  const { run, json, sql } = await openCommandLine(t)
  for (const name of ['a', 'b']) {
    const { id } = await json('account', 'create', '--name', name)
    await insertDropped(sql, id, `https://${name}.test/hook`)
  }
  assert.equal((await json('webhook', 'list', '--status', 'dropped')).length, 2)
  assert.equal((await json('webhook', 'list', '--host', 'a.test')).length, 1)
  const [first] = await json('webhook', 'list', '--limit', '1')
  const paged = await run('webhook', 'list', '--limit', '1')
  assert.match(paged.err, new RegExp(`There may be more: --after ${first.id}`))
  const [second] = await json('webhook', 'list', '--after', first.id)
  assert.notEqual(second.id, first.id)
  const at = (ms: number) => new Date(Date.now() + ms).toISOString()
  const hour = ['--from', at(-1_800_000), '--to', at(1_800_000)]
  const dry = await run('webhook', 'resend', ...hour, '--dry-run')
  assert.equal(dry.out, '2 dropped deliveries would be sent again.\n')
  assert.deepEqual(await json('webhook', 'resend', ...hour, '--host', 'b.test'), {
    redelivered: 1,
    remaining: 0,
  })
  assert.match((await run('webhook', 'resend', ...hour)).out, /^1 are being sent again; 0 remain/)
  assert.match((await run('webhook', 'resend', ...hour)).out, /^0 are being sent again; 0 remain/)
  const acts = await sql`select details from audit_log where action like '%redeliver'`
  assert.equal(acts.length, 3)
  assert.match((await run('webhook', 'resend')).err, /name a delivery, or a time/)
  assert.match((await run('webhook', 'resend', 'whd_x', ...hour)).err, /name one delivery, or/)
  const long = ['--from', at(-90_000_000), '--to', at(0)]
  assert.match((await run('webhook', 'resend', ...long)).err, /at most 24 hours/)
})
