/** What is left of a demo once the operator has a channel of their own, and its return. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../../support/until.ts'
import { runWith } from '../support.ts'
import { readDemo, start } from './running.ts'

const OWN = {
  channels: [
    {
      id: 'own',
      upstream: 'openai-compatible',
      settings: { base_url: 'http://127.0.0.1:1/v1', api_key: 'env:OWN_KEY' },
    },
  ],
  models: [{ id: 'own-chat', type: 'chat', free: true, routes: [{ channel: 'own' }] }],
}

test('a channel of one’s own ends the demo, and its end brings the demo back', async (t) => {
  const first = start(t, {}, '--port', '0')
  const demo = await readDemo(first)
  const { environment } = first
  const run = async (...words: string[]) => {
    const { code, out, err } = await runWith(environment, words)
    assert.equal(code, 0, err)
    return out
  }
  const balance = async () => JSON.parse(await run('account', 'list', '--json'))[0].balance
  const apply = (content: object) => {
    const path = join(String(environment.HOME), 'own.json')
    writeFileSync(path, JSON.stringify(content))
    return run('apply', path)
  }
  const restart = async (of: typeof first) => {
    of.child.kill('SIGTERM')
    assert.equal(await of.ended, 0, of.said())
    return start(t, { ...environment }, '--port', '0')
  }
  const listening = async (of: typeof first) => {
    const address = () => /"?address"?[=:]\s*"?(http:[^\s"]+)/.exec(of.said())?.[1]
    return until('listening', address)
  }
  const before = await balance()
  await apply(OWN)
  assert.match(await run('demo', 'remove', '--dry-run'), /\d+ channels would be retired: sim-/)

  const second = await restart(first)
  const url = await listening(second)
  assert.match(second.said(), /the demo is over: its \d+ channels and \d+ models are retired/)
  const changedSignIn = /is gone: sign in as demo@example\.com .*; operators need a second factor/
  assert.match(second.said(), changedSignIn)
  const headers = { authorization: `Bearer ${demo.api_key}`, 'content-type': 'application/json' }
  const models = JSON.parse(await (await fetch(`${url}/v1/models`, { headers })).text())
  assert.deepEqual(
    models.data.map(({ id }: { id: string }) => id),
    ['own-chat'],
  )
  const call = { model: 'sim-chat', messages: [{ role: 'user', content: 'Hello' }] }
  const body = JSON.stringify(call)
  const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
  assert.equal(answer.status, 404, await answer.text())
  const channels = JSON.parse(await run('channel', 'list', '--json'))
  assert.deepEqual(
    channels.map(({ id }: { id: string }) => id),
    ['own'],
  )
  assert.match(await run('demo', 'remove'), /Nothing is left/)
  assert.equal(await balance(), before)

  await apply({ source: 'own', channels: [], models: [] })
  const third = await restart(second)
  const again = await listening(third)
  const back = await fetch(`${again}/v1/chat/completions`, { method: 'POST', headers, body })
  assert.equal(back.status, 200, await back.text())
})
