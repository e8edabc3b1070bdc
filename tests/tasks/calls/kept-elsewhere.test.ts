/** A gateway whose files nobody else can serve leaves calls whose results are bytes to others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../support/until.ts'
import { startImageStage } from './image-stage.ts'

test('a call is made only where its result can be kept', async () => {
  const stage = await startImageStage()
  const { sql } = stage.gateway
  try {
    const tenant = await stage.gateway.tenant()
    await sql`
      insert into owner (id, started_at, lease_until, storage)
      values ('own_before', now() - interval '1 day', now() + interval '1 day', 'elsewhere')`
    await until('its notice', async () => {
      const body = new FormData()
      body.append('purpose', 'user_data')
      body.append('file', new Blob(['hello']), 'hello.txt')
      const options = { key: tenant.key, method: 'POST', body }
      const response = await stage.gateway.fetch('/v1/files', options)
      await response.arrayBuffer()
      return response.status === 503 || undefined
    })
    const created = await stage.create(tenant)
    await until('a time in which it would have been made', async () => {
      const [row] = await sql<{ isOverdue: boolean }[]>`
        select due_at < now() - interval '3 seconds' as "isOverdue" from task
        where id = ${created.json.id}`
      return row?.isOverdue === false ? undefined : true
    })
    assert.equal(stage.vendor.requests.size, 0)
    assert.equal((await stage.readTask(tenant, created.json.id)).status, 'queued')
    await sql`delete from owner where id = 'own_before'`
    await stage.until(tenant, created.json.id, 'succeeded')
  } finally {
    await stage.stop()
  }
})
