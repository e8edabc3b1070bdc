/** The end of a task enqueues a webhook, and the task shows the state of its delivery. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../support/until.ts'
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
  const request = await until('the webhook', () => receiver.received[0])
  const payload = JSON.parse(request.body.toString())
  assert.deepEqual(Object.keys(payload).sort(), [
    'charged',
    'created_at',
    'currency',
    'finished_at',
    'model',
    'status',
    'task_id',
    'video_url',
  ])
  assert.deepEqual([payload.task_id, payload.status], [created.id, 'succeeded'])
  // Our link, which leads to the vendor's until the copy is stored.
  const { pathname } = new URL(payload.video_url)
  assert.match(pathname, /^\/media\/\w{40}\/video\.mp4$/)
  const link = await fetch(stage.gateway.url + pathname, { redirect: 'manual' })
  assert.equal(link.status, 302)
  assert.equal(link.headers.get('location'), `https://media.example/${created.upstream_id}.mp4`)
  await stage.gateway.sql`
    update asset set source_expires_at = now() where task_id = ${created.id}`
  const late = await fetch(stage.gateway.url + pathname, { redirect: 'manual' })
  assert.equal(late.status, 404, 'neither a copy nor the vendor’s')
  const { secret } = (await stage.gateway.get('/v1/webhooks/secret', tenant.key)).json
  const timestamp = String(request.headers['x-service-timestamp'])
  const signature = expectedSignature(secret, timestamp, request.body)
  assert.equal(request.headers['x-service-signature'], signature)
  const callback = await until('its record', async () => {
    const { json } = await stage.gateway.get(`${VIDEO_PATH}/${created.id}`, tenant.key)
    return json.callback.status === 'delivered' ? json.callback : undefined
  })
  assert.deepEqual(callback, { status: 'delivered', attempts: 1 })
})
