/** The free request of a channel's test: it finds an address at which no call can arrive. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { Agent } from 'undici'
import { probeOf } from '../../server/pipeline/send/probe-channel.ts'
import { openaiCompatible } from '../../server/upstreams/openai-compatible/index.ts'

/** Tests a channel at a vendor that answers these statuses, and 404 at every other path. */
async function probe(base: string, statuses: Readonly<Record<string, number>>): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    response.writeHead(statuses[new URL(url, 'http://a').pathname] ?? 404).end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const dispatcher = new Agent()
  const settings = openaiCompatible.settings.parse({
    base_url: `http://127.0.0.1:${port}${base}`,
    api_key: 'k',
    query: { secret: 'not-shown' },
  })
  try {
    const run = probeOf(openaiCompatible, settings, dispatcher)
    assert.ok(run)
    return await run()
  } finally {
    await dispatcher.destroy()
    server.close()
  }
}

test('a list of models is tried at its whole address', async () => {
  const verdict = await probe('/v1', { '/v1/models': 200 })
  assert.match(verdict, /^the vendor accepts the key at http:\/\/127\.0\.0\.1:\d+\/v1\/models$/)
})

test('a base_url without its /v1 fails, with the addresses and what a 404 means', async () => {
  await assert.rejects(probe('', { '/v1/models': 200, '/v1/chat/completions': 405 }), (error) => {
    const { message } = error as Error
    assert.match(message, /^nothing is at http:\S+\/models and http:\S+\/chat\/completions \(404\)/)
    assert.match(message, /usually in \/v1/)
    assert.equal(message.includes('not-shown'), false)
    return true
  })
})

test('a vendor without a list of models is not refused, its refusal of the key is', async () => {
  const noList = await probe('/v3', { '/v3/chat/completions': 405 })
  assert.match(noList, /^not tested: the vendor has no list of models; .* answered 405$/)
  await assert.rejects(probe('/v3', { '/v3/chat/completions': 401 }), /refuses the key \(401\)/)
})
