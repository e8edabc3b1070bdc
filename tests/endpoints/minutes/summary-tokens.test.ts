/** The tokens of a summary: each kind at the price that the minutes model has for it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { type LocalServer, startServer } from '../../support/servers/local-server.ts'
import { until } from '../../support/until.ts'
import { QUICK } from '../../tasks/stage.ts'

const PATH = '/v1/audio/minutes'
const RECOGNISED = {
  audio_info: { duration: 10_000 },
  result: { text: 'hello', utterances: [{ text: 'hello', start_time: 0, end_time: 900 }] },
}
const SUMMARY = {
  choices: [{ message: { role: 'assistant', content: 'A greeting.' }, finish_reason: 'stop' }],
  usage: {
    prompt_tokens: 100,
    completion_tokens: 10,
    total_tokens: 110,
    prompt_tokens_details: { cached_tokens: 60 },
  },
}

const PRICES = [
  { unit: 'second', per: 1, amount: '0.001' },
  { unit: 'input_token', per: 1, amount: '0.01' },
  { unit: 'output_token', per: 1, amount: '0.1' },
]
const CACHED = { unit: 'cached_input_token', per: 1, amount: '0.001' }

function minutes(id: string, prices: readonly object[]) {
  const routes = [{ channel: 'recogniser', upstream_model: 'volc.seedasr.auc' }]
  return { id, type: 'minutes', prices, routes, details: { summary_model: 'writer' } }
}

describe('the tokens of a summary', () => {
  let gateway: TestGateway
  let vendor: LocalServer
  before(async () => {
    vendor = await startServer((request, response) => {
      request.resume()
      response.setHeader('X-Api-Status-Code', 20000000)
      response.setHeader('Content-Type', 'application/json')
      const isChat = request.url?.endsWith('/chat/completions') ?? false
      const isQuery = request.url?.endsWith('/query') ?? false
      response.end(isChat ? JSON.stringify(SUMMARY) : isQuery ? JSON.stringify(RECOGNISED) : '')
    })
    gateway = await startTestGateway({ ...QUICK, ALLOW_PRIVATE_TARGETS: 'true' })
    const settings = { base_url: vendor.url, api_key: 'k' }
    await gateway.apply(
      {
        channels: [
          { id: 'recogniser', upstream: 'doubao-recognition', settings },
          { id: 'writers', upstream: 'openai-compatible', settings },
        ],
        models: [
          {
            id: 'writer',
            type: 'chat',
            prices: PRICES.slice(1),
            routes: [{ channel: 'writers', upstream_model: 'writer' }],
          },
          minutes('minutes-cached', [...PRICES, CACHED]),
          minutes('minutes-plain', PRICES),
        ],
      },
      'summaries',
    )
  })
  after(async () => {
    await gateway.stop()
    await vendor.stop()
  })

  for (const [model, tokens, charged] of [
    ['minutes-cached', { input_token: 40, cached_input_token: 60 }, '1.47'],
    ['minutes-plain', { input_token: 100 }, '2.01'],
  ] as const) {
    test(`${model}: cached ones at their price, or else at that of input`, async () => {
      const tenant = await gateway.tenant({ balance: '100000' })
      const body = { model, file_url: 'https://media.example/meeting.mp3' }
      const created = await gateway.post(PATH, tenant.key, body)
      assert.equal(created.status, 200, created.text)
      await until('the end', async () => {
        const { json } = await gateway.get(`${PATH}/${created.json.id}`, tenant.key)
        return json.status === 'succeeded'
      })
      const { lines, charged: total, basis } = await gateway.record(created, tenant.key)
      assert.deepEqual(Object.fromEntries(lines.map(({ unit, quantity }) => [unit, quantity])), {
        second: 10,
        ...tokens,
        output_token: 10,
      })
      assert.deepEqual([total, basis], [charged, 'usage'])
    })
  }
})
