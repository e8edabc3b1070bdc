import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VARIABLES_IN_CHINESE } from '../../../console/src/features/operator-system/variables-in-chinese.ts'
import { VARIABLES } from '../../../server/api/config/variables.ts'

test('every variable of the gateway is explained in Chinese, and no other', () => {
  assert.deepEqual(Object.keys(VARIABLES_IN_CHINESE).sort(), Object.keys(VARIABLES).sort())
})
