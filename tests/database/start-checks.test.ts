/** A start tells the truth: what cannot work is refused or not ready, with a line that helps. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { checkSecretKey } from '../../server/base/database/check-secret-key.ts'
import { createSecretBox } from '../../server/base/lib/secrets/secrets.ts'
import { getOrCreateSecret, rotateSecret } from '../../server/work/webhooks/secrets.ts'
import { findFreePort } from '../support/free-port.ts'
import { SECRET_KEY, type Stage, startStage } from '../support/gateway.ts'
import { createTestDatabase } from '../support/postgres.ts'
import {
  PROGRAM,
  programEnvironment,
  type RunningProcess,
  startProcess,
} from '../support/processes.ts'
import { startS3Server } from '../support/s3-server.ts'
import { until } from '../support/until.ts'
import { enqueueTestDelivery } from '../webhooks/support.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const ANOTHER_KEY = 'another-secret-key-which-is-long-enough'
const PGBOUNCER = '/usr/sbin/pgbouncer'

let stage: Stage
let folder: string
before(async () => {
  stage = await startStage()
  folder = mkdtempSync(join(tmpdir(), 'tributary-start-'))
})
after(async () => {
  await stage.stop()
  rmSync(folder, { recursive: true, force: true })
})

interface Started extends RunningProcess {
  readonly url: string
}

async function start(environment: NodeJS.ProcessEnv): Promise<Started> {
  const port = await findFreePort()
  const command = [process.execPath, PROGRAM, 'serve'] as const
  const child = await startProcess(command, {
    cwd: ROOT,
    env: {
      ...programEnvironment(),
      HOME: process.env.HOME,
      TRIBUTARY_TEST_UNSAFE_DATABASE: '1',
      PORT: String(port),
      METRICS_PORT: '0',
      DRAIN_DELAY_SECONDS: '0',
      LOG_FORMAT: 'json',
      DATA_DIR: folder,
      DATABASE_URL: stage.place.databaseUrl,
      SECRET_KEY: 'a-secret-key-of-tests-which-is-long-enough',
      ...environment,
    },
  })
  return { ...child, url: `http://127.0.0.1:${port}` }
}

/** Returns why a gateway is not ready, once it listens. */
async function reasonOf(gateway: Started): Promise<string> {
  try {
    await until('a gateway that listens', async () => gateway.log().includes('"listening"'))
    const answer = await fetch(`${gateway.url}/readyz`)
    assert.equal(answer.status, 503, gateway.log())
    return await answer.text()
  } finally {
    await gateway.stop(10_000)
  }
}

/** Returns what a gateway says that refuses to start. */
async function refusal(environment: NodeJS.ProcessEnv): Promise<string> {
  const gateway = await start(environment)
  const isOver = () => gateway.hasExited() || gateway.log().includes('"listening"')
  await until('a refusal', isOver)
  if (!gateway.hasExited()) await gateway.stop(10_000)
  assert.equal((await gateway.exited).code, 1, gateway.log())
  return gateway.log()
}

test('another SECRET_KEY: not ready, the log says why, and no webhook loses an attempt', async () => {
  const { sql, account } = stage
  await getOrCreateSecret(sql, createSecretBox([SECRET_KEY]), account.id)
  await stage.gateway.stop(10_000)
  const id = await enqueueTestDelivery(sql, account.id, 'https://example.com/hook')
  const other = await start({ SECRET_KEY: ANOTHER_KEY })
  assert.match(await reasonOf(other), /SECRET_KEY opens none of the secrets in the database/)
  assert.match(other.log(), /opens 0 of the \d+ secrets.* sends no webhooks/)
  const [delivery] = await sql`select attempts, state from delivery where id = ${id}`
  assert.deepEqual(delivery, { attempts: 0, state: 'pending' })
  await sql`delete from delivery where id = ${id}`
})

