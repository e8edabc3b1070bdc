/** Signatures against AWS's published suite, and against values of an independent program. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signRequest } from '../../../../server/wire/upstreams/anthropic/bedrock/sign.ts'

const CREDENTIALS = {
  region: 'us-east-1',
  access_key_id: 'AKIDEXAMPLE',
  secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}
const HOST = 'https://bedrock-runtime.us-east-1.amazonaws.com'
const BODY = Buffer.from(
  '{"messages":[{"role":"user","content":[{"text":"hi"}]}],"inferenceConfig":{"maxTokens":16}}',
)
const NOW_MS = Date.UTC(2026, 0, 1)

async function sign(path: string, more: object = {}): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const request = { method: 'POST' as const, url: HOST + path, headers, body: BODY }
  const signed = await signRequest(request, { ...CREDENTIALS, ...more }, NOW_MS)
  assert.equal(signed['x-amz-date'], '20260101T000000Z')
  return signed.authorization ?? ''
}

const signatureOf = (authorization: string) => /Signature=(\w+)$/.exec(authorization)?.[1]

test('the published suite: post-x-www-form-urlencoded', async () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const request = { method: 'POST' as const, url: 'https://example.amazonaws.com/', headers }
  const at = Date.UTC(2015, 7, 30, 12, 36)
  const body = Buffer.from('Param1=value1')
  const signed = await signRequest({ ...request, body }, CREDENTIALS, at, 'service')
  assert.equal(
    signed.authorization,
    'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, ' +
      'SignedHeaders=content-type;host;x-amz-date, ' +
      'Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  )
})

for (const [name, path, signature] of [
  [
    'a colon is escaped on the wire, and once more in the canonical path',
    '/model/us.anthropic.claude-x-20260101-v1%3A0/converse',
    'a96062bbd622f6eddf18701d8b782c344b8f8c808f5059fb0dd441712e5e3786',
  ],
  [
    'a bare colon is escaped in the canonical path alone',
    '/model/us.anthropic.claude-x-20260101-v1:0/converse',
    '0ba04863f6028d8db37876433353e5bad60b6944f2873aeab500bffa977891c8',
  ],
] as const) {
  test(name, async () => assert.equal(signatureOf(await sign(path)), signature))
}

test('temporary credentials are signed with their token', async () => {
  const path = '/model/us.anthropic.claude-x-20260101-v1%3A0/converse'
  const authorization = await sign(path, { session_token: 'TOKENEXAMPLE' })
  assert.match(authorization, /SignedHeaders=content-type;host;x-amz-date;x-amz-security-token,/)
  assert.equal(
    signatureOf(authorization),
    'f32c73919be5ee3242b38bd32f10727005a2b3df48781dc5b682aec0d6cd20dd',
  )
})

test('an API key needs no signature', async () => {
  const request = { method: 'GET' as const, url: `${HOST}/x`, headers: { accept: 'a/b' } }
  const signed = await signRequest(request, { region: 'us-east-1', api_key: 'key' }, NOW_MS)
  assert.deepEqual(signed, { accept: 'a/b', authorization: 'Bearer key' })
})
