/** `token` as operators use it: made, listed and revoked, and each act in the audit log. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openCommandLine } from './support.ts'

test('tokens: create, list, revoke; what is refused is said in a sentence', async (t) => {
  const { run, json, sql } = await openCommandLine(t)
  assert.match((await run('token', 'list')).out, /^There are no access tokens yet/)
  await json('user', 'create', '--email', 'kim@example.com', '--name', 'Kim', '--operator')
  await json('user', 'create', '--email', 'nobody@example.com', '--name', 'Nobody')

  const made = await json('token', 'create', '--person', 'kim@example.com', '--name', 'deploy')
  assert.match(made.token, /^tra-[0-9A-Za-z]{49}$/)
  assert.deepEqual([made.scope, made.is_sensitive, made.state], ['read', false, 'active'])
  const days = (Date.parse(made.expires_at) - Date.parse(made.created_at)) / 86_400_000
  assert.equal(Math.round(days), 90)

  const wide = ['--scope', 'write', '--sensitive', '--expires', 'none']
  const shown = await run('token', 'create', '--person', 'KIM@example.com', '--name', 'x', ...wide)
  assert.match(shown.out, /\btra-[0-9A-Za-z]{49}\b/)
  assert.match(shown.out, /scope +write, sensitive\n.*\nexpires +never\n/)
  const list = await run('token', 'list', '--person', 'kim@example.com')
  assert.match(list.out, /kim@example\.com +x +tra-\w{4}…\w{4} +write, sensitive +active +never/)
  assert.ok(!/tra-\w{49}/.test(list.out))
  assert.deepEqual(await json('token', 'list', '--person', 'nobody@example.com'), [])

  assert.equal((await json('token', 'revoke', made.id)).state, 'revoked')
  const refusals = [
    [['revoke', 'tok_none'], /there is no access token tok_none/],
    [['create', '--person', 'kim@example.com', '--name', ' '], /needs a name/],
    [['create', '--person', 'nobody@example.com', '--name', 'x'], /belongs to an account/],
    [['create', '--person', 'kim@example.com', '--name', 'x', '--expires', '0s'], /in the future/],
  ] as const
  for (const [words, said] of refusals) {
    const { code, err } = await run('token', ...words)
    assert.equal(code, 1)
    assert.match(err, said)
  }
  assert.match((await run('token', 'create', '--help')).out, /needs no\s+second factor/)

  const rows = await sql<{ action: string; text: string }[]>`
    select action, l::text as text from audit_log l where action like 'token%' order by id`
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['token created', 'token created', 'token revoked'],
  )
  for (const { text } of rows) assert.ok(!/tra-\w{49}/.test(text))
})
