/** Units and conditions of prices in words: none is left as its name, in either language. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wordPrices } from '../../../console/src/components/prices/word-prices.ts'
import { UNITS } from '../../../server/base/lib/units.ts'

for (const language of ['en', 'zh'] as const) {
  const words = wordPrices(language)

  test(`${language}: every unit has words, for one and for many`, () => {
    for (const unit of UNITS) {
      for (const text of [words.units(unit), words.per(1, unit), words.per(1_000_000, unit)]) {
        assert.ok(!text.includes(unit) || unit.length < 10, text)
        assert.doesNotMatch(text, /_|undefined|\{/)
      }
    }
  })

  test(`${language}: a count is exact`, () => {
    assert.match(words.per(1_250_000, 'input_token'), language === 'zh' ? /125万/ : /1\.25M/)
    assert.match(words.per(86_400, 'input_token'), language === 'zh' ? /8\.64万/ : /86\.4K/)
  })

  test(`${language}: a unit without words is shown as its name`, () => {
    for (const unit of ['later_unit', 'constructor', 'toString']) {
      assert.equal(words.units(unit), unit)
      assert.ok(words.per(1, unit).includes(unit))
      assert.ok(words.per(1_000_000, unit).includes(unit))
    }
  })

  test(`${language}: every fact has words`, () => {
    const conditions = {
      service_tier: ['flex', 'batch'],
      speed: 'fast',
      region: 'us',
      clock: 'off_peak',
      cache_mode: 'explicit',
      thinking: 'on',
      model: 'other-model',
      tool: 'preview',
      input_tokens: { min: 272_001 },
    }
    const sentence = words.when(conditions)
    assert.doesNotMatch(sentence, /_|=|undefined|\{|\[/)
    assert.match(sentence, /flex.*batch.*us.*other-model.*preview.*272,001/)
  })
}

test('lists, passes and lengths read as people say them', () => {
  const { when, line } = wordPrices('en')
  assert.equal(when({ service_tier: ['flex', 'batch'] }), 'flex tier or batch tier')
  assert.equal(when({ clock: 'off_peak' }), 'outside peak hours')
  assert.equal(when({ input_tokens: { below: 272_001 } }), 'up to 272,000 input tokens')
  assert.equal(line({ unit: 'output_token' }), 'output tokens')
  assert.equal(
    line({ unit: 'output_token', model: 'claude-opus-4-7', role: 'advisor' }),
    'output tokens · advisor claude-opus-4-7',
  )
})

test('Chinese prices have no space between Chinese words', () => {
  const { per, when } = wordPrices('zh')
  assert.equal(per(1_000_000, 'input_token'), '每百万输入 token')
  assert.equal(per(1_000, 'call'), '每千次调用')
  assert.equal(per(10_000, 'character'), '每万字符')
  assert.equal(per(500, 'call'), '每 500 次调用')
  assert.equal(per(1, 'second'), '每秒')
  assert.equal(per(1, 'image'), '每张图片')
  assert.equal(per(1, 'cache_write_5m_token'), '每个 5 分钟缓存写入 token')
  assert.equal(when({ quality: 'high' }), 'high 质量')
  for (const unit of UNITS) {
    for (const count of [1, 60, 1_000, 10_000, 1_000_000, 20_000_000]) {
      assert.doesNotMatch(per(count, unit), /\p{Script=Han} \p{Script=Han}/u)
    }
  }
})
