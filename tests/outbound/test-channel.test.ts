/** The steps of a channel's test say what to check, whatever fails. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { testChannel } from '../../server/base/outbound/test-channel.ts'

async function failure(address: string): Promise<string | undefined> {
  const settings = { base_url: address }
  const { ok, steps } = await testChannel({ settings, problem: undefined, probe: undefined })
  assert.equal(ok, false, JSON.stringify(steps))
  return steps.at(-1)?.detail
}

test('a wrong host, port or scheme is explained', async (t) => {
  const server = createServer()
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  t.after(() => server.close())
  assert.match(
    (await failure('http://nobody.invalid/v1')) ?? '',
    /^(no host has the name|the name server did not answer for) nobody\.invalid/,
  )
  assert.equal(
    await failure(`https://127.0.0.1:${port}/v1`),
    `127.0.0.1:${port} does not speak TLS: does the address begin with http://?`,
  )
  server.closeAllConnections()
  await new Promise((resolve) => void server.close(resolve))
  for (const host of ['127.0.0.1', 'localhost']) {
    assert.equal(
      await failure(`http://${host}:${port}/v1`),
      `nothing listens at ${host}:${port}: is the port right?` +
        ' Within a container this address is the container itself',
    )
  }
})
