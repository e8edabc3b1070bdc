/**
 * Seeds three months of history of one busy account and its neighbours directly into the tables:
 * calls in the order in which they ended, tasks with their holds, deliveries and media.
 */
import type { Sql } from 'postgres'

export interface Amounts {
  readonly calls: number
  readonly tasks: number
}

const STEP = 100_000
const TABLES = [
  'call',
  'hold',
  'task',
  'task_attempt',
  'delivery',
  'delivery_attempt',
  'asset',
  'file',
  'credit',
  'usage_hour',
  'usage_part',
  'usage_tags',
  'usage_day',
  'tags_day',
  'latency_day',
  'channel_hour',
  'channel_day',
  'latency_hour',
  'latency_all',
  'key_use',
]

/** `accountId` gets four fifths of the calls and all of the tasks. */
export async function seed(sql: Sql, accountId: string, { calls, tasks }: Amounts): Promise<void> {
  await sql`select setseed(0.5)`
  await addKeys(sql, accountId)
  for (let from = 0; from < calls; from += STEP) {
    await addCalls(sql, accountId, { from, to: Math.min(from + STEP, calls), of: calls, tasks })
  }
  for (let from = 0; from < tasks; from += STEP) {
    await addTasks(sql, { from, to: Math.min(from + STEP, tasks) })
  }
  await addRest(sql, accountId, tasks)
  await settleDown(sql)
}

/** Does the work that autovacuum does in the course of a day. */
export async function settleDown(sql: Sql): Promise<void> {
  for (const table of TABLES) await sql`vacuum analyze ${sql(table)}`
}

/** Adds a rare key and a rare model, each in one of ten thousand calls. */
async function addKeys(sql: Sql, accountId: string): Promise<void> {
  await sql`
    insert into api_key (id, account_id, name, hash, display)
    select 'key_seed' || n, ${accountId}, 'key ' || n, sha256(convert_to('seed' || n, 'UTF8')),
      'tr-seed…' || n
    from generate_series(0, 19) n`
  await sql`
    insert into api_key (id, account_id, name, hash, display)
    values ('key_rare', ${accountId}, 'rare', sha256('rare'), 'tr-rare…rare')`
}

/**
 * Adds calls of the last 90 days, half of them with labels; the newest `tasks` tenths belong to
 * tasks.
 */
async function addCalls(
  sql: Sql,
  accountId: string,
  span: { readonly from: number; readonly to: number; readonly of: number; readonly tasks: number },
): Promise<void> {
  const { from, to, of, tasks } = span
  const every = Math.max(1, Math.floor(of / Math.max(1, tasks)))
  await sql`
    insert into call (request_id, hold_id, account_id, key_id, task_id, endpoint, model, status,
      basis, currency, held, charged, returned, lines, attempts, error, created_at, finished_at,
      labels)
    select 'req_seed' || n, 'hold_seed' || n,
      case when r < 0.8 or is_task then ${accountId} else 'acct_neighbour' || n % 50 end,
      case when r < 0.0001 then 'key_rare' else 'key_seed' || n % 20 end,
      case when is_task then 'task_seed' || n / ${every}::int end,
      case when is_task then 'videos' else 'chat.completions' end,
      case when r between 0.1 and 0.1001 then 'model-rare' else 'model-' || n % 30 end,
      case when r < 0.0005 then 'lost' when r < 0.02 then 'failed' when r < 0.03 then 'cancelled'
        else 'succeeded' end,
      'usage', 'CNY', 9000000, case when r between 0.5 and 0.50005 then 9000000000
        else 1000000 + n % 7000000 end, 1000000,
      '[{"unit":"input_token","quantity":1200,"unit_price":"0.15","per":1000000,
          "amount":"0.00018"},
        {"unit":"output_token","quantity":800,"unit_price":"0.6","per":1000000,
          "amount":"0.00048"}]',
      '[{"channel":"main","outcome":"answered","status":200,"milliseconds":1198}]', null, at,
      at + (50 + 3000 * r * r * r) * interval '1 millisecond',
      case
        when r between 0.2 and 0.2001 then '{"tags": ["rare"], "end_user": "rare"}'
        when n % 2 = 0 then jsonb_build_object('tags',
          jsonb_build_array('team-' || n % 7), 'end_user', 'user-' || n % 5000)
      end
    from (
      select n, random() as r,
        n % ${every}::int = 0 and n / ${every}::int < ${tasks}::int as is_task,
        now() - interval '90 days' + (n::float8 / ${of}::int) * interval '90 days' as at
      from generate_series(${from}::int, ${to - 1}::int) n) s`
}

