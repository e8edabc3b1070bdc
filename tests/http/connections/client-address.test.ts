/** The address of a caller, whatever the caller states. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { createAddresses } from '../../../server/base/http/connections/client-address.ts'

describe('the address of a caller', () => {
  const ask = (proxies: string[], remoteAddress: string, forwarded?: string) => {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    return createAddresses(proxies).of({ headers, socket: { remoteAddress } } as never)
  }

  test('is the connection’s, unless that is a trusted proxy', () => {
    assert.equal(ask([], '198.51.100.1', '203.0.113.9'), '198.51.100.1')
    assert.equal(ask(['10.0.0.0/8'], '10.1.1.1', '203.0.113.9'), '203.0.113.9')
    assert.equal(ask(['10.0.0.0/8'], '::ffff:10.1.1.1', '203.0.113.9'), '203.0.113.9')
  })

  test('is the right-most one that is not a proxy: those left of it can be forged', () => {
    const proxies = ['10.0.0.0/8', '2001:db8::/32']
    assert.equal(ask(proxies, '10.1.1.1', '1.2.3.4, 203.0.113.9, 10.2.2.2'), '203.0.113.9')
    assert.equal(ask(proxies, '2001:db8::1', '1.2.3.4, 203.0.113.9'), '203.0.113.9')
    assert.equal(ask(proxies, '10.1.1.1', 'rubbish'), '10.1.1.1')
    assert.equal(ask(proxies, '10.1.1.1'), '10.1.1.1')
  })

  test('is read with a port as well, as some proxies write it', () => {
    const proxies = ['10.0.0.0/8', '2001:db8::/32']
    assert.equal(ask(proxies, '10.1.1.1', '1.2.3.4, 203.0.113.9:443'), '203.0.113.9')
    assert.equal(ask(proxies, '10.1.1.1', '203.0.113.9:443, 10.2.2.2:80'), '203.0.113.9')
    assert.equal(ask(proxies, '10.1.1.1', '[2001:dead::9]:443, [2001:db8::2]'), '2001:dead::9')
    assert.equal(ask(proxies, '10.1.1.1', '[::ffff:203.0.113.9]:443'), '203.0.113.9')
    for (const rubbish of ['203.0.113.9:', '203.0.113.9:443:1', '[203.0.113.9', '[]:443']) {
      assert.equal(ask(proxies, '10.1.1.1', `1.2.3.4, ${rubbish}`), '10.1.1.1')
    }
  })

  test('of IPv6 is limited by its /64 network', () => {
    const line = (remoteAddress: string) =>
      createAddresses([]).networkOf({ headers: {}, socket: { remoteAddress } } as never)
    assert.equal(line('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64')
    assert.equal(line('2001:db8:1:2::9'), '2001:db8:1:2::/64')
    assert.equal(line('2001:db8::9'), '2001:db8:0:0::/64')
    assert.equal(line('203.0.113.9'), '203.0.113.9')
  })

  test('is not changed by anything that a caller puts before what the proxy adds', () => {
    const hop = fc.oneof(fc.ipV4(), fc.ipV6(), fc.string(), fc.constant('10.3.3.3'))
    fc.assert(
      fc.property(fc.array(hop, { maxLength: 40 }), fc.constantFrom(', ', ','), (forged, comma) => {
        const stated = [...forged, '203.0.113.9'].join(comma)
        assert.equal(ask(['10.0.0.0/8'], '10.1.1.1', stated), '203.0.113.9')
        assert.equal(ask(['10.0.0.0/8'], '10.1.1.1', `${stated}, 10.2.2.2`), '203.0.113.9')
        assert.equal(ask(['10.0.0.0/8'], '198.51.100.1', stated), '198.51.100.1')
      }),
    )
  })
})
