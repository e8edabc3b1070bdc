/** An addition never replaces an entry of the same name, also when two operators add it at once. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type AdminStage, startAdmin } from '../support.ts'

const CHANNEL = 'PUT /operator/channels/:channel_id'
const MODEL = 'PUT /operator/models/:model_id'
const MODELS = 'POST /operator/models'
const VENDOR = 'POST /operator/vendors/:vendor_id'

describe('names in use', { concurrency: false }, () => {
  let stage: AdminStage
  before(async () => {
    stage = await startAdmin()
    stage.enterOperator('boss')
    stage.enterOperator('tired', false)
  })
  after(() => stage.stop())

  const channel = (id: string, key: string, base = 'https://vendor.test/v1') => ({
    as: 'boss',
    params: { channel_id: id },
    body: { upstream: 'openai-compatible', settings: { base_url: base, api_key: key } },
    isNew: true,
  })
  const model = (id: string, amount = '1') => ({
    as: 'boss',
    params: { model_id: id },
    body: {
      type: 'chat',
      prices: [
        { unit: 'input_token', per: 1_000_000, amount },
        { unit: 'output_token', per: 1_000_000, amount },
      ],
      routes: [{ channel: 'sim-openai', upstream_model: 'sim-chat' }],
    },
    isNew: true,
  })
  const versionOf = async (id: string) => {
    const [row] = await stage.sql`select max(version)::int as version from channel_version
      where channel_id = ${id}`
    return row?.version
  }

  /** Sends all at once and returns the statuses, and the text of the refusals. */
  async function race(requests: readonly Promise<{ status: number; text: string }>[]) {
    const answers = await Promise.all(requests)
    const refused = answers.filter(({ status }) => status !== 200)
    return { won: answers.length - refused.length, refused }
  }

  function expectRefusal(text: string, param: string, noun: string, id: string): void {
    const { type, problems } = JSON.parse(text)
    const problem = `there is a ${noun} "${id}" already: choose another name, or change that one`
    assert.deepEqual([type, problems], ['conflict_error', [{ param, problem }]])
  }

  test('of ten who add a channel at once, one wins, and its key stays', async () => {
    const numbers = Array.from({ length: 10 }, (_, index) => index)
    const { won, refused } = await race(
      numbers.map((one) => stage.ask(CHANNEL, channel('same', `sk-${one}`))),
    )
    assert.equal(won, 1)
    for (const { status, text } of refused) {
      assert.equal(status, 409, text)
      expectRefusal(text, 'id', 'channel', 'same')
    }
    assert.equal(await versionOf('same'), 1)
  })

  test('of ten who add a model at once, one wins, by either way of adding', async () => {
    const { won, refused } = await race(
      ['1', '2', '3', '4', '5'].flatMap((amount) => {
        const { body } = model('one', amount)
        return [
          stage.ask(MODEL, model('one', amount)),
          stage.ask(MODELS, { as: 'boss', body: { models: [{ ...body, id: 'one' }] } }),
        ]
      }),
    )
    assert.equal(won, 1)
    assert.deepEqual(
      refused.map(({ status }) => status),
      Array(9).fill(409),
    )
    const [row] =
      await stage.sql`select count(*)::int as versions from price where model_id = 'one'`
    assert.equal(row?.versions, 1)
  })

  test('of five who add a vendor’s channel at once, one wins', async () => {
    const body = { channels: [{ preset: 'deepseek', id: 'deep', settings: { api_key: 'sk-1' } }] }
    const ask = () => stage.ask(VENDOR, { as: 'boss', params: { vendor_id: 'deepseek' }, body })
    const { won, refused } = await race([ask(), ask(), ask(), ask(), ask()])
    assert.equal(won, 1)
    for (const { text } of refused) expectRefusal(text, 'id', 'channel', 'deep')
    assert.equal(await versionOf('deep'), 1)
  })

  test('a name in use is refused before a step-up, beside what else is wrong', async () => {
    const rows = stage.audited.length
    const taken = await stage.ask(CHANNEL, { ...channel('sim-openai', 'sk'), as: 'tired' })
    assert.equal(taken.status, 409)
    expectRefusal(taken.text, 'id', 'channel', 'sim-openai')
    const wrong = { ...channel('sim-openai', 'sk', 'nowhere'), as: 'tired' }
    const both = await stage.ask(CHANNEL, wrong)
    assert.equal(both.status, 400)
    const params = JSON.parse(both.text).problems.map((one: { param: string }) => one.param)
    assert.deepEqual([...new Set(params)], ['id', 'settings.base_url'])
    assert.equal(stage.audited.length, rows)
  })

  test('without the header a PUT changes what is there, and keeps its key', async () => {
    const { isNew: _, ...change } = channel('same', 'sk-other')
    assert.equal((await stage.ask(CHANNEL, change)).status, 200)
    assert.equal(await versionOf('same'), 2)
    const { isNew: __, ...priced } = model('one', '9')
    assert.equal((await stage.ask(MODEL, { ...priced, body: { ...priced.body } })).status, 200)
  })

  test('a name that was retired is free, and its old key is not taken over', async () => {
    const params = { channel_id: 'old' }
    const base = `${stage.simulators.url}/openai/v1`
    const list = () =>
      stage.read('GET /operator/channels/:channel_id/models', { as: 'boss', params })
    await stage.read(CHANNEL, channel('old', 'sim-openai-key', base))
    assert.equal((await list()).ok, true)
    const retired = await stage.ask('DELETE /operator/channels/:channel_id', { as: 'boss', params })
    assert.equal(retired.status, 204)
    const body = { upstream: 'openai-compatible', settings: { base_url: base } }
    await stage.read(CHANNEL, { as: 'boss', params, body, isNew: true })
    assert.match((await list()).detail, /refuses the key \(401\)/)
  })
})