async function addTasks(
  sql: Sql,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  await sql`
    insert into hold (id, request_id, account_id, key_id, task_id, endpoint, model, amount, state,
      created_at, closed_at)
    select c.hold_id, c.request_id, c.account_id, c.key_id, c.task_id, c.endpoint, c.model, c.held,
      'settled', c.created_at, c.finished_at
    from generate_series(${from}::int, ${to - 1}::int) n
    join call c on c.task_id = 'task_seed' || n`
  await sql`
    insert into task (id, kind, account_id, key_id, request_id, hold_id, endpoint, model, state,
      request, quantities, facts, attempt_id, channel_id, webhook_url, result, error_code,
      error_message, due_at, expires_at, created_at, finished_at)
    select h.task_id, (array['video', 'image', 'minutes', 'erase'])[1 + n % 4], h.account_id,
      h.key_id, h.request_id, h.id, h.endpoint, h.model,
      case when n % 100 = 7 then 'failed' else 'succeeded' end, '{"duration": 5}', '{}', '{}',
      'att_seed' || n, 'test-ark', 'https://example.com/hook',
      jsonb_build_object('video_url', 'https://media.example/' || repeat('x', 900) || n),
      case when n % 100 = 7 then 'failed' end, case when n % 100 = 7 then 'no' end, null, now(),
      h.created_at, h.created_at + interval '90 seconds'
    from generate_series(${from}::int, ${to - 1}::int) n
    join hold h on h.task_id = 'task_seed' || n`
  await sql`
    insert into task_attempt (id, task_id, number, channel_id, channel_version, upstream_model,
      state, upstream_id, sent_at, ended_at)
    select 'att_seed' || n, 'task_seed' || n, 1, 'test-ark', 1, 'm', 'accepted', 'up_seed' || n,
      now(), now()
    from generate_series(${from}::int, ${to - 1}::int) n`
}

/** Adds deliveries with their attempts, media, files and credits. */
async function addRest(sql: Sql, accountId: string, tasks: number): Promise<void> {
  await addDeliveries(sql)
  await addMedia(sql, accountId, tasks)
}

async function addDeliveries(sql: Sql): Promise<void> {
  await sql`
    insert into delivery (id, account_id, task_id, kind, url, host, body, state, attempts,
      created_at, finished_at)
    select 'whd_seed' || id, account_id, id, kind, webhook_url, 'example.com:443',
      convert_to(repeat('b', 600), 'UTF8'),
      case when random() < 0.01 then 'dropped' else 'delivered' end, 1, finished_at, finished_at
    from task where id like 'task_seed%'`
  await sql`
    insert into delivery_attempt (delivery_id, number, started_at, outcome, status, latency_ms,
      answer, finished_at)
    select id, 1, created_at, 'accepted', 200, 40, convert_to(repeat('a', 500), 'UTF8'), created_at
    from delivery where id like 'whd_seed%'`
}

async function addMedia(sql: Sql, accountId: string, tasks: number): Promise<void> {
  await sql`
    insert into asset (id, account_id, kind, task_id, request_id, model, prompt, source_url,
      source_expires_at, token, state, due_at, storage_key, content_type, bytes, created_at)
    select 'asset_seed' || n, ${accountId}, (array['image', 'video', 'last_frame'])[1 + n % 3],
      'task_seed' || n, 'req_none' || n, 'model-1', repeat('p', 300),
      'https://media.example/' || n, now(), md5('a' || n), 'stored', null, 'blob' || n,
      'image/png', 1000, now() - n * interval '1 minute'
    from generate_series(0, ${Math.max(0, tasks / 2 - 1)}::int) n`
  await sql`
    insert into file (id, account_id, token, storage_key, filename, purpose, content_type, bytes,
      created_at, expires_at)
    select 'file_seed' || n, ${accountId}, md5('f' || n), 'filed' || n, 'a file ' || n, 'user_data',
      'text/plain', 100, now() - n * interval '1 minute', now() + interval '9 days'
    from generate_series(0, 19999) n`
  await sql`
    insert into credit (id, account_id, kind, amount, reason, actor, created_at)
    select 'cred_seed' || n, ${accountId}, 'top_up', 1000000000, 'seed', 'bench',
      now() - n * interval '2 hours'
    from generate_series(0, 999) n`
}
