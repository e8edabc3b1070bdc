/** Channels out of service: paused, resumed, woken and tested, by the admin API and the command. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type AdminStage, startAdmin } from '../admin/support.ts'
import { runWith } from '../cli/support.ts'
import { SECRET_KEY } from '../support/in-process.ts'
import { programEnvironment } from '../support/processes.ts'
import { until } from '../support/until.ts'

const AS = { as: 'boss' }
const KEY = 'sk-the-only-key-that-this-vendor-takes'

/** A vendor that knows one key, answers or fails as it is told, and counts what it serves. */
function createVendor() {
  const state = { fails: false, cools: false, calls: 0, paths: [] as string[] }
  const server = createServer((request, response) => {
    const isOurs = request.headers.authorization === `Bearer ${KEY}`
    state.paths.push(`${request.method} ${request.url}`)
    if (request.method === 'POST') state.calls += 1
    request.resume()
    const status = isOurs ? (state.fails ? 500 : 200) : 401
    const error = { message: 'Incorrect API key provided' }
    const message = { role: 'assistant', content: 'Hi' }
    const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    const good = { id: 'x', object: 'chat.completion', created: 1, model: 'm', choices, usage }
    const later = state.cools ? { 'retry-after': '120' } : {}
    response.writeHead(status, { 'content-type': 'application/json', ...later })
    response.end(JSON.stringify(status === 200 ? good : { error }))
  })
  return { server, state }
}

