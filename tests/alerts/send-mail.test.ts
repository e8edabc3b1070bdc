/** One mail to one server: what is sent, what is refused for good, and servers that hang or lie. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { checkMail, type OutgoingMail, sendMail } from '../../server/work/alerts/mail/transport.ts'
import { type SmtpTestServer, startSmtpServer } from '../support/servers/smtp-server.ts'

let smtp: SmtpTestServer
before(async () => {
  smtp = await startSmtpServer()
})
after(() => smtp.stop())
beforeEach(() => {
  smtp.answer('EHLO', '250 loopback')
  smtp.answer('RCPT', '250 ok')
  smtp.answer('DATA', '354 go on')
  smtp.answer('.', '250 taken')
})

const from = { name: 'Tributary, Inc.', address: 'gateway@t.example' }
const settings = (security: 'none' | 'starttls' = 'none') => {
  return { server: { host: '127.0.0.1', port: smtp.port, security }, from }
}
const mail = (change: Partial<OutgoingMail> = {}): OutgoingMail => ({
  id: 'mail_1',
  address: 'owner@c.example',
  language: 'zh',
  subject: '余额不足提醒',
  text: '可用：0.1\n.\nend\n',
  ...change,
})

const TAKEN = { sent: true, response: '250 taken' }

test('a mail has our Message-ID, says that it is automatic, and is in UTF-8', async () => {
  assert.deepEqual(await sendMail(settings(), mail()), TAKEN)
  const received = smtp.mails.at(-1)
  assert.deepEqual(received?.to, ['owner@c.example'])
  const { data = '' } = received ?? {}
  assert.match(data, /^Message-ID: <mail_1@t\.example>\r$/m)
  assert.match(data, /^Auto-Submitted: auto-generated\r$/m)
  assert.match(data, /^Subject: =\?UTF-8\?/m)
  assert.match(data, /^From: "Tributary, Inc\." <gateway@t\.example>\r$/m)
})

test('no value adds a header, a recipient or a command', async () => {
  const evil = 'x\r\nBcc: evil@e.example\r\n\r\nRCPT TO:<evil@e.example>'
  assert.deepEqual(await sendMail(settings(), mail({ subject: evil })), TAKEN)
  const received = smtp.mails.at(-1)
  assert.deepEqual(received?.to, ['owner@c.example'])
  assert.doesNotMatch(received?.data ?? '', /^Bcc:/m)
  const count = smtp.commands.length
  for (const address of ['a@b.example\r\nRCPT TO:<evil@e.example>', 'a@b, c@d', 'a@b\n']) {
    const result = await sendMail(settings(), mail({ address }))
    assert.ok(!result.sent && result.isFinal, address)
  }
  assert.equal(smtp.commands.length, count, 'nothing was sent')
})

test('a refused recipient or text is final, what may pass is not', async () => {
  const cases = [
    ['RCPT', '550 no such user', true],
    ['RCPT', '450 try later', false],
    ['.', '554 spam', true],
    ['.', '451 later', false],
    ['MAIL', '421 too busy', false],
    ['MAIL', '553 sender address rejected: not owned by user', false],
  ] as const
  for (const [verb, line, isFinal] of cases) {
    smtp.answer(verb, line)
    const result = await sendMail(settings(), mail())
    assert.ok(!result.sent, line)
    assert.equal(result.isFinal, isFinal, line)
    smtp.answer(verb, '250 ok')
  }
})

test('a server that says nothing is left after the time for a mail', async () => {
  smtp.answer('.', null)
  const result = await sendMail(settings(), mail(), { totalMs: 3_000 })
  assert.deepEqual(result, {
    sent: false,
    error: 'the mail server took too long',
    isFinal: false,
  })
})

test('without the TLS that is asked for nothing is sent', async () => {
  const count = smtp.commands.filter((command) => command.startsWith('MAIL')).length
  const result = await sendMail(settings('starttls'), mail())
  assert.ok(!result.sent && !result.isFinal)
  assert.equal(smtp.commands.filter((command) => command.startsWith('MAIL')).length, count)
  assert.equal(await checkMail(settings().server), undefined)
  assert.ok(await checkMail(settings('starttls').server))
})
