import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chat, KEYS, list, simulated } from './support.ts'

const sim = simulated()
const PATH = '/openai/v1/chat/completions'

test('GET /sim names the vendors and every scenario', async () => {
  const { json } = await sim.get('/sim')
  assert.ok(list(json.vendors).some((vendor) => String(vendor.prefix) === '/openai/v1'))
  const names = list(json.scenarios).map((scenario) => String(scenario.name))
  assert.ok(names.includes('cut-after-bytes') && names.includes('c_toolnoindex'))
  assert.equal(new Set(names).size, names.length, 'no name is defined twice')
})

test('the book is read by sequence and marker, sums up, and can be emptied', async () => {
  await sim.get('/sim/book', {}, 'DELETE')
  for (const marker of ['a', 'b']) {
    await sim.post(PATH, KEYS.openai, chat(`[[tokens:5]][[call:${marker}]]`))
  }
  const all = await sim.get('/sim/book?wait=1000')
  const [first] = list(all.json.entries)
  assert.equal(list(all.json.entries).length, 2)
  assert.equal(list(all.json.totals)[0]?.units?.output_token, 10)
  const later = await sim.get(`/sim/book?since=${first?.sequence}`)
  assert.deepEqual(
    list(later.json.entries).map((entry) => entry.marker),
    ['b'],
  )
  const marked = await sim.get('/sim/book?marker=a')
  assert.equal(list(marked.json.entries).length, 1)
  await sim.get('/sim/book', {}, 'DELETE')
  assert.equal(list((await sim.get('/sim/book')).json.entries).length, 0)
})

test('an entry carries the ids under which both sides know the call', async () => {
  const headers = { ...KEYS.openai, 'x-client-request-id': 'mine-1' }
  const { headers: got } = await sim.post(PATH, headers, chat('[[call:ids]]'))
  const [entry] = sim.running.book.entries({ marker: 'ids' })
  assert.equal(entry?.request_id, got['x-request-id'])
  assert.equal(entry?.client_request_id, 'mine-1')
})

test('calls are kept byte for byte, with their headers, until switched off', async () => {
  await sim.get('/sim/calls', {}, 'DELETE')
  const body = '{ "model":"sim-chat", "messages":[{"role":"user","content":"é"}] }'
  await sim.post(PATH, { ...KEYS.openai, 'X-Probe': 'yes' }, body)
  const [call] = list((await sim.get('/sim/calls')).json.calls)
  assert.equal(Buffer.from(String(call?.body_base64), 'base64').toString(), body)
  assert.equal(call?.headers?.['x-probe'], 'yes')
  assert.equal(call?.url, PATH)
  await sim.post('/sim/calls', {}, { recording: false })
  await sim.post(PATH, KEYS.openai, body)
  assert.equal(list((await sim.get('/sim/calls')).json.calls).length, 1)
  await sim.post('/sim/calls', {}, { recording: true })
})

test('queued faults strike the next matching calls only', async () => {
  const order = { vendor: 'openai', operation: 'chat.completions', times: 2 }
  await sim.post('/sim/faults', {}, { ...order, scenario: { status: 500 } })
  await sim.post('/sim/faults', {}, { vendor: 'search', scenario: 'status=429' })
  const statuses: number[] = []
  for (let turn = 0; turn < 3; turn += 1) {
    statuses.push((await sim.post(PATH, KEYS.openai, chat('x'))).status)
  }
  assert.deepEqual(statuses, [500, 500, 200])
  assert.equal(list((await sim.get('/sim/faults')).json.queued).length, 1)
  await sim.get('/sim/faults', {}, 'DELETE')
})

test('the scenario header takes JSON and lists, and wins over the prompt', async () => {
  const json = { ...KEYS.openai, 'x-sim-scenario': '{"status":503,"retry_after":2}' }
  const first = await sim.post(PATH, json, chat('x'))
  assert.equal(first.status, 503)
  assert.equal(first.headers['retry-after'], '2')
  const pairs = { ...KEYS.openai, 'x-sim-scenario': 'status=500; error-message=boom' }
  const second = await sim.post(PATH, pairs, chat('[[fault:status=429]]'))
  assert.equal(second.status, 500)
  assert.equal(second.json.error?.message, 'boom')
})

test('times counts per marker, only restricts to a vendor', async () => {
  const ask = async (marker: string) => {
    const sent = chat(`[[call:${marker}]][[fault:status=503;times=2]]`)
    return (await sim.post(PATH, KEYS.openai, sent)).status
  }
  const statuses = [await ask('t1'), await ask('t1'), await ask('t2'), await ask('t1')]
  assert.deepEqual(statuses, [503, 503, 503, 200])
  const elsewhere = chat('[[fault:status=503;only=ark]]')
  assert.equal((await sim.post(PATH, KEYS.openai, elsewhere)).status, 200)
  const there = { ...elsewhere, model: 'sim-ark-chat' }
  assert.equal((await sim.post('/ark/api/v3/chat/completions', KEYS.ark, there)).status, 503)
})

test('an unknown scenario is refused loudly, not ignored', async () => {
  const { status, json } = await sim.post(PATH, KEYS.openai, chat('[[fault:no-such-fault]]'))
  assert.equal(status, 400)
  assert.match(String(json.error?.message), /unknown scenario "no-such-fault"/)
  const queued = await sim.post('/sim/faults', {}, { scenario: 'typo' })
  assert.equal(queued.status, 400)
})
