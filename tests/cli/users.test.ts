/** `user` as operators use it when the console cannot be used. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openCommandLine } from './support.ts'

test('users: create, list, disable, enable, reset, invite; all of it is in the audit log', async (t) => {
  const { run, json, sql } = await openCommandLine(t)
  assert.match((await run('user', 'list')).out, /^There are no users yet/)
  const account = await json('account', 'create', '--name', 'Acme')
  const who = ['--email', 'kim@example.com', '--name', 'Kim']
  const created = await json('user', 'create', ...who, '--operator', '--account', account.id)
  assert.match(created.link, /^http:\/\/127\.0\.0\.1:\d+\/console\/reset#token=\w{43}$/)
  const again = await run('user', 'create', ...who)
  assert.deepEqual([again.code, again.err], [1, 'tributary: kim@example.com has a user already\n'])
  const [listed] = await json('user', 'list')
  assert.deepEqual(
    [listed.id, listed.operator, listed.second_factor, listed.disabled],
    [created.user, true, false, false],
  )
  assert.equal((await run('user', 'disable', 'KIM@example.com')).code, 0)
  assert.equal((await json('user', 'list'))[0].disabled, true)
  assert.equal((await run('user', 'enable', created.user)).code, 0)
  const reset = await json('user', 'reset-password', created.user, '--factors')
  assert.notEqual(reset.link, created.link)
  const invited = await json('user', 'invite', '--email', 'li@example.com', '--account', account.id)
  assert.match(invited.link, /\/console\/invite#token=/)
  const unknown = await run('user', 'disable', 'nobody@example.com')
  assert.deepEqual([unknown.code, /there is no user/.test(unknown.err)], [1, true])
  const rows = await sql<{ action: string }[]>`
    select action from audit_log where actor like 'cli%' and action not like '%accounts%'
    order by id`
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['user created', 'user disabled', 'user enabled', 'password reset offered', 'invited'],
  )
  const [links] = await sql<{ text: string }[]>`select string_agg(l::text, ' ') as text
    from console_link l`
  assert.ok(!links?.text.includes(String(reset.link).split('token=')[1] ?? 'none'))
})
