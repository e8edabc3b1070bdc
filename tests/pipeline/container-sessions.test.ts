/** A container's session is charged once, however the calls that use it are answered. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId } from '../../server/base/lib/ids.ts'
import { assignPriceList } from '../../server/money/accounts/assign-price-list.ts'
import { switchList } from '../../server/money/catalog/lists/switch-list.ts'
import { endLease, renewLease, sweepHolds } from '../../server/money/ledger/leases/owner-store.ts'
import { startTestGateway, type Tenant, type TestGateway } from '../support/in-process.ts'
import { type LocalServer, startServer } from '../support/servers/local-server.ts'
import { until } from '../support/until.ts'

const RESPONSES = '/v1/responses'
const MESSAGES = '/v1/messages'
/** What the tokens of every call cost. */
const TOKENS = 3
const SESSION = 10

interface Answer {
  readonly containers: readonly string[]
  readonly status?: string
}

let gateway: TestGateway
let vendor: LocalServer
let tenant: Tenant
/** The containers of the next answers; background responses have theirs in their id. */
let next: Answer = { containers: [] }
let open: (() => void)[] | undefined
/** Streams that are held back before their last event. */
let torn: (() => void)[] | undefined
/** Whether background responses have ended. */
let isDone = true

const usage = { input_tokens: 1, output_tokens: 2 }

function responseOf({ containers, status = 'completed' }: Answer) {
  const output = containers.map((id, index) => {
    return { type: 'code_interpreter_call', id: `ci_${index}`, container_id: id }
  })
  const id = `resp_${containers.join('.')}`
  return { id, object: 'response', status, output, usage }
}

const messageOf = ({ containers: [id] }: Answer) => {
  const content = [{ type: 'text', text: 'hello' }]
  return { type: 'message', role: 'assistant', content, usage, container: id ? { id } : null }
}

const event = (data: { readonly type: string } & Record<string, unknown>) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

function answer(path: string, body: { stream?: boolean; background?: boolean }): string {
  const [, polled] = /\/responses\/resp_(.+)$/.exec(path) ?? []
  if (polled) {
    const status = isDone ? 'completed' : 'in_progress'
    return JSON.stringify(responseOf({ containers: polled.split('.'), status }))
  }
  if (body.background) return JSON.stringify(responseOf({ ...next, status: 'queued' }))
  const isMessage = path.endsWith('/messages')
  if (!body.stream) return JSON.stringify(isMessage ? messageOf(next) : responseOf(next))
  if (isMessage) {
    const message = messageOf(next)
    return [
      { type: 'message_start', message: { ...message, content: [], container: null } },
      { type: 'message_delta', delta: { container: message.container }, usage },
      { type: 'message_stop' },
    ]
      .map(event)
      .join('')
  }
  const { output, ...response } = responseOf(next)
  const items = output.map((item, index) => {
    return event({ type: 'response.output_item.done', output_index: index, item })
  })
  const ending = { type: 'response.completed', response: { ...response, output } }
  return event({ type: 'response.created', response }) + items.join('') + event(ending)
}

