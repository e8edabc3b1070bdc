/** The vendors of a demo outlive a gateway that is killed: its tasks end as they would anywhere. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../../support/until.ts'
import { readDemo, start } from './running.ts'

const PATH = '/v1/videos/generations'

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
  test(`serve: after ${signal} a demo finds its vendors again, and its tasks end`, async (t) => {
    const first = start(t, {}, '--port', '0')
    const demo = await readDemo(first)
    const headers = { authorization: `Bearer ${demo.api_key}`, 'content-type': 'application/json' }
    const body = {
      model: 'doubao-seedance-1-5-pro-251215',
      duration: 4,
      resolution: '480p',
      content: [{ type: 'text', text: 'a river [[fault:queue-time=100;run-time=4000]]' }],
    }
    const request = { method: 'POST', headers, body: JSON.stringify(body) }
    const { id } = (await (await fetch(demo.base_url + PATH, request)).json()) as { id: string }
    first.child.kill(signal)
    await first.ended
    const dataDir = String(first.environment.DATA_DIR)
    const note = JSON.parse(readFileSync(join(dataDir, 'simulators.json'), 'utf8'))
    assert.ok(isAlive(note.pid), 'the vendors go on')
    const port = new URL(demo.base_url).port
    const again = start(t, { HOME: String(first.environment.HOME) }, '--port', port)
    const look = async () => {
      const answer = await fetch(`${demo.base_url}${PATH}/${id}`, { headers }).catch(
        () => undefined,
      )
      const task = (await answer?.json()) as { status?: string } | undefined
      return task?.status === 'succeeded' || undefined
    }
    await until('the end of the task', look)
    assert.equal((await readDemo(again)).simulators.url, demo.simulators.url)
    again.child.kill('SIGTERM')
    assert.equal(await again.ended, 0)
    assert.ok(!isAlive(note.pid), 'a gateway that stops with nothing under way ends its vendors')
    assert.ok(!existsSync(join(dataDir, 'simulators.json')))
  })
}
