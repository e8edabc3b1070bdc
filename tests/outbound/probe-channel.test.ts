/** Free requests of a channel: the test of its address and key, and the list of its models. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Agent } from 'undici'
import { openaiCompatible } from '../../server/wire/upstreams/openai-compatible/index.ts'
import { probeOf, readVendorModels } from '../../server/work/pipeline/send/probe-channel.ts'
import { endpointsOf } from '../../server/work/pipeline/send/probe-endpoints.ts'
import { startServer } from '../support/servers/local-server.ts'

type Answers = Readonly<Record<string, number | string>>

/** A channel at a vendor with these statuses or bodies, which answers 404 at every other path. */
async function atVendor<Result>(
  base: string,
  answers: Answers,
  run: (settings: unknown, dispatcher: Agent) => Promise<Result>,
): Promise<Result> {
  const server = await startServer(({ url = '', headers }, response) => {
    const answer = answers[new URL(url, 'http://a').pathname] ?? 404
    const status = headers.authorization === 'Bearer k' ? answer : 401
    if (typeof status === 'number') response.writeHead(status, { location: '/' }).end('{}')
    else response.end(answer)
  })
  const dispatcher = new Agent()
  const settings = openaiCompatible.settings.parse({
    base_url: `${server.url}${base}`,
    api_key: 'k',
    api_keys: ['not-asked'],
    query: { secret: 'not-shown' },
  })
  try {
    return await run(settings, dispatcher)
  } finally {
    await dispatcher.destroy()
    await server.stop()
  }
}

const probe = (base: string, answers: Answers) =>
  atVendor(base, answers, async (settings, dispatcher) => {
    const run = probeOf({ ...openaiCompatible, eachKey: () => [settings] }, settings, dispatcher)
    assert.ok(run)
    return await run()
  })

const list = (base: string, answers: Answers) =>
  atVendor(base, answers, (settings, dispatcher) =>
    readVendorModels(openaiCompatible, settings, dispatcher),
  )

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

test('the vendor’s models are listed once each, in order, by the first key', async () => {
  const data = [{ id: 'b' }, { id: 'a', owned_by: 'x' }, { id: 'b' }, { id: '' }, 7, { name: 'c' }]
  const object = await list('/v1', { '/v1/models': JSON.stringify({ object: 'list', data }) })
  assert.deepEqual([object.ok, object.models], [true, ['a', 'b']])
  assert.match(object.detail, /^http:\S+\/v1\/models$/)
  const bare = await list('/v1', { '/v1/models': JSON.stringify(data) })
  assert.deepEqual(bare.models, ['a', 'b'])
})

test('a list that cannot be read says why', async () => {
  const reasons: readonly (readonly [string, Answers, RegExp])[] = [
    ['/v1', { '/v1/models': '<html>' }, /^the answer of http:\S+\/v1\/models is not a list/],
    ['/v1', { '/v1/models': '{"data":{}}' }, /is not a list of models$/],
    ['', { '/v1/models': '{"data":[]}' }, /^nothing is at .* \(404\).*usually in \/v1/],
    ['/v3', { '/v3/chat/completions': 405 }, /^the vendor has no list of models; /],
    ['/v1', { '/v1/models': 401 }, /^the vendor refuses the key \(401\)$/],
    ['/v1', { '/v1/models': 500 }, /^the vendor answered 500$/],
    ['/v1', { '/v1/models': 302 }, /^the vendor answered a redirect$/],
  ]
  for (const [base, answers, reason] of reasons) {
    const { ok, detail, models } = await list(base, answers)
    assert.deepEqual([ok, models], [false, []], detail)
    assert.match(detail, reason)
    assert.equal(detail.includes('not-shown'), false)
  }
  const nowhere = { base_url: 'http://127.0.0.1:1/v1', api_key: 'k' }
  const settings = openaiCompatible.settings.parse(nowhere)
  const { detail } = await readVendorModels(openaiCompatible, settings, new Agent())
  assert.equal(detail, 'connection: ECONNREFUSED')
})

const endpoints = (answers: Answers, mode: 'pass' | 'translate' = 'pass') =>
  atVendor('/v1', answers, async (settings, dispatcher) => {
    const run = endpointsOf(
      openaiCompatible,
      Object.assign(settings as object, { responses: mode }),
      dispatcher,
    )
    assert.ok(run)
    return await run()
  })

test('the endpoints of an address are told apart by a GET where the vendor does', async () => {
  const [chat, responses, messages] = [
    '/v1/chat/completions',
    '/v1/responses',
    '/v1/messages',
  ] as const
  const all = await endpoints({ [chat]: 405, [responses]: 405, [messages]: 400 })
  assert.equal(all, 'chat/completions yes, responses yes, messages yes')
  const some = await endpoints({ [chat]: 405 })
  assert.match(some, /^chat\/completions yes, responses no, messages no; set responses to "trans/)
  assert.doesNotMatch(await endpoints({ [chat]: 405 }, 'translate'), /set responses/)
})

test('an endpoint stays unknown where a GET does not tell', async () => {
  const unknown = 'chat/completions unknown, responses unknown, messages unknown'
  assert.equal(await endpoints({}), unknown)
  const chat = '/v1/chat/completions'
  // A list of stored completions says nothing about how the vendor answers a wrong method.
  const listed = 'chat/completions yes, responses unknown, messages unknown'
  assert.equal(await endpoints({ [chat]: 200 }), listed)
  assert.equal(await endpoints({ [chat]: 405, '/v1/no-such-endpoint': 405 }), unknown)
  assert.match(await endpoints({ [chat]: 405, '/v1/responses': 500 }), /responses unknown/)
})
