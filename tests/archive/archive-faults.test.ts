/** `tributary archive create` at a store that fails: it says which and why, and leaves nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openCommandLine, runWith } from '../cli/support.ts'
import { createCaller } from '../ledger/support.ts'
import { startS3Server } from '../support/s3-server.ts'
import { countRows, MONTH, postCalls } from './support.ts'

const CREATE = ['archive', 'create', '--month', MONTH.name]

test('each fault names the store and the reason, and no object is left', async (t) => {
  const { sql, environment } = await openCommandLine(t)
  await postCalls(sql, [await createCaller(sql, 10_000n)], { calls: 4 })
  const store = await startS3Server()
  t.after(() => store.stop())
  const { S3_ENDPOINT: endpoint = '' } = store.environment
  const at = { ...environment, ...store.environment }
  const before = await countRows(sql)
  for (const [name, change, faults, reason] of [
    ['reading', {}, [{ kind: 'GET', status: 403 }], /403|Fault/],
    ['writing', {}, [{ kind: 'PUT', status: 403 }], /403|Fault/],
    ['bucket', { S3_BUCKET: 'other' }, [], /NoSuchBucket|404/],
    ['key', { S3_SECRET_ACCESS_KEY: 'wrong' }, [], /Signature|403/],
    ['address', { S3_ENDPOINT: 'http://127.0.0.1:9' }, [], /ECONNREFUSED|fetch failed|answer/],
  ] as const) {
    store.faults.push(...faults)
    const { code, err } = await runWith({ ...at, ...change }, CREATE)
    assert.equal(code, 1, `${name}: ${err}`)
    const shown = 'S3_ENDPOINT' in change ? change.S3_ENDPOINT : endpoint
    assert.ok(err.includes(`the object store ${shown}, bucket `), `${name}: ${err}`)
    assert.match(err, reason, name)
    assert.equal(store.objects.size, 0, name)
    assert.deepEqual(await countRows(sql), before, name)
    store.faults.length = 0
  }
  assert.equal((await runWith(at, CREATE)).code, 0)
})
