/** Tools without a price that were taken out of requests: how often, and what sells them. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createSecretKey } from '../../../server/base/lib/secrets/secrets.ts'
import { runWith } from '../../cli/support.ts'
import { findFreePort } from '../../support/free-port.ts'
import { programEnvironment } from '../../support/processes.ts'
import { until } from '../../support/until.ts'
import { type AdminStage, startAdmin } from '../support.ts'

const AS = { as: 'boss' }
const GET = 'GET /operator/models/:model_id'
const PUT = 'PUT /operator/models/:model_id'
const RESPONSES = '/v1/responses'
const price = (unit: string, amount: string) => ({ unit, per: 1_000_000, amount })
const PRICES = [price('input_token', '0.15'), price('output_token', '0.60')]
const f = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }
const search = { type: 'web_search' }
const unknown = (name: string) => ({ type: name })

describe('tools taken out', () => {
  let stage: AdminStage
  let key: string
  let metricsPort: number
  before(async () => {
    metricsPort = await findFreePort()
    stage = await startAdmin({ METRICS_PORT: String(metricsPort) })
    stage.enterOperator('boss')
    await stage.apply(catalog(), 'plain')
    key = (await stage.tenant()).key
  })
  after(() => stage.stop())

  /** The vendor's channel gets no call: it has the lower priority. */
  function catalog() {
    const settings = { base_url: 'https://api.deepseek.com/v1', api_key: 'sk-nobody' }
    const model = (id: string, channel: string) => ({
      id,
      type: 'chat',
      prices: PRICES,
      routes: [
        { channel: 'sim-openai', upstream_model: 'sim-chat' },
        { channel, upstream_model: 'gpt-of-tomorrow', priority: 9 },
      ],
    })
    const channels = [
      { id: 'vendor', upstream: 'openai-compatible', settings },
      {
        id: 'nobody',
        upstream: 'openai-compatible',
        settings: { ...settings, base_url: 'https://llm.example.com/v1' },
      },
    ]
    return { channels, models: [model('known', 'vendor'), model('unknown', 'nobody')] }
  }

  const show = (model_id: string) => stage.read(GET, { ...AS, params: { model_id } })

  const ask = async (model: string, tools: readonly object[]) => {
    const answer = await stage.post(RESPONSES, key, { model, input: 'hi', tools: [f, ...tools] })
    assert.equal(answer.status, 200, answer.text)
  }

  /** Waits until the counts are written. */
  const counted = (model: string, answers: number) =>
    until(`${answers} answers of ${model}`, async () => {
      const shown = await show(model)
      const sum = shown.tools_taken_out.reduce((total, one) => total + one.answers, 0)
      return sum >= answers ? shown : undefined
    })

  test('each answer counts once per kind; unknown kinds are one', async () => {
    for (let call = 0; call < 3; call += 1) await ask('known', [search, search])
    await ask('known', [unknown('dream_reader_1'), unknown('dream_reader_2')])
    await ask('known', [{ type: 'web_search_2025_08_26' }, { type: 'code_interpreter' }])
    const { tools_taken_out: tools } = await counted('known', 6)
    const counts = Object.fromEntries(tools.map((one) => [one.tool, [one.answers, one.unit]]))
    assert.deepEqual(counts, {
      web_search: [4, 'web_search_call'],
      code_interpreter: [1, 'container_minute'],
      other: [1, null],
    })
    for (const { first_at: first, last_at: last } of tools) assert.ok(first <= last)
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    const name = 'tributary_tools_taken_out_total'
    assert.match(
      metrics,
      new RegExp(`${name}\\{endpoint="responses",model="known",tool="other"\\} 1`),
    )
    assert.match(metrics, new RegExp(`${name}\\{.*tool="web_search"\\} 4`))
    const { data } = await stage.read('GET /operator/models', AS)
    const listed = data.find(({ id }) => id === 'known')
    assert.equal(listed?.tools_taken_out.length, 3)
  })

  test('the list price of the vendor is named where its price books agree', async () => {
    const { tools_taken_out: tools } = await show('known')
    const found = tools.find(({ tool }) => tool === 'web_search')
    const { vendor, currency, prices } = found?.list ?? {}
    assert.deepEqual([vendor, currency], ['DeepSeek', 'CNY'])
    assert.deepEqual(prices, [{ unit: 'web_search_call', per: 1000, amount: '5' }])
    const minutes = tools.find(({ tool }) => tool === 'code_interpreter')
    assert.equal(minutes?.list, null)
    await ask('unknown', [search])
    const { tools_taken_out: others } = await counted('unknown', 1)
    assert.equal(others[0]?.list, null)
  })

  test('the command line shows them', async () => {
    const environment = {
      ...programEnvironment(),
      DATABASE_URL: stage.databaseUrl,
      SECRET_KEY: createSecretKey(),
      TRIBUTARY_TEST_UNSAFE_DATABASE: '1',
    }
    const words = ['model', 'show', 'known']
    const { out } = await runWith(environment, words)
    assert.match(out, /web_search +4 .*web_search_call/)
    const json = await runWith(environment, [...words, '--json'])
    assert.equal(JSON.parse(json.out).tools_taken_out.length, 3)
  })

  test('a price ends it, and `refuse` is kept by a change in the console', async () => {
    const { routes } = await show('known')
    const params = { model_id: 'known' }
    const members = { type: 'chat', routes, prices: PRICES }
    const prices = [...PRICES, { unit: 'web_search_call', per: 1000, amount: '10' }]
    const sold = await stage.read(PUT, { ...AS, params, body: { ...members, prices } })
    const left = sold.tools_taken_out.map(({ tool }) => tool).sort()
    assert.deepEqual(left, ['code_interpreter', 'other'])
    const body = { ...members, unpriced_tools: 'refuse' }
    const refusing = await stage.read(PUT, { ...AS, params, body })
    assert.deepEqual([refusing.unpriced_tools, refusing.tools_taken_out], ['refuse', []])
    assert.equal('unpriced_tools' in refusing.details, false)
    const back = { ...members, unpriced_tools: 'take_out', details: refusing.details }
    const taking = await stage.read(PUT, { ...AS, params, body: back })
    assert.deepEqual([taking.unpriced_tools, taking.tools_taken_out.length], ['take_out', 3])
  })
})
