/** A data folder that goes away, or has no room, under a gateway whose database is elsewhere. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { refuseUnwritable } from '../server/base/database/embedded/disk.ts'
import { mountSmallDisk, noSmallDisk } from './support/database/small-disk.ts'
import { startTestGateway } from './support/in-process.ts'
import { until } from './support/until.ts'

test('/readyz says that it is gone, and is ready again when it is back', async (t) => {
  const parent = mkdtempSync(join(tmpdir(), 'data-folder-'))
  const dataDir = join(parent, 'data')
  mkdirSync(dataDir)
  const gateway = await startTestGateway({ DATA_DIR: dataDir })
  t.after(async () => {
    await gateway.stop()
    rmSync(parent, { recursive: true, force: true })
  })
  const readiness = async () => {
    const answer = await fetch(`${gateway.url}/readyz`)
    return { status: answer.status, text: await answer.text() }
  }
  assert.equal((await readiness()).status, 200)
  renameSync(dataDir, `${dataDir}-away`)
  const { text } = await until('a gateway that is not ready', async () => {
    const answer = await readiness()
    return answer.status === 503 ? answer : undefined
  })
  assert.match(text, /DATA_DIR is gone/)
  assert.ok(!text.includes(dataDir))
  if (!existsSync(dataDir)) renameSync(`${dataDir}-away`, dataDir)
  await until('a gateway that is ready', async () =>
    (await readiness()).status === 200 ? true : undefined,
  )
})

test('a disk without room', { skip: noSmallDisk }, async (t) => {
  const folder = mountSmallDisk(t, 4)
  assert.equal(await refuseUnwritable(folder), undefined)
  const ballast = join(folder, 'ballast')
  assert.throws(() => writeFileSync(ballast, Buffer.alloc(8 * 1024 * 1024)), { code: 'ENOSPC' })
  assert.equal(await refuseUnwritable(folder), 'DATA_DIR has no room')
  rmSync(ballast)
  assert.equal(await refuseUnwritable(folder), undefined)
})
