/** A worker that cannot be started is tried again, and ends nobody else. */
import assert from 'node:assert/strict'
import type { Worker } from 'node:cluster'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { keepWorker } from '../../../server/base/workers/keep-worker.ts'
import { until } from '../../support/until.ts'

type Fork = () => Worker

/** A worker whose process has this id, or none because it was not started. */
function workerOf(pid: number | undefined): Worker {
  const worker = Object.assign(new EventEmitter(), { process: { pid }, isConnected: () => false })
  return worker as unknown as Worker
}

const NO_ROOM = Object.assign(new Error('spawn EAGAIN'), { code: 'EAGAIN' })

/** As `child_process` reports a machine without room for another process. */
function fails(): Worker {
  const worker = workerOf(undefined)
  process.nextTick(() => worker.emit('error', NO_ROOM))
  return worker
}

/** As it reports one that is out of open files. */
function throws(): Worker {
  throw new Error('spawn EMFILE')
}

/** Runs the starts one after the other; further ones live until the end. */
function keep(starts: readonly Fork[], mustStart = false) {
  const lines: unknown[] = []
  const stopping = new AbortController()
  const workers: Worker[] = []
  const fork = () => {
    const start = starts[workers.length] ?? (() => workerOf(1))
    workers.push(workerOf(undefined))
    const worker = start()
    workers[workers.length - 1] = worker
    return worker
  }
  const log = { error: (fields: object) => void lines.push(fields) }
  const kept = keepWorker(fork, log, { stopping: stopping.signal, mustStart })
  return { kept, lines, stopping, workers }
}

for (const [name, start] of Object.entries({ fails, throws })) {
  test(`a start that ${name} is tried again`, async () => {
    const { kept, lines, stopping, workers } = keep([start])
    await until('a second start', () => (workers[1]?.process.pid ? true : undefined))
    assert.match(JSON.stringify(lines), /cannot be started: spawn (EAGAIN|EMFILE)/)
    stopping.abort()
    workers[1]?.emit('exit', 0, null)
    await kept.ended
  })

  test(`a first start that ${name} ends the wait for it`, async () => {
    const { kept } = keep([start], true)
    assert.equal(await kept.started, undefined)
    await kept.ended
  })
}

test('a message that a running worker does not get does not end it', async () => {
  const { kept, lines, stopping, workers } = keep([])
  workers[0]?.emit('error', new Error('write EPIPE'))
  assert.match(JSON.stringify(lines), /"pid":1/)
  stopping.abort()
  workers[0]?.emit('exit', 0, null)
  await kept.ended
  assert.equal(workers.length, 1)
})
