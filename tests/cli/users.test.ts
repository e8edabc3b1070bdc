/** `user` as operators use it when the console cannot be used. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openCommandLine, runWith } from './support.ts'

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
  const shown = await run('user', 'reset-password', created.user)
  assert.match(shown.out, /elsewhere than at http:\/\/127\.0\.0\.1:\d+, set PUBLIC_URL here too/)
  const unknown = await run('user', 'disable', 'nobody@example.com')
  assert.deepEqual([unknown.code, /there is no user/.test(unknown.err)], [1, true])
  const rows = await sql<{ action: string }[]>`
    select action from audit_log where actor like 'cli%' and action not like '%accounts%'
    order by id`
  assert.deepEqual(
    rows.map(({ action }) => action),
    [
      'user created',
      'user disabled',
      'user enabled',
      'password reset offered',
      'invited',
      'password reset offered',
    ],
  )
  const [links] = await sql<{ text: string }[]>`select string_agg(l::text, ' ') as text
    from console_link l`
  assert.ok(!links?.text.includes(String(reset.link).split('token=')[1] ?? 'none'))
})

test('sign-ups: list, and stop one or those of a network', async (t) => {
  const { run, json, sql } = await openCommandLine(t)
  assert.match((await run('sign-up', 'list')).out, /^Nobody has signed up/)
  const signUp = async (name: string, network: string) => {
    const email = `${name}@example.com`
    const { user } = await json('user', 'create', '--email', email, '--name', name)
    const { id: account } = await json('account', 'create', '--name', name)
    await sql`
      insert into sign_up (id, person_id, account_id, email, mailbox, network, granted, currency)
      values (${`sup_${name}`}, ${user}, ${account}, ${email}, ${email}, ${network}, 0, 'CNY')`
    return account
  }
  const account = await signUp('ann', '203.0.113.9')
  await signUp('bob', '203.0.113.9')
  await signUp('cid', '198.51.100.1')
  const stopped = await json('sign-up', 'stop', 'sup_ann')
  assert.deepEqual(stopped, { stopped: ['sup_ann'] })
  const [row] = await sql`select status from account where id = ${account}`
  assert.equal(row?.status, 'suspended')
  const rest = await json('sign-up', 'stop', '--network', '203.0.113.9')
  assert.deepEqual(rest, { stopped: ['sup_bob'] })
  const rows: { id: string; state: string }[] = await json('sign-up', 'list')
  const states = rows.map(({ id, state }) => `${id} ${state}`).sort()
  assert.deepEqual(states, ['sup_ann stopped', 'sup_bob stopped', 'sup_cid active'])
  const found = await json('sign-up', 'list', '--network', '198.51.100.1')
  assert.deepEqual(found.length, 1)
  for (const words of [[], ['sup_cid', '--network', '198.51.100.1'], ['sup_ann'], ['sup_none']]) {
    const refused = await run('sign-up', 'stop', ...words)
    assert.deepEqual([refused.code, /tributary sign-up list/.test(refused.err)], [1, true])
  }
  const acts = await sql<{ action: string; target: string }[]>`
    select action, target from audit_log where action like '%sign-ups%' order by id`
  assert.deepEqual(
    acts.map(({ target }) => target),
    ['sup_ann', 'sup_bob'],
  )
})

test('config says that signing up needs mail or a provider', async (t) => {
  const { environment } = await openCommandLine(t)
  const without = await runWith({ ...environment, SIGN_UP: 'on' }, ['config'])
  assert.match(without.err, /SIGN_UP is on, but nobody can sign up without mail/)
  const mail = { SMTP_URL: 'smtp://127.0.0.1:25?starttls=off', MAIL_FROM: 'a@b.example' }
  const complete = await runWith({ ...environment, SIGN_UP: 'on', ...mail }, ['config'])
  assert.deepEqual([complete.code, complete.err], [0, ''])
})
