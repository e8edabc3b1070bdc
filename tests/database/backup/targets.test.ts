/** Where a backup cannot go: it says so in one line and leaves nothing. */
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { backup } from '../../../server/base/database/backup/backup.ts'
import { mountSmallDisk, noSmallDisk } from '../../support/database/small-disk.ts'
import { makeFolder, makeSource } from './support.ts'

const MEGABYTE = 1024 * 1024

test('a backup onto a full disk says so and leaves nothing', { skip: noSmallDisk }, async (t) => {
  const source = await makeSource(t)
  await source.sql`insert into idempotency
    (account_id, key, route, fingerprint, request_id, hold_id, body)
    select 'acct_a', n, 'r', 'f', 'r', 'h', convert_to(repeat('x', ${MEGABYTE}), 'UTF8')
    from generate_series(1, 30) as n`
  const target = join(mountSmallDisk(t, 1), 'copy')
  const { place } = source
  await assert.rejects(backup({ place, kind: 'embedded', target }), {
    name: 'DatabaseProblem',
    message: `the disk of ${target} is full: nothing was written`,
  })
  assert.ok(!existsSync(target) && !existsSync(`${target}.partial`))
})

test('a backup into a folder that cannot be created says so', async (t) => {
  const { place } = await makeSource(t)
  const file = join(makeFolder(t), 'a-file')
  writeFileSync(file, '')
  for (const target of [file, join(file, 'copy')]) {
    await assert.rejects(backup({ place, kind: 'embedded', target }), {
      name: 'DatabaseProblem',
      message: /cannot be created \((ENOTDIR|EEXIST)\): name another folder/,
    })
  }
})
