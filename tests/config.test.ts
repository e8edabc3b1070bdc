/** The configuration: defaults, refusals that name the variable, and no secret ever printed. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  ConfigError,
  describeConfig,
  listVariables,
  loadConfig,
} from '../server/api/config/config.ts'
import { tellOfLittleMemory } from '../server/api/config/memory-default.ts'
import { openSecretBox } from '../server/api/config/secret-key-file.ts'
import { createSecretKey } from '../server/base/lib/secrets/secrets.ts'

const key = createSecretKey()

test('an empty environment is a working configuration, and frozen to the bottom', () => {
  const config = loadConfig({ PORT: '' })
  assert.equal(config.port, 8080)
  assert.equal(config.publicUrl, 'http://127.0.0.1:8080')
  assert.equal(config.databaseUrl, undefined)
  assert.deepEqual(config.metrics, { host: '127.0.0.1', port: 9464, placesMax: 500 })
  assert.ok(Object.isFrozen(config) && Object.isFrozen(config.pipeline))
})

test('values are read in the units they are written in, and flags win', () => {
  const config = loadConfig(
    { PORT: '1', BODY_BYTES_MAX: '2MB', DRAIN_SECONDS: '5', ALLOW_PRIVATE_TARGETS: 'yes' },
    { PORT: '9000', HOST: '0.0.0.0' },
  )
  assert.equal(config.port, 9000)
  assert.equal(config.publicUrl, 'http://127.0.0.1:9000')
  assert.equal(config.bodies.jsonBytesMax, 2 * 1024 * 1024)
  assert.equal(config.drainMs, 5_000)
  assert.equal(config.allowPrivateTargets, true)
})

const socket = 'postgres://u:p@%2Ftmp%2Fsocket:5432/name'
const refused: [string, Record<string, string>, RegExp][] = [
  ['a port in words', { PORT: 'http' }, /^PORT: must be a whole number from 0 to 65535$/],
  ['a port too large', { PORT: '65536' }, /^PORT: /],
  ['a negative number', { CALLS_MAX: '-1' }, /^CALLS_MAX: /],
  ['an unknown size', { BODY_BYTES_MAX: '5XB' }, /^BODY_BYTES_MAX: must be a number of bytes/],
  ['half a flag', { ALLOW_PRIVATE_TARGETS: 'maybe' }, /^ALLOW_PRIVATE_TARGETS: must be true or/],
  [
    'an origin with a path',
    { CORS_ORIGINS: 'https://a.example/' },
    /^CORS_ORIGINS: must be \*, or/,
  ],
  ['any origin and one', { CORS_ORIGINS: '*,https://a.example' }, /^CORS_ORIGINS: /],
  ['a level too loud', { LOG_LEVEL: 'loud' }, /^LOG_LEVEL: /],
  ['another database', { DATABASE_URL: 'mysql://h/d', SECRET_KEY: key }, /^DATABASE_URL: must be/],
  ['a database without a key', { DATABASE_URL: socket }, /^SECRET_KEY: is required with DATABASE/],
  ['a short key', { SECRET_KEY: 'short' }, /^SECRET_KEY: must have at least 32 characters$/],
  ['half a store', { S3_ENDPOINT: 'http://s3' }, /^S3_BUCKET: is required with S3_ENDPOINT$/],
  [
    'half a key of a store',
    { S3_ENDPOINT: 'http://s3', S3_BUCKET: 'b', S3_ACCESS_KEY_ID: 'i' },
    /^S3_SECRET_ACCESS_KEY: is required/,
  ],
  ['a store without an address', { S3_BUCKET: 'b' }, /^S3_ENDPOINT: is required with S3_BUCKET/],
  ['a user in an address', { S3_ENDPOINT: 'https://u:p@s3' }, /^S3_ENDPOINT: must not have a/],
  ['a query', { PUBLIC_URL: 'https://a.example/?x=1' }, /^PUBLIC_URL: must not have a user, a/],
  ['a host with spaces', { HOST: 'my host' }, /^HOST: must be an address or a name of this mach/],
  ['one port for two', { PORT: '9464' }, /^METRICS_PORT: must differ from PORT/],
  [
    'polls at least less often than at most',
    { TASK_POLL_INTERVAL_MIN_MS: '60000' },
    /^TASK_POLL_INTERVAL_MIN_MS: must not exceed TASK_POLL_INTERVAL_MAX_MS$/,
  ],
  ['two at once', { PORT: 'x', SITE: 'X' }, /PORT: .*\n.*SITE: |SITE: .*\n.*PORT: /],
]
for (const [name, environment, expected] of refused) {
  test(`refused: ${name}`, () => {
    assert.throws(
      () => loadConfig(environment),
      (error: unknown) => error instanceof ConfigError && expected.test(error.message),
    )
  })
}

test('a socket address and two keys for a rotation are fine', () => {
  const config = loadConfig({ DATABASE_URL: socket, SECRET_KEY: `${createSecretKey()}, ${key}` })
  assert.equal(config.databaseUrl, socket)
  assert.equal(config.secretKeys?.[1], key)
})

test('start-up lines say every variable and no secret', () => {
  const lines = describeConfig({
    SECRET_KEY: key,
    S3_SECRET_ACCESS_KEY: 'store-secret-value',
    DATABASE_URL: 'postgres://me:geheim@db/tributary',
  })
  assert.equal(lines.length, listVariables().length)
  const text = lines.join('\n')
  for (const secret of [key, 'store-secret', 'geheim']) assert.equal(text.includes(secret), false)
  assert.match(text, /^PORT=8080 \(default\)$/m)
  const flags = { HOST: '0.0.0.0', PORT: undefined }
  const chosen = describeConfig({ HOST: 'localhost', PORT: '8123' }, flags)
  assert.ok(chosen.includes('HOST=0.0.0.0') && chosen.includes('PORT=8123'), chosen.join('\n'))
  assert.match(text, /^DATABASE_URL=postgres:\/\/me:••••@db\/tributary$/m)
  for (const [name, value] of [
    ['DATABASE_URL', 'postgres://db/tributary?user=me&password=geheim&sslmode=require'],
    ['DATABASE_URL', 'postgres://me:with@geheim@db/tributary'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'https://collector/otlp?api-key=geheim'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'https://geheim@collector/otlp'],
  ] as const) {
    const line = describeConfig({ [name]: value }).find((one) => one.startsWith(`${name}=`))
    assert.match(line ?? '', /:\/\/.*••••/)
    assert.doesNotMatch(line ?? '', /geheim/)
  }
  assert.ok(listVariables().every(({ description }) => description.length > 10))
})

test('the embedded default makes one secret key, readable by its owner alone', (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tributary-config-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const config = { secretKeys: undefined, dataDir: join(dataDir, 'new') }
  const sealed = openSecretBox(config).seal('text', 'place')
  assert.equal(openSecretBox(config).open(sealed, 'place'), 'text')
  assert.equal(statSync(join(dataDir, 'new', 'secret-key')).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(join(dataDir, 'new')), ['secret-key'])
})

test('limits that do not fit into the memory are told, with some that do', () => {
  const MB = 1024 ** 2
  const tell = (limit: number, memory: number, workers = 1, body = 64) => {
    const lines: string[] = []
    const log = { warn: (_: object, line: string) => lines.push(line) }
    const bodies = { chatBytesMax: body * MB }
    tellOfLittleMemory({ workers, bodies, memory: { bytesMax: memory * MB } }, log, limit * MB)
    return lines.join()
  }
  assert.equal(tell(648, 192), '')
  const told = tell(512, 192)
  assert.match(told, /may take 648 MB, and the machine or container has 512 MB/)
  assert.match(told, /set CHAT_BODY_BYTES_MAX=41MB and MEMORY_BYTES_MAX=123MB$/)
  assert.equal(tell(512, 123), '')
  assert.match(tell(1_024, 192, 2), /CHAT_BODY_BYTES_MAX=41MB/)
  assert.match(tell(1_024, 600), /, or set MEMORY_BYTES_MAX=380MB$/)
  assert.match(tell(512, 192, 1, 10), /, or set MEMORY_BYTES_MAX=124MB$/)
  assert.match(tell(256, 192), /Raise its limit$/)
})
