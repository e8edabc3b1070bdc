/**
 * A gateway sends its responses while the database is away, and is killed before the settlements
 * are committed: the next process posts them from the journal.
 */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readDemo, start } from '../cli/serve/running.ts'
import { serverPid } from '../support/database/data-dir.ts'
import { signalServer } from '../support/database/own-postgres.ts'
import { until } from '../support/until.ts'

/** About two seconds of output. */
const SCRIPT = '[[tokens:40]] [[chunks:40]] [[chunk-delay:50]]'

test('complete responses are charged in full after kill -9 during an outage', async (t) => {
  const running = start(t, {}, '--port', '0')
  const demo = await readDemo(running)
  const dataDir = String(running.environment.DATA_DIR)
  const headers = {
    authorization: `Bearer ${demo.api_key}`,
    'content-type': 'application/json',
  }
  const ask = (stream: boolean) =>
    fetch(`${demo.base_url}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify({
        model: 'sim-chat',
        stream,
        max_tokens: 100,
        messages: [{ role: 'user', content: SCRIPT }],
      }),
    })
  await until('a first answer', async () => ((await ask(false)).ok ? true : undefined))
  const whole = ask(false)
  const streamed = await ask(true)
  assert.equal(streamed.status, 200)
  const database = serverPid(dataDir) ?? 0
  signalServer(database, 'SIGSTOP')
  let rows: string[] = []
  try {
    assert.match(await streamed.text(), /\[DONE\]\s*$/)
    const ids = [streamed, await whole].map((answer) => answer.headers.get('x-request-id') ?? '')
    running.child.kill('SIGKILL')
    await running.ended
    rows = ids
  } finally {
    signalServer(database, 'SIGCONT')
  }
  const again = start(t, running.environment, '--port', '0')
  const read = async (id: string) => {
    const { base_url: url } = await readDemo(again)
    const answer = await fetch(`${url}/v1/usage/${id}`, { headers }).catch(() => undefined)
    const record = (await answer?.json().catch(() => undefined)) as Record<string, unknown>
    return answer?.status === 200 && record.status !== 'running' ? record : undefined
  }
  for (const id of rows) {
    const record = await until('its record', () => read(id))
    assert.deepEqual([record.status, record.basis], ['succeeded', 'usage'], JSON.stringify(record))
  }
  const journals = readdirSync(join(dataDir, 'settlements'))
  assert.equal(journals.length, 1, 'the dead process’s journal is deleted')
})
