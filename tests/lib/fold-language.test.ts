/** Language tags are folded to the codes that a vendor knows, and to no other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { foldLanguage, mainLanguage } from '../../server/base/lib/text/fold-language.ts'
import { SOURCE_LANGUAGES } from '../../server/wire/dialects/interpretation/languages.ts'

const MINUTES = ['zh_cn', 'en_us']

for (const [tag, known, expected] of [
  ['zh', SOURCE_LANGUAGES, 'zh'],
  ['zh-CN', SOURCE_LANGUAGES, 'zh'],
  ['ZH_cn', SOURCE_LANGUAGES, 'zh'],
  ['zh-Hant-TW', SOURCE_LANGUAGES, 'zh'],
  ['yue', SOURCE_LANGUAGES, 'yue-CN'],
  ['YUE-cn', SOURCE_LANGUAGES, 'yue-CN'],
  ['yue-HK', SOURCE_LANGUAGES, 'yue-CN'],
  ['zhen', SOURCE_LANGUAGES, 'zhen'],
  ['en', MINUTES, 'en_us'],
  ['en-GB', MINUTES, 'en_us'],
  ['zh-CN', MINUTES, 'zh_cn'],
  ['fr', MINUTES, undefined],
  ['english', MINUTES, undefined],
  ['z', MINUTES, undefined],
  ['', MINUTES, undefined],
  ['zh CN', MINUTES, undefined],
  ['zh--CN', MINUTES, undefined],
  ['zh-CN-', MINUTES, undefined],
] as const) {
  test(`'${tag}' of ${known.length} codes is ${expected}`, () => {
    assert.equal(foldLanguage(tag, known), expected)
  })
}

test('a known code is itself, and every fold has the language of its tag', () => {
  const part = fc.stringMatching(/^[A-Za-z0-9]{2,8}$/)
  const separator = fc.constantFrom('-', '_')
  const tag = fc.tuple(fc.constantFrom(...SOURCE_LANGUAGES, 'xx', 'toString'), separator, part)
  fc.assert(
    fc.property(tag, fc.boolean(), ([code, mark, more], isLoud) => {
      const known = SOURCE_LANGUAGES.find((one) => one === code)
      assert.equal(foldLanguage(code, SOURCE_LANGUAGES), known)
      const longer = isLoud ? `${code}${mark}${more}`.toUpperCase() : `${code}${mark}${more}`
      const found = foldLanguage(longer, SOURCE_LANGUAGES)
      assert.equal(found === undefined, known === undefined)
      if (found) assert.equal(mainLanguage(found), mainLanguage(longer))
    }),
  )
})
