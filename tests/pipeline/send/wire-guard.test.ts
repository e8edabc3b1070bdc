/** A wire needs an open hold, and its waits end when the gateway stops. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Agent } from 'undici'
import { admitHold, type Hold, retireHold } from '../../../server/money/ledger/holds/hold.ts'
import { UpstreamFailure } from '../../../server/wire/upstreams/failure.ts'
import { Stopping } from '../../../server/work/pipeline/load/stopping.ts'
import { Deadline } from '../../../server/work/pipeline/send/deadline.ts'
import { openWire } from '../../../server/work/pipeline/send/wire.ts'

const row = { id: 'hold_1', requestId: 'req_1', accountId: 'acct_1', amountNanos: 1n }
const times = { firstByteTimeoutMs: 1_000, idleTimeoutMs: 1_000 }
const GUARDED = /without an open hold/

function open(hold: Hold, stopping = new Stopping()) {
  // Not shared: a file may run minutes after it was loaded.
  const deadline = new Deadline(60_000)
  return openWire(hold, {
    dispatcher: new Agent(),
    connectTimeoutMs: 1_000,
    socketsMax: 1,
    stopping,
    deadline,
    ...times,
  })
}

function closed(): Hold {
  const hold = admitHold(row)
  retireHold(hold)
  return hold
}

const forged = { ...admitHold(row) } as Hold

for (const [name, hold] of Object.entries({ closed: closed(), forged })) {
  test(`a ${name} hold opens no connection`, async () => {
    const wire = open(hold)
    const request = { url: 'http://127.0.0.1:9/', headers: {} }
    await assert.rejects(wire.send({ ...request, method: 'POST' }), GUARDED)
    const silent = { onMessage: () => undefined, onClose: () => undefined }
    await assert.rejects(wire.openSocket({ ...request, ...silent }), GUARDED)
    await assert.rejects(wire.wait(1), GUARDED)
  })
}

test('a wait ends when the gateway stops, and none begins after that', async () => {
  const stopping = new Stopping()
  const wire = open(admitHold(row), stopping)
  assert.ok((await wire.wait(1)) >= 0)
  const waiting = wire.wait(2_000)
  stopping.abort()
  await assert.rejects(waiting, UpstreamFailure)
  await assert.rejects(wire.wait(2_000), UpstreamFailure)
  const late = new Stopping()
  late.abort()
  await assert.rejects(open(admitHold(row), late).wait(2_000), UpstreamFailure)
})
