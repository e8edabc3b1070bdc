/** An unresponsive database: every endpoint answers 503, and then recovers. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readDemo, start } from '../cli/serve/running.ts'
import { signalServer } from '../support/database/own-postgres.ts'
import { until } from '../support/until.ts'

const READS = [
  '/v1/balance',
  '/v1/usage',
  '/v1/usage/req_none',
  '/v1/files',
  '/v1/files/file_none',
  '/v1/gallery',
  '/v1/assets',
  '/v1/tasks/task_none/timeline',
  '/v1/images/async/task_none',
  '/v1/videos/generations/task_none',
  '/v1/audio/minutes/task_none',
  '/api/v3/contents/generations/tasks?page_size=1',
  '/admin/v1/session',
]

test('every endpoint: 503 with Retry-After during the outage, an answer after it', async (t) => {
  const running = start(t, {}, '--port', '0')
  const { base_url: url, api_key: key } = await readDemo(running)
  const ask = (path: string) =>
    fetch(`${url}${path}`, {
      headers: { authorization: `Bearer ${key}`, cookie: '__Host-tributary=none' },
      signal: AbortSignal.timeout(60_000),
    })
  const balance = async () => {
    const answer = await ask('/v1/balance')
    await answer.arrayBuffer()
    return answer.status === 200 || undefined
  }
  await until('an answer', balance)
  const lock = join(String(running.environment.DATA_DIR), 'postgres', 'postmaster.pid')
  const server = Number.parseInt(readFileSync(lock, 'utf8'), 10)
  signalServer(server, 'SIGSTOP')
  try {
    for (const path of READS) {
      const answer = await ask(path)
      const text = await answer.text()
      assert.equal(answer.status, 503, `${path}: ${text}`)
      assert.equal(answer.headers.get('retry-after'), '2', path)
    }
  } finally {
    signalServer(server, 'SIGCONT')
  }
  await until('an answer again', balance)
})
