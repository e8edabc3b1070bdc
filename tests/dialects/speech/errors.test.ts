import assert from 'node:assert/strict'
import { test } from 'node:test'
import { classifySpeechCode, speechErrorType } from '../../../server/wire/dialects/speech/errors.ts'

const EXPECTED: readonly [number, string, string][] = [
  [40402003, 'TTSExceededTextLimit', 'rejected'],
  [45000000, 'speaker permission denied', 'channel_fault'],
  [45000000, 'quota exceeded for types: concurrency', 'busy'],
  [45000001, 'invalid argument', 'rejected'],
  [45000010, 'Invalid X-Api-Key', 'channel_fault'],
  [45000030, 'requested resource not granted', 'channel_fault'],
  [45002000, 'empty speaker', 'rejected'],
  [45002001, 'no readable text', 'rejected'],
  [55000000, 'server error', 'failed'],
  [55000000, 'resource ID is mismatched with speaker related resource', 'rejected'],
  [55000031, 'server busy', 'busy'],
  [45999999, 'never seen', 'rejected'],
  [55999999, 'never seen', 'failed'],
  [7, 'never seen', 'failed'],
]

for (const [code, message, kind] of EXPECTED) {
  test(`code ${code} (${message}) is ${kind}`, () => {
    assert.equal(classifySpeechCode(code, message), kind)
  })
}

test('types come from the public error table', () => {
  assert.equal(speechErrorType(45000001), 'invalid_request_error')
  assert.equal(speechErrorType(55000031), 'rate_limit_error')
  assert.equal(speechErrorType(45000010), 'server_error')
  assert.equal(speechErrorType(Number.NaN), 'server_error')
})
