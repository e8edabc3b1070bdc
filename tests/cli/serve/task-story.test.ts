/** The log answers what happened to a task: its lines are found by its id, as those of a call. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startStage } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { startReceiver } from '../../webhooks/support.ts'

const PROMPT = 'a grey heron over the marshes'
const MADE_UP = 'mallory-s-private-model-name'

test('a task’s lines, from its creation to its webhook; no prompt and no made-up model', async (t) => {
  const stage = await startStage({
    env: { LOG_LEVEL: 'info', LOG_FORMAT: 'json', ALLOW_PRIVATE_TARGETS: 'true' },
  })
  t.after(() => stage.stop())
  const receiver = await startReceiver(t)
  const created = await stage.post('/v1/videos/generations', {
    model: 'doubao-seedance-1-5-pro-251215',
    duration: 4,
    resolution: '480p',
    callback_url: `${receiver.url}?token=s3cret`,
    content: [
      { type: 'text', text: `${PROMPT} [[fault:queue-time=100;run-time=4000;poll-errors=1]]` },
    ],
  })
  const answer = (await created.json()) as { readonly id: string }
  assert.equal(created.status, 200, JSON.stringify(answer))
  const requestId = created.headers.get('x-request-id')
  const story = () =>
    stage.gateway
      .log()
      .split('\n')
      // The last piece may be half a line.
      .slice(0, -1)
      .filter((line) => line.includes(`"task_id":"${answer.id}"`))
      .map((line) => JSON.parse(line))
  await until('the webhook', () => story().some(({ msg }) => msg === 'a webhook was delivered'))
  const lines = story()
  const told = lines.map(({ msg, status }) => [msg, status])
  for (const line of [
    ['task created', 'submitting'],
    ['task submitted', undefined],
    ['task ended', 'succeeded'],
    ['a webhook was delivered', 204],
  ]) {
    assert.ok(
      told.some((one) => JSON.stringify(one) === JSON.stringify(line)),
      `${line}: ${JSON.stringify(told)}`,
    )
  }
  for (const line of lines.filter(({ msg }) => msg.startsWith('task '))) {
    assert.equal(line.request_id, requestId)
    assert.equal(line.account_id, stage.account.id)
    assert.equal(line.model, 'doubao-seedance-1-5-pro-251215')
    assert.equal(line.channel, 'sim-ark-media')
  }
  assert.match(lines.find(({ msg }) => msg === 'task submitted').upstream_id, /^cgt-/)
  assert.match(lines.find(({ msg }) => msg === 'task ended').charged, /^0\.\d*[1-9]/)

  const unknown = await stage.post('/v1/chat/completions', {
    model: MADE_UP,
    messages: [{ role: 'user', content: 'hi' }],
  })
  assert.equal(unknown.status, 404)
  assert.match(await unknown.text(), new RegExp(MADE_UP))
  const refused = unknown.headers.get('x-request-id') ?? ''
  const line = await until('its line', () =>
    stage.gateway
      .log()
      .split('\n')
      .slice(0, -1)
      // A warning of the busy event loop names its calls too.
      .find((one) => one.includes(refused) && one.includes('"status":404')),
  )
  assert.equal(JSON.parse(line).model, 'unknown')
  const all = stage.gateway.log()
  for (const secret of [PROMPT, MADE_UP, 's3cret']) assert.ok(!all.includes(secret), secret)
})
