/** Gateways on one database that keep files in folders of their own say so. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startGateway, startStage } from '../support/gateway.ts'
import { until } from '../support/until.ts'

const WARNING = /cannot serve the files of each other: give all of them the same S3_ENDPOINT/

test('a gateway with another folder than a live one warns, one with the same does not', async () => {
  const stage = await startStage()
  const dataDir = mkdtempSync(join(tmpdir(), 'tributary-apart-'))
  try {
    const same = await startGateway(stage.place)
    assert.doesNotMatch(same.log(), WARNING)
    const apart = await startGateway({ ...stage.place, dataDir })
    await until('the warning', () => WARNING.test(apart.log()))
    await Promise.all([same.stop(), apart.stop()])
    const alone = await startGateway(stage.place)
    assert.doesNotMatch(alone.log(), WARNING, 'the other one has ended')
    await alone.stop()
  } finally {
    await stage.stop()
    rmSync(dataDir, { recursive: true })
  }
})
