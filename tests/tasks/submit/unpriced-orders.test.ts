/** Orders that a price cannot be read for are refused before their hold. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useDraft } from '../../../server/api/endpoints/video/video-request.ts'
import type { Model, PriceEntry } from '../../../server/money/catalog/catalog.ts'
import type { ResolvedCall } from '../../../server/work/pipeline/request/resolve.ts'
import type { SourceTask } from '../../../server/work/tasks/submission.ts'
import { type Plan, quoteTask } from '../../../server/work/tasks/submit/plan.ts'

const SECOND: PriceEntry = { unit: 'second', per: 1, amountNanos: 10n }
const SEARCH: PriceEntry = { unit: 'web_search_call', per: 1, amountNanos: 3n }
const PRO: PriceEntry = { unit: 'second', per: 1, amountNanos: 20n, when: { mode: 'pro' } }

function quote(prices: readonly PriceEntry[], more: object = {}, value: object = {}) {
  const model = { id: 'films', type: 'video', free: false, prices } as Model
  const prepared = { quantities: { second: 5, ...more }, facts: {} }
  const call = { model, request: { value } } as unknown as ResolvedCall
  return quoteTask(call, [{ prepared } as unknown as Plan]).amountNanos
}

test('an order needs a price for something that it counts', () => {
  const entry = (unit: PriceEntry['unit']): PriceEntry => ({ unit, per: 1, amountNanos: 1n })
  const refused = /^GatewayError: model: 'films' is not sold: it has no price for second, which/
  for (const unit of ['output_token', 'image'] as const) {
    assert.throws(() => quote([entry(unit)]), refused)
  }
  assert.equal(quote([entry('task')]), 1n)
  assert.equal(quote([entry('call')]), 1n)
  assert.equal(quote([{ ...SECOND, amountNanos: 0n }]), 0n, 'it is given away on purpose')
  assert.equal(quote([entry('output_token'), entry('vendor_cost')]), 0n, 'the vendor says it later')
})

test('searches of the vendor’s need a price, and are held', () => {
  assert.equal(quote([SECOND, SEARCH], { web_search_call: 3 }), 59n)
  assert.equal(quote([SECOND]), 50n)
  const refused = /^GatewayError: tools: 'web_search' is not sold with 'films'/
  assert.throws(() => quote([SECOND], { web_search_call: 3 }), refused)
})

test('a list or an object has no price, where the price depends on the field', () => {
  for (const mode of [['pro'], { value: 'pro' }, []]) {
    assert.throws(() => quote([PRO, SECOND], {}, { mode }), /^GatewayError: mode: must be/)
    assert.equal(quote([SECOND], {}, { mode }), 50n, 'and where it does not, it may be anything')
  }
  assert.equal(quote([PRO, SECOND], {}, { mode: null }), 100n)
})

test('nor has a text that only the vendor can read', () => {
  const fast: PriceEntry = { ...SECOND, amountNanos: 30n, when: { fps: 60 } }
  const large: PriceEntry = { ...SECOND, amountNanos: 30n, when: { upscale: true } }
  for (const [price, value] of [
    [PRO, { mode: 'ｐｒｏ' }],
    [PRO, { mode: 'p\u200bro' }],
    [fast, { fps: '٦٠' }],
    [fast, { fps: '6_0' }],
    [large, { upscale: 2 }],
    [large, { upscale: 'enabled' }],
  ] as const) {
    const refused = /must be a plain word, number or size.*: the price depends on it/
    assert.throws(() => quote([price, SECOND], {}, value), refused, JSON.stringify(value))
    assert.equal(quote([SECOND], {}, value), 50n)
  }
  for (const mode of ['pro', ' PRO', 'std', '']) {
    assert.equal(quote([PRO, SECOND], {}, { mode, model: '２' }), 100n)
  }
})

test('a video has the sound of its draft, whatever its own request says', () => {
  const request = { draft: true, generate_audio: false }
  const draft = { kind: 'video', state: 'succeeded', model: 'm', request } as unknown as SourceTask
  const order = { model: 'm', content: [], generate_audio: true }
  assert.equal(useDraft(order, draft).generate_audio, false)
  const old = { ...draft, request: { draft: true } }
  assert.equal(useDraft(order, old).generate_audio, true, 'drafts of before have no such member')
})
