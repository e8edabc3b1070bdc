/** Anybody may ask for the reference: what it is made from is converted once, and not at one go. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ENDPOINTS } from '../../../server/api/endpoints/index.ts'
import {
  describeEndpoint,
  describeEndpoints,
} from '../../../server/api/endpoints/reference/operation.ts'
import { MODEL } from './support.ts'

test('a schema is converted once, whatever model the example names', () => {
  for (const endpoint of ENDPOINTS) {
    const first = describeEndpoint(endpoint, MODEL)
    const again = describeEndpoint(endpoint, 'another-model')
    const { answer } = endpoint.documentation
    if (answer) assert.equal(again.answer?.schema, first.answer?.schema, first.id)
    const isCopied = first.formBody !== undefined || first.bodyType === 'multipart/form-data'
    if (!isCopied) assert.equal(again.body, first.body, first.id)
  }
})

test('other requests are served between the first descriptions, and later ones take no turn', async () => {
  const endpoints = ENDPOINTS.map((endpoint) => ({ ...endpoint }))
  const countTurns = async () => {
    let turns = 0
    let counting = true
    const count = () => {
      turns += 1
      if (counting) setImmediate(count)
    }
    setImmediate(count)
    const described = await describeEndpoints(endpoints, () => MODEL)
    counting = false
    return { turns, described }
  }
  const first = await countTurns()
  assert.ok(first.turns >= endpoints.length - 1, `${first.turns} turns`)
  assert.deepEqual(
    first.described,
    ENDPOINTS.map((endpoint) => describeEndpoint(endpoint, MODEL)),
  )
  assert.ok((await countTurns()).turns <= 1)
})