test('a SECRET_KEY that opens only some of the secrets is reported', async () => {
  const { sql, account } = stage
  const lines: string[] = []
  const log = { warn: (_: object, text: string) => lines.push(text), error: () => assert.fail() }
  const parts = { sql, secrets: createSecretBox([SECRET_KEY]), log }
  assert.equal(await checkSecretKey(parts), undefined)
  assert.deepEqual(lines, [])
  await rotateSecret(sql, createSecretBox([ANOTHER_KEY, SECRET_KEY]), account.id)
  assert.equal(await checkSecretKey(parts), undefined)
  assert.match(lines.join(), /^SECRET_KEY opens (\d+) of the (?!\1)\d+ secrets in the database: /)
  await sql`
    update account set webhook_secret = null, webhook_secret_previous = null
    where id = ${account.id}`
})

test('a variable that is not set: not ready, and the log says why', async () => {
  const database = await createTestDatabase()
  try {
    const catalog = join(folder, 'catalog.json')
    const settings = { base_url: 'http://127.0.0.1:9/v1', api_key: 'env:START_TEST_KEY' }
    const channels = [{ id: 'main', upstream: 'openai-compatible', settings }]
    writeFileSync(catalog, JSON.stringify({ channels, models: [] }))
    const apply = await startProcess([process.execPath, PROGRAM, 'apply', catalog], {
      env: {
        ...programEnvironment(),
        TRIBUTARY_TEST_UNSAFE_DATABASE: '1',
        DATABASE_URL: database.url,
        SECRET_KEY: 'a-secret-key-of-tests-which-is-long-enough',
        DATA_DIR: folder,
        START_TEST_KEY: 'k',
      },
    })
    assert.equal((await apply.exited).code, 0, apply.log())
    const without = await start({ DATABASE_URL: database.url })
    assert.match(await reasonOf(without), /a channel cannot be used by this process/)
    assert.match(without.log(), /START_TEST_KEY/)

    await database.sql`update channel set paused_at = now()`
    const paused = await start({ DATABASE_URL: database.url })
    await until('a start', () => /"(?:ready|not ready)"/.test(paused.log()))
    await paused.stop(10_000)
    assert.match(paused.log(), /START_TEST_KEY[\s\S]*"ready"/)
  } finally {
    await database.drop()
  }
})

test('in JSON lines no link is printed: it is in a file of the owner', async () => {
  const gateway = await start({})
  await until('a gateway that listens', async () => gateway.log().includes('"listening"'))
  await gateway.stop(10_000)
  assert.doesNotMatch(gateway.log(), /token=/)
  const path = join(folder, 'setup-link')
  assert.ok(gateway.log().includes(path))
  assert.match(readFileSync(path, 'utf8'), /\/console\/setup#token=/)
  assert.equal(statSync(path).mode & 0o777, 0o600)
})

test('a read-only database and a role without rights are refused', async () => {
  const database = await createTestDatabase()
  try {
    const name = new URL(database.url).pathname.slice(1)
    await database.sql.unsafe(`alter database "${name}" set default_transaction_read_only = on`)
    assert.match(await refusal({ DATABASE_URL: database.url }), /read-only/)
    await database.sql.unsafe(`alter database "${name}" reset default_transaction_read_only`)
    await database.sql.unsafe(`create role start_guest login password 'guest'`)
    const url = new URL(database.url)
    url.username = 'start_guest'
    url.password = 'guest'
    assert.match(
      await refusal({ DATABASE_URL: url.href }),
      /the role start_guest may not change the tables/,
    )
    await database.sql.unsafe('drop schema public cascade; create schema public')
    await database.sql.unsafe('grant usage on schema public to start_guest')
    assert.match(
      await refusal({ DATABASE_URL: url.href }),
      /grant create on schema public to start_guest/,
    )
  } finally {
    await database.drop()
    await stage.sql.unsafe('drop role if exists start_guest')
  }
})

test('an address, a folder or a database of something else is refused in one line', async () => {
  const refusedBy = async (environment: NodeJS.ProcessEnv) => {
    const lines = (await refusal(environment)).trimEnd().split('\n')
    const fatal = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 50)
    assert.equal(fatal.length, 1, lines.join('\n'))
    return String(fatal[0].msg)
  }
  const file = join(folder, 'a-file')
  writeFileSync(file, '')
  assert.match(await refusedBy({ DATA_DIR: file }), /a-file is not a folder: set DATA_DIR/)
  assert.match(await refusedBy({ HOST: '192.0.2.1' }), /not an address of this machine: set HOST/)
  const metrics = { METRICS_HOST: '192.0.2.1', METRICS_PORT: '9464' }
  assert.match(await refusedBy(metrics), /not an address of this machine: set METRICS_HOST/)
  const url = 'postgres://me@127.0.0.1:9/name?sslmode=sure'
  assert.match(await refusedBy({ DATABASE_URL: url }), /the sslmode of DATABASE_URL must be one/)
  const database = await createTestDatabase()
  try {
    await database.sql.unsafe('drop schema public cascade')
    assert.match(await refusedBy({ DATABASE_URL: database.url }), /may use no schema of its search/)
    await database.sql.unsafe('create schema public; create table account (name text)')
    assert.match(
      await refusedBy({ DATABASE_URL: database.url }),
      /tables that no version of Tributary made \(relation "account" already exists\)/,
    )
  } finally {
    await database.drop()
  }
})

