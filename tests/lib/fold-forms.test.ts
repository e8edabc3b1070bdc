import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foldForms } from '../../server/base/lib/text/fold-forms.ts'

test('the forms of a character become one, without its marks', () => {
  assert.equal(foldForms('－－ｒｓ １０８０ｐ 𝐝𝐮𝐫 ① e\u0301'), '--rs 1080p dur 1 e')
  assert.equal(foldForms('r\u200bs d\u00adu\u2060r \ufeff1'), 'rs dur 1')
})
