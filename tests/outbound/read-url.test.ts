/** What the text of a URL alone decides. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AddressPolicy, Allowance } from '../../server/base/outbound/address.ts'
import { readUrl } from '../../server/base/outbound/read-url.ts'
import { ALLOWED_URLS, MALFORMED_HOSTS, REFUSED_HOSTS, REFUSED_URLS } from './url-forms.ts'

const policyOf = (allowance: Allowance): AddressPolicy => ({
  allowance,
  ports: new Set([80, 443, 8080, 8443]),
})
const refusalOf = (text: string, allowance: Allowance = 'public') => {
  const read = readUrl(text, policyOf(allowance))
  return 'refusal' in read ? read.refusal : undefined
}

test('every spelling of an address that is not public is refused', () => {
  const urls = [
    ...REFUSED_HOSTS.flatMap((host) => [`http://${host}/`, `https://${host}:8443/a?b#c`]),
    ...REFUSED_URLS.map((url) => url.replace('%PORT%', '8080')),
  ]
  assert.deepEqual(
    urls.filter((url) => refusalOf(url) === undefined),
    [],
  )
  assert.ok(REFUSED_HOSTS.length + REFUSED_URLS.length >= 150)
})

for (const allowance of ['public', 'loopback', 'private'] as const) {
  test(`what is no host is refused where ${allowance} targets are allowed`, () => {
    const reached = MALFORMED_HOSTS.filter(
      (host) => refusalOf(`http://${host}/`, allowance) === undefined,
    )
    assert.deepEqual(reached, [])
  })
}

test('the public internet is reached', () => {
  for (const url of ALLOWED_URLS) assert.equal(refusalOf(url), undefined, url)
})

test('refusals say what is wrong', () => {
  assert.match(refusalOf('http://a:b@example.com/') ?? '', /credentials/)
  assert.match(refusalOf('ftp://example.com/') ?? '', /http or https/)
  assert.match(refusalOf(`https://example.com/${'a'.repeat(2029)}`) ?? '', /2048/)
  assert.equal(refusalOf(`https://example.com/${'a'.repeat(2028)}`), undefined)
  assert.match(refusalOf('http://example.com:22/') ?? '', /port 22/)
})

test('demo mode allows loopback on any port, and nothing else', () => {
  for (const host of ['127.0.0.1:3000', '[::1]:9', 'localhost:5000', 'a.localhost', '127.9.9.9']) {
    assert.equal(refusalOf(`http://${host}/`, 'loopback'), undefined, host)
  }
  const others = [
    '10.0.0.1',
    '169.254.169.254',
    '192.168.0.1',
    '[fd00::1]',
    'db.internal',
    '0.0.0.0',
  ]
  for (const host of [...others, 'redis', '100.64.0.1', '[fe80::1]']) {
    assert.notEqual(refusalOf(`http://${host}/`, 'loopback'), undefined, host)
  }
})

test('private targets exclude metadata services, link-local and unassigned addresses', () => {
  for (const host of ['10.0.0.1:9000', '127.0.0.1', '192.168.1.2:22', '[fd12::1]', 'db.internal']) {
    assert.equal(refusalOf(`http://${host}/`, 'private'), undefined, host)
  }
  const never = [
    '169.254.169.254',
    '100.100.100.200',
    '[fd00:ec2::254]',
    'metadata.google.internal',
  ]
  for (const host of [...never, '[fe80::1]', '224.0.0.1', '0.0.0.0', '168.63.129.16']) {
    assert.notEqual(refusalOf(`http://${host}/`, 'private'), undefined, host)
  }
})
