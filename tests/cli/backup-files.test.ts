/** `backup --files` and `restore`: the bytes of files and media go and come with their rows. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import type { Sql } from 'postgres'
import { createLog } from '../../server/api/app/log.ts'
import { createBlobs } from '../../server/work/assets/storage/blobs.ts'
import { createDiskStorage, pathOfContent } from '../../server/work/assets/storage/disk-storage.ts'
import { insertFile } from '../../server/work/assets/uploads/file-store.ts'
import { openCommandLine, runWith } from './support.ts'

const log = createLog({ level: 'silent', format: 'json' })

async function store(sql: Sql, folder: string, text: string): Promise<string> {
  const blobs = createBlobs({ sql, storage: createDiskStorage(folder), log })
  const blob = await blobs.write(Readable.from([Buffer.from(text)]), 1_000)
  await sql.begin(async (transaction) => {
    await blobs.adopt(transaction, blob.key)
    await insertFile(transaction, {
      id: `file_${blob.key}`,
      account_id: 'a',
      token: blob.key,
      storage_key: blob.key,
      filename: 'f',
      purpose: 'p',
      content_type: 'text/plain',
      bytes: BigInt(blob.bytes),
      life_seconds: 86_400,
      request_id: null,
      idempotency_key: null,
      sha256: blob.sha256,
      published: false,
    })
  })
  return blob.key
}

test('content goes with its rows; what nobody owns, and what lies elsewhere, does not', async (t) => {
  const { run, folder, sql, environment } = await openCommandLine(t)
  assert.equal((await run('migrate')).code, 0)
  const files = join(folder, 'data', 'files')
  const kept = await store(sql, files, 'kept')
  const lost = await store(sql, files, 'lost')
  rmSync(pathOfContent(files, lost))
  const remote = await store(sql, files, 'remote')
  await sql`update file set storage_key = 's3-' || storage_key where storage_key = ${remote}`
  mkdirSync(join(files, 'xx'), { recursive: true })
  writeFileSync(join(files, 'xx', 'x'.repeat(32)), 'nobody owns this')

  const environmentOf = (name: string) => ({ ...environment, DATA_DIR: join(folder, name) })
  const copy = join(folder, 'copy')
  const made = await runWith(environmentOf('data'), ['backup', '--to', copy, '--files'])
  assert.equal(made.code, 0, made.err)
  const told = /1 files and media of 0\.0 MB, 1 are missing, 1 are in the object store\.\n/
  assert.match(made.out, told)
  assert.equal(existsSync(join(copy, 'files', 'xx')), false)

  const back = ['restore', '--from', copy, '--force']
  const restored = await runWith(environmentOf('new'), [...back, '--json'])
  assert.equal(restored.code, 0, restored.err)
  const counts = { files: 1, bytes: 4, missing: 1, elsewhere: 1 }
  assert.deepEqual(JSON.parse(restored.out).files, counts)
  const path = pathOfContent(join(folder, 'new', 'files'), kept)
  assert.equal(readFileSync(path, 'utf8'), 'kept')

  rmSync(join(copy, 'files.json'))
  const without = await runWith(environmentOf('third'), [...back, '--json'])
  assert.equal('files' in JSON.parse(without.out), false, 'an unfinished copy is none')
})