describe('channels', () => {
  let stage: AdminStage
  const first = createVendor()
  const second = createVendor()
  const base = ({ server }: typeof first) => {
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  }

  before(async () => {
    for (const { server } of [first, second]) {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    }
    stage = await startAdmin()
    stage.enterOperator('boss')
    const settings = (one: typeof first, key = KEY) => ({ base_url: base(one), api_key: key })
    const upstream = 'openai-compatible'
    const prices = [{ unit: 'call', amount: '0.1' }]
    const model = { type: 'chat', prices, routes: [{ channel: 'one' }] }
    await stage.apply({
      channels: [
        { id: 'one', upstream, settings: settings(first) },
        { id: 'two', upstream, settings: settings(second) },
        { id: 'wrong', upstream, settings: settings(first, 'sk-wrong-0123456789') },
        { id: 'mute', upstream: 'volc-search', settings: settings(first) },
      ],
      models: [
        { ...model, id: 'single' },
        { ...model, id: 'both', routes: [...model.routes, { channel: 'two', priority: 1 }] },
      ],
    })
  })
  after(async () => {
    await stage.stop()
    first.server.close()
    second.server.close()
  })

  const ask = (verb: 'pause' | 'resume' | 'wake' | 'test', channel: string) =>
    stage.ask(`POST /operator/channels/:channel_id/${verb}`, {
      ...AS,
      params: { channel_id: channel },
    })
  const run = (...words: string[]) => {
    const environment = {
      ...programEnvironment(),
      DATABASE_URL: stage.databaseUrl,
      SECRET_KEY,
      TRIBUTARY_TEST_UNSAFE_DATABASE: '1',
    }
    return runWith(environment, words)
  }
  const call = (key: string, model: string) =>
    stage.post('/v1/chat/completions', key, { model, messages: [{ role: 'user', content: 'Hi' }] })

  test('a channel is untried, works, or fails since a time and for a reason', async () => {
    const { key } = await stage.tenant({ balance: '10' })
    const show = async (channel: string) => {
      const params = { channel_id: channel }
      return (await stage.read('GET /operator/channels/:channel_id', { ...AS, params })).health
    }
    const untried = await show('one')
    assert.deepEqual([untried.state, untried.last_success], ['untried', null])
    assert.equal((await call(key, 'single')).status, 200)
    const working = await show('one')
    assert.equal(working.state, 'working')
    assert.ok(working.last_success !== null && working.failing_since === null)
    first.state.fails = true
    const failed = await call(key, 'single')
    first.state.fails = false
    assert.equal(failed.status, 502)
    const failing = await show('one')
    assert.deepEqual(
      [failing.state, failing.reason, failing.last_success !== null],
      ['failing', '500: Incorrect API key provided', true],
    )
    assert.ok((failing.failing_since ?? '') > (failing.last_success ?? ''))
    const { channels } = await stage.read('GET /operator/overview', AS)
    assert.deepEqual(
      [channels.working, channels.failing.map(({ channel, reason }) => [channel, reason])],
      [0, [['one', '500: Incorrect API key provided']]],
    )
    const requestId = failed.headers.get('x-request-id') ?? ''
    const query = { request_id: requestId }
    const { data } = await stage.read('GET /operator/calls', { ...AS, query })
    assert.deepEqual(
      data[0]?.tries.map(({ milliseconds: _, ...shown }) => shown),
      [{ channel: 'one', outcome: 'failed', status: 500, reason: 'Incorrect API key provided' }],
    )
    const explained = await stage.get(`/v1/usage/${requestId}`, key)
    assert.deepEqual(
      explained.json.attempts.map(({ outcome }: { outcome: string }) => outcome),
      ['failed'],
    )
    assert.ok(!explained.text.includes('Incorrect API key'), 'the reason is for operators')
    const listed = await run('channel', 'list')
    assert.match(listed.out, /^one .+ failing since \d{4}-.+\(500: Incorrect API key provided\)/m)
    assert.match(listed.out, /^two .+ no call in 31 days/m)
    assert.equal((await call(key, 'single')).status, 200)
    assert.equal((await show('one')).state, 'working')
    assert.match((await run('channel', 'list')).out, /^one .+ working, last success \d{4}-/m)
  })

  test('a paused channel gets no calls: other routes do, or the answer is 503', async () => {
    const { key, accountId } = await stage.tenant({ balance: '10' })
    assert.equal((await call(key, 'single')).status, 200)
    const paused = await ask('pause', 'one')
    assert.equal(paused.status, 200, paused.text)
    assert.equal((paused.json as { health: { state: string } }).health.state, 'paused')
    const served = first.state.calls
    const refused = await call(key, 'single')
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '60'])
    const other = await call(key, 'both')
    assert.equal(other.status, 200, other.text)
    assert.deepEqual([first.state.calls, second.state.calls], [served, 1])
    await stage.apply({ channels: [], models: [] }, 'another')
    assert.equal((await call(key, 'single')).status, 503)
    assert.equal((await ask('resume', 'one')).status, 200)
    assert.equal((await call(key, 'single')).status, 200)
    assert.equal((await stage.balance(accountId)).held, 0n)
    assert.equal((await ask('pause', 'no-such')).status, 404)
  })

  test('waking ends a cooldown at once; the last error stays to be read', async () => {
    const { key } = await stage.tenant({ balance: '10' })
    Object.assign(first.state, { fails: true, cools: true })
    await call(key, 'single')
    Object.assign(first.state, { fails: false, cools: false })
    const show = async () => {
      const params = { channel_id: 'one' }
      return (await stage.read('GET /operator/channels/:channel_id', { ...AS, params })).health
    }
    const cooling = await show()
    assert.deepEqual([cooling.state, cooling.last_error?.status], ['cooling_down', 500])
    const woken = await ask('wake', 'one')
    assert.equal(woken.status, 200)
    const awake = await show()
    assert.deepEqual([awake.state, awake.last_error?.kind], ['failing', 'failed'])
  })

  test('a test uses the key, and says so where it cannot', async () => {
    const steps = async (channel: string) => {
      const { json } = await ask('test', channel)
      const { ok, steps: all } = json as { ok: boolean; steps: { step: string; detail: string }[] }
      const key = all.find(({ step }) => step === 'key')
      return [ok, key?.step, key?.detail]
    }
    const accepted = await steps('one')
    assert.deepEqual(accepted.slice(0, 2), [true, 'key'])
    assert.match(String(accepted[2]), /^the vendor accepts the key at http:\S+\/v1\/models$/)
    assert.ok(first.state.paths.includes('GET /v1/models'))
    const [ok, step, detail] = await steps('wrong')
    assert.deepEqual([ok, step], [false, 'key'])
    assert.equal(detail, 'the vendor refuses the key (401): Incorrect API key provided')
    assert.match(String((await steps('mute'))[2]), /^not tested: the vendor has no free request/)
  })

  test('the command line does the same to a running gateway', async () => {
    const { key } = await stage.tenant({ balance: '10' })
    const paused = await run('channel', 'pause', 'one')
    assert.deepEqual(
      [paused.code, paused.out],
      [0, 'one: paused; gateways follow within seconds\n'],
    )
    await until('the gateway pauses', async () => (await call(key, 'single')).status === 503)
    assert.match((await run('channel', 'list')).out, /one +openai-compatible +paused/)
    assert.equal(JSON.parse((await run('export')).out).channels[1].paused, true)
    await run('channel', 'resume', 'one')
    await until('the gateway resumes', async () => (await call(key, 'single')).status === 200)
    const tested = await run('channel', 'test', 'one')
    assert.deepEqual([tested.code, tested.err], [0, ''])
    assert.match(tested.out, /✓ key +the vendor accepts the key at http:\S+ \(\d+ ms\)/)
    const failed = await run('channel', 'test', 'wrong', '--json')
    assert.deepEqual([failed.code, JSON.parse(failed.out).ok], [1, false])
    const missing = await run('channel', 'wake', 'no-such')
    assert.deepEqual(
      [missing.code, missing.err],
      [1, 'tributary: there is no active channel no-such\n'],
    )
  })
})