before(async () => {
  vendor = await startServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = JSON.parse(Buffer.concat(chunks).toString() || '{}')
    const text = answer(request.url ?? '', body)
    if (open) await new Promise<void>((resolve) => open?.push(resolve))
    response.setHeader('content-type', body.stream ? 'text/event-stream' : 'application/json')
    const begun = torn ? text.slice(0, text.lastIndexOf('event: ')) : ''
    if (begun) {
      response.write(begun)
      await new Promise<void>((resolve) => torn?.push(resolve))
    }
    response.end(text.slice(begun.length))
  })
  gateway = await startTestGateway({ TASK_POLL_INTERVAL_MIN_MS: '40' })
  const settings = { base_url: `${vendor.url}/v1`, api_key: 'a-key' }
  const prices = (container: string, per: number) => [
    { unit: 'input_token', per: 1, amount: '1' },
    { unit: 'output_token', per: 1, amount: '1' },
    { unit: 'container_minute', per, amount: container },
  ]
  const model = (id: string, channel: string, per: number) => ({
    id,
    type: 'chat',
    prices: prices('10', per),
    // The balance covers the windows of all calls that run at once.
    limits: { max_input_tokens: 1_000 },
    routes: [{ channel, upstream_model: id, costs: prices('4', per) }],
  })
  await gateway.apply({
    channels: [
      { id: 'one', upstream: 'openai-compatible', settings },
      { id: 'other', upstream: 'openai-compatible', settings },
      { id: 'messages', upstream: 'anthropic', settings },
    ],
    models: [
      model('coder', 'one', 20),
      model('elsewhere', 'other', 20),
      model('claude', 'messages', 5),
    ],
    price_lists: [{ id: 'half', default: { of: 'parent', factor: '0.5' } }],
  })
  tenant = await gateway.tenant({ balance: '100000' })
})
after(async () => {
  await gateway.stop()
  await vendor.stop()
})

const codes = { type: 'code_interpreter', container: { type: 'auto' } }

async function ask(containers: readonly string[], more: object = {}, path = RESPONSES) {
  next = { containers }
  const input = [{ role: 'user', content: 'hi' }]
  const body =
    path === MESSAGES
      ? { model: 'claude', max_tokens: 100, messages: input }
      : { model: 'coder', max_output_tokens: 100, input, tools: [codes] }
  const headers = path === MESSAGES ? { 'anthropic-version': '2023-06-01' } : {}
  const reply = await gateway.post(path, tenant.key, { ...body, ...more }, headers)
  assert.equal(reply.status, 200, reply.text)
  return reply
}

/** Returns charge and cost beyond the tokens, in sessions, and the minutes of the record. */
async function read(reply: { headers: Headers }) {
  const { charged, lines, basis, review, request_id: id } = await gateway.record(reply, tenant.key)
  assert.deepEqual([basis, review], ['usage', false])
  const [row] = await gateway.sql<{ cost: bigint }[]>`
    select upstream_cost as cost from call where request_id = ${id}`
  return {
    sessions: (Number(charged) - TOKENS) / SESSION,
    cost: (Number(row?.cost) / 1e9 - TOKENS) / 4,
    minutes: lines.find(({ unit }) => unit === 'container_minute')?.quantity,
  }
}

const used = async (...parts: Parameters<typeof ask>) => read(await ask(...parts))
const paid = (sessions: number, minutes = sessions * 20) => ({ sessions, cost: sessions, minutes })

for (const stream of [false, true]) {
  const form = stream ? 'a stream' : 'a whole answer'
  test(`${form}: the second call within the session does not pay, a new container does`, async () => {
    const id = (name: string) => `${name}-${stream}`
    assert.deepEqual(await used([id('a')], { stream }), paid(1))
    assert.deepEqual(await used([id('a')], { stream }), paid(0), 'a line of quantity 0 says why')
    assert.deepEqual(await used([id('a'), id('b')], { stream }), paid(1))
    assert.deepEqual(await used([id('a')], { stream, model: 'elsewhere' }), paid(1))
    assert.deepEqual(await used([], { stream }), { ...paid(0), minutes: undefined })
  })

  test(`${form} of messages: a container of five minutes`, async () => {
    const id = `m-${stream}`
    assert.deepEqual(await used([id], { stream }, MESSAGES), paid(1, 5))
    assert.deepEqual(await used([id], { stream }, MESSAGES), paid(0))
    await gateway.sql`update container_session set started_at = now() - interval '5 minutes'`
    assert.deepEqual(await used([id], { stream }, MESSAGES), paid(1, 5))
  })
}

