/**
 * The least that a proxy with durable money does: a digest of the key, a hold before the upstream,
 * a settlement by the usage in the answer, and a record of the call. One batch of each kind is in
 * flight and the next one collects. No limits, no retries, no audit, one price, no streams:
 * `DATABASE_URL=… node benchmarks/peers/prototype-ledger.ts PORT UPSTREAM_ORIGIN KEY`.
 */
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { Agent } from 'undici'
import { connect } from '../../server/base/database/connection/client.ts'

type Row = readonly [id: string, account: string, nanos: number, about: string]
const [port = '0', origin = '', key = ''] = process.argv.slice(2)
const sql = connect({ url: process.env.DATABASE_URL ?? '' }, { connections: 2 })
const agent = new Agent({ connections: 16_384, pipelining: 1 })
const digest = (text: string) => createHash('sha256').update(text).digest('base64')
const accounts = new Map([[digest(`Bearer ${key}`), 'prototype']])
await sql`create table pot (account text primary key, available bigint check (available >= 0),
  held bigint) with (fillfactor = 50)`
await sql`create table held (id text primary key, account text, nanos bigint, model text)`
await sql`create table record (id text primary key, account text, nanos bigint, usage jsonb,
  at timestamptz default now())`
await sql`insert into pot select unnest(${[...accounts.values()]}::text[]), 1e15::bigint, 0`
// A settlement planned for an empty table would later read all remnants of closed holds.
await sql`insert into held select 'open' || n, '', 0, '' from generate_series(1, 10000) n`
await sql`analyze held`

const ids = (rows: readonly Row[], column: 0 | 1 | 3) => rows.map((row) => row[column])
const hold = batched(
  (rows) => sql`
  with asked as (select * from unnest(${ids(rows, 0)}::text[], ${ids(rows, 1)}::text[],
    ${rows.map((row) => row[2])}::bigint[], ${ids(rows, 3)}::text[]) as a(id, account, nanos, model)
  ), moved as (update pot p set available = available - s.nanos, held = held + s.nanos
    from (select account, sum(nanos)::bigint as nanos from asked group by 1) s
    where p.account = s.account and p.available >= s.nanos returning p.account)
  insert into held select a.* from asked a join moved using (account) returning id`,
)
const settle = batched(
  (rows) => sql`
  with closed as (delete from held h using unnest(${ids(rows, 0)}::text[],
    ${rows.map((row) => row[2])}::bigint[], ${ids(rows, 3)}::text[]) as c(id, charge, usage)
    where h.id = c.id returning h.*, c.charge, c.usage
  ), moved as (update pot p set held = held - s.nanos, available = available + s.nanos - s.charge
    from (select account, sum(nanos)::bigint as nanos, sum(charge)::bigint as charge
      from closed group by 1) s where p.account = s.account)
  insert into record select id, account, charge, usage::jsonb from closed returning id`,
)

function batched(run: (rows: readonly Row[]) => Promise<readonly { id?: string }[]>) {
  let queue: { row: Row; resolve: (done: boolean) => void }[] = []
  let busy = false
  async function drain() {
    for (busy = true; queue.length > 0; ) {
      const batch = queue
      queue = []
      const done = new Set((await run(batch.map((one) => one.row))).map((one) => one.id))
      for (const { row, resolve } of batch) resolve(done.has(row[0]))
    }
    busy = false
  }
  return (row: Row) =>
    new Promise<boolean>((resolve) => {
      if (queue.push({ row, resolve }) === 1 && !busy) setImmediate(drain)
    })
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

createServer(async (request, response) => {
  const account = accounts.get(digest(request.headers.authorization ?? ''))
  const body = await read(request)
  const { model, max_tokens: most } = JSON.parse(body.toString())
  const id = randomUUID()
  if (!account || !(await hold([id, account, (body.length + most) * 600, model]))) {
    response.writeHead(account ? 402 : 401).end()
    return
  }
  const path = `/openai${request.url}`
  const headers = { 'content-type': 'application/json' }
  const answer = await agent.request({ origin, path, method: 'POST', headers, body })
  const whole = Buffer.from(await answer.body.arrayBuffer())
  const { usage } = JSON.parse(whole.toString())
  const nanos = usage.prompt_tokens * 150 + usage.completion_tokens * 600
  await settle([id, account, nanos, JSON.stringify(usage)])
  response.writeHead(answer.statusCode, { ...headers, 'content-length': whole.length }).end(whole)
}).listen({ port: Number(port), host: '127.0.0.1', backlog: 16_384 }, () => console.log('ready'))
