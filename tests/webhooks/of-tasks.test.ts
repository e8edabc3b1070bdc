/** A task that ends is announced by the gateway itself, and says how that went. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../support/processes.ts'
import { startTaskStage, VIDEO_PATH } from '../tasks/stage.ts'
import { expectedSignature, startReceiver } from './support.ts'

test('the webhook of a video has the documented payload and a signature', async (t) => {
  const stage = await startTaskStage()
  t.after(() => stage.stop())
  stage.vendor.advance = true
  const tenant = await stage.gateway.tenant()
  const receiver = await startReceiver(t)
  const content = [{ type: 'text', text: 'a river' }]
  const body = { model: 'test-video', content, callback_url: receiver.url }
  const { json: created } = await stage.create(tenant, body)
  const got = await until('the webhook', () => receiver.received[0])
  const payload = JSON.parse(got.body.toString())
  assert.deepEqual(Object.keys(payload).sort(), [
    'created_at',
    'finished_at',
    'model',
    'status',
    'task_id',
    'video_url',
  ])
  assert.deepEqual([payload.task_id, payload.status], [created.id, 'succeeded'])
  const { secret } = (await stage.gateway.get('/v1/webhooks/secret', tenant.key)).json
  const timestamp = String(got.headers['x-service-timestamp'])
  assert.equal(got.headers['x-service-signature'], expectedSignature(secret, timestamp, got.body))
  const callback = await until('its record', async () => {
    const { json } = await stage.gateway.get(`${VIDEO_PATH}/${created.id}`, tenant.key)
    return json.callback.status === 'delivered' ? json.callback : undefined
  })
  assert.deepEqual(callback, { status: 'delivered', attempts: 1 })
})
