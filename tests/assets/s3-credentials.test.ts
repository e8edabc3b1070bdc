/** Credentials of the machine: what an operator on AWS has in place of keys. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { checkObjectStore } from '../../server/work/assets/storage/check-object-store.ts'
import { createS3Storage } from '../../server/work/assets/storage/s3-storage.ts'
import { CREDENTIALS, startS3Server } from '../support/s3-server.ts'
import { readBody, startServer } from '../support/servers/local-server.ts'

const ROLE = 'arn:aws:iam::123456789012:role/gateway'
const NONE = {
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
}

/** Sets variables of this process until the test ends. */
function setVariables(t: TestContext, variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables)) {
    const before = process.env[name]
    process.env[name] = value
    t.after(() => {
      if (before === undefined) delete process.env[name]
      else process.env[name] = before
    })
  }
}

async function openStore(t: TestContext) {
  const store = await startS3Server()
  t.after(() => store.stop())
  const { S3_ENDPOINT = '', S3_BUCKET = '', S3_REGION = '' } = store.environment
  const settings = { endpoint: S3_ENDPOINT, bucket: S3_BUCKET, region: S3_REGION, keys: undefined }
  return { store, settings }
}

/** A token service: it gives keys for the token of a role. */
async function startTokens(t: TestContext, token: string) {
  const asked: URLSearchParams[] = []
  const server = await startServer(async (request, response) => {
    const form = new URLSearchParams(await readBody(request))
    asked.push(form)
    if (form.get('WebIdentityToken') !== token) return response.writeHead(400).end()
    const expires = new Date(Date.now() + 3_600_000).toISOString()
    const keys =
      `<AccessKeyId>${CREDENTIALS.accessKeyId}</AccessKeyId>` +
      `<SecretAccessKey>${CREDENTIALS.secretAccessKey}</SecretAccessKey>` +
      `<SessionToken>session</SessionToken><Expiration>${expires}</Expiration>`
    const result = `<AssumeRoleWithWebIdentityResult><Credentials>${keys}</Credentials>
      </AssumeRoleWithWebIdentityResult>`
    response.writeHead(200, { 'content-type': 'text/xml' })
    response.end(
      `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">${result}
      </AssumeRoleWithWebIdentityResponse>`,
    )
    return undefined
  })
  t.after(server.stop)
  return { asked, url: server.url }
}

test('a web identity stands in for keys, and is asked for once', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-identity-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'token')
  writeFileSync(path, 'token-of-the-pod')
  const tokens = await startTokens(t, 'token-of-the-pod')
  setVariables(t, {
    ...NONE,
    AWS_WEB_IDENTITY_TOKEN_FILE: path,
    AWS_ROLE_ARN: ROLE,
    AWS_ENDPOINT_URL_STS: tokens.url,
    AWS_REGION: 'eu-test-1',
  })
  const { store, settings } = await openStore(t)
  const storage = createS3Storage(settings)
  const key = storage.newKey()
  await storage.write(key, Readable.from([Buffer.from('abc')]), 10)
  assert.equal(await text(await storage.read(key)), 'abc')
  assert.deepEqual(store.requests, ['PUT', 'GET'])
  assert.deepEqual(
    tokens.asked.map((form) => [form.get('Action'), form.get('RoleArn')]),
    [['AssumeRoleWithWebIdentity', ROLE]],
  )
})

test('keys of the environment are taken', async (t) => {
  setVariables(t, {
    ...NONE,
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
  })
  const { settings } = await openStore(t)
  await checkObjectStore(settings, { warn: () => assert.fail('it answers') })
})

test('a machine without credentials is told so when it starts', async (t) => {
  setVariables(t, NONE)
  const { store, settings } = await openStore(t)
  const checking = checkObjectStore(settings, { warn: () => assert.fail('it is not away') })
  await assert.rejects(checking, /this machine has no credentials of the object store: set S3_AC/)
  assert.deepEqual(store.requests, [])
})