test('an object store that refuses the gateway is named, and one that is away is no reason', async () => {
  const store = await startS3Server()
  try {
    const good = await start(store.environment)
    await until('readiness', async () => good.log().includes('"ready"'))
    await good.stop(10_000)
    assert.equal(store.objects.size, 0)
    for (const [wrong, expected] of [
      [
        { S3_SECRET_ACCESS_KEY: 'wrong' },
        /refuses this gateway \(SignatureDoesNotMatch\): set S3_S/,
      ],
      [{ S3_ACCESS_KEY_ID: 'nobody' }, /refuses this gateway \([A-Za-z]+\): set S3_/],
      [{ S3_BUCKET: 'missing' }, /refuses this gateway \(NoSuchBucket\): create the bucket or/],
    ] as const) {
      assert.match(await refusal({ ...store.environment, ...wrong }), expected)
    }
  } finally {
    await store.stop()
  }
  const away = await start(store.environment)
  await until('readiness', async () => away.log().includes('"ready"'))
  await until('why', () => /the object store does not answer/.test(away.log()))
  await away.stop(10_000)
})

test('a pooler: refused with why, or served in session mode', {
  skip: !existsSync(PGBOUNCER),
}, async () => {
  const url = new URL(stage.place.databaseUrl ?? '')
  const socket = url.searchParams.get('host') ?? decodeURIComponent(url.hostname)
  const name = url.pathname.slice(1)
  const port = await findFreePort()
  const users = join(folder, 'users.txt')
  writeFileSync(users, `"${url.username}" "${decodeURIComponent(url.password)}"\n`)
  const open = async (mode: string) => {
    const path = join(folder, 'pgbouncer.ini')
    writeFileSync(
      path,
      `[databases]
${name} = host=${socket} port=${url.port || 5432} dbname=${name}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = ${mode}
default_pool_size = 60
`,
    )
    const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
    const pooler = await startProcess([PGBOUNCER, ...user, path])
    await until('the pooler', async () => pooler.log().includes('process up') || undefined)
    return pooler
  }
  const address = `postgres://${url.username}:${url.password}@127.0.0.1:${port}/${name}`
  for (const [mode, parameters, expected] of [
    ['session', '?geqo=off', /set ignore_startup_parameters = geqo in pgbouncer\.ini/],
    ['transaction', '', /the pooler in front of PostgreSQL is in transaction mode/],
    ['statement', '', /the pooler in front of PostgreSQL is in transaction mode/],
  ] as const) {
    const pooler = await open(mode)
    try {
      assert.match(await refusal({ DATABASE_URL: address + parameters }), expected)
    } finally {
      await pooler.stop(2_000)
    }
  }
  const pooler = await open('session')
  try {
    const gateway = await start({ DATABASE_URL: address })
    await until(
      'readiness',
      async () => (await fetch(`${gateway.url}/readyz`).catch(() => undefined))?.ok,
    )
    assert.equal((await gateway.stop(10_000)).code, 0, gateway.log())
  } finally {
    await pooler.stop(2_000)
  }
})
