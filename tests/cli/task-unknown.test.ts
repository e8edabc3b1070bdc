/** A restore drill: a vendor has tasks from after the backup, and the operator is told of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startVideoVendor } from '../tasks/video-vendor.ts'
import { openCommandLine } from './support.ts'

const MODEL = 'doubao-seedance-2-0-260128'

test('task unknown: what the vendor lists and the database does not know', async (t) => {
  const vendor = await startVideoVendor()
  t.after(() => vendor.stop())
  vendor.begin = 'succeeded'
  const cli = await openCommandLine(t)
  const settings = { base_url: vendor.url, api_key: 'vendor-key' }
  const silent = { base_url: 'http://127.0.0.1:9', api_key: 'other-key' }
  const route = (channel: string, upstream_model: string) => [{ channel, upstream_model }]
  const catalog = cli.file('catalog.json', {
    channels: [
      { id: 'video', upstream: 'ark', settings },
      { id: 'away', upstream: 'ark', settings: silent },
      { id: 'blind', upstream: 'minimax', settings: silent },
    ],
    models: [
      { id: 'one', type: 'video', free: true, routes: route('video', MODEL) },
      { id: 'two', type: 'video', free: true, routes: route('away', MODEL) },
      { id: 'three', type: 'video', free: true, routes: route('blind', 'MiniMax-H3') },
    ],
  })
  assert.equal((await cli.run('apply', catalog)).code, 0)

  const create = async () => {
    const content = [{ type: 'text', text: 'a river' }]
    const answer = await fetch(`${vendor.url}/contents/generations/tasks`, {
      method: 'POST',
      headers: { authorization: 'Bearer vendor-key' },
      body: JSON.stringify({ model: MODEL, content }),
    })
    return ((await answer.json()) as { id: string }).id
  }
  const [known, ...unknown] = [await create(), await create(), await create()]
  await cli.sql`
    insert into task_attempt (id, task_id, number, channel_id, channel_version, upstream_model,
      state, upstream_id)
    values ('att_1', 'task_1', 1, 'video', 1, ${MODEL}, 'accepted', ${known ?? ''})`

  const since = new Date(Date.now() - 60_000).toISOString()
  const asJson = await cli.run('task', 'unknown', '--since', since, '--json')
  assert.equal(asJson.code, 1, asJson.err)
  const { tasks, unasked } = JSON.parse(asJson.out)
  const ids = tasks.map((one: { upstream_id: string }) => one.upstream_id)
  assert.deepEqual(ids.toSorted(), unknown.toSorted())
  assert.equal(tasks[0].state, 'succeeded')
  assert.equal(tasks[0].usage.output_token, 108_900)
  assert.deepEqual(
    unasked.map(({ channel }: { channel: string }) => channel).toSorted(),
    ['away', 'blind'],
    'nobody can tell, and that is said',
  )
  const posts = vendor.requests.filter((one) => one.startsWith('POST'))
  assert.equal(posts.length, 3, 'the command only reads')

  const text = await cli.run('task', 'unknown', '--since', since)
  assert.match(
    text.out,
    new RegExp(`video +${MODEL} +${unknown[0]} .*succeeded +108900 output_token`),
  )
  assert.match(text.out, /not asked: blind MiniMax-H3: the vendor has no list/)
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
  const later = await cli.run('task', 'unknown', '--since', inAnHour)
  assert.equal(later.code, 0, 'nothing is newer than that')
})
