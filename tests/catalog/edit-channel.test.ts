/** A channel that is edited keeps the secrets that it has when the edit is written. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editChannel } from '../../server/money/catalog/apply/edit.ts'
import { openSettings, sealSettings } from '../../server/money/catalog/channel-settings.ts'
import { listChannels, lockCatalog, saveChannel } from '../../server/money/catalog/store.ts'
import { until } from '../support/until.ts'
import { apply, openDatabase, secrets, simple, upstreams } from './support.ts'

test('an edit that leaves the key out keeps a key that was changed meanwhile', async (t) => {
  const sql = await openDatabase(t)
  await apply(sql, { 'shop.json': simple })
  const upstream = upstreams.plain
  assert.ok(upstream)
  const base_url = 'https://new.test/v1'
  const { editing } = await sql.begin(async (transaction) => {
    await lockCatalog(transaction)
    const draft = { id: 'main', upstream: 'plain', settings: { base_url } }
    const editing = editChannel({ sql, upstreams, secrets, environment: {} }, draft)
    await until('an edit that waits', async () => {
      const [row] = await sql`select count(*)::int as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      return row?.waiting === 1
    })
    const rotated = { base_url: 'https://upstream.test/v1', api_key: 'sk-rotated' }
    const sealed = sealSettings(rotated, upstream, secrets, { channelId: 'main', version: 2 })
    const row = { id: 'main', upstream: 'plain', source: 'console:main', version: 2, ...sealed }
    await saveChannel(transaction, row)
    return { editing }
  })
  await editing
  const [row] = await listChannels(sql)
  assert.ok(row)
  const settings = openSettings(row, secrets, { channelId: row.id, version: row.version })
  assert.deepEqual([settings.base_url, settings.api_key], [base_url, 'sk-rotated'])
})
