/** The vendors of a demo outlive a gateway that is killed: its tasks end as they would anywhere. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../support/processes.ts'
import { readDemo, start } from './running.ts'

const PATH = '/v1/videos/generations'
const WAIT_MS = 60_000

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('serve: a demo that was killed finds its vendors, and its tasks end', async (t) => {
  const killed = start(t, {}, '--port', '0')
  const demo = await readDemo(killed)
  const headers = { authorization: `Bearer ${demo.api_key}`, 'content-type': 'application/json' }
  const body = {
    ...{ model: 'doubao-seedance-1-5-pro-251215', duration: 4, resolution: '480p' },
    content: [{ type: 'text', text: 'a river [[fault:queue-time=100;run-time=3000]]' }],
  }
  const request = { method: 'POST', headers, body: JSON.stringify(body) }
  const { id } = (await (await fetch(demo.base_url + PATH, request)).json()) as { id: string }
  killed.child.kill('SIGKILL')
  await killed.ended
  const dataDir = String(killed.environment.DATA_DIR)
  const note = JSON.parse(readFileSync(join(dataDir, 'simulators.json'), 'utf8'))
  assert.ok(isAlive(note.pid), 'the vendors go on')
  const port = new URL(demo.base_url).port
  const again = start(t, { HOME: String(killed.environment.HOME) }, '--port', port)
  await until(
    'the end of the task',
    async () => {
      const answer = await fetch(`${demo.base_url}${PATH}/${id}`, { headers }).catch(
        () => undefined,
      )
      const task = (await answer?.json()) as { status?: string } | undefined
      return task?.status === 'succeeded' || undefined
    },
    WAIT_MS,
  )
  const found = await readDemo(again)
  assert.equal(found.simulators.url, demo.simulators.url)
  again.child.kill('SIGTERM')
  assert.equal(await again.ended, 0)
  assert.ok(!isAlive(note.pid), 'a gateway that stops ends its vendors')
  assert.ok(!existsSync(join(dataDir, 'simulators.json')))
})
