/** The conditions of prices as the form has them: nothing is lost, nothing needs JSON. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  NEW_CONDITION,
  toConditionDrafts,
  toConditions,
} from '../../../console/src/components/form/prices/conditions.ts'
import { toPriceDraft, toPrices } from '../../../console/src/components/form/prices/price-draft.ts'

const CATALOG = new URL('../../../catalog/', import.meta.url)

/** Every `when` of a catalog file, wherever it is. */
function* findConditions(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    if (name === 'when') yield member
    else yield* findConditions(member)
  }
}

test('every condition of the price books survives the form', () => {
  let count = 0
  for (const name of readdirSync(CATALOG).filter((one) => one.endsWith('.json'))) {
    const book: unknown = JSON.parse(readFileSync(new URL(name, CATALOG), 'utf8'))
    for (const when of findConditions(book)) {
      assert.deepEqual(toConditions(toConditionDrafts(when)), when)
      count += 1
    }
  }
  assert.ok(count > 1000, `${count}`)
})

test('figures, switches and texts of the same digits stay what they were', () => {
  const when = { seconds: 5, tool: '5', audio: true, size: ['5', '6'], length: [1, 2] }
  assert.deepEqual(toConditions(toConditionDrafts(when)), when)
  const [seconds] = toConditionDrafts({ seconds: 5 })
  assert.deepEqual(toConditions(seconds ? [{ ...seconds, values: '6, 7' }] : []), {
    seconds: [6, 7],
  })
})

test('what is typed becomes values, lists and ranges', () => {
  const typed = (fact: string, values: string) => ({ ...NEW_CONDITION, fact, values })
  assert.equal(toConditions([]), undefined)
  assert.equal(toConditions([NEW_CONDITION]), undefined)
  assert.deepEqual(toConditions([typed(' resolution ', '720p , 1080p'), typed('audio', 'false')]), {
    resolution: ['720p', '1080p'],
    audio: false,
  })
  assert.deepEqual(toConditions([typed('tool', '5')]), { tool: '5' })
  const range = { ...NEW_CONDITION, fact: 'input_tokens', min: '1', below: '128001' }
  assert.deepEqual(toConditions([range]), { input_tokens: { min: 1, below: 128_001 } })
  assert.deepEqual(toConditions([{ ...range, min: '' }]), { input_tokens: { below: 128_001 } })
})

test('a condition that is added behind the unconditional price moves before it', () => {
  const price = (unit: string, amount: string, when?: Record<string, unknown>) => {
    return { unit, per: 1_000_000, amount, ...(when ? { when } : {}) }
  }
  const [input, output] = [price('input_token', '2'), price('output_token', '8')]
  const flex = price('input_token', '1', { service_tier: 'flex' })
  const long = price('input_token', '4', { input_tokens: { min: 1000 } })
  const longer = price('input_token', '5', { input_tokens: { min: 500 } })
  const sent = (prices: Parameters<typeof toPriceDraft>[0][]) => toPrices(prices.map(toPriceDraft))
  assert.deepEqual(sent([input, output, flex]), [input, output, flex])
  assert.deepEqual(sent([input, output, flex, long, longer]), [long, longer, input, output, flex])
  assert.deepEqual(sent([long, input, output]), [long, input, output])
})
