/** Counting tokens: its accuracy, its work on hostile texts, and its sample of long ones. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import {
  countCall,
  countRequestTokens,
} from '../../../../server/api/endpoints/text/tokens/count-json.ts'
import { countText } from '../../../../server/api/endpoints/text/tokens/count-text.ts'
import { sampleTexts } from '../../../../server/api/endpoints/text/tokens/sample-texts.ts'
import { untilValue } from '../../../support/until.ts'

const TEXTS = {
  English: 'The river flows past the old mill, and nobody has counted its bends. '.repeat(12),
  Chinese: '这条河流经老磨坊，没有人数过它有多少个弯。'.repeat(20),
  code: 'for (const [name, value] of Object.entries(rows)) total += value.length\n'.repeat(12),
  digits: Array.from({ length: 200 }, (_, at) => String((at * 7_919) % 99_991)).join(' '),
  'unbroken digits': '31415926535897932384626433832795'.repeat(20),
  JSON: JSON.stringify(Array.from({ length: 40 }, (_, id) => ({ id, price: '0.0042', ok: true }))),
}

describe('a count in pieces is that of the whole text, within 6 %', () => {
  for (const [name, text] of Object.entries(TEXTS)) {
    test(name, () => {
      const whole = countTokens(text)
      const pieces = countText(text, (piece) => countTokens(piece))
      assert.ok(Math.abs(pieces - whole) <= whole * 0.06, `${pieces} of ${whole}`)
    })
  }
})

test('no piece is longer than a line, and together they are the text', () => {
  for (const unit of ['a', ' ', '中', '😀', '\n', 'word ', '7']) {
    const text = unit.repeat(1024 * 1024)
    let joined = 0
    countText(text, (piece) => {
      assert.ok(piece.length <= 64 && piece.isWellFormed(), piece)
      joined += piece.length
      return 1
    })
    assert.equal(joined, text.length)
  }
})

test('a long text counts by a sample from all over it', () => {
  const texts = ['a '.repeat(500_000), '中'.repeat(1_000_000)]
  const { text, times } = sampleTexts(texts)
  assert.ok(text.length < 70_000, String(text.length))
  const share = text.split('').filter((one) => one === '中').length / text.length
  assert.ok(share > 0.45 && share < 0.55, String(share))
  assert.ok(Math.abs(times * text.length - 2_000_000) < 40_000, String(times))
})

describe('a request', () => {
  const count = (content: unknown) => countRequestTokens({ messages: [{ role: 'user', content }] })
  const expected = countTokens(TEXTS.Chinese)
  const isExact = (counted: number) => counted >= expected && counted < expected * 1.05 + 10

  // Until the thread has loaded its tables, which a busy machine takes its time for, what does not
  // wait longer for them is an estimate.
  before(() => untilValue(() => count(TEXTS.Chinese), isExact))

  test('counts as its text, however it is escaped', async () => {
    const plain = JSON.parse(JSON.stringify(TEXTS.Chinese))
    const counted = await count(plain)
    assert.ok(isExact(counted), `${counted} of ${expected}`)
  })

  test('counts the keys of a schema, and no media', async () => {
    const parameters = { properties: { a_long_name_of_a_member: { type: 'string' } } }
    const tool = await countRequestTokens({ tools: [{ function: { name: 'f', parameters } }] })
    assert.ok(tool > 12 && tool < 40, String(tool))
    const url = `data:image/png;base64,${'A'.repeat(100_000)}`
    assert.ok((await count([{ type: 'image_url', image_url: { url } }])) < 20)
  })

  test('counts text that looks like a mark of a vendor, and text that is nested deeply', async () => {
    assert.ok((await count('<|endoftext|><|im_start|>')) > 5)
    const deep = JSON.parse(`${'[{"a":'.repeat(20_000)}"x"${'}]'.repeat(20_000)}`)
    assert.ok(Number.isSafeInteger(await count(deep)))
  })

  test('of empty texts costs no more than their items', async () => {
    const content = Array.from({ length: 50_000 }, () => ({ type: 'text', text: '' }))
    // Three of each item, of the message and of its role.
    assert.ok((await count(content)) <= 150_000 + 10)
  })

  test('leaves the thread to charges: more counts at once are estimates', async () => {
    const counts = await Promise.all(Array.from({ length: 20 }, () => count(TEXTS.Chinese)))
    const [exact = 0] = counts
    assert.equal(counts.filter((one) => one === exact).length, 4)
    const charged = await Promise.all(
      Array.from({ length: 20 }, () =>
        countCall({ messages: [{ role: 'user', content: TEXTS.Chinese }] }, 0, undefined),
      ),
    )
    assert.ok(charged.every(({ input_token: tokens }) => tokens === exact))
  })

  test('is counted with its answer', async () => {
    const message = { role: 'assistant', content: TEXTS.digits }
    const answer = Buffer.from(JSON.stringify({ choices: [{ index: 0, message }] }))
    const { input_token: input = 0, output_token: output = 0 } = await countCall({}, 70, answer)
    assert.equal(input, 70)
    const expected = countTokens(TEXTS.digits)
    assert.ok(Math.abs(output - expected) < expected * 0.05, `${output} of ${expected}`)
    assert.deepEqual(await countCall({}, 0, undefined), { input_token: 0 })
  })
})
