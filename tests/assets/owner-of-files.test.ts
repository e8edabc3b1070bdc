/** What root writes belongs to the owner of the data folder. */
import assert from 'node:assert/strict'
import { chownSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { createDiskStorage, pathOfContent } from '../../server/work/assets/storage/disk-storage.ts'

const SERVICE = 65_534
const skip = process.getuid?.() === 0 ? false : 'only root can give files away'

test('a file, its folder and the folder of files', { skip }, async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'owner-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  chownSync(dataDir, SERVICE, SERVICE)
  const folder = join(dataDir, 'files')
  const storage = createDiskStorage(folder)
  const key = storage.newKey()
  await storage.write(key, Readable.from([Buffer.from('x')]), 1)
  const path = pathOfContent(folder, key)
  for (const one of [path, dirname(path), folder]) assert.equal(statSync(one).uid, SERVICE, one)
})
