/** Vendors that know one name of the output limit, of which nothing is configured. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { after, before, beforeEach, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { type LocalServer, startServer } from '../../support/servers/local-server.ts'

let gateway: TestGateway
let vendor: LocalServer
/** The refusal of a request with this member. */
let refusal: { readonly member: string; readonly error: object } | undefined
const seen: Readonly<Record<string, unknown>>[] = []

const COMPLETION = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}

before(async () => {
  vendor = await startServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await Readable.from(request).toArray()).toString())
    seen.push(body)
    const error = refusal && refusal.member in body ? refusal.error : undefined
    response.writeHead(error ? 400 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(error ? { error } : COMPLETION))
  })
  gateway = await startTestGateway()
  const settings = { base_url: vendor.url, api_key: 'k' }
  const quirks = { max_tokens_field: 'max_tokens' }
  await gateway.apply({
    channels: [
      { id: 'plain', upstream: 'openai-compatible', settings },
      { id: 'stating', upstream: 'openai-compatible', settings: { ...settings, quirks } },
    ],
    models: ['plain', 'stating'].map((id) => ({
      id,
      type: 'chat',
      prices: [{ unit: 'output_token', per: 1, amount: '0.001' }],
      routes: [{ channel: id, upstream_model: 'm' }],
    })),
  })
})
after(async () => {
  await gateway.stop()
  await vendor.stop()
})
beforeEach(() => {
  seen.length = 0
})

const ASKED = { model: 'plain', messages: [{ role: 'user', content: 'hi' }] }
const [OLDER, NEWER] = ['max_tokens', 'max_completion_tokens'] as const
const UNSUPPORTED = {
  message: `Unsupported parameter: '${OLDER}' is not supported with this model. Use '${NEWER}' instead.`,
  code: 'unsupported_parameter',
  param: OLDER,
}
const UNRECOGNIZED = { message: `Unrecognized request argument supplied: ${NEWER}` }
const TOO_LARGE = { message: `${OLDER} is too large: this model supports at most 8`, param: OLDER }
const EITHER_TOO_LARGE = { message: `'${OLDER}' or '${NEWER}' is too large: 9` }
const UNSUPPORTED_VALUE = { message: `Unsupported value: '${OLDER}' must be even`, param: OLDER }

async function send(path: string, body: object): Promise<readonly [number, readonly unknown[]]> {
  const { key } = await gateway.tenant()
  const { status } = await gateway.post(path, key, body, { 'anthropic-version': '2023-06-01' })
  return [status, seen.map((one) => [one[OLDER], one[NEWER]])]
}

for (const [refused, error, other] of [
  [OLDER, UNSUPPORTED, NEWER],
  [NEWER, UNRECOGNIZED, OLDER],
] as const) {
  test(`a refusal of ${refused} is answered by the other name`, async () => {
    refusal = { member: refused, error }
    const [status, limits] = await send('/v1/chat/completions', { ...ASKED, [refused]: 9 })
    const [as, then] = [{ [refused]: 9 }, { [other]: 9 }]
    assert.equal(status, 200)
    assert.deepEqual(
      limits,
      [as, then].map((one) => [one[OLDER], one[NEWER]]),
    )
  })
}

test('messages are repeated under the other name as well', async () => {
  refusal = { member: OLDER, error: UNSUPPORTED }
  const sent = await send('/v1/messages', { ...ASKED, max_tokens: 9 })
  assert.deepEqual(sent, [
    200,
    [
      [9, undefined],
      [undefined, 9],
    ],
  ])
})

for (const [name, error, body] of [
  ['of a value', TOO_LARGE, { max_tokens: 9 }],
  ['of a value under either name', EITHER_TOO_LARGE, { max_tokens: 9 }],
  ['of an unsupported value', UNSUPPORTED_VALUE, { max_tokens: 9 }],
  ['of both names together', UNSUPPORTED, { max_tokens: 9, max_completion_tokens: 9 }],
  ['where the channel states a name', UNSUPPORTED, { model: 'stating', max_tokens: 9 }],
] as const) {
  test(`a refusal ${name} stands`, async () => {
    refusal = { member: OLDER, error }
    const [status, limits] = await send('/v1/chat/completions', { ...ASKED, ...body })
    assert.deepEqual([status, limits.length], [400, 1])
  })
}
