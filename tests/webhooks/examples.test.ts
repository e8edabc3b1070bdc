/** Runs the receivers of the documentation, each in its own language, against the real sender. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { getOrCreateSecret, rotateSecret } from '../../server/work/webhooks/secrets.ts'
import { startProcess } from '../support/processes.ts'
import { until } from '../support/until.ts'
import {
  box,
  createTestAccountId,
  enqueueTestDelivery,
  openDatabase,
  readAttempts,
  sender,
} from './support.ts'

const FOLDER = join(import.meta.dirname, '..', '..', 'examples', 'webhooks')
const RECEIVERS: readonly [string, [string, ...string[]], string][] = [
  ['Node', [process.execPath, join(FOLDER, 'receiver.mjs')], '--version'],
  ['Python', ['python3', join(FOLDER, 'receiver.py')], '--version'],
  ['Go', ['go', 'run', join(FOLDER, 'receiver.go')], 'version'],
]

for (const [language, command, version] of RECEIVERS) {
  const missing = spawnSync(command[0], [version]).status !== 0
  const skip = missing && `${language} is not on this machine`
  test(`${language}: accepts signed requests, also after a rotation, and nothing else`, {
    skip,
  }, async (t) => {
    const sql = await openDatabase(t)
    const accountId = await createTestAccountId(sql)
    const { current: secret } = await getOrCreateSecret(sql, box, accountId)
    const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: '0' }
    const child = await startProcess(command, { env })
    t.after(() => child.stop(1_000))
    const port = await until('its port', () => /listening on (\d+)/.exec(child.log())?.[1])
    const url = `http://127.0.0.1:${port}/`
    sender(sql)
    const attemptOf = async (account: string, body: string) => {
      const id = await enqueueTestDelivery(sql, account, url, body)
      return await until('the attempt', async () => {
        const [first] = await readAttempts(sql, id)
        return first?.outcome ? first : undefined
      })
    }
    const body = '{"task_id":"task_1","status":"succeeded","text":"水"}'
    assert.equal((await attemptOf(accountId, body)).status, 204)
    assert.equal((await attemptOf(accountId, body)).status, 204)
    await rotateSecret(sql, box, accountId)
    const later = await attemptOf(accountId, body.replace('task_1', 'task_2'))
    assert.equal(later.status, 204)
    const stranger = await createTestAccountId(sql)
    assert.equal((await attemptOf(stranger, body.replace('task_1', 'task_3'))).status, 401)
    const accepted = child.log().match(/^task_\d succeeded$/gm)
    assert.deepEqual(accepted, ['task_1 succeeded', 'task_2 succeeded'])
  })
}
