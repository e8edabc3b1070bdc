/** A disk that fills up under a running database, and is freed again. */
import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Sql } from 'postgres'
import {
  leastFreeBytes,
  refuseWhenFull,
  walMegabytes,
} from '../../server/base/database/embedded/disk.ts'
import { openDatabase } from '../../server/base/database/open.ts'
import { isUnavailable } from '../../server/base/database/unavailable.ts'
import { mountSmallDisk, noSmallDisk } from '../support/database/small-disk.ts'
import { until } from '../support/until.ts'

const MEGABYTE = 1024 * 1024
const PIECE = 'x'.repeat(100_000)

test('what must be free and what the log may take grow with the disk, within limits', () => {
  const disks = [0.25, 1, 2, 5, 10, 100, 4_000].map((gigabytes) => gigabytes * 1024 * MEGABYTE)
  const least = disks.map((bytes) => Math.floor(leastFreeBytes(bytes) / MEGABYTE))
  assert.deepEqual(least, [64, 64, 102, 256, 512, 512, 512])
  assert.deepEqual(disks.map(walMegabytes), [64, 102, 204, 512, 1024, 1024, 1024])
})

/** Writes until it is refused; returns how many rows were acknowledged. */
async function fill(sql: Sql): Promise<number> {
  for (let rows = 0; ; rows += 1) {
    try {
      await sql`insert into piece (n, text) values (${rows}, ${PIECE})`
    } catch (error) {
      assert.ok(isUnavailable(error), String(error))
      return rows
    }
  }
}

async function tryToWrite(sql: Sql): Promise<boolean> {
  try {
    await sql`insert into piece (n, text) values (-1, 'after')`
    return true
  } catch (error) {
    assert.ok(isUnavailable(error), String(error))
    return false
  }
}

test('it refuses without hanging, and heals by itself', { skip: noSmallDisk }, async (t) => {
  const dataDir = mountSmallDisk(t, 160)
  const ballast = join(dataDir, 'ballast')
  writeFileSync(ballast, Buffer.alloc(60 * 1024 * 1024))
  const database = await openDatabase({ dataDir, owner: true })
  const { sql } = database
  try {
    await sql`create table piece (n int, text text)`
    await sql`alter table piece alter text set storage external`
    const acknowledged = await fill(sql)
    assert.match((await refuseWhenFull(dataDir)) ?? '', /only \d+ MB are free/)
    rmSync(ballast)
    await until('a database that writes again', () => tryToWrite(sql))
    const [row] = await sql<{ count: bigint }[]>`
      select count(*) from piece where n >= 0 and n < ${acknowledged}`
    assert.equal(row?.count, BigInt(acknowledged))
  } finally {
    await database.stop()
  }
})
