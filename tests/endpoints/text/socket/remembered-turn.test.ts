/** The turns of an account push out its own oldest ones, and never those of others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TurnMemory } from '../../../../server/api/endpoints/text/socket/remembered-turn.ts'
import { testMemory } from '../../../support/memory.ts'

const MB = 1024 ** 2
const turnOf = (id: string, bytes = MB) => ({ id, items: ['-'.repeat(bytes)] })

test('an account that fills its share loses its oldest turns, another one none', () => {
  // 1/9 of it for one account, counted twice: ten turns of 1 MB, and a bit.
  const memory = testMemory({ bytesMax: 190 * MB })
  const other = new TurnMemory('other', memory)
  other.keep(turnOf('other'), 0)
  const turns = Array.from({ length: 80 }, (_, at) => {
    const turn = new TurnMemory('greedy', memory)
    turn.keep(turnOf(`turn ${at}`), 0)
    return turn
  })
  const found = turns.filter((turn, at) => turn.find(`turn ${at}`))
  assert.deepEqual(found, turns.slice(-found.length))
  assert.ok(found.length >= 8 && found.length <= 10, `${found.length}`)
  assert.ok(other.find('other'))
  const late = new TurnMemory('late', memory)
  late.keep(turnOf('late'), 0)
  assert.ok(late.find('late'))
  for (const turn of [...turns, other, late]) turn.forget()
  assert.equal(memory.bytes.usedInAll(), 0)
})

test('a turn over 8 MB, or without room at all, is not kept', () => {
  const memory = testMemory({ bytesMax: 90 * MB })
  const turn = new TurnMemory('a', memory)
  turn.keep(turnOf('small'), 0)
  turn.keep(turnOf('large', 9 * MB), 0)
  assert.equal(turn.find('small'), undefined)
  assert.equal(turn.find('large'), undefined)
  turn.keep(turnOf('six', 6 * MB), 0)
  assert.equal(turn.find('six'), undefined)
  assert.equal(memory.bytes.usedInAll(), 0)
})

test('items of a long message are copied, so that they keep nothing else of it', () => {
  const memory = testMemory({ bytesMax: 190 * MB })
  const turn = new TurnMemory('a', memory)
  const item = { type: 'message', role: 'user', content: 'hello' }
  for (const [bytes, isCopied] of [
    [MB, false],
    [MB + 1, true],
  ] as const) {
    turn.keep({ id: 'x', items: [item] }, bytes)
    const [kept] = turn.find('x')?.items ?? []
    assert.deepEqual(kept, item)
    assert.equal(kept !== item, isCopied)
  }
  turn.forget()
})