test('calls at once with one container pay once, over all accounts of the channel', async () => {
  const others = await Promise.all([gateway.tenant({ balance: '100000' }), tenant])
  open = []
  next = { containers: ['at-once'] }
  const body = { model: 'coder', max_output_tokens: 100, input: 'hi', tools: [codes] }
  const sent = Array.from({ length: 20 }, (_, index) => {
    return gateway.post(RESPONSES, others[index % 2]?.key ?? '', body)
  })
  await until('all calls at the vendor', async () => open?.length === 20 || undefined)
  for (const go of open.splice(0)) go()
  open = undefined
  const replies = await Promise.all(sent)
  let sum = 0
  for (const [index, reply] of replies.entries()) {
    sum += Number((await gateway.record(reply, others[index % 2]?.key ?? '')).charged) - TOKENS
  }
  assert.equal(sum, SESSION)
})

const BACKGROUND = { background: true }

/** Reads the record of a background response once it has ended. */
async function readEnded(reply: { headers: Headers }) {
  const id = reply.headers.get('x-request-id')
  await until('its record', async () => {
    return (await gateway.sql`select from call where request_id = ${id}`).length || undefined
  })
  return read(reply)
}

test('background responses pay for a session that nobody has paid, and once', async () => {
  assert.deepEqual(await readEnded(await ask(['back'], BACKGROUND)), paid(1))
  assert.deepEqual(await readEnded(await ask(['back', 'new'], BACKGROUND)), paid(1))
  assert.deepEqual(await used(['back', 'new']), paid(0))
})

test('a session claimed by a process that died before its settlement is charged', async () => {
  isDone = false
  const reply = await ask(['claimed'], BACKGROUND)
  const request = reply.headers.get('x-request-id')
  await gateway.sql`
    insert into container_session (channel_id, container_id, request_id, minutes)
    values ('one', 'claimed', ${request}, 20)`
  assert.deepEqual(await used(['claimed']), paid(0))
  isDone = true
  assert.deepEqual(await readEnded(reply), paid(1))
  assert.deepEqual(await used(['claimed']), paid(0))
})

/** Closes a call as if its process had died, and another one had found that. */
async function lose(request: string) {
  const times = { leaseSeconds: 20, patienceSeconds: 10, quietSeconds: 600 }
  const owner = newId('own')
  await renewLease(gateway.sql, { id: owner, address: '' }, times)
  await gateway.sql`
    update hold set owner_id = ${owner}, created_at = created_at - interval '5 s'
    where request_id = ${request}`
  await endLease(gateway.sql, owner)
  await sweepHolds(gateway.sql, newId('own'), times, 500)
}

test('the session of a call that was lost at a checkpoint is paid once', async () => {
  torn = []
  const stream = ask(['torn'], { stream: true })
  const hold = await until('its checkpoint', async () => {
    const [row] = await gateway.sql<{ request_id: string; lines: { unit: string }[] }[]>`
      select request_id, checkpoint -> 'lines' as lines from hold
      where state = 'open' and checkpoint is not null`
    return row
  })
  await lose(hold.request_id)
  const end = torn.pop()
  torn = undefined
  const units = hold.lines.map(({ unit }) => unit)
  assert.equal(units.includes('container_minute'), false, units.join())
  assert.deepEqual(await used(['torn']), paid(1))
  end?.()
  assert.deepEqual(await read(await stream), paid(0), 'also when its process was alive after all')
})

// The audit that ends this file checks the lines too.
test('a session that another call pays costs nothing at the base prices either', async () => {
  const { accountId, key } = await gateway.tenant({ balance: '100000' })
  await switchList(gateway.sql, (sql) => assignPriceList(sql, accountId, 'half', 'test'))
  const listed: unknown[] = []
  next = { containers: ['listed'] }
  for (let calls = 0; calls < 2; calls += 1) {
    const body = { model: 'coder', max_output_tokens: 100, input: 'hi', tools: [codes] }
    const record = await gateway.record(await gateway.post(RESPONSES, key, body), key)
    const line: { amount?: string; list_amount?: string } | undefined = record.lines.find(
      ({ unit }) => unit === 'container_minute',
    )
    listed.push([line?.amount, line?.list_amount])
  }
  assert.deepEqual(listed, [
    ['5', '10'],
    ['0', '0'],
  ])
})
