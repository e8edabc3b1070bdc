/** Files for bytes that must not stay in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { testMemory } from '../support/memory.ts'
import { until } from '../support/until.ts'

test('a file that is forgotten does not end the process', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const ended: unknown[] = []
  const onError = (error: unknown) => ended.push(error)
  process.prependListener('uncaughtException', onError)
  t.after(() => process.off('uncaughtException', onError))
  const memory = testMemory()
  const forget = async () => {
    await (await memory.openFile('acct_1')).append(Buffer.from('x'))
  }
  await forget()
  let collections = 0
  await until('some collections', () => {
    collect()
    collections += 1
    return collections > 3
  })
  assert.deepEqual(ended, [])
})
