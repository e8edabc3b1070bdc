/** What mail says of a budget, in the words of its reader. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderMail } from '../../server/work/alerts/mail/render-mail.ts'

function render(language: string, members: Readonly<Record<string, unknown>>) {
  const usual = {
    budget_id: 'bud_1',
    scope: 'account',
    subject: null,
    unit: 'money',
    currency: 'USD',
    amount: '5',
    spent: '4.2',
    threshold: 80,
    period: 'month',
    resets_at: '2030-02-01T00:00:00.000Z',
  }
  const params = { account: 'Acme', at: '', members: { ...usual, ...members } }
  return renderMail({ kind: 'budget_threshold', language, params }, undefined)
}

test('a budget is named by its calls, its unit and its period', () => {
  assert.deepEqual(render('en', {}), {
    subject: '80 % of a budget is used: Acme',
    text:
      'The monthly budget of the whole account, account Acme:\n4.2 of 5 USD used.\n' +
      'It resets at 2030-02-01 00:00 UTC.\nBudget id: bud_1\n',
  })
  const ofKey = { scope: 'key', subject: 'key_1', subject_name: 'web', unit: 'call' }
  const ended = { ...ofKey, period: 'total', resets_at: null, threshold: 100, spent: '5' }
  assert.deepEqual(render('en', ended), {
    subject: 'A budget is used up: Acme',
    text: 'The total budget of the key web, account Acme:\n5 of 5 calls used.\nBudget id: bud_1\n',
  })
  assert.deepEqual(render('zh', ended), {
    subject: '预算已用完：Acme',
    text: '账户 Acme 的总预算（密钥 web）\n已用 5，共 5 次调用。\n预算 ID：bud_1\n',
  })
  const refused = render('en', { ...ended, spent: '4' })
  assert.equal(refused.subject, 'A budget has refused a call: Acme')
  assert.match(refused.text, /4 of 5 calls used\.\nA call did not fit and was refused \(402\)\.\n/)
  assert.equal(render('zh', { ...ended, spent: '4' }).subject, '预算拒绝了一次调用：Acme')
  const tokens = { scope: 'end_user', end_user: 'u1', unit: 'output_token', period: 'day' }
  assert.match(
    render('en', tokens).text,
    /daily budget of the end user u1,.*\n4.2 of 5 output tokens/,
  )
  assert.match(render('zh', tokens).text, /每日预算（终端用户 u1）\n已用 4.2，共 5 个输出 token。/)
  // A key without a name, and a member, are named as the budget names them.
  assert.match(render('en', { ...ofKey, subject_name: '' }).text, /of the key key_1,/)
  const member = { scope: 'member', subject: 'user_1', subject_name: 'kim@example.com' }
  assert.match(render('zh', member).text, /（成员 kim@example\.com）/)
})
