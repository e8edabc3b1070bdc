/**
 * Both ways to make images at both vendors' simulators: what they billed, by their own book, is
 * what our records say, also when an answer breaks off, comes in pieces or not at all.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import {
  startTestGateway,
  type Tenant,
  type TestGateway,
  type TestRecord,
} from '../../support/in-process.ts'
import { until } from '../../support/until.ts'
import { QUICK } from '../stage.ts'

const SYNC_PATH = '/v1/images/generations'
const ASYNC_PATH = '/v1/images/async'
const SEEDREAM = 'doubao-seedream-4-5-251128'

let gateway: TestGateway
const dataDir = mkdtempSync(join(tmpdir(), 'simulated-images-'))
before(async () => {
  gateway = await startTestGateway({ ...QUICK, ALLOW_PRIVATE_TARGETS: 'true', DATA_DIR: dataDir })
})
after(async () => {
  await gateway.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

let calls = 0

/** What the vendor billed for the one call that bears this mark. */
async function billed(marker: string) {
  await gateway.simulators.book.settled()
  const entries = gateway.simulators.book.entries({ marker }).filter((one) => one.billed)
  assert.ok(entries.length <= 1, 'billed at most once')
  return entries[0]?.units
}

function quantities({ lines }: TestRecord): Record<string, number> {
  return Object.fromEntries(lines.map(({ unit, quantity }) => [unit, quantity]))
}

async function run(tenant: Tenant, path: string, body: { model: string; words?: string }) {
  const marker = `m${calls++}`
  const { words = '', ...rest } = body
  const prompt = `a river [[call:${marker}]] ${words}`
  const answer = await gateway.post(path, tenant.key, { ...rest, prompt })
  if (path === SYNC_PATH || answer.status !== 200) return { answer, marker, done: undefined }
  const done = await until('the end of the task', async () => {
    const { json } = await gateway.get(`${ASYNC_PATH}/${answer.json.id}`, tenant.key)
    return ['succeeded', 'failed'].includes(json.status) ? json : undefined
  })
  return { answer, marker, done }
}

for (const path of [SYNC_PATH, ASYNC_PATH]) {
  describe(path, () => {
    const cases = [
      { model: 'sim-image', quality: 'low' },
      { model: 'sim-image', n: 2 },
      { model: 'sim-dall-e', n: 3 },
      { model: SEEDREAM },
      { model: 'qwen-image-3.0', n: 3 },
      { model: SEEDREAM, n: 2 },
      { model: SEEDREAM, sequential_image_generation: 'auto', words: '[[fault:fail-images=1]]' },
    ]
    for (const one of cases) {
      test(`${JSON.stringify(one)}: charged as billed`, async () => {
        const tenant = await gateway.tenant()
        const { answer, marker, done } = await run(tenant, path, one)
        assert.equal(answer.status, 200, answer.text.slice(0, 200))
        if (done) assert.equal(done.status, 'succeeded')
        const record = await gateway.record(answer, tenant.key)
        assert.equal(record.basis, 'usage')
        const ours = quantities(record)
        for (const [unit, quantity] of Object.entries((await billed(marker)) ?? {})) {
          assert.equal(ours[unit], quantity, unit)
        }
        assert.ok(Number(record.charged) > 0)
        assert.ok(Number(record.charged) <= Number(record.held))
      })
    }

    for (const words of ['status=500', 'error-200', 'moderation', 'reset-before-head']) {
      for (const model of ['sim-image', SEEDREAM]) {
        test(`${model} after ${words}: nothing is charged`, async () => {
          const tenant = await gateway.tenant()
          const body = { model, words: `[[fault:${words}]]` }
          const { answer, done } = await run(tenant, path, body)
          if (done) assert.equal(done.status, 'failed', answer.text)
          else assert.ok(answer.status >= 400, answer.text)
          const record = await gateway.record(answer, tenant.key)
          assert.deepEqual([record.status, record.charged], ['failed', '0'])
          assert.equal((await gateway.balance(tenant.accountId)).held, 0n)
        })
      }
    }
  })
}

test('a model that takes few members is not asked about those that a task removes', async () => {
  const tenant = await gateway.tenant()
  const removed = { stream: true, partial_images: 2, response_format: 'b64_json' }
  const callback_url = `${gateway.simulators.url}/receiver/few-members`
  const order = { model: 'qwen-image-3.0', ...removed, callback_url }
  const { answer, done } = await run(tenant, ASYNC_PATH, order)
  assert.equal(answer.status, 200, answer.text)
  assert.equal(done.status, 'succeeded')
  const { json } = await gateway.get('/v1/webhooks/deliveries', tenant.key)
  assert.deepEqual(
    json.data.map((one: { url: string }) => one.url),
    [callback_url],
  )
})

describe('a stream', () => {
  async function stream(model: string, words: string) {
    const tenant = await gateway.tenant()
    const marker = `m${calls++}`
    const response = await gateway.fetch(SYNC_PATH, {
      method: 'POST',
      key: tenant.key,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model,
        stream: true,
        prompt: `a river [[call:${marker}]] ${words}`,
        ...(model === SEEDREAM ? { n: 3 } : {}),
      }),
    })
    const text = await response.text()
    const record = await gateway.record(response, tenant.key)
    return { text, record, units: (await billed(marker)) ?? {} }
  }

  for (const words of ['', '[[fault:split=bytes]]', '[[fault:crlf]]', '[[fault:comments]]']) {
    for (const model of ['sim-image', SEEDREAM]) {
      test(`${model} ${words}: charged as billed`, async () => {
        const { text, record, units } = await stream(model, words)
        assert.match(text, /image_generation\.completed/)
        assert.deepEqual([record.status, record.basis], ['succeeded', 'usage'])
        const ours = quantities(record)
        for (const [unit, quantity] of Object.entries(units)) assert.equal(ours[unit], quantity)
      })
    }
  }

  test('that breaks off after one of three images: one is charged, the caller gets an error', async () => {
    const { text, record } = await stream(SEEDREAM, '[[fault:reset-mid=1]]')
    assert.match(text, /partial_succeeded/)
    assert.match(text, /event: error\ndata: .*upstream provider error/)
    assert.deepEqual([record.status, record.charged], ['failed', '0.25'])
  })
})
