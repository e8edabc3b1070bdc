/** What SMTP_URL and MAIL_FROM may be: passwords never travel in clear text over a network. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isMailAddress, readMailbox, readSmtpUrl } from '../../../server/base/lib/text/smtp-url.ts'

test('servers: TLS unless it is switched off, with its own port', () => {
  assert.deepEqual(readSmtpUrl('smtps://me%40a.b:p%2Fw@smtp.a.b'), {
    host: 'smtp.a.b',
    port: 465,
    security: 'tls',
    user: 'me@a.b',
    password: 'p/w',
  })
  const plain = { host: 'relay', port: 587, security: 'starttls' }
  assert.deepEqual(readSmtpUrl('smtp://relay'), plain)
  assert.deepEqual(readSmtpUrl('smtp://relay:25?starttls=off'), {
    ...plain,
    port: 25,
    security: 'none',
  })
  assert.deepEqual(readSmtpUrl('smtp://u:p@[::1]:25/?starttls=off'), {
    host: '::1',
    port: 25,
    security: 'none',
    user: 'u',
    password: 'p',
  })
})

test('what is refused', () => {
  for (const text of [
    'smtp.example.com',
    'https://smtp.example.com',
    'smtp://',
    'smtp://host/path',
    'smtp://host#x',
    'smtp://host?tls=no',
    'smtp://host?starttls=maybe',
    'smtps://host?starttls=off',
    'smtp://user:password@host?starttls=off',
    'smtp://user:%E0%A4%A@host',
  ]) {
    assert.ok('problem' in readSmtpUrl(text), text)
  }
})

test('mailboxes and addresses: exactly one, on one line', () => {
  assert.deepEqual(readMailbox('a@b.example'), { name: '', address: 'a@b.example' })
  assert.deepEqual(readMailbox('"Ops, Inc." <a@b.example>'), {
    name: 'Ops, Inc.',
    address: 'a@b.example',
  })
  for (const text of ['a', 'a@b, c@d', 'A <a@b> <c@d>', 'A\r\nBcc: x@y <a@b>', '<>', 'a b@c']) {
    assert.ok('problem' in readMailbox(text), text)
  }
  for (const text of ['a@b\r\nRCPT TO:<c@d>', 'a@b\n', 'a@b,c@d', '<a@b>', 'a:b@c', 'a@', '@b']) {
    assert.equal(isMailAddress(text), false, text)
  }
  assert.ok(isMailAddress('first.last+tag@sub.example.co'))
})
