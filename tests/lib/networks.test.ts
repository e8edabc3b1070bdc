/** Networks against a reference of their own: bits as text. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createNetworks, readNetwork, readNetworks } from '../../server/base/lib/networks.ts'

const BITS = { 4: 32, 6: 128 } as const
type Version = keyof typeof BITS

/** Of two sorts, so that addresses near a network are as likely as those far from it. */
const bits = (version: Version) =>
  fc.array(fc.constantFrom('0', '1'), { minLength: BITS[version], maxLength: BITS[version] })

function write(version: Version, all: readonly string[]): string {
  const size = version === 4 ? 8 : 16
  const parts = Array.from({ length: BITS[version] / size }, (_, at) =>
    Number.parseInt(all.slice(at * size, (at + 1) * size).join(''), 2),
  )
  return version === 4 ? parts.join('.') : parts.map((part) => part.toString(16)).join(':')
}

const mapped = (address: string) => `::ffff:${address}`

test('an address is in a network if the bits of its prefix are the same', () => {
  const version = fc.constantFrom<Version>(4, 6)
  const cases = version.chain((of) =>
    fc.tuple(fc.constant(of), bits(of), bits(of), fc.nat(BITS[of]), fc.nat(BITS[of])),
  )
  fc.assert(
    fc.property(cases, fc.boolean(), ([of, network, noise, prefix, shared], isMapped) => {
      const address = [...network.slice(0, shared), ...noise.slice(shared)]
      const expected = address.slice(0, prefix).join('') === network.slice(0, prefix).join('')
      const base = write(of, network)
      const list = isMapped && of === 4 ? [`${mapped(base)}/${prefix + 96}`] : [`${base}/${prefix}`]
      const networks = createNetworks(list)
      const text = write(of, address)
      assert.equal(networks.has(text), expected, `${text} in ${list}`)
      if (of === 4) assert.equal(networks.has(mapped(text)), expected)
      const [stored] = readNetworks(list)
      assert.ok(stored)
      assert.equal(readNetwork(stored), stored, 'its one form stays')
      assert.equal(createNetworks([stored]).has(text), expected)
      // The other version is never meant.
      assert.equal(createNetworks([of === 4 ? '::/0' : '0.0.0.0/0']).has(text), false)
    }),
    { numRuns: 2_000 },
  )
})

test('networks have one form', () => {
  const forms: readonly (readonly [string, string])[] = [
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7/32', '203.0.113.7/32'],
    ['::FFFF:10.1.2.3', '10.1.2.3'],
    ['0:0:0:0:0:ffff:a01:203/104', '10.0.0.0/8'],
    ['2001:DB8:0::1/32', '2001:db8::/32'],
    ['::/0', '::/0'],
  ]
  for (const [written, stored] of forms) assert.equal(readNetwork(written), stored, written)
  assert.deepEqual(readNetworks([' 10.0.0.1/8', '10.9.9.9/8 ']), ['10.0.0.0/8'])
})

test('what is no network is refused by name, whatever it is', () => {
  const wrong = ['', '/', '/8', '10.1', '010.0.0.1', '0x0a.0.0.1', '1.2.3.4/33', '1.2.3.4/08']
  wrong.push('1.2.3.4/', '1.2.3.4/-1', '1.2.3.4/8/8', '::1/129', 'fe80::1%eth0', '[::1]')
  wrong.push('::ffff:0:0/95', 'example.com', '1.2.3.4, 5.6.7.8', '*', '１.2.3.4', '1.2.3.4/1e1')
  for (const text of wrong) {
    assert.equal(readNetwork(text), undefined, text)
    assert.throws(() => readNetworks([text]), /must be an address or a network/)
    assert.equal(createNetworks(['0.0.0.0/0', '::/0']).has(text), text === 'fe80::1%eth0', text)
  }
  const many = Array.from({ length: 101 }, (_, at) => `10.0.0.${at}`)
  assert.throws(() => readNetworks(many), /at most 100/)
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const network = readNetwork(text)
      if (network !== undefined) assert.equal(readNetwork(network), network)
    }),
  )
})
