/** Where no connection is made nothing is sent, whatever the system's reason. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Agent } from 'undici'
import { UpstreamFailure } from '../../../server/wire/upstreams/failure.ts'
import { Deadline } from '../../../server/work/pipeline/send/deadline.ts'
import { openReadingWire } from '../../../server/work/pipeline/send/wire.ts'

/** Sends a request whose connection fails with `error`. Returns the kind of its failure. */
async function fail(error: Error): Promise<string | undefined> {
  const dispatcher = new Agent({ connect: (_options, callback) => callback(error, null) })
  const limits = {
    connectTimeoutMs: 1_000,
    socketsMax: 1,
    firstByteTimeoutMs: 9_000,
    idleTimeoutMs: 9_000,
  }
  const wire = openReadingWire({ dispatcher, deadline: new Deadline(60_000), ...limits })
  try {
    await wire.send({ method: 'GET', url: 'http://vendor.example/', headers: {} })
    return undefined
  } catch (failure) {
    return failure instanceof UpstreamFailure ? failure.kind : String(failure)
  } finally {
    await dispatcher.destroy()
  }
}

const systemError = (code: string, syscall: string) =>
  Object.assign(new Error(`${syscall} ${code}`), { code, syscall })

test('too few descriptors or ports, or a firewall: nothing was sent', async () => {
  for (const code of ['EMFILE', 'EADDRNOTAVAIL', 'EPERM', 'ETIMEDOUT', 'ENETDOWN']) {
    assert.equal(await fail(systemError(code, 'connect')), 'not_sent', code)
  }
  const both = [systemError('EADDRNOTAVAIL', 'connect'), systemError('EMFILE', 'connect')]
  assert.equal(await fail(new AggregateError(both)), 'not_sent')
  assert.equal(await fail(systemError('EAI_FAIL', 'getaddrinfo')), 'not_sent')
})

test('a connection that breaks may have carried the request', async () => {
  for (const [code, syscall] of [
    ['EPIPE', 'write'],
    ['ETIMEDOUT', 'read'],
  ] as const) {
    assert.equal(await fail(systemError(code, syscall)), 'unknown', code)
  }
})
