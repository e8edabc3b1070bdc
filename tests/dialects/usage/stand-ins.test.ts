/** Which model and which tier answered, where the request leaves it open. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  createChatUsageReader,
  readChatUsage,
} from '../../../server/wire/dialects/chat/read-usage.ts'

describe('models that may stand in', () => {
  const routing = { requestedModel: 'vendor/small', standIns: ['vendor/small-turbo', 'vendor/big'] }
  const readServed = (model: unknown) => {
    const { facts, unknownUsage } = readChatUsage(
      { model, usage: { prompt_tokens: 1, completion_tokens: 1 } },
      { routing },
    )
    return [facts?.model, unknownUsage?.[0]]
  }

  test('the one that answered is a fact, by the name that the request has for it', () => {
    assert.deepEqual(readServed('vendor/big'), ['vendor/big', undefined])
    assert.deepEqual(readServed('vendor/big-2026-01-01'), ['vendor/big', undefined])
    assert.deepEqual(readServed('vendor/small-turbo-1'), ['vendor/small-turbo', undefined])
    assert.deepEqual(readServed('vendor/small'), [undefined, undefined])
  })

  test('an answer that does not say which of them it was is not priced as the one called', () => {
    for (const model of [undefined, null, 7, 'another']) {
      assert.deepEqual(readServed(model), [undefined, 'model'])
    }
  })

  test('without them the model of a response decides nothing', () => {
    assert.deepEqual(readChatUsage({ model: 'x', usage: { prompt_tokens: 1 } }), {
      usage: { input_token: 1 },
    })
  })
})

test('a tier that an early event states is not taken back by an echo of the request', () => {
  for (const echo of ['auto', null]) {
    const reader = createChatUsageReader()
    reader.read({ service_tier: 'priority' })
    reader.read({ service_tier: echo, usage: { prompt_tokens: 1, completion_tokens: 1 } })
    assert.equal(reader.reading().facts?.service_tier, 'fast')
  }
})
